//! A setting that is a number: where a metric falls off along it.

use reports::{ArmRecord, AxisRecord, RunRecord, SweepRecord, console, findings, plots::draw_all};

/// Ten replications of 1,000 requests for each cooldown time and number of allowed failures, with these
/// failures; replication i has i more.
fn sweep(failed: &[(&str, [u64; 5])]) -> SweepRecord {
    let times = ["1", "5", "30", "120", "300"];
    let mut arms = Vec::new();
    for (allowed, failed) in failed {
        for (time, failed) in times.iter().zip(failed) {
            let run = |replication: u32| {
                let failed = failed + u64::from(replication);
                RunRecord {
                    arm: arms.len(),
                    replication,
                    duration_s: 60.0,
                    end_s: 60.0,
                    requests: 1_000,
                    completed: 1_000 - failed,
                    failed,
                    ..RunRecord::default()
                }
            };
            let labels = [("cooldown_time", *time), ("allowed_fails", *allowed)];
            let labels = labels.map(|(axis, value)| (axis.to_owned(), value.to_owned()));
            arms.push(ArmRecord {
                labels: labels.to_vec(),
                runs: (0..10).map(run).collect(),
            });
        }
    }
    let axis = |name: &str, values: Vec<String>| AxisRecord {
        name: name.to_owned(),
        values,
    };
    let allowed = failed.iter().map(|(allowed, _)| (*allowed).to_owned());
    SweepRecord {
        title: "made up".into(),
        axes: vec![
            axis("cooldown_time", times.map(str::to_owned).to_vec()),
            axis("allowed_fails", allowed.collect()),
        ],
        replications: 10,
        arms,
        ..SweepRecord::default()
    }
}

#[test]
fn a_cliff_is_told_with_the_value_from_which_on_it_falls_and_only_where_it_is() {
    let sweep = sweep(&[("2", [1, 1, 2, 90, 400]), ("10", [1, 1, 1, 1, 1])]);

    let found = findings(&sweep).axes;

    let cliffs: Vec<&String> = found.iter().filter(|line| line.contains("cliff")).collect();
    assert_eq!(cliffs.len(), 1, "{found:?}");
    assert!(
        cliffs[0].starts_with("cooldown_time has a cliff at allowed_fails 2: success is best at 1 and clearly worse from"),
        "{}",
        cliffs[0]
    );
    assert!(
        cliffs[0].ends_with("; at 300 it is 59.55 %."),
        "{}",
        cliffs[0]
    );
}

#[test]
fn a_slope_that_is_not_deep_is_no_cliff() {
    let sweep = sweep(&[("2", [1, 2, 3, 4, 30]), ("10", [1, 1, 1, 1, 1])]);

    let found = findings(&sweep).axes;

    assert!(
        !found.iter().any(|line| line.contains("cliff")),
        "{found:?}"
    );
}

#[test]
fn the_picture_and_the_terminal_show_each_line() {
    let sweep = sweep(&[("2", [1, 1, 2, 90, 400]), ("10", [1, 1, 1, 1, 1])]);

    let drawings = draw_all(&sweep).unwrap();
    let curve = drawings
        .iter()
        .find(|drawing| drawing.name == "curve")
        .unwrap();
    assert!(
        curve
            .caption
            .contains("cooldown_time has a cliff at allowed_fails 2")
    );
    assert!(curve.svg.contains("allowed_fails 10"));

    let text = console(&sweep);
    assert!(
        text.contains("Success by allowed_fails (down) and cooldown_time"),
        "{text}"
    );
    let is_drawn = |line: &&str| line.starts_with("  2  ") && line.contains('█');
    let line = text.lines().find(is_drawn).unwrap();
    assert!(
        line.contains("█ 99.45 %") && line.contains("▁ 59.55 %"),
        "{line}"
    );
    assert!(!text.contains('\u{1b}'), "no colours");
}

#[test]
fn few_values_or_many_axes_have_no_curve() {
    let mut few = sweep(&[("2", [1, 1, 2, 90, 400])]);
    few.axes[0].values.truncate(3);
    few.arms.truncate(3);

    let drawings = draw_all(&few).unwrap();

    assert!(drawings.iter().all(|drawing| drawing.name != "curve"));
}
