//! Strategies with their arguments, and routing groups, as a vector's configuration says them.

use router::{StrategySpec, config::RoutingGroup, strategy::LowestLatencyArgs};
use serde_json::Value;

use crate::setup::{as_u32, parse, seconds};

pub(crate) fn strategy(name: &Value) -> Result<StrategySpec, String> {
    // No strategy is one that finds nobody.
    let none = "provider-budget-routing";
    let name = if name.is_null() {
        none
    } else {
        name.as_str().unwrap_or_default()
    };
    StrategySpec::named(name).ok_or_else(|| format!("unknown routing_strategy {name}"))
}

pub(crate) fn routing_group(group: &Value) -> Result<RoutingGroup, String> {
    let mut routing_strategy = strategy(&group["routing_strategy"])?;
    if let Some(args) = group.get("routing_strategy_args") {
        set_args(&mut routing_strategy, args);
    }
    Ok(RoutingGroup {
        group_name: parse(&group["group_name"]),
        models: parse(&group["models"]),
        routing_strategy,
        model_priorities: group.get("model_priorities").map(parse).unwrap_or_default(),
    })
}

pub(crate) fn set_args(strategy: &mut StrategySpec, args: &Value) {
    match strategy {
        StrategySpec::LowestLatency(latency) => *latency = latency_args(args),
        StrategySpec::UsageBased(usage) | StrategySpec::UsageBasedV2(usage) => {
            usage.ttl = args.get("ttl").map_or(usage.ttl, seconds);
        }
        StrategySpec::SimpleShuffle
        | StrategySpec::LeastBusy
        | StrategySpec::LowestCost
        | StrategySpec::ProviderBudget
        | StrategySpec::Priority => {}
    }
}

fn latency_args(args: &Value) -> LowestLatencyArgs {
    let default = LowestLatencyArgs::default();
    let number = |key: &str| args.get(key).and_then(Value::as_f64);
    LowestLatencyArgs {
        ttl: args.get("ttl").map_or(default.ttl, seconds),
        lowest_latency_buffer: number("lowest_latency_buffer")
            .unwrap_or(default.lowest_latency_buffer),
        max_latency_list_size: args
            .get("max_latency_list_size")
            .map_or(default.max_latency_list_size, |v| as_u32(v) as usize),
        ttft_percentile: number("ttft_percentile"),
        unmeasured: None,
    }
}
