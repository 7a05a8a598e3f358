//! How many requests could have been answered well by a router that knows everything beforehand: every
//! outage, every quota and the luck of every attempt. No strategy can do better, so it is a yardstick.
//!
//! It is a bound and no plan: everything that could only hurt is left out (load on providers, queues
//! for their slots, random errors, slow-downs, lowered limits, what failed attempts use up, and the
//! router's own rules). What is kept:
//!
//! - a good answer comes from one attempt, sent between the request's arrival and the last moment from
//!   which it could still be in time with the least latency that the request draws there in any of its
//!   first [`ATTEMPTS`] attempts;
//! - no attempt succeeds during an outage (`outage` and `flapping`, which fail all of them);
//! - a quota lets through no more than its limit of requests and tokens in each minute (`quota`).
//!
//! Requests are then spread over quotas and minutes as a maximum flow, with requests that have the same
//! choices taken together. That takes O(requests × deployments) draws at least and [`ATTEMPTS`] times as
//! many at most, and a flow over as many nodes as there are quotas × minutes and kinds of choices.

mod flow;
mod luck;
mod quota;
mod yardstick;

pub use yardstick::add_hindsight;

use std::collections::BTreeMap;

use router::Instant;
use scenarios::RunPlan;

use self::{
    flow::Flow,
    luck::{Chances, Reach},
    quota::{Meters, Pools},
};
use crate::SimError;

/// Attempts of a request whose luck is looked at. A run in which a request makes more is not bounded.
pub const ATTEMPTS: u16 = 16;

/// The most requests that could be answered well under a plan, whatever routes them. `None` where that
/// is not bounded: without a bound on latency there is always a later moment, and answers of the
/// response cache need nobody.
///
/// # Errors
///
/// If a provider cannot be built.
pub fn hindsight_good(plan: &RunPlan) -> Result<Option<u64>, SimError> {
    if plan.router.settings.cache_responses
        || (plan.slo.latency.is_none() && plan.slo.first_token.is_none())
    {
        return Ok(None);
    }
    let bounds = [plan.slo.latency, plan.slo.first_token]
        .into_iter()
        .flatten();
    let patience = bounds.max().unwrap_or_default();
    if minute(plan, Instant::ZERO + plan.workload.duration() + patience) >= MINUTES_AT_MOST {
        return Ok(None);
    }
    let reach = Reach::of(plan);
    let pools = Pools::of(plan);
    let mut chances = Chances::new(plan)?;
    let mut meters = Meters::new(&pools);
    // Requests with the same choices count together.
    let mut kinds: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    let mut good = 0;
    for (number, arrival) in (0..).zip(plan.workload.arrivals(plan.seed)) {
        let choices = chances.choices(number, &arrival, reach.of_model(arrival.model), &pools);
        if choices.is_free {
            good += 1;
        } else if !choices.places.is_empty() {
            for place in &choices.places {
                meters.add(*place, &arrival);
            }
            *kinds.entry(choices.places).or_default() += 1;
        }
    }
    let mut flow = Flow::default();
    let nodes = meters.build(&mut flow);
    for (places, count) in kinds {
        let kind = flow.node();
        for place in places {
            flow.edge(nodes[&place], kind, count);
        }
        flow.edge(kind, Flow::SINK, count);
    }
    Ok(Some(good + flow.most()))
}

/// A quota's minute: the quota's number in the upper half, the minute in the lower.
fn place(pool: u32, minute: u32) -> u32 {
    pool << 16 | minute
}

/// The minute of the wall clock, counted from that in which the run begins.
fn minute(plan: &RunPlan, at: Instant) -> u32 {
    let epoch = plan.router.epoch;
    let minute = epoch.minute(at) - epoch.minute(Instant::ZERO);
    u32::try_from(minute)
        .unwrap_or(u32::MAX)
        .min(MINUTES_AT_MOST)
}

/// Runs of 45 days are not bounded: their minutes have no number.
const MINUTES_AT_MOST: u32 = 0xffff;
