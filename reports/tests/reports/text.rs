//! What a terminal and a pull request get to see, and what is claimed there.

use reports::{ArmRecord, SweepRecord, console, findings, headline, markdown};

use crate::sweeps::{sweep, with_only};

#[test]
fn a_terminal_gets_the_finding_first_and_then_the_best_the_reference_and_the_worst() {
    insta::assert_snapshot!(console(&against_first()));
}

#[test]
fn a_pull_request_gets_every_arm() {
    insta::assert_snapshot!(markdown(&with_only(&sweep(10, 600), &["1", "60"])));
}

#[test]
fn a_clear_winner_is_named_with_its_lead_and_its_interval() {
    let text = headline(&against_first());

    assert!(text.contains(" wins: goodput "), "{text}");
    assert!(text.contains("95 % interval +"), "{text}");
    assert!(
        text.contains("statistically clear after Holm's correction for"),
        "{text}"
    );
}

#[test]
fn arms_that_do_the_same_have_no_winner() {
    // Given two arms that are the same but for the name of one,
    let mut sweep = two_alike();
    sweep.arms[1].labels[0].1 = "least-busy".into();

    let text = headline(&sweep);

    assert!(text.contains("same value in every run"), "{text}");
    assert!(!text.contains("wins"), "{text}");
}

#[test]
fn an_interval_that_contains_zero_is_no_winner() {
    // Given a reference that is nearly as good as the best,
    let text = headline(&sweep(10, 1_500));

    assert!(
        text.starts_with("No clear winner over the reference"),
        "{text}"
    );
    assert!(text.contains("The interval contains zero"), "{text}");
    assert!(!text.contains("wins"), "{text}");
}

#[test]
fn few_replications_are_said_not_to_be_a_claim() {
    let few = findings(&sweep(3, 200)).warnings.join(" ");
    let one = findings(&sweep(1, 200));

    assert!(
        few.contains("3 replications are too few for a claim"),
        "{few}"
    );
    assert!(
        one.warnings.join(" ").contains("1 replication is too few"),
        "{:?}",
        one.warnings
    );
    assert!(
        one.headline.join(" ").contains("no interval"),
        "{:?}",
        one.headline
    );
}

#[test]
fn replications_that_are_all_alike_are_called_out() {
    let mut sweep = two_alike();
    for arm in &mut sweep.arms {
        let first = arm.runs[0].clone();
        for (run, replication) in arm.runs.iter_mut().zip(0..) {
            *run = first.clone();
            run.replication = replication;
        }
    }

    let warnings = findings(&sweep).warnings.join(" ");
    assert!(
        warnings.contains("All replications of each arm are identical"),
        "{warnings}"
    );
}

#[test]
fn where_every_arm_succeeds_alike_latency_decides() {
    let mut sweep = two_alike();
    for arm in &mut sweep.arms {
        for run in &mut arm.runs {
            (run.failed, run.good) = (0, None);
        }
    }

    let text = headline(&sweep);
    assert!(text.contains("the same for all arms"), "{text}");
    assert!(text.contains("latency p99"), "{text}");
}

#[test]
fn without_a_service_level_success_takes_the_place_of_goodput() {
    let mut sweep = sweep(10, 200);
    sweep
        .arms
        .iter_mut()
        .flat_map(|arm| &mut arm.runs)
        .for_each(|run| run.good = None);

    let text = headline(&sweep);
    assert!(
        text.contains("success") && !text.contains("goodput"),
        "{text}"
    );
}

#[test]
fn a_lone_arm_is_described_and_not_compared() {
    let mut sweep = sweep(10, 200);
    sweep.arms.truncate(1);
    (sweep.axes, sweep.arms[0].labels, sweep.reference) = (Vec::new(), Vec::new(), 0);

    let text = headline(&sweep);
    assert!(text.starts_with("This configuration: goodput "), "{text}");
    assert!(console(&sweep).contains("1 arm × 10 replications"));
}

#[test]
fn an_interrupted_sweep_is_marked_and_still_compared() {
    // Given a sweep whose last arms have no run and whose reference has half of its own,
    let mut sweep = sweep(10, 200);
    sweep.partial = true;
    for arm in sweep.arms.iter_mut().skip(10) {
        arm.runs.clear();
    }
    sweep.arms[sweep.reference].runs.truncate(5);

    let text = console(&sweep);

    assert!(text.starts_with("PARTIAL"), "{text}");
    assert!(
        headline(&sweep).contains("5 paired runs"),
        "{}",
        headline(&sweep)
    );
}

#[test]
fn a_sweep_without_runs_says_so() {
    let empty = SweepRecord {
        arms: vec![ArmRecord::default()],
        ..SweepRecord::default()
    };

    assert_eq!(
        headline(&empty),
        "No run was finished, so there is nothing to report."
    );
}

/// The whole sweep, compared with an arm that neither retries nor cools for long.
fn against_first() -> SweepRecord {
    SweepRecord {
        reference: 0,
        ..sweep(10, 600)
    }
}

/// Two arms with the same runs.
fn two_alike() -> SweepRecord {
    let mut sweep = sweep(10, 200);
    sweep.arms.truncate(2);
    sweep.arms[1].runs = sweep.arms[0].runs.clone();
    sweep.reference = 0;
    sweep
}

#[test]
fn an_arm_that_leads_by_p99_alone_is_said_to_lead_by_that_and_by_nothing_else() {
    let mut sweep = sweep(3, 300);
    sweep.arms.truncate(3);
    for (arm, completed) in sweep.arms.iter_mut().zip([290, 290, 200]) {
        for run in &mut arm.runs {
            (run.requests, run.cancelled, run.good) = (300, 0, None);
            (run.completed, run.failed) = (completed, 300 - completed);
        }
    }
    let told = [0, 1].map(|reference| {
        sweep.reference = reference;
        headline(&sweep)
    });

    let leads = told.iter().filter(|text| {
        text.contains("leads by p99 latency only: its success")
            && !text.contains("best success")
            && !text.contains("wins: success")
    });
    assert_eq!(leads.count(), 1, "{told:?}");
}
