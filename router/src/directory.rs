//! What a requested name stands for, in the order in which LiteLLM looks: a deployment's id, else
//! (through at most one alias) a group, a routing group, a pattern with stars, a provider's name of
//! a model, else the first default fallback in its place. (semantics 1.6, 1.7, 2.3 step 2)

use std::collections::BTreeMap;

use crate::{
    config::{DeploymentConfig, RouterConfig, RouterSettings, RoutingGroup},
    pattern::{self, Pattern},
    provider,
    request::{DeploymentId, ModelId},
    strategy::StrategySpec,
};

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    /// How its deployments were found.
    pub(crate) kind: TargetKind,
    /// In `model_list` order; those of a routing group model by model. Entries with one id are one
    /// deployment, the last of them, which is listed once for each. (quirk Q41)
    pub(crate) members: Box<[DeploymentId]>,
    /// Distinct `order` values of the members, lowest first.
    pub(crate) tiers: Box<[i64]>,
    /// Whether picking needs no filter but cooldown: no member is blocked, none has an order.
    pub(crate) plain: bool,
    /// Whether the members are the name's own, so that a request goes on to another order tier or to
    /// the rest of them: not those of a provider's model, nor those that stand in for an unknown name
    /// (`weighted-failover-alias`, `fallback-default-stand-in-*`).
    pub(crate) goes_on: bool,
    /// The name that it is an alias of.
    pub(crate) alias_of: Option<ModelId>,
    /// The place of the routing group that is called here by its own name.
    pub(crate) routing_group: Option<usize>,
    /// By member: what stands in place of its `order`, in a routing group by priority; else empty.
    priorities: Box<[i64]>,
    /// By member: its `model` with the stars filled; empty where no star is.
    upstream: Box<[Box<str>]>,
}

impl Target {
    /// The order tier of a member.
    pub(crate) fn order(&self, member: DeploymentId, configs: &[DeploymentConfig]) -> Option<i64> {
        if self.priorities.is_empty() {
            return configs[member.index()].order;
        }
        let at = self.members.iter().position(|&m| m == member)?;
        self.priorities.get(at).copied()
    }

    /// What a member's `model` becomes for this name, where it has stars.
    pub(crate) fn upstream_model(&self, member: DeploymentId) -> Option<&str> {
        if self.upstream.is_empty() {
            return None;
        }
        let at = self.members.iter().position(|&m| m == member)?;
        self.upstream.get(at).map(AsRef::as_ref)
    }
}

/// How the deployments of a name were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetKind {
    /// It is a deployment's id: every filter is skipped.
    Deployment,
    /// It is a group, an alias of one, a name that a pattern matches, or a provider's model name.
    Group,
    /// Nobody serves it.
    Unknown,
}

/// The configured names, from which targets are made.
#[derive(Debug)]
pub(crate) struct Directory {
    deployments: Vec<Entry>,
    aliases: BTreeMap<String, String>,
    first_default_fallback: Option<String>,
    group_beats_id: bool,
    /// Those that can be called by their own names.
    routing_groups: Vec<RoutingGroup>,
    callable: bool,
    /// Group names with stars, the most specific first.
    patterns: Vec<(Pattern, String)>,
    /// By id that several entries have: the place of the last of them.
    last_of_id: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct Entry {
    id: String,
    group: String,
    model: String,
    order: Option<i64>,
    blocked: bool,
    /// Taken out while the router was at work.
    removed: bool,
}

impl Directory {
    pub(crate) fn new(config: &RouterConfig) -> Self {
        let entry = |d: &DeploymentConfig| Entry {
            id: d.id.clone(),
            group: d.model_name.clone(),
            model: d.model.clone(),
            order: d.order,
            blocked: d.blocked,
            removed: false,
        };
        let settings = &config.settings;
        let mut directory = Self {
            deployments: config.deployments.iter().map(entry).collect(),
            aliases: settings.model_group_alias.clone(),
            first_default_fallback: settings.default_fallbacks.first().cloned(),
            group_beats_id: config.profile.group_name_beats_id,
            routing_groups: settings.routing_groups.clone(),
            callable: config.profile.routing_groups_callable,
            patterns: Vec::new(),
            last_of_id: BTreeMap::new(),
        };
        directory.learn_entries();
        directory
    }

    /// Follows these settings from now on.
    pub(crate) fn relearn(&mut self, settings: &RouterSettings) {
        self.aliases.clone_from(&settings.model_group_alias);
        self.first_default_fallback = settings.default_fallbacks.first().cloned();
        self.routing_groups.clone_from(&settings.routing_groups);
        self.learn_entries();
    }

    pub(crate) fn remove(&mut self, deployment: DeploymentId) {
        self.deployments[deployment.index()].removed = true;
    }

    /// The name that a name is an alias of.
    pub(crate) fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.get(name).map(String::as_str)
    }

    /// How many deployments a group has.
    pub(crate) fn group_size(&self, group: &str) -> usize {
        self.present().filter(|d| d.group == group).count()
    }

    /// The `model_name` of the deployments that serve a name by it: the name, what it is an alias of,
    /// or the first default fallback in place of an unknown name.
    pub(crate) fn model_name<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let is_group = |name: &&str| self.group_size(name) > 0;
        match self.found(name) {
            Some(_) => Some(self.alias(name).unwrap_or(name)).filter(is_group),
            None => self.first_default_fallback.as_deref().filter(is_group),
        }
    }

    pub(crate) fn target(&self, name: &str) -> Target {
        // LiteLLM serves an unknown name from the first default fallback, in silence, if that is the
        // name of a group and of nothing else (`fallback-default-stand-in-*`).
        let stand_in = || {
            let group = self.first_default_fallback.as_deref()?;
            self.others(|d| d.group == group)
        };
        self.found(name)
            .or_else(stand_in)
            .unwrap_or_else(|| self.make(TargetKind::Unknown, |_, _| false))
    }

    fn found(&self, name: &str) -> Option<Target> {
        let means_group = self.group_beats_id && self.group_size(name) > 0;
        let by_id = |d: &Entry| d.id == name && !d.removed && !means_group;
        if let Some(at) = self.deployments.iter().rposition(by_id) {
            return Some(self.make(TargetKind::Deployment, |i, _| i == at));
        }
        let name = self.alias(name).unwrap_or(name);
        self.all(|d| d.group == name)
            .or_else(|| self.routing_group(name))
            .or_else(|| self.matched(name, name))
            .or_else(|| {
                let provider = provider::inferred(name)?;
                self.matched(name, &format!("{provider}/{name}"))
            })
            .or_else(|| self.others(|d| d.model == name))
    }

    /// The deployments of the most specific pattern that matches.
    fn matched(&self, name: &str, sought: &str) -> Option<Target> {
        let matches = |(pattern, group): &'_ (Pattern, String)| {
            Some((pattern.captures(sought)?, group.clone()))
        };
        let (captures, group) = self.patterns.iter().find_map(matches)?;
        let mut target = self.all(|d| d.group == group)?;
        let model = |d: &DeploymentId| &self.deployments[d.index()].model;
        if target.members.iter().any(|d| pattern::is_pattern(model(d))) {
            let upstream = |d| pattern::upstream_model(model(d), &captures, name).into();
            target.upstream = target.members.iter().map(upstream).collect();
        }
        Some(target)
    }

    /// Works out what follows from the entries alone.
    fn learn_entries(&mut self) {
        let mut last_of_id = BTreeMap::new();
        let mut seen = BTreeMap::new();
        for (at, entry) in self
            .deployments
            .iter()
            .enumerate()
            .filter(|(_, d)| !d.removed)
        {
            if seen.insert(&entry.id, at).is_some() {
                last_of_id.insert(entry.id.clone(), at);
            }
        }
        let mut patterns: Vec<(Pattern, String)> = Vec::new();
        for entry in self.present() {
            if let Some(pattern) = Pattern::new(&entry.group)
                && patterns.iter().all(|(_, group)| *group != entry.group)
            {
                patterns.push((pattern, entry.group.clone()));
            }
        }
        patterns.sort_by_key(|(pattern, _)| pattern.specificity());
        self.patterns = patterns;
        self.last_of_id = last_of_id;
    }

    /// A routing group that is called by its own name: the deployments of all its models, model by
    /// model. Where it goes by priority, that of a deployment's model stands in place of its order.
    /// (semantics 1.8)
    fn routing_group(&self, name: &str) -> Option<Target> {
        let called = |g: &RoutingGroup| self.callable && g.group_name == name;
        let at = self.routing_groups.iter().position(called)?;
        let group = &self.routing_groups[at];
        let mut target = self.make(TargetKind::Group, |_, d| group.models.contains(&d.group));
        if target.members.is_empty() {
            return None;
        }
        let model = |d: &DeploymentId| {
            let of = &self.deployments[d.index()].group;
            group.models.iter().position(|model| model == of)
        };
        target.members.sort_by_key(model);
        if group.routing_strategy == StrategySpec::Priority {
            let priority = |d: &DeploymentId| {
                let model = &self.deployments[d.index()].group;
                i64::from(group.model_priorities.get(model).copied().unwrap_or(0))
            };
            target.priorities = target.members.iter().map(priority).collect();
            let mut tiers = target.priorities.to_vec();
            tiers.sort_unstable();
            tiers.dedup();
            target.tiers = tiers.into();
            target.plain = false;
        }
        target.routing_group = Some(at);
        Some(target)
    }

    fn present(&self) -> impl Iterator<Item = &Entry> {
        self.deployments.iter().filter(|d| !d.removed)
    }

    /// The deployments that are such, if there is one.
    fn all(&self, such: impl Fn(&Entry) -> bool) -> Option<Target> {
        let found = self.make(TargetKind::Group, |_, d| such(d));
        (!found.members.is_empty()).then_some(found)
    }

    /// Such deployments, for a name that is not their own.
    fn others(&self, such: impl Fn(&Entry) -> bool) -> Option<Target> {
        let mut target = self.all(such)?;
        target.goes_on = false;
        Some(target)
    }

    fn make(&self, kind: TargetKind, belongs: impl Fn(usize, &Entry) -> bool) -> Target {
        let members: Vec<(usize, &Entry)> = self
            .deployments
            .iter()
            .enumerate()
            .filter(|(i, d)| !d.removed && belongs(*i, d))
            .map(|(i, d)| {
                let last = self.last_of_id.get(&d.id).copied().unwrap_or(i);
                (last, &self.deployments[last])
            })
            .collect();
        let mut tiers: Vec<i64> = members.iter().filter_map(|(_, d)| d.order).collect();
        tiers.sort_unstable();
        tiers.dedup();
        Target {
            kind,
            goes_on: true,
            plain: tiers.is_empty() && members.iter().all(|(_, d)| !d.blocked),
            tiers: tiers.into(),
            alias_of: None,
            routing_group: None,
            priorities: Box::default(),
            upstream: Box::default(),
            members: members
                .iter()
                .map(|(i, _)| DeploymentId(u32::try_from(*i).expect("checked when built")))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn directory(groups: &[(&str, &str)], settings: RouterSettings) -> Directory {
        let deployment = |(at, (group, model)): (usize, &(&str, &str))| DeploymentConfig {
            id: format!("d{at}"),
            model_name: (*group).to_owned(),
            model: (*model).to_owned(),
            ..DeploymentConfig::default()
        };
        Directory::new(&RouterConfig {
            profile: Profile::litellm_1_110(),
            deployments: groups.iter().enumerate().map(deployment).collect(),
            settings,
            ..RouterConfig::default()
        })
    }

    fn plain(groups: &[(&str, &str)]) -> Directory {
        directory(groups, RouterSettings::default())
    }

    /// Who serves a name, and what the first of them is asked for.
    fn served(directory: &Directory, name: &str) -> (Vec<u32>, Option<String>) {
        let target = directory.target(name);
        let upstream = target.members.first();
        let upstream = upstream.and_then(|&d| target.upstream_model(d));
        let members = target.members.iter().map(|d| d.0).collect();
        (members, upstream.map(str::to_owned))
    }

    #[test]
    fn the_most_specific_pattern_serves_a_name_with_all_its_deployments() {
        let directory = plain(&[
            ("openai/*", "openai/*"),
            ("openai/gpt-4*", "openai/gpt-4*"),
            ("*", "openai/*"),
            ("openai/*", "openai/x-*"),
        ]);
        let whom = |name| served(&directory, name);

        assert_eq!(
            whom("openai/gpt-4x"),
            (vec![1], Some("openai/gpt-4x".to_owned()))
        );
        assert_eq!(
            whom("openai/other"),
            (vec![0, 3], Some("openai/other".to_owned()))
        );
        assert_eq!(whom("gpt-4z"), (vec![2], Some("openai/gpt-4z".to_owned())));
        // The name of the group itself is no pattern's match.
        assert_eq!(whom("openai/*"), (vec![0, 3], None));
    }

    #[test]
    fn a_group_and_an_alias_come_before_a_pattern_and_that_before_a_providers_model() {
        let aliases = BTreeMap::from([("z/2".to_owned(), "m".to_owned())]);
        let settings = RouterSettings {
            model_group_alias: aliases,
            ..RouterSettings::default()
        };
        let groups = [("z/*", "openai/*"), ("z/1", "openai/own"), ("m", "z/3")];
        let directory = directory(&groups, settings);

        assert_eq!(served(&directory, "z/1").0, [1]);
        assert_eq!(served(&directory, "z/2").0, [2]);
        assert_eq!(served(&directory, "z/3").0, [0]);
        // A call by id asks for the model as it is written.
        assert_eq!(served(&directory, "d0"), (vec![0], None));
    }

    #[test]
    fn a_bare_name_is_sought_again_with_the_provider_that_it_is_known_for() {
        let directory = plain(&[("openai/*", "openai/*"), ("anthropic/*", "anthropic/*")]);

        assert_eq!(
            served(&directory, "gpt-4o"),
            (vec![0], Some("openai/gpt-4o".to_owned()))
        );
        assert_eq!(served(&directory, "claude-sonnet-4-5").0, [1]);
        assert!(served(&directory, "house-model").0.is_empty());
    }

    #[test]
    fn an_unknown_name_is_served_by_the_first_default_fallback_if_it_is_a_group() {
        let aliases = BTreeMap::from([("al".to_owned(), "m".to_owned())]);
        let stand_in = |name: &str| {
            let settings = RouterSettings {
                default_fallbacks: vec![name.to_owned(), "m".to_owned()],
                model_group_alias: aliases.clone(),
                ..RouterSettings::default()
            };
            let directory = directory(&[("m", "openai/mm"), ("z/*", "openai/*")], settings);
            served(&directory, "nobody")
        };

        assert_eq!(stand_in("m").0, [0]);
        for no_group in ["al", "d0", "openai/mm", "z/9", "nobody else"] {
            assert!(stand_in(no_group).0.is_empty(), "{no_group}");
        }
    }

    #[test]
    fn an_alias_is_no_name_of_an_id_and_is_followed_once() {
        let settings = RouterSettings {
            model_group_alias: BTreeMap::from([
                ("al".to_owned(), "m".to_owned()),
                ("al2".to_owned(), "al".to_owned()),
                ("to id".to_owned(), "d0".to_owned()),
                ("d0".to_owned(), "nobody".to_owned()),
            ]),
            ..RouterSettings::default()
        };
        let directory = directory(&[("m", "openai/mm")], settings);

        assert_eq!(served(&directory, "al").0, [0]);
        assert!(served(&directory, "al2").0.is_empty());
        assert!(served(&directory, "to id").0.is_empty());
        assert_eq!(directory.target("d0").kind, TargetKind::Deployment);
    }

    #[test]
    fn entries_with_one_id_are_one_deployment_that_is_drawn_twice() {
        let mut config = RouterConfig::of_deployments(["a", "b", "a"]);
        config.deployments[0].blocked = true;
        let directory = Directory::new(&config);

        assert_eq!(served(&directory, "m").0, [2, 1, 2]);
        assert_eq!(served(&directory, "a").0, [2]);
        assert_eq!(directory.group_size("m"), 3);
        assert!(directory.target("m").plain);
    }

    #[test]
    fn a_pattern_whose_deployments_were_taken_out_matches_nothing() {
        let mut directory = plain(&[("z/a*", "openai/x"), ("z/*", "openai/y")]);
        directory.remove(DeploymentId(0));
        directory.relearn(&RouterSettings::default());

        assert_eq!(served(&directory, "z/a1").0, [1]);
    }
}
