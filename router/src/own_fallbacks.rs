//! Which fallback lists are in force for a request: its own where it brought some, else the
//! router's. (semantics 6.1, 6.5)
//!
//! A request's own `fallbacks` is a list of names (or of maps that name a model), walked whatever
//! group failed, or a mapping by group like the router's. Each of its three lists stands in for the
//! router's of the same kind, and one that is empty turns that kind off.

use std::sync::Arc;

use crate::{
    fallback::{self, FallbackTable, ListsGiven, Routes},
    in_flight::{Hop, ListRef, Walk},
    observe::FallbackReason,
    outcome::ErrorClass,
    request::{ModelId, Overrides, RequestFallbacks},
    router::Router,
    step::Ticket,
};

/// The lists that a request brought along.
#[derive(Debug, Default)]
pub(crate) struct OwnFallbacks {
    /// To be walked whatever group failed; empty if the request gave none such.
    names: Vec<ModelId>,
    /// They were given as maps, which never equal the name of a group.
    pub(crate) as_maps: bool,
    /// Its lists by group.
    table: FallbackTable,
    /// Which of the router's lists it stands in for.
    given: ListsGiven,
    /// What `table` says for the groups met so far.
    routes: Vec<(ModelId, Routes)>,
}

impl OwnFallbacks {
    fn stands_in_for(&self, why: FallbackReason) -> bool {
        match why {
            FallbackReason::ContentPolicy => self.given.content_policy,
            FallbackReason::ContextWindow => self.given.context_window,
            FallbackReason::Generic
            | FallbackReason::OrderTier
            | FallbackReason::PerRequest
            | FallbackReason::WeightedFailover => self.given.generic,
        }
    }
}

impl Router {
    /// Takes the lists of a request that arrives, if it brings some along.
    pub(crate) fn learn_own_fallbacks(&mut self, ticket: Ticket) {
        if let Some(overrides) = &self.requests.peek(ticket).request.overrides {
            let overrides = Arc::clone(overrides);
            if let Some(own) = self.own_fallbacks(&overrides) {
                self.requests.get(ticket).rare.own = Some(own);
                self.learn_own_routes(ticket);
            }
        }
    }

    fn own_fallbacks(&mut self, overrides: &Overrides) -> Option<Box<OwnFallbacks>> {
        let given = ListsGiven {
            generic: overrides.fallbacks.is_some(),
            context_window: overrides.context_window_fallbacks.is_some(),
            content_policy: overrides.content_policy_fallbacks.is_some(),
        };
        if given == ListsGiven::default() {
            return None;
        }
        let mut own = OwnFallbacks {
            given,
            ..OwnFallbacks::default()
        };
        let mut generic = None;
        match &overrides.fallbacks {
            Some(RequestFallbacks::Names(names)) => own.names = self.models(names),
            Some(RequestFallbacks::Maps(names)) => {
                own.names = self.models(names);
                own.as_maps = true;
            }
            Some(RequestFallbacks::ByGroup(lists)) => generic = Some(lists.clone()),
            None => {}
        }
        own.table = FallbackTable {
            generic,
            context_window: overrides.context_window_fallbacks.clone(),
            content_policy: overrides.content_policy_fallbacks.clone(),
        };
        Some(Box::new(own))
    }

    fn models(&mut self, names: &[String]) -> Vec<ModelId> {
        names.iter().map(|name| self.model(name)).collect()
    }

    /// Looks up what the request's own lists say for the group that it is now in.
    pub(crate) fn learn_own_routes(&mut self, ticket: Ticket) {
        let state = self.requests.peek(ticket);
        let group = state.hop.group;
        let Some(own) = &state.rare.own else {
            return;
        };
        if own.routes.iter().any(|(known, _)| *known == group) {
            return;
        }
        let name = self.registry.name(group);
        let lists = own.table.lists_for(name, &self.config.profile);
        let routes = lists.map(|names| self.models(&names));
        if let Some(own) = &mut self.requests.get(ticket).rare.own {
            own.routes.push((group, routes));
        }
    }

    /// The lists of a group, of the kind in question.
    fn routes(&self, ticket: Ticket, why: FallbackReason, group: ModelId) -> &Routes {
        let own = self.requests.peek(ticket).rare.own.as_deref();
        let own = own.filter(|own| own.stands_in_for(why));
        let found = own.and_then(|own| own.routes.iter().find(|(of, _)| *of == group));
        found.map_or_else(|| self.registry.routes(group), |(_, routes)| routes)
    }

    /// Which lists there are for the request.
    pub(crate) fn lists_in_force(&self, ticket: Ticket) -> ListsGiven {
        let routers = self.lists_given;
        let Some(own) = self.requests.peek(ticket).rare.own.as_deref() else {
            return routers;
        };
        ListsGiven {
            generic: match own.given.generic {
                true => !own.names.is_empty() || own.table.names_somebody(),
                false => routers.generic,
            },
            context_window: own.given.context_window || routers.context_window,
            content_policy: own.given.content_policy || routers.content_policy,
        }
    }

    /// The list for an error of this class in the hop that the request is in.
    pub(crate) fn list_after(&self, ticket: Ticket, class: Option<ErrorClass>) -> ListRef {
        let state = self.requests.peek(ticket);
        let hop = state.hop;
        let long = class == Some(ErrorClass::ContextWindowExceeded);
        if long && self.has_leading_list(ticket) {
            return self.special_list(ticket, FallbackReason::ContextWindow);
        }
        if state
            .rare
            .own
            .as_ref()
            .is_some_and(|own| !own.names.is_empty())
        {
            return ListRef::Own;
        }
        let has = |why| {
            let list = if why == FallbackReason::Generic {
                self.generic_list(ticket, hop)
            } else {
                self.special_list(ticket, why)
            };
            !self.list(ticket, list).is_empty()
        };
        let given = self.lists_in_force(ticket);
        match fallback::kind_for(class, given, has, &self.config.profile) {
            // Whoever was reached by a special list and meets its error again stays there.
            Some(FallbackReason::Generic)
                if long && given.context_window && hop.by_special_list =>
            {
                ListRef::None
            }
            Some(FallbackReason::Generic) => self.generic_list(ticket, hop),
            Some(why) => self.special_list(ticket, why),
            None => ListRef::None,
        }
    }

    /// The list of a hop for one kind of error: its group's own. Where that has none, in 1.110, the
    /// list of the group whose generic list led here.
    fn special_list(&self, ticket: Ticket, why: FallbackReason) -> ListRef {
        let state = self.requests.peek(ticket);
        let own = ListRef::Of(why, state.hop.group);
        if !self.config.profile.special_lists_are_inherited || state.hop.by_special_list {
            return own;
        }
        let before = state.rare.walks.iter().rev().map(|walk| walk.hop.group);
        let lists = std::iter::once(state.hop.group).chain(before);
        let mut lists = lists.map(|group| ListRef::Of(why, group));
        lists
            .find(|&list| !self.list(ticket, list).is_empty())
            .unwrap_or(own)
    }

    /// Whether the group has names for prompts that are too long, which then come before everything
    /// else.
    pub(crate) fn has_leading_list(&self, ticket: Ticket) -> bool {
        let list = self.special_list(ticket, FallbackReason::ContextWindow);
        self.config.profile.context_window_list_first && !self.list(ticket, list).is_empty()
    }

    /// The generic list of a hop: its group's own. Where it has none, in 1.110, the list that led to
    /// the hop comes before the list for every name.
    pub(crate) fn generic_list(&self, ticket: Ticket, hop: Hop) -> ListRef {
        let own = self.requests.peek(ticket).rare.own.as_ref();
        if own.is_some_and(|own| !own.names.is_empty()) {
            return ListRef::Own;
        }
        let routes = self.routes(ticket, FallbackReason::Generic, hop.group);
        if routes.generic_is_wildcard && hop.inherits != ListRef::None {
            return hop.inherits;
        }
        match &routes.generic {
            Some(_) => ListRef::Of(FallbackReason::Generic, hop.group),
            None => ListRef::None,
        }
    }

    /// The generic list that a hop takes over from the walk that leads to it.
    pub(crate) fn inherited(&self, ticket: Ticket, walk: &Walk, why: FallbackReason) -> ListRef {
        if !self.config.profile.fallback_lists_are_inherited {
            return ListRef::None;
        }
        match why {
            FallbackReason::Generic => walk.list,
            FallbackReason::ContentPolicy | FallbackReason::ContextWindow => {
                self.generic_list(ticket, walk.hop)
            }
            FallbackReason::OrderTier | FallbackReason::WeightedFailover => walk.hop.inherits,
            FallbackReason::PerRequest => ListRef::None,
        }
    }

    /// The names of a list.
    pub(crate) fn list(&self, ticket: Ticket, list: ListRef) -> &[ModelId] {
        match list {
            ListRef::None => &[],
            ListRef::Own => {
                let own = self.requests.peek(ticket).rare.own.as_deref();
                own.map_or(&[], |own| own.names.as_slice())
            }
            ListRef::Of(why, group) => {
                let routes = self.routes(ticket, why, group);
                let names = match why {
                    FallbackReason::ContentPolicy => &routes.content_policy,
                    FallbackReason::ContextWindow => &routes.context_window,
                    FallbackReason::Generic
                    | FallbackReason::OrderTier
                    | FallbackReason::PerRequest
                    | FallbackReason::WeightedFailover => &routes.generic,
                };
                names.as_deref().unwrap_or_default()
            }
        }
    }
}
