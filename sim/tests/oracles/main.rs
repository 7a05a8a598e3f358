//! Whole runs against closed formulas.
//!
//! Cooldown is an Erlang loss system: n deployments, requests at Λ a second, each dispatch fails with
//! probability p and at once, every failure cools its deployment for T seconds, nothing is retried.
//! Then cooled deployments are busy servers, failures are customers that arrive at pΛ and stay for T,
//! and all deployments are cooled with probability ErlangB(n, pΛT). A request sees what time averages
//! see (Poisson arrivals), so that the share of requests that find no deployment is that probability.

#![allow(
    clippy::float_cmp,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test may fail, and looks at few events"
)]

mod calibration;
mod hindsight;
mod odd_logs;

use std::num::NonZeroUsize;

use reports::stats::{mean_interval, student_t_quantile};
use scenarios::{LoadOptions, Scenario, Source};
use sim::run_plans;

/// Blocking probability of `servers` under an offered load of `a` Erlang.
fn erlang_b(servers: u32, a: f64) -> f64 {
    (1..=servers).fold(1.0, |blocked, n| a * blocked / (f64::from(n) + a * blocked))
}

/// One row of parameters.
struct Row {
    deployments: u32,
    failure_share: f64,
    per_second: f64,
    cooldown_s: f64,
    /// Seconds of arrivals in each of the replications.
    duration_s: f64,
}

impl Row {
    fn check(&self) {
        let text = self.scenario();
        let source = Source::Text {
            name: "erlang".to_owned(),
            text,
        };
        let scenario = Scenario::load(&source, &LoadOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let jobs = NonZeroUsize::new(2).unwrap();
        let runs = run_plans(&scenario.plans(), jobs, &()).unwrap();
        #[expect(clippy::cast_precision_loss, reason = "a few million requests")]
        let blocked: Vec<f64> = runs
            .iter()
            .map(|run| {
                let none_left =
                    |error: &&reports::AnswerError| error.exception == "RouterRateLimitError";
                let refused: u64 = run.errors.iter().filter(none_left).map(|e| e.count).sum();
                refused as f64 / run.requests as f64
            })
            .collect();

        let estimate = mean_interval(&blocked).unwrap();
        let degrees = f64::from(REPLICATIONS - 1);
        // From the 95 % interval to the 99 % one.
        let wider = student_t_quantile(0.995, degrees) / student_t_quantile(0.975, degrees);
        let half_width = estimate.half_width.unwrap() * wider;
        let load = self.failure_share * self.per_second * self.cooldown_s;
        let expected = erlang_b(self.deployments, load);
        println!(
            "Erlang B {expected:.4}, simulated {:.4} ± {half_width:.4}",
            estimate.mean
        );
        assert!(
            half_width <= 0.01,
            "the interval is too wide: ± {half_width}"
        );
        assert!(
            (estimate.mean - expected).abs() <= half_width,
            "simulated {} ± {half_width}, Erlang B {expected}",
            estimate.mean,
        );
    }

    /// A lone deployment is spared by 1.110's rules and not by 1.92's.
    fn scenario(&self) -> String {
        let Self {
            deployments,
            failure_share,
            per_second,
            cooldown_s,
            duration_s,
        } = self;
        let profile = if *deployments == 1 {
            "litellm-1.92"
        } else {
            "litellm-1.110"
        };
        let model_list: String = (0..*deployments)
            .map(|n| {
                format!(
                    "    - {{model_name: m, litellm_params: {{model: openai/d}}, \
                     model_info: {{id: d{n}}}}}\n"
                )
            })
            .collect();
        format!(
            "purpose: Cooldown as an Erlang loss system.
kind: steady
profile: {profile}
replications: {REPLICATIONS}
seed: 7
litellm:
  router_settings:
    {{allowed_fails: 0, cooldown_time: {cooldown_s}, num_retries: 0, routing_strategy: simple-shuffle}}
  model_list:
{model_list}
providers:
  default:
    latency: {{first_token: {{constant: {{ms: 0.001}}}}}}
    faults: [{{error_rate: {{share: {failure_share}, status: 500}}}}]
workload:
  arrivals: {{poisson: {{per_second: {per_second}}}}}
  lengths: {{prompt: {{constant: 1}}, output: {{constant: 1}}}}
  duration_s: {duration_s}
"
        )
    }
}

const REPLICATIONS: u32 = 20;

#[test]
fn eight_deployments_cooled_for_five_seconds_block_as_erlang_says() {
    let row = Row {
        deployments: 8,
        failure_share: 0.007,
        per_second: 520.0,
        cooldown_s: 5.0,
        duration_s: 600.0,
    };
    row.check();
}

#[test]
fn eight_deployments_cooled_for_one_second_block_as_erlang_says() {
    let row = Row {
        deployments: 8,
        failure_share: 0.007,
        per_second: 520.0,
        cooldown_s: 1.0,
        duration_s: 400.0,
    };
    row.check();
}

#[test]
fn eight_deployments_cooled_for_a_minute_block_as_erlang_says() {
    let row = Row {
        deployments: 8,
        failure_share: 0.007,
        per_second: 520.0,
        cooldown_s: 60.0,
        duration_s: 1_200.0,
    };
    row.check();
}

#[test]
fn four_deployments_block_as_erlang_says() {
    let row = Row {
        deployments: 4,
        failure_share: 0.01,
        per_second: 100.0,
        cooldown_s: 5.0,
        duration_s: 2_000.0,
    };
    row.check();
}

#[test]
fn a_lone_deployment_has_the_duty_cycle_of_one_server() {
    let row = Row {
        deployments: 1,
        failure_share: 0.01,
        per_second: 100.0,
        cooldown_s: 5.0,
        duration_s: 2_000.0,
    };
    let load = row.failure_share * row.per_second * row.cooldown_s;
    assert!((erlang_b(1, load) - (1.0 - 1.0 / (1.0 + load))).abs() < 1e-12);
    row.check();
}
