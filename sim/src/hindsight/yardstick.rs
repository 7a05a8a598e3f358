//! The bound for many runs: once for each luck, whatever the strategy.

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Arc};

use reports::RunRecord;
use scenarios::RunPlan;

use super::{hindsight_good, luck::Reach};
use crate::{SimError, Watch, for_plans};

/// What the bound of a plan depends on: workload and providers by their addresses, the replication's
/// seed, the service level, whom requests can reach, and whether answers are cached.
type Key = (usize, usize, u64, [Option<u128>; 2], Vec<Vec<usize>>, bool);

/// Sets [`RunRecord::hindsight_good`] of every record whose plan is among `plans`. Arms that differ in
/// settings of the router alone share one bound for each replication. A run in which a request made as
/// many attempts as are looked at, or more, stays without. False if it was called off.
///
/// # Errors
///
/// As [`hindsight_good`].
pub fn add_hindsight(
    records: &mut [RunRecord],
    plans: &[RunPlan],
    jobs: NonZeroUsize,
    watch: &impl Watch,
) -> Result<bool, SimError> {
    let mut keys: BTreeMap<Key, usize> = BTreeMap::new();
    let mut alike: Vec<RunPlan> = Vec::new();
    let mut of_run: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    for plan in plans {
        let at = *keys.entry(key(plan)).or_insert_with(|| {
            alike.push(plan.clone());
            alike.len() - 1
        });
        of_run.insert((plan.arm, plan.replication), at);
    }
    let bounds = for_plans(&alike, jobs, watch, hindsight_good)?;
    if bounds.len() < alike.len() {
        return Ok(false);
    }
    for record in records {
        let at = of_run.get(&(record.arm, record.replication));
        let many = record.requests_by_attempts.last().copied().unwrap_or(0);
        record.hindsight_good = at.and_then(|&at| bounds[at]).filter(|_| many == 0);
    }
    Ok(true)
}

fn key(plan: &RunPlan) -> Key {
    let nanos = |bound: Option<std::time::Duration>| bound.map(|bound| bound.as_nanos());
    (
        Arc::as_ptr(&plan.workload).addr(),
        Arc::as_ptr(&plan.providers).addr(),
        plan.seed.0,
        [nanos(plan.slo.latency), nanos(plan.slo.first_token)],
        Reach::of(plan).into_places(),
        plan.router.settings.cache_responses,
    )
}

const _: () = assert!(
    super::ATTEMPTS as usize == RunRecord::MOST_ATTEMPTS,
    "the record tells of every run with more attempts than are looked at",
);
