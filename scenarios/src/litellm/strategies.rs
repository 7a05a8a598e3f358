//! `routing_strategy` with its arguments, and `routing_groups` (semantics 1.8, 1.9, 3).

use router::{
    StrategySpec,
    config::RoutingGroup,
    strategy::{LowestLatencyArgs, UsageArgs},
};

use super::{
    section::{Section, used},
    setting::{Result, Setting},
    tables::UNKNOWN,
};
use crate::error::{one_of, suggestion};

/// Reads the router's own strategy, or that of a routing group, which may be one more.
pub(super) fn read_strategy(
    s: &mut Setting<'_>,
    accepted: &[&'static str],
) -> Result<Option<StrategySpec>> {
    let Some(name) = s.text()? else {
        return Ok(None);
    };
    let names = || one_of(accepted);
    if s.is_from_environment() {
        return Err(s
            .error("the strategy stands in the environment, which is never asked")
            .help(format!("accepted is {}", names())));
    }
    if accepted.contains(&name.as_str()) {
        return Ok(StrategySpec::named(&name));
    }
    let help = match name.as_str() {
        "lar1" => format!(
            "it picks by `metadata.lar1`, which no request here has; accepted is {}",
            names()
        ),
        "provider-budget-routing" => format!(
            "LiteLLM takes the name, but then no call finds a deployment; `provider_budget_config` \
             works with every other strategy: accepted is {}",
            names()
        ),
        "priority" => format!("it is for `routing_groups` only; accepted is {}", names()),
        other => {
            return Err(s
                .error(format!("unknown strategy `{other}`"))
                .help(suggestion(other, accepted)));
        }
    };
    Err(s
        .error(format!("strategy `{name}` cannot be run"))
        .help(help))
}

/// Reads `routing_strategy_args` into the strategy that they are for.
pub(super) fn read_args(strategy: &mut StrategySpec, s: &mut Setting<'_>) -> Result<()> {
    let name = strategy.name();
    match strategy {
        StrategySpec::LowestLatency(args) => s.section(&LATENCY_ARGS, args),
        StrategySpec::UsageBased(args) | StrategySpec::UsageBasedV2(args) => {
            s.section(&USAGE_ARGS, args)
        }
        StrategySpec::SimpleShuffle
        | StrategySpec::LeastBusy
        | StrategySpec::LowestCost
        | StrategySpec::ProviderBudget
        | StrategySpec::Priority => {
            if s.given()
                .and_then(|args| args.as_map())
                .is_some_and(|map| !map.entries.is_empty())
            {
                s.ignore(format!("{name} takes no arguments"));
            }
            Ok(())
        }
    }
}

/// `routing_strategy_args` of latency-based-routing (semantics 3.3).
static LATENCY_ARGS: Section<LowestLatencyArgs> = Section {
    keys: &[
        used("ttl", |args, s| {
            s.seconds().map(|ttl| args.ttl = ttl.unwrap_or(args.ttl))
        }),
        used("lowest_latency_buffer", |args, s| {
            let buffer = s.amount()?;
            args.lowest_latency_buffer = buffer.unwrap_or(args.lowest_latency_buffer);
            Ok(())
        }),
        used("max_latency_list_size", |args, s| {
            if let Some(size) = s.whole(1..=1_000_000)? {
                args.max_latency_list_size =
                    usize::try_from(size).expect("a number from 1 to a million");
            }
            Ok(())
        }),
        used("ttft_percentile", |args, s| {
            let Some(fraction) = s.amount()? else {
                return Ok(());
            };
            if fraction <= 0.0 || fraction > 1.0 {
                return Err(s.unaccepted("a fraction above 0, up to 1"));
            }
            args.ttft_percentile = Some(fraction);
            Ok(())
        }),
        // The next two are routelab's own.
        used("unmeasured_latency", |args, s| {
            if let Some(latency) = s.seconds()? {
                args.unmeasured.get_or_insert_default().latency = latency;
            }
            Ok(())
        }),
        used("unmeasured_decay", |args, s| {
            if let Some(decay) = s.seconds()? {
                if decay.is_zero() {
                    return Err(s.unaccepted("a number of seconds above 0"));
                }
                args.unmeasured.get_or_insert_default().decay = decay;
            }
            Ok(())
        }),
    ],
    families: &[],
    otherwise: UNKNOWN,
};

/// `routing_strategy_args` of usage-based-routing and its second version (semantics 1.9). LiteLLM
/// refuses fractions of a second (observed).
static USAGE_ARGS: Section<UsageArgs> = Section {
    keys: &[used("ttl", |args, s| {
        let seconds = s.whole_or_text(0..=1_000_000_000)?;
        if let Some(seconds) = seconds.and_then(|seconds| seconds.try_into().ok()) {
            args.ttl = std::time::Duration::from_secs(seconds);
        }
        Ok(())
    })],
    families: &[],
    otherwise: UNKNOWN,
};

/// Reads `routing_groups`. What every version of LiteLLM refuses is refused here; what only some
/// refuse, by the router that is built for a version.
pub(super) fn read_routing_groups(s: &mut Setting<'_>) -> Result<Vec<RoutingGroup>> {
    let mut groups: Vec<RoutingGroup> = Vec::new();
    s.items(|item| {
        let accepted = "a mapping with `group_name`, `models` and `routing_strategy`";
        let map = item
            .node
            .as_map()
            .ok_or_else(|| item.unaccepted(accepted))?;
        for key in ["group_name", "models", "routing_strategy"] {
            if map.get(key).is_none_or(|node| node.is_null()) {
                let error = item.error(format!("`{key}` is missing"));
                let near = map.nearest(key);
                return Err(error.help(near.map_or_else(
                    || format!("accepted is {accepted}"),
                    |near| format!("`{near}` is there; did you mean `{key}`?"),
                )));
            }
        }
        let mut group = RoutingGroup {
            group_name: String::new(),
            models: Vec::new(),
            routing_strategy: StrategySpec::SimpleShuffle,
            model_priorities: std::collections::BTreeMap::new(),
        };
        item.section(&ROUTING_GROUP, &mut group)?;
        if groups
            .iter()
            .any(|other| other.group_name == group.group_name)
        {
            return Err(item
                .error(format!("two groups are called `{}`", group.group_name))
                .help("give each a name of its own"));
        }
        if let Some((model, other)) = shared_model(&groups, &group) {
            return Err(item
                .error(format!("`{model}` is in the group `{other}` already"))
                .help("LiteLLM lets a model be in one group only"));
        }
        groups.push(group);
        Ok(())
    })?;
    Ok(groups)
}

/// A model that an earlier group claims as well. Groups by priority claim nothing.
fn shared_model<'g>(
    groups: &'g [RoutingGroup],
    group: &'g RoutingGroup,
) -> Option<(&'g String, &'g String)> {
    let claims = |group: &&RoutingGroup| group.routing_strategy != StrategySpec::Priority;
    let earlier = groups.iter().filter(claims);
    Some(group).filter(claims).and_then(|group| {
        earlier.into_iter().find_map(|other| {
            let shared = |model: &&String| other.models.contains(model);
            Some((group.models.iter().find(shared)?, &other.group_name))
        })
    })
}

static ROUTING_GROUP: Section<RoutingGroup> = Section {
    keys: &[
        used("group_name", |group, s| {
            let name = s.text()?.unwrap_or_default();
            if name.is_empty() {
                return Err(s.unaccepted("a name"));
            }
            if name == "default" {
                return Err(s
                    .error("`default` is LiteLLM's own name for the models in no group")
                    .help("give the group another name"));
            }
            group.group_name = name;
            Ok(())
        }),
        used("models", |group, s| {
            s.texts().map(|names| group.models = names)
        }),
        used("routing_strategy", |group, s| {
            let names: Vec<&'static str> = StrategySpec::NAMES
                .into_iter()
                .chain(["priority"])
                .collect();
            if let Some(strategy) = read_strategy(s, &names)? {
                group.routing_strategy = strategy;
            }
            Ok(())
        }),
        used("routing_strategy_args", |group, s| {
            read_args(&mut group.routing_strategy, s)
        }),
        used("model_priorities", |group, s| {
            s.entries(|model, priority| {
                if let Some(number) = priority.whole(1..=i64::from(u32::MAX))? {
                    let number = number.try_into().expect("it is within the range");
                    group.model_priorities.insert(model.to_owned(), number);
                }
                Ok(())
            })
        }),
    ],
    families: &[],
    otherwise: UNKNOWN,
};
