//! Sweeps of made-up runs.

use std::time::Duration;

use reports::{ArmRecord, AxisRecord, RunRecord, SweepRecord};
use router::Seed;

use crate::stand_in::{Knobs, record};

/// Three strategies × four cooldown times × two numbers of retries.
pub fn sweep(replications: u32, requests: u64) -> SweepRecord {
    let strategies = [
        ("simple-shuffle", 0.0),
        ("least-busy", 0.25),
        ("latency-based-routing", 0.6),
    ];
    let mut arms = Vec::new();
    for (strategy, caution) in strategies {
        for cooldown_s in [1, 5, 30, 60] {
            for retries in [0, 2] {
                let run = |replication: u32| {
                    let cooldown = Duration::from_secs(cooldown_s);
                    let seed = Seed(42).replication(replication);
                    let knobs = Knobs {
                        caution,
                        cooldown,
                        retries,
                        requests,
                        seed,
                        impatience: 0,
                    };
                    RunRecord {
                        arm: arms.len(),
                        replication,
                        ..record(&knobs)
                    }
                };
                let runs = (0..replications).map(run).collect();
                let labels = [
                    ("routing_strategy", strategy.to_owned()),
                    ("cooldown_time", cooldown_s.to_string()),
                    ("num_retries", retries.to_string()),
                ];
                let labels = labels
                    .map(|(axis, value)| (axis.to_owned(), value))
                    .to_vec();
                arms.push(ArmRecord { labels, runs });
            }
        }
    }
    let axis = |name: &str, values: &[&str]| AxisRecord {
        name: name.into(),
        values: values.iter().map(|&value| value.into()).collect(),
    };
    SweepRecord {
        title: "region-outage".into(),
        purpose: "Which settings ride out one deployment's outage on a conversation trace?".into(),
        command: "routelab run region-outage --seed 42 --reps 10".into(),
        version: "0.1.0".into(),
        seed: 42,
        replications,
        profile: "litellm-1.110".into(),
        axes: vec![
            axis("routing_strategy", &strategies.map(|(name, _)| name)),
            axis("cooldown_time", &["1", "5", "30", "60"]),
            axis("num_retries", &["0", "2"]),
        ],
        reference: 3,
        arms,
        partial: false,
        answer: Vec::new(),
        capacity: None,
        probe: None,
        notes: vec!["read 19,366 = kept 19,366 + dropped 0".into()],
        doubts: Vec::new(),
        ignored: vec!["line 14: general_settings.master_key: not about routing".into()],
        scenario_text: "purpose: Which settings ride out one deployment's outage?\n".into(),
    }
}

/// The arms of a sweep whose cooldown time is one of `cooldowns`.
pub fn with_only(sweep: &SweepRecord, cooldowns: &[&str]) -> SweepRecord {
    let mut sweep = sweep.clone();
    let is_kept = |arm: &ArmRecord| cooldowns.contains(&arm.value_on("cooldown_time").unwrap());
    sweep.arms.retain(is_kept);
    sweep.axes[1]
        .values
        .retain(|value| cooldowns.contains(&value.as_str()));
    sweep.reference = 0;
    sweep
}
