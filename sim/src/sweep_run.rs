//! Many plans over several threads: the same records in the same order for any number of them.
//!
//! A run is a pure function of its plan, so threads share nothing but the list. They take plans
//! replication by replication, every arm of the first before any of the second: a sweep that is
//! called off leaves arms that can still be compared.

use std::{
    num::NonZeroUsize,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use reports::{ArmRecord, AxisRecord, BySender, FaultSpanRecord, Recorder, RunRecord, SweepRecord};
use router::{Instant, Observer, RequestId};
use scenarios::{RunPlan, Scenario, lint::Severity};

use crate::{
    RunEnd, SimError, Watch, recording::recorder_setup, settled::Settled, simulate_watched,
};

/// Runs a plan and gives what a report needs of it.
///
/// # Errors
///
/// As [`simulate_watched`].
pub fn record_run(plan: &RunPlan, watch: &impl Watch) -> Result<RunRecord, SimError> {
    let setup = recorder_setup(plan)?;
    let mut recorder = Recorder::new(setup.clone());
    let names = plan.workload.sender_names();
    let (run_end, senders) = if names.is_empty() {
        (heard(plan, &mut recorder, watch)?, Vec::new())
    } else {
        let others = names.len();
        let names = names.iter().cloned().chain(["(others)".to_owned()]);
        let sender = |request: RequestId| plan.workload.sender(plan.seed, request.call());
        let of = |request| sender(request).unwrap_or(others);
        let mut by_sender = BySender::new(names.collect(), &setup, of);
        let run_end = heard(plan, &mut (&mut recorder, &mut by_sender), watch)?;
        (run_end, by_sender.finish())
    };
    let mut record = recorder.finish(run_end.end);
    record.senders = senders;
    record.arm = plan.arm;
    record.replication = plan.replication;
    record.fault_spans = fault_span_records(&run_end);
    record.calls = run_end.calls;
    record.warm_up_s = plan.warm_up.as_secs_f64();
    Ok(record)
}

/// Runs a plan and lets all of it be heard but its start-up.
fn heard(
    plan: &RunPlan,
    observer: &mut impl Observer,
    watch: &impl Watch,
) -> Result<RunEnd, SimError> {
    if plan.warm_up.is_zero() {
        return simulate_watched(plan, observer, watch);
    }
    let mut settled = Settled::new(Instant::ZERO + plan.warm_up, observer);
    simulate_watched(plan, &mut settled, watch)
}

/// Runs plans on `jobs` threads. The records come in the order of the plans, without those that
/// were called off.
///
/// # Errors
///
/// The first error in the order of the plans. A plan that was called off is none.
pub fn run_plans(
    plans: &[RunPlan],
    jobs: NonZeroUsize,
    watch: &impl Watch,
) -> Result<Vec<RunRecord>, SimError> {
    for_plans(plans, jobs, watch, |plan| record_run(plan, watch))
}

/// Does `run` with plans on `jobs` threads. What it gives comes in the order of the plans, without
/// those that were called off.
///
/// # Errors
///
/// As [`run_plans`].
pub fn for_plans<T: Send + Sync>(
    plans: &[RunPlan],
    jobs: NonZeroUsize,
    watch: &impl Watch,
    run: impl Fn(&RunPlan) -> Result<T, SimError> + Sync,
) -> Result<Vec<T>, SimError> {
    let mut by_replication: Vec<usize> = (0..plans.len()).collect();
    by_replication.sort_by_key(|&index| plans[index].replication);
    let done: Vec<OnceLock<Result<T, SimError>>> = plans.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);

    let work = || {
        while let Some(&index) = by_replication.get(next.fetch_add(1, Ordering::Relaxed)) {
            if watch.is_cancelled() {
                return;
            }
            let is_first = done[index].set(run(&plans[index])).is_ok();
            assert!(is_first, "each plan is taken once");
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get().min(plans.len()) {
            scope.spawn(work);
        }
        work();
    });

    done.into_iter()
        .filter_map(OnceLock::into_inner)
        .filter(|given| !matches!(given, Err(SimError::Cancelled)))
        .collect()
}

/// Puts the records of a scenario's runs into the shape that reports are made from.
///
/// `command` is what the user typed. Arms without a finished run stay, empty; if a run is missing,
/// the record is marked partial.
#[must_use]
pub fn sweep_record(scenario: &Scenario, runs: Vec<RunRecord>, command: String) -> SweepRecord {
    let planned = scenario.arms().len() * scenario.replications() as usize;
    let partial = runs.len() < planned;
    let mut arms: Vec<ArmRecord> = scenario
        .arms()
        .iter()
        .map(|arm| ArmRecord {
            labels: arm.labels.clone(),
            runs: Vec::new(),
        })
        .collect();
    for run in runs {
        arms[run.arm].runs.push(run);
    }
    SweepRecord {
        title: scenario.name().to_owned(),
        purpose: scenario.purpose().to_owned(),
        command,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: scenario.seed(),
        replications: scenario.replications(),
        profile: scenario
            .plan(scenario.reference(), 0)
            .router
            .profile
            .name
            .as_str()
            .to_owned(),
        axes: scenario
            .axes()
            .iter()
            .map(|axis| AxisRecord {
                name: axis.name.clone(),
                values: axis.values.clone(),
            })
            .collect(),
        arms,
        reference: scenario.reference(),
        partial,
        answer: Vec::new(),
        capacity: None,
        probe: None,
        notes: notes(scenario),
        doubts: scenario.unused_providers().cloned().collect(),
        ignored: scenario.ignored_in_lines().to_vec(),
        scenario_text: scenario.text().to_owned(),
    }
}

/// What the reader should know of how the scenario was understood, and of what is wrong in its config.
fn notes(scenario: &Scenario) -> Vec<String> {
    let findings = scenario.findings().iter();
    let told = findings.filter(|finding| finding.severity < Severity::Note);
    let told = told.map(ToString::to_string);
    let doubts: Vec<&String> = scenario.unused_providers().collect();
    let notes = scenario.notes().iter();
    let notes = notes.filter(|note| !doubts.contains(note));
    notes.cloned().chain(told).collect()
}

pub(crate) fn fault_span_records(run_end: &RunEnd) -> Vec<FaultSpanRecord> {
    let seconds = Instant::as_secs_f64;
    (0..)
        .zip(&run_end.fault_spans)
        .flat_map(|(deployment, spans)| {
            spans.iter().map(move |span| FaultSpanRecord {
                deployment,
                kind: span.kind.to_owned(),
                from_s: seconds(span.from),
                to_s: seconds(span.to),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use scenarios::{LoadOptions, Source};

    use super::*;

    fn scenario() -> Scenario {
        let text = "
purpose: A test of sweeps.
kind: steady
replications: 3
litellm:
  model_list:
    - {model_name: m, litellm_params: {model: openai/a}, model_info: {id: a}}
providers: {default: {latency: {first_token: {constant: {ms: 10}}}}}
workload:
  arrivals: {poisson: {per_second: 50}}
  lengths: {prompt: {constant: 1}, output: {constant: 1}}
  duration_s: 10
sweep: {num_retries: [0, 1]}
";
        let source = Source::Text {
            name: "test".to_owned(),
            text: text.to_owned(),
        };
        Scenario::load(&source, &LoadOptions::default()).unwrap()
    }

    /// Calls the runs off once this many have been done.
    struct Patience {
        runs: usize,
        told: Mutex<f64>,
    }

    impl Watch for Patience {
        fn advanced(&self, share: f64) {
            *self.told.lock().unwrap() += share;
        }

        fn is_cancelled(&self) -> bool {
            *self.told.lock().unwrap() > self.runs as f64 - 1e-9
        }
    }

    fn run(runs: usize) -> (Vec<RunRecord>, f64) {
        let patience = Patience {
            runs,
            told: Mutex::new(0.0),
        };
        let records = run_plans(&scenario().plans(), NonZeroUsize::MIN, &patience).unwrap();
        (records, patience.told.into_inner().unwrap())
    }

    fn places(records: &[RunRecord]) -> Vec<(usize, u32)> {
        records
            .iter()
            .map(|record| (record.arm, record.replication))
            .collect()
    }

    #[test]
    fn records_come_in_the_order_of_the_plans() {
        let (records, told) = run(100);

        assert_eq!(
            places(&records),
            [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
        );
        assert!((told - 6.0).abs() < 1e-9, "{told} runs were told");
    }

    #[test]
    fn a_sweep_that_is_called_off_keeps_what_is_finished_arm_by_arm() {
        let (records, _) = run(3);

        assert_eq!(places(&records), [(0, 0), (0, 1), (1, 0)]);
        let sweep = sweep_record(&scenario(), records, "test".to_owned());
        assert!(sweep.partial);
        assert_eq!(sweep.arms[0].runs.len(), 2);
        assert_eq!(sweep.arms[1].runs.len(), 1);
    }

    #[test]
    fn arms_meet_the_same_requests_in_the_same_replication() {
        let (records, _) = run(100);

        assert_eq!(records[0].requests, records[3].requests);
        assert_ne!(records[0].requests, records[1].requests);
        assert!(!sweep_record(&scenario(), records, "test".to_owned()).partial);
    }

    #[test]
    fn what_arrives_in_the_start_up_is_counted_nowhere_and_all_else_as_ever() {
        let plan = scenario().plan(1, 0);
        let settled = RunPlan {
            warm_up: std::time::Duration::from_secs(5),
            ..plan.clone()
        };

        let (all, late) = (
            record_run(&plan, &()).unwrap(),
            record_run(&settled, &()).unwrap(),
        );

        // Buckets of a 240th of ten seconds: 120 of them before the fifth second.
        let early = all.timeline.buckets.iter().take(120);
        let early: u64 = early.map(|bucket| u64::from(bucket.arrived)).sum();
        assert!(early > 200, "{early}");
        assert_eq!(late.requests, all.requests - early);
        assert_eq!(late.requests, late.completed + late.failed);
        assert!((late.warm_up_s - 5.0).abs() < 1e-12);
    }
}
