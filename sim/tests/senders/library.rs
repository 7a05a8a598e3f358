//! What the library's scenarios about senders and their load claim, and what their tables show.

use std::num::NonZeroUsize;

use reports::{SenderRecord, SweepRecord};
use scenarios::{LoadOptions, Scenario, Source};
use sim::{Finding, judge, run_plans, sweep_record};

/// A scenario of the library as it is run, its expectations checked.
fn run(name: &str) -> SweepRecord {
    let source = Source::Library(name.to_owned());
    let scenario = Scenario::load(&source, &LoadOptions::default()).unwrap();
    let runs = run_plans(&scenario.plans(), NonZeroUsize::new(2).unwrap(), &()).unwrap();
    let sweep = sweep_record(&scenario, runs, "test".to_owned());
    let verdicts = judge(scenario.expect(), &sweep).unwrap();
    assert!(verdicts.len() >= 3, "{verdicts:?}");
    for verdict in verdicts {
        assert_eq!(verdict.finding, Finding::Holds, "{verdict:?}");
    }
    sweep
}

/// A number of one sender, over all runs of the arm of these values.
fn of(sweep: &SweepRecord, values: &[&str], name: &str, read: fn(&SenderRecord) -> u64) -> f64 {
    let arm = sweep.arms.iter().find(|arm| {
        let labels: Vec<&str> = arm.labels.iter().map(|(_, own)| own.as_str()).collect();
        values.iter().all(|value| labels.contains(value))
    });
    let senders = arm.unwrap().runs.iter().flat_map(|run| &run.senders);
    let own: Vec<_> = senders.filter(|sender| sender.name == name).collect();
    assert_eq!(own.len(), 10, "{name} in each replication");
    #[expect(clippy::cast_precision_loss, reason = "a few ten thousand requests")]
    let [part, whole] = [read, |sender: &SenderRecord| sender.requests]
        .map(|read| own.iter().copied().map(read).sum::<u64>() as f64);
    part / whole
}

#[test]
fn copies_on_the_same_quota_cost_answers_and_on_their_own_nothing() {
    let sweep = run("traffic-mirroring");

    let of_no_senders = sweep.arms.iter().flat_map(|arm| &arm.runs);
    assert!(of_no_senders.into_iter().all(|run| run.senders.is_empty()));
}

#[test]
fn hits_draw_the_least_busy_traffic_of_1_92_to_one_deployment() {
    let sweep = run("response-cache");
    let hits = |name| of(&sweep, &["true", "litellm-1.92"], name, |s| s.cache_hits);

    assert!(hits("help-desk") > 0.4);
    assert_eq!(hits("writers"), 0.0);
}

#[test]
fn a_priority_of_1_92_makes_wait_instead_of_fail_and_the_number_does_not_matter() {
    let sweep = run("priority-queue");
    let served = |values: [&str; 2], name| of(&sweep, &values, name, |s| s.completed);

    let with = ["1", "litellm-1.92"];
    let (urgent, patient) = (served(with, "urgent"), served(with, "patient"));
    assert!(
        urgent > 0.95 && (urgent - patient).abs() < 0.02,
        "{urgent} {patient}"
    );
    // Who has none pays for it: the others come before nobody and find deployments cooled.
    let (others_with, others) = (
        served(with, "(others)"),
        served(["null", "litellm-1.92"], "(others)"),
    );
    assert!(others_with < others - 0.05, "{others_with} {others}");
    let new = |values, name| served(values, name);
    assert_eq!(
        new(["1", "litellm-1.110"], "urgent"),
        new(["null", "litellm-1.110"], "urgent")
    );
}
