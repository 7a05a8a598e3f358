//! `routelab swarm`: random scenarios, or one that is given, under the checkers of every invariant.

use std::{fmt::Write as _, fs, num::NonZeroUsize, thread};

use router::Seed;
use scenarios::RunPlan;
use serde_json::Value;
use sim::{
    invariants::{Checked, check_plan},
    swarm::{Broken, Swarmed, check_tree, is_own, plan_of, shrink, swarm as run_swarm, text},
};

use super::{Ended, quoted};
use crate::{
    cli::{ScenarioArgs, SwarmArgs},
    complaint::Complaint,
    output,
    progress::{Progress, note},
};

pub(super) fn swarm(args: &SwarmArgs) -> Result<Ended, Complaint> {
    // A violation tells what a panic said; its trace is nobody's answer.
    std::panic::set_hook(Box::new(|_| {}));
    match &args.scenario {
        Some(scenario) => check_one(scenario),
        None => random(args),
    }
}

/// A given scenario: the first replication of each arm.
fn check_one(name: &str) -> Result<Ended, Complaint> {
    let scenario = ScenarioArgs::of_name(name).load()?;
    let own = fs::read_to_string(name).ok();
    let own: Option<Value> = own.and_then(|text| yaml_serde::from_str(&text).ok());
    let own = own.filter(is_own);
    let mut told = String::new();
    let mut all = Checked::default();
    for arm in 0..scenario.arms().len() {
        let checked = match &own {
            Some(tree) => check_tree(tree),
            None => check_plan(&scenario.plan(arm, 0)),
        };
        all.requests += checked.requests;
        all.attempts += checked.attempts;
        for violation in checked.violations {
            let _ = writeln!(told, "Arm {arm} breaks {violation}.");
            all.violations.push(violation);
        }
    }
    if all.violations.is_empty() {
        let arms = scenario.arms().len();
        let Checked {
            requests, attempts, ..
        } = all;
        output::print(&format!(
            "No invariant is broken in {arms} {}: {requests} requests, {attempts} attempts.\n",
            if arms == 1 { "run" } else { "runs" },
        ))?;
        return Ok(Ended::Done);
    }
    output::print(&told)?;
    Ok(Ended::ExpectationFailed)
}

fn random(args: &SwarmArgs) -> Result<Ended, Complaint> {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let threads = args.jobs.unwrap_or(cores);
    let last = match args.runs {
        0 => u64::MAX,
        runs => args.first.saturating_add(runs),
    };
    let mut all = Swarmed::default();
    let mut next = args.first;
    let mut interrupted = false;
    while next < last && !interrupted && all.broken.is_none() {
        let until = last.min(next.saturating_add(BATCH));
        let batch = one_batch(args.seed, next..until, threads);
        interrupted = batch.1;
        all.runs += batch.0.runs;
        all.requests += batch.0.requests;
        all.attempts += batch.0.attempts;
        all.broken = batch.0.broken;
        next = until;
        if all.broken.is_none() && next < last {
            note(&format!("{} runs, and no invariant is broken", all.runs));
        }
    }
    match &all.broken {
        Some(broken) => tell_broken(args, broken),
        None => {
            output::print(&clean(args.seed, &all))?;
            Ok(match interrupted && args.runs > 0 {
                true => Ended::Interrupted,
                false => Ended::Done,
            })
        }
    }
}

fn one_batch(seed: u64, runs: std::ops::Range<u64>, threads: NonZeroUsize) -> (Swarmed, bool) {
    let count = usize::try_from(runs.end - runs.start).unwrap_or(usize::MAX);
    let progress = Progress::start_batch(count, threads.get());
    let swarmed = run_swarm(Seed(seed), runs, threads, &progress);
    (swarmed, progress.finish())
}

fn clean(seed: u64, all: &Swarmed) -> String {
    let Swarmed {
        runs,
        requests,
        attempts,
        ..
    } = all;
    format!(
        "No invariant is broken in {runs} runs of seed {seed}: {requests} requests, {attempts} attempts.\n"
    )
}

/// Makes the scenario small, and says how to meet the fault again.
fn tell_broken(args: &SwarmArgs, broken: &Broken) -> Result<Ended, Complaint> {
    let Broken {
        run,
        scenario,
        violation,
    } = broken;
    note(&format!("run {run} breaks {violation}; making it small"));
    let progress = Progress::start_batch(1, 1);
    let small = shrink(scenario, violation.invariant, args.tries, &progress);
    progress.finish();
    let file = args.out.display().to_string();
    fs::write(&args.out, text(&small)).map_err(|source| Complaint::Write {
        what: file.clone(),
        source,
    })?;
    let again = violation_of(&small).map_or_else(|| violation.to_string(), |one| one.to_string());
    output::print(&format!(
        "Run {run} of seed {} breaks {again}.\n  scenario  {file}: {}\n  again     routelab swarm {}\n  \
         whole     routelab swarm --seed {} --first {run} --runs 1\n",
        args.seed,
        size(&small),
        quoted(&file),
        args.seed,
    ))?;
    Ok(Ended::ExpectationFailed)
}

fn violation_of(small: &Value) -> Option<sim::invariants::Violation> {
    check_tree(small).violations.into_iter().next()
}

/// How small a scenario is.
fn size(small: &Value) -> String {
    let deployments = small["litellm"]["model_list"]
        .as_array()
        .map_or(0, Vec::len);
    let requests = |plan: RunPlan| plan.workload.arrivals(plan.seed).count();
    let requests = plan_of(small).map_or(0, requests);
    let many = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    format!(
        "{}, {}",
        many(deployments, "deployment"),
        many(requests, "request")
    )
}

/// Runs between two lines about how far it is.
const BATCH: u64 = 200;
