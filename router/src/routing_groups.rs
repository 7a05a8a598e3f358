//! `routing_groups`: strategies for some names only. (semantics 1.8)
//!
//! This file checks them and says which of them governs a name and who belongs to one that is
//! called by its own name. The strategies themselves are kept in `strategies`.

use std::collections::BTreeSet;

use crate::{
    config::{RouterSettings, RoutingGroup},
    error::ConfigError,
    profile::Profile,
    strategy::StrategySpec,
};

/// Whether a router can be built from these groups; what LiteLLM refuses is refused here.
pub(crate) fn check(settings: &RouterSettings, profile: &Profile) -> Result<(), ConfigError> {
    check_strategy(&settings.routing_strategy, None, profile)?;
    let groups = &settings.routing_groups;
    for (at, group) in groups.iter().enumerate() {
        let name = &group.group_name;
        if name.is_empty() {
            return Err(ConfigError::RoutingGroupWithoutName { at });
        }
        if name == RESERVED {
            return Err(ConfigError::RoutingGroupReserved);
        }
        if groups[..at].iter().any(|g| g.group_name == *name) {
            let group = name.clone();
            return Err(ConfigError::RoutingGroupTwice { group });
        }
        check_strategy(&group.routing_strategy, Some(name), profile)?;
        if profile.knows_priority_strategy {
            check_priorities(group)?;
        }
        check_overlap(&groups[..at], group, profile)?;
    }
    Ok(())
}

/// `priority` is for routing groups only, and 1.92 does not know it.
fn check_strategy(
    strategy: &StrategySpec,
    group: Option<&String>,
    profile: &Profile,
) -> Result<(), ConfigError> {
    let known = group.is_some() && profile.knows_priority_strategy;
    if *strategy == StrategySpec::Priority && !known {
        return Err(ConfigError::UnknownStrategy {
            found: strategy.name(),
            group: group.cloned(),
        });
    }
    Ok(())
}

/// `model_priorities` names exactly the group's models, and only with the strategy `priority`.
fn check_priorities(group: &RoutingGroup) -> Result<(), ConfigError> {
    let name = || group.group_name.clone();
    let priorities = &group.model_priorities;
    if group.routing_strategy != StrategySpec::Priority {
        return match priorities.is_empty() {
            true => Ok(()),
            false => Err(ConfigError::PrioritiesWithoutPriority { group: name() }),
        };
    }
    let models: BTreeSet<&String> = group.models.iter().collect();
    if models.is_empty() || models.len() < group.models.len() {
        return Err(ConfigError::PriorityModelsNotDistinct { group: name() });
    }
    let named: BTreeSet<&String> = priorities.keys().collect();
    if let Some(model) = models.symmetric_difference(&named).next() {
        return Err(ConfigError::PrioritiesOfOtherModels {
            group: name(),
            model: (*model).clone(),
        });
    }
    if let Some((model, _)) = priorities.iter().find(|(_, priority)| **priority == 0) {
        return Err(ConfigError::PriorityOfZero {
            group: name(),
            model: model.clone(),
        });
    }
    Ok(())
}

/// A name may stand in one group; groups by priority do not govern names and may overlap.
fn check_overlap(
    earlier: &[RoutingGroup],
    group: &RoutingGroup,
    profile: &Profile,
) -> Result<(), ConfigError> {
    if !governs_names(group) {
        return Ok(());
    }
    for (at, model) in group.models.iter().enumerate() {
        let holds = |g: &&RoutingGroup| governs_names(g) && g.models.contains(model);
        let repeats = !profile.routing_group_may_repeat_models;
        let itself = || (repeats && group.models[..at].contains(model)).then_some(group);
        if let Some(first) = earlier.iter().find(holds).or_else(itself) {
            return Err(ConfigError::RoutingGroupsOverlap {
                model: model.clone(),
                first: first.group_name.clone(),
                second: group.group_name.clone(),
            });
        }
    }
    Ok(())
}

/// Whether the group's strategy is that of its models when they are called by their own names.
fn governs_names(group: &RoutingGroup) -> bool {
    group.routing_strategy != StrategySpec::Priority
}

/// The place of the group that governs a name.
pub(crate) fn governing(groups: &[RoutingGroup], name: &str) -> Option<usize> {
    let holds = |g: &RoutingGroup| governs_names(g) && g.models.iter().any(|model| model == name);
    groups.iter().position(holds)
}

/// The name that LiteLLM keeps for the names in no group.
const RESERVED: &str = "default";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileName;

    fn group(name: &str, models: &[&str], strategy: &str) -> RoutingGroup {
        RoutingGroup {
            group_name: name.to_owned(),
            models: models.iter().map(|&m| m.to_owned()).collect(),
            routing_strategy: StrategySpec::named(strategy).unwrap(),
            model_priorities: std::collections::BTreeMap::new(),
        }
    }

    fn by_priority(name: &str, models: &[&str], priorities: &[(&str, u32)]) -> RoutingGroup {
        RoutingGroup {
            model_priorities: priorities
                .iter()
                .map(|(m, p)| ((*m).to_owned(), *p))
                .collect(),
            ..group(name, models, "priority")
        }
    }

    fn checked(groups: &[RoutingGroup], profile: ProfileName) -> String {
        let settings = RouterSettings {
            routing_groups: groups.to_vec(),
            ..RouterSettings::default()
        };
        match check(&settings, &profile.profile()) {
            Ok(()) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn groups_that_litellm_refuses_are_refused_with_their_names() {
        for profile in [ProfileName::Litellm192, ProfileName::Litellm1110] {
            let refused = |groups: &[RoutingGroup]| checked(groups, profile);

            assert_eq!(
                refused(&[
                    group("g", &["m"], "least-busy"),
                    group("", &["n"], "least-busy")
                ]),
                "routing_groups[1] has an empty group_name"
            );
            assert_eq!(
                refused(&[group("default", &["m"], "least-busy")]),
                "routing group `default` has the name that is kept for models in no group"
            );
            assert_eq!(
                refused(&[group("g", &[], "least-busy"), group("g", &[], "least-busy")]),
                "there are two routing groups called `g`"
            );
            assert_eq!(
                refused(&[
                    group("g", &["m"], "least-busy"),
                    group("h", &["m"], "least-busy")
                ]),
                "model `m` is in the routing groups `g` and `h`; a model may be in one"
            );
            assert_eq!(refused(&[group("g", &[], "least-busy")]), "accepted");
            assert_eq!(refused(&[group("g", &["ghost"], "least-busy")]), "accepted");
        }
    }

    #[test]
    fn a_model_that_is_named_twice_in_a_group_is_refused_by_1_92_only() {
        let groups = [group("g", &["m", "m"], "least-busy")];

        assert_eq!(checked(&groups, ProfileName::Litellm1110), "accepted");
        assert!(checked(&groups, ProfileName::Litellm192).starts_with("model `m` is in"));
    }

    #[test]
    fn priorities_must_name_exactly_the_groups_models() {
        let refused = |group| checked(&[group], ProfileName::Litellm1110);

        assert_eq!(refused(by_priority("g", &["m"], &[("m", 1)])), "accepted");
        assert_eq!(
            refused(by_priority("g", &["m", "n"], &[("m", 1)])),
            "model_priorities of routing group `g` must name exactly its models; `n` is on one side only"
        );
        assert_eq!(
            refused(by_priority("g", &["m"], &[("m", 1), ("n", 1)])),
            "model_priorities of routing group `g` must name exactly its models; `n` is on one side only"
        );
        assert_eq!(
            refused(by_priority("g", &["m"], &[("m", 0)])),
            "the priority of `m` in routing group `g` is 0; the least is 1"
        );
        assert_eq!(
            refused(by_priority("g", &[], &[])),
            "routing group `g` has the strategy priority, so it must name some models, each once"
        );
        let mut shuffled = by_priority("g", &["m"], &[("m", 1)]);
        shuffled.routing_strategy = StrategySpec::SimpleShuffle;
        assert_eq!(
            refused(shuffled),
            "routing group `g` has model_priorities, which only the strategy priority reads"
        );
    }

    #[test]
    fn groups_by_priority_may_overlap_and_govern_no_name() {
        let groups = [
            by_priority("p", &["m"], &[("m", 1)]),
            group("g", &["m"], "least-busy"),
            by_priority("q", &["m"], &[("m", 2)]),
        ];

        assert_eq!(checked(&groups, ProfileName::Litellm1110), "accepted");
        assert_eq!(governing(&groups, "m"), Some(1));
        assert_eq!(governing(&groups, "n"), None);
    }

    #[test]
    fn only_a_routing_group_of_1_110_knows_the_strategy_priority() {
        let groups = [by_priority("g", &["m"], &[("m", 1)])];
        assert!(
            checked(&groups, ProfileName::Litellm192).starts_with("unknown strategy `priority`")
        );

        let settings = RouterSettings {
            routing_strategy: StrategySpec::Priority,
            ..RouterSettings::default()
        };
        assert!(check(&settings, &Profile::default()).is_err());
    }
}
