//! Many runs over several threads: the same finding for any number of them.

use std::{
    num::NonZeroUsize,
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use router::Seed;
use serde_json::Value;

use super::{check::check_tree, draws::Draws, generate::scenario};
use crate::{
    Watch,
    invariants::{Checked, Violation},
};

/// What came of some runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Swarmed {
    /// Runs that were done, up to the first that broke an invariant.
    pub runs: u64,
    /// Requests that arrived in them.
    pub requests: u64,
    /// Attempts that were sent in them.
    pub attempts: u64,
    /// The first run that broke an invariant.
    pub broken: Option<Broken>,
}

/// A run that broke an invariant.
#[derive(Clone, PartialEq, Debug)]
pub struct Broken {
    /// Its number.
    pub run: u64,
    /// The whole scenario.
    pub scenario: Value,
    /// The first violation.
    pub violation: Violation,
}

/// Does the runs of these numbers under a seed, each a scenario of its own, until one breaks an
/// invariant: of several it is the one of the lowest number.
#[must_use]
pub fn swarm(seed: Seed, runs: Range<u64>, threads: NonZeroUsize, watch: &impl Watch) -> Swarmed {
    let next = AtomicU64::new(runs.start);
    let first_broken = AtomicU64::new(u64::MAX);
    let done: Mutex<Vec<(u64, Checked, Value)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let run = next.fetch_add(1, Ordering::Relaxed);
            let beyond = run >= runs.end || run > first_broken.load(Ordering::Relaxed);
            if beyond || watch.is_cancelled() {
                return;
            }
            let tree = scenario(&mut Draws::of_run(seed, run));
            let checked = check_tree(&tree);
            if !checked.violations.is_empty() {
                first_broken.fetch_min(run, Ordering::Relaxed);
            }
            let kept = if checked.violations.is_empty() {
                Value::Null
            } else {
                tree
            };
            if let Ok(mut done) = done.lock() {
                done.push((run, checked, kept));
            }
            watch.advanced(1.0);
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.get() {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(run, ..)| *run);
    let mut result = Swarmed::default();
    for (run, checked, scenario) in done {
        result.runs += 1;
        result.requests += checked.requests;
        result.attempts += checked.attempts;
        if let Some(violation) = checked.violations.into_iter().next() {
            result.broken = Some(Broken {
                run,
                scenario,
                violation,
            });
            return result;
        }
    }
    result
}
