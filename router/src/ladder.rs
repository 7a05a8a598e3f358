//! What follows a failure: another attempt, a wait, the next order tier, the rest of the group, a
//! fallback, or the end. (semantics 5.1, 6.2, 6.3, 15.1)
//!
//! LiteLLM nests these as calls: a hop (one group with its retries) that fails walks a list, each
//! entry of which is a whole hop of its own. Here the nesting is a stack of [`Walk`]s kept with the
//! request, so that the machine can stop at any step.

use crate::{
    in_flight::{Hop, ListRef, Walk, WalkKind},
    moving_on::Moving,
    num_retries,
    observe::{Event, FallbackReason, Observer},
    outcome::ErrorClass,
    request::{Api, ModelId},
    retry,
    route_error::RouteError,
    router::Router,
    step::{Ticket, WaitReason},
    time::Instant,
    waiting::Pause,
};

/// What the ladder says to do next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Next {
    /// Try the hop that the request is now in.
    Attempt,
    /// Wait.
    Wait(Instant, WaitReason),
    /// It is over: this error surfaces.
    Fail(RouteError),
}

impl Router {
    /// An attempt of the hop failed, or none could be made.
    pub(crate) fn after_failure(
        &mut self,
        now: Instant,
        ticket: Ticket,
        error: RouteError,
        obs: &mut impl Observer,
    ) -> Next {
        self.learn_cooldowns(now);
        let state = self.requests.get(ticket);
        if state.caller_left().is_some() {
            return Next::Fail(error);
        }
        if let RouteError::Attempt {
            deployment,
            failure,
        } = error
        {
            if failure.reached() >= self.config.profile.streams_commit_at {
                return self.after_broken_stream(now, ticket, &failure, deployment, obs);
            }
            if state.request.is_blocking() && self.config.profile.blocking_failures_forget_retries {
                self.librarys_retries_are_gone = true;
            }
            if self.config.profile.refusals_move_on && retry::is_refusal(&failure) {
                state.rare.refused.push(deployment);
            }
        }
        let failed = error.deployment();
        state.hop.failed = failed;
        let hop = state.hop;
        let health = self.health(now, hop.group);
        let allowance = match hop.allowance {
            None => {
                let config = failed.map(|d| &self.config.deployments[d.index()]);
                let state = self.requests.peek(ticket);
                let overrides = state.request.overrides.as_deref();
                let overrides = overrides.filter(|_| !state.rare.after_break);
                let policy = self.retry_policies[hop.group.index()].as_ref();
                let sources = num_retries::Sources {
                    deployment: config,
                    overrides,
                    policy,
                    settings: &self.config.settings,
                    librarys_are_gone: self.librarys_retries_are_gone,
                };
                num_retries::allowance(&error, sources, &self.config.profile)
            }
            Some(allowance) => allowance,
        };
        let in_retries = hop.allowance.is_some();
        let retries = hop.retries + u32::from(in_retries && !hop.moved_on);
        let state = self.requests.get(ticket);
        state.hop.allowance = Some(allowance);
        state.hop.retries = retries;
        state.hop.moved_on = false;
        match self.moving_on(now, ticket, &error, obs) {
            Moving::On => return Next::Attempt,
            Moving::Nowhere => return self.fall_back(now, ticket, error, obs),
            Moving::No => {}
        }
        if in_retries {
            self.remember_failure(ticket);
        }
        let lists = self.lists_in_force(ticket);
        let worth = retry::is_worth_retrying(&error, health, lists)
            || self.wait_for_quota(now, ticket, &error, health).is_some();
        let faulty =
            self.config.profile.corrections.faulty_requests_stay && error.is_the_requests_fault();
        if !allowance.by_policy && (!worth || faulty) {
            return self.fall_back(now, ticket, error, obs);
        }
        if allowance.retries == 0 {
            return self.fall_back(now, ticket, error, obs);
        }
        if !in_retries {
            self.remember_failure(ticket);
        }
        // LiteLLM sleeps after the last retry too, before it gives up. (quirk Q3)
        let last = retries == allowance.retries;
        match self.pause(now, ticket, &error, health, retries, last) {
            Pause::No if !last => self.retry(now, ticket, obs),
            Pause::No | Pause::Hopeless => self.fall_back(now, ticket, error, obs),
            Pause::Of(wait, why) => {
                if last {
                    self.requests.get(ticket).rare.gives_up_with = Some(error);
                }
                Next::Wait(now + wait, why)
            }
        }
    }

    /// The wait is over.
    pub(crate) fn after_wait(
        &mut self,
        now: Instant,
        ticket: Ticket,
        obs: &mut impl Observer,
    ) -> Next {
        let state = self.requests.get(ticket);
        if let Some(rare) = state.rare.if_any()
            && let Some(error) = rare.gives_up_with.take()
        {
            return self.fall_back(now, ticket, error, obs);
        }
        self.retry(now, ticket, obs)
    }

    fn retry(&mut self, now: Instant, ticket: Ticket, obs: &mut impl Observer) -> Next {
        let state = self.requests.peek(ticket);
        let of = state.hop.allowance.map_or(0, |a| a.retries);
        let retry = state.hop.retries + 1;
        debug_assert!(retry <= of, "invariant 10: retry {retry} of {of}");
        obs.observe(
            now,
            &Event::Retrying {
                request: state.request.id,
                retry,
                of,
            },
        );
        Next::Attempt
    }

    /// The hop failed for good: what else is there? (semantics 6.2)
    pub(crate) fn fall_back(
        &mut self,
        now: Instant,
        ticket: Ticket,
        error: RouteError,
        obs: &mut impl Observer,
    ) -> Next {
        let state = self.requests.peek(ticket);
        let overrides = state.request.overrides.as_deref();
        if overrides.is_some_and(|o| o.disable_fallbacks) && !state.rare.after_break {
            return self.hop_failed(now, ticket, error, obs);
        }
        let hop = state.hop;
        let class = error.class();
        let profile = &self.config.profile;
        if profile.corrections.faulty_requests_stay && error.is_the_requests_fault() {
            return self.hop_failed(now, ticket, error, obs);
        }
        let content_policy = class == Some(ErrorClass::ContentPolicyViolation);
        let context_window = class == Some(ErrorClass::ContextWindowExceeded);
        let target = self.registry.target(hop.group);
        let tiers = &target.tiers;
        let tiers_apply = target.goes_on
            && !content_policy
            && (!context_window
                || (profile.order_tiers_on_context_window && !self.has_leading_list(ticket)));
        if tiers.len() > 1 && tiers_apply {
            let current = hop.tier.unwrap_or(tiers[0]);
            let from = tiers.partition_point(|&tier| tier <= current);
            let later = tiers.len() - from;
            let list = self.generic_list(ticket, hop);
            if later + self.list(ticket, list).len() > 0 {
                return self.start_walk(now, ticket, WalkKind::Tiers(from), list, error, obs);
            }
        }
        if !content_policy && !context_window && self.rest_of_group(now, ticket) {
            return self.start_walk(now, ticket, WalkKind::Rest, ListRef::None, error, obs);
        }
        self.fall_back_to_list(now, ticket, error, obs)
    }

    fn fall_back_to_list(
        &mut self,
        now: Instant,
        ticket: Ticket,
        error: RouteError,
        obs: &mut impl Observer,
    ) -> Next {
        let list = self.list_after(ticket, error.class());
        self.walk_list(now, ticket, list, error, obs)
    }

    fn walk_list(
        &mut self,
        now: Instant,
        ticket: Ticket,
        list: ListRef,
        error: RouteError,
        obs: &mut impl Observer,
    ) -> Next {
        if self.list(ticket, list).is_empty() {
            return self.hop_failed(now, ticket, error, obs);
        }
        self.start_walk(now, ticket, WalkKind::List, list, error, obs)
    }

    /// Whether weighted failover has somebody left; if so, whoever failed is excluded from now on.
    /// (semantics 6.7)
    fn rest_of_group(&mut self, now: Instant, ticket: Ticket) -> bool {
        let settings = &self.config.settings;
        let state = self.requests.get(ticket);
        let shuffles = self.strategies.of(state.hop.group).shuffles();
        let Some(failed) = state.hop.failed else {
            return false;
        };
        let overrides = state.request.overrides.as_deref();
        let barred = !self.config.profile.embeddings_fail_over
            && overrides.is_some_and(|o| o.api == Api::Embedding);
        if !settings.enable_weighted_failover || !shuffles || barred {
            return false;
        }
        let target = self.registry.target(state.hop.group);
        target.goes_on
            && target.members.iter().any(|d| {
                *d != failed
                    && !state.rare.excluded.contains(d)
                    && self.states[d.index()].out_until(now).is_none()
            })
    }

    fn start_walk(
        &mut self,
        now: Instant,
        ticket: Ticket,
        kind: WalkKind,
        list: ListRef,
        error: RouteError,
        obs: &mut impl Observer,
    ) -> Next {
        let most = self.most_fallbacks();
        let state = self.requests.get(ticket);
        let hop = state.hop;
        let excluded_before = state.rare.excluded.len();
        if kind == WalkKind::Rest
            && let Some(failed) = hop.failed
            && !state.rare.excluded.contains(&failed)
        {
            state.rare.excluded.push(failed);
        }
        if state.rare.attempted.is_empty() {
            state.rare.attempted.push((hop.group, None));
        }
        state.rare.walks.push(Walk {
            hop,
            kind,
            list,
            // At the greatest depth a walk ends before its first entry.
            next: if hop.depth >= most { usize::MAX } else { 0 },
            depth: hop.depth,
            turned: false,
            original: error,
            last: error,
            excluded_before,
        });
        self.next_entry(now, ticket, obs)
    }

    /// How deep walks may be nested.
    fn most_fallbacks(&self) -> u32 {
        let given = self.config.settings.max_fallbacks;
        given.unwrap_or(DEFAULT_MAX_FALLBACKS)
    }

    /// Starts the hop of the innermost walk's next entry, or ends the walk.
    fn next_entry(&mut self, now: Instant, ticket: Ticket, obs: &mut impl Observer) -> Next {
        loop {
            let Some(&walk) = self.requests.peek(ticket).rare.walks.last() else {
                unreachable!("called while a walk is under way")
            };
            let Some((group, tier, why)) = self.entry(ticket, &walk) else {
                return self.walk_failed(now, ticket, obs);
            };
            debug_assert!(
                walk.hop.depth < self.most_fallbacks(),
                "invariant 11: a walk begins at the greatest depth"
            );
            let once = self.config.profile.fallback_targets_once && walk.kind != WalkKind::Rest;
            let leaks = self.config.profile.order_pin_leaks;
            let inherits = self.inherited(ticket, &walk, why);
            let state = self.requests.get(ticket);
            let rare = &mut *state.rare;
            let walk = rare.walks.last_mut().expect("seen above");
            walk.next += 1;
            // In 1.92 a map is nobody's name: it is not passed over where it names the failed group.
            let as_map = why == FallbackReason::PerRequest
                && !self.config.profile.fallback_targets_once
                && rare.own.as_ref().is_some_and(|own| own.as_maps);
            let by_name = tier.is_none() && why != FallbackReason::WeightedFailover && !as_map;
            if (by_name && group == walk.hop.group)
                || (once && rare.attempted.contains(&(group, tier)))
            {
                continue;
            }
            walk.depth += 1;
            let from = walk.hop.group;
            let mut hop = Hop::new(group, walk.depth);
            hop.by_special_list = walk.list.kind_of_error().is_some();
            hop.inherits = inherits;
            // In 1.92 a tier that was asked for stays asked for in the groups after it. (quirk Q43)
            hop.tier = tier.or_else(|| state.hop.tier.filter(|_| leaks));
            state.hop = hop;
            rare.refused.clear();
            rare.attempted.push((group, tier));
            state.fallbacks = state.fallbacks.saturating_add(1);
            let request = state.request.id;
            obs.observe(
                now,
                &Event::FellBack {
                    request,
                    from,
                    to: group,
                    why,
                },
            );
            self.remember_failure(ticket);
            self.learn_own_routes(ticket);
            return Next::Attempt;
        }
    }

    /// The entry that a walk is at: its group, its tier, and by which list.
    fn entry(&self, ticket: Ticket, walk: &Walk) -> Option<(ModelId, Option<i64>, FallbackReason)> {
        let own = walk.hop.group;
        let mut at = walk.next;
        match walk.kind {
            WalkKind::Rest => {
                let leaks = self.config.profile.order_pin_leaks;
                let tier = walk.hop.tier.filter(|_| leaks);
                return (at == 0).then_some((own, tier, FallbackReason::WeightedFailover));
            }
            WalkKind::Tiers(from) => {
                let tiers = &self.registry.target(own).tiers[from..];
                if let Some(&tier) = tiers.get(at) {
                    return Some((own, Some(tier), FallbackReason::OrderTier));
                }
                at -= tiers.len().min(at);
            }
            WalkKind::List => {}
        }
        let why = match walk.list {
            ListRef::None => return None,
            ListRef::Own => FallbackReason::PerRequest,
            ListRef::Of(why, _) => why,
        };
        self.list(ticket, walk.list)
            .get(at)
            .map(|&group| (group, None, why))
    }

    /// Every entry of the innermost walk failed. What surfaces is the error of the hop that it was
    /// walked for, except after order tiers, where it is the last entry's unless they were tried for
    /// the length of the prompt. (semantics 6.2, step 7)
    fn walk_failed(&mut self, now: Instant, ticket: Ticket, obs: &mut impl Observer) -> Next {
        let state = self.requests.get(ticket);
        let walk = state.rare.walks.pop().expect("called at the end of a walk");
        state.rare.excluded.truncate(walk.excluded_before);
        state.hop = walk.hop;
        let long = walk.original.class() == Some(ErrorClass::ContextWindowExceeded);
        match walk.kind {
            WalkKind::Tiers(_) if !long => self.hop_failed(now, ticket, walk.last, obs),
            WalkKind::List if walk.turned && walk.hop.by_special_list => {
                self.hop_failed(now, ticket, walk.last, obs)
            }
            WalkKind::List | WalkKind::Tiers(_) => self.hop_failed(now, ticket, walk.original, obs),
            // An error of Python's own takes the place of the one that led there. (observed)
            WalkKind::Rest if walk.last.is_of_python() => {
                self.fall_back_to_list(now, ticket, walk.last, obs)
            }
            WalkKind::Rest => self.fall_back_to_list(now, ticket, walk.original, obs),
        }
    }

    /// A hop is over, with everything that could be done for it.
    fn hop_failed(
        &mut self,
        now: Instant,
        ticket: Ticket,
        error: RouteError,
        obs: &mut impl Observer,
    ) -> Next {
        let soonest = self.config.profile.corrections.hint_is_time_left;
        let state = self.requests.get(ticket);
        let Some(walk) = state.rare.walks.last_mut() else {
            return Next::Fail(error);
        };
        let error = error.told_sooner(soonest.then_some(walk.last));
        walk.original = walk.original.told_sooner(soonest.then_some(error));
        walk.last = error;
        let kind = walk.list.kind_of_error();
        let other_kind = kind.is_some_and(|kind| error.class() != Some(kind));
        let turns = other_kind && self.config.profile.special_lists_turn && !walk.turned;
        if !turns {
            return self.next_entry(now, ticket, obs);
        }
        // An error of another kind: the generic list has its turn before the rest of this one.
        walk.turned = true;
        let mut hop = walk.hop;
        hop.depth = walk.depth;
        state.hop = hop;
        let list = self.generic_list(ticket, hop);
        self.walk_list(now, ticket, list, error, obs)
    }
}

/// `ROUTER_MAX_FALLBACKS`. (semantics 0)
const DEFAULT_MAX_FALLBACKS: u32 = 5;
