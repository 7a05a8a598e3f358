//! Cooldown is an Erlang loss system: n deployments, requests at Λ a second, each dispatch fails with
//! probability p and at once, every failure cools its deployment for T seconds, nothing is retried.
//! Then cooled deployments are busy servers, failures are customers that arrive at pΛ and stay for T,
//! and all deployments are cooled with probability ErlangB(n, pΛT). A request sees what time averages
//! see (Poisson arrivals), so that the share of requests that find no deployment is that probability.

use reports::{AnswerError, RunRecord};

use crate::{
    figure::{Model, hold_records, share},
    losses::erlang_b,
};

/// One row of parameters.
struct Row {
    seed: u64,
    deployments: u32,
    failure_share: f64,
    per_second: f64,
    cooldown_s: f64,
    counted_s: f64,
}

impl Row {
    fn check(&self) {
        let Self {
            seed,
            deployments,
            failure_share,
            per_second,
            cooldown_s,
            counted_s,
        } = *self;
        // A lone deployment is spared by 1.110's rules and not by 1.92's.
        let profile = match deployments {
            1 => "litellm-1.92",
            _ => "litellm-1.110",
        };
        let records = Model {
            seed,
            profile,
            settings: &format!("allowed_fails: 0, cooldown_time: {cooldown_s}, num_retries: 0"),
            deployments,
            service: "{constant: {ms: 0.001}}",
            provider: &format!("faults: [{{error_rate: {{share: {failure_share}, status: 500}}}}]"),
            per_second,
            counted_s,
            warm_up_s: 2.0 * cooldown_s,
            ..Model::PLAIN
        }
        .records();

        let blocked = |record: &RunRecord| {
            let none_left = |error: &&AnswerError| error.exception == "RouterRateLimitError";
            let refused = record.errors.iter().filter(none_left).map(|e| e.count);
            share(refused.sum(), record.requests)
        };
        let load = failure_share * per_second * cooldown_s;
        let what = format!("{deployments} deployments, {load} Erlang of cooldowns");
        // The rarer of the two is the harder one to know.
        if erlang_b(deployments, load) < 0.5 {
            let what = format!("{what}, all cooled");
            let theory = |k| erlang_b(deployments, load * k);
            hold_records(&what, &records, blocked, theory);
        } else {
            let what = format!("{what}, not all cooled");
            let served = |record: &RunRecord| 1.0 - blocked(record);
            let theory = |k| 1.0 - erlang_b(deployments, load * k);
            hold_records(&what, &records, served, theory);
        }
    }
}

#[test]
fn eight_deployments_cooled_for_five_seconds_block_as_erlang_says() {
    let row = Row {
        seed: 12,
        deployments: 8,
        failure_share: 0.5,
        per_second: 7.2,
        cooldown_s: 5.0,
        counted_s: 2_000.0,
    };
    row.check();
}

#[test]
fn eight_deployments_cooled_for_a_second_block_as_erlang_says() {
    let row = Row {
        seed: 13,
        deployments: 8,
        failure_share: 0.9,
        per_second: 7.8,
        cooldown_s: 1.0,
        counted_s: 3_500.0,
    };
    row.check();
}

#[test]
fn eight_deployments_cooled_for_a_minute_block_as_erlang_says() {
    let row = Row {
        seed: 14,
        deployments: 8,
        failure_share: 0.9,
        per_second: 3.4,
        cooldown_s: 60.0,
        counted_s: 3_000.0,
    };
    row.check();
}

#[test]
fn four_deployments_block_as_erlang_says() {
    let row = Row {
        seed: 15,
        deployments: 4,
        failure_share: 0.5,
        per_second: 2.0,
        cooldown_s: 5.0,
        counted_s: 6_000.0,
    };
    row.check();
}

#[test]
fn a_lone_deployment_has_the_duty_cycle_of_one_server() {
    let row = Row {
        seed: 16,
        deployments: 1,
        failure_share: 0.5,
        per_second: 2.0,
        cooldown_s: 2.0,
        counted_s: 9_000.0,
    };
    let load = row.failure_share * row.per_second * row.cooldown_s;
    assert!((erlang_b(1, load) - (1.0 - 1.0 / (1.0 + load))).abs() < 1e-12);
    row.check();
}
