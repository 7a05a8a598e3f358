//! Bug reports of operators that need a provider with a quota of its own; the others are played in
//! `router/tests/bug_reports`.
//!
//! BR-040: the router's minute is not the provider's minute.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use router::{Event, Instant, Observer, Outcome};
use scenarios::{LoadOptions, Scenario, Source};
use sim::simulate;

/// What became of the attempts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Refusals {
    /// Answered well.
    answered: u32,
    /// The provider said 429 to what the router had let through.
    by_the_provider: u32,
    /// The router's own limit refused.
    by_the_router: u32,
}

impl Observer for Refusals {
    fn observe(&mut self, _at: Instant, event: &Event<'_>) {
        if let Event::Finished { outcome, .. } = event {
            match outcome {
                Outcome::Success { .. } => self.answered += 1,
                Outcome::Failure(failure) if failure.status == Some(429) => {
                    self.by_the_provider += 1;
                }
                Outcome::Failure(_) => {}
            }
        }
        if let Event::LimitRefused { .. } = event {
            self.by_the_router += 1;
        }
    }
}

/// A router with a limit of 60 requests a minute, and a provider with the same limit.
struct Run {
    profile: &'static str,
    /// Of the provider's quota.
    quota: &'static str,
    /// Of the router.
    usage_window: &'static str,
    starts_at: &'static str,
    per_second: f64,
    duration_s: f64,
}

impl Run {
    fn refusals(&self) -> Refusals {
        let Self {
            quota,
            usage_window,
            starts_at,
            per_second,
            duration_s,
            profile,
        } = self;
        let text = format!(
            "purpose: The router's minute is not the provider's minute.
kind: terminating
seed: 1
starts_at: \"{starts_at}\"
litellm:
  model_list:
    - {{model_name: chat, litellm_params: {{model: azure/a, rpm: 60, max_parallel_requests: 1000}}}}
  router_settings: {{num_retries: 0, optional_pre_call_checks: [enforce_model_rate_limits], usage_window: {usage_window}}}
providers:
  default:
    latency: {{first_token: {{constant: {{ms: 100}}}}}}
    quota: {{requests_per_minute: 60, {quota}}}
workload:
  arrivals: {{constant: {{per_second: {per_second}}}}}
  lengths: {{prompt: {{constant: 10}}, output: {{constant: 5}}}}
  duration_s: {duration_s}
sweep: {{profile: [{profile}]}}
"
        );
        let source = Source::Text {
            name: "windows".to_owned(),
            text,
        };
        let scenario = Scenario::load(&source, &LoadOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let mut refusals = Refusals::default();
        simulate(&scenario.plans()[0], &mut refusals).unwrap();
        refusals
    }
}

/// 60 requests in the last second of a minute and 60 in the first of the next: a clockwork's first
/// comes after one gap.
const ACROSS_THE_TURN: Run = Run {
    profile: "corrected",
    quota: "window: sliding",
    usage_window: "minute",
    starts_at: "2024-01-01T00:00:59Z",
    per_second: 61.0,
    duration_s: 1.98,
};

#[test]
fn br_040_a_router_that_counts_clock_minutes_sends_what_a_sliding_minute_refuses() {
    for profile in ["litellm-1.92", "litellm-1.110", "corrected"] {
        let run = Run {
            profile,
            ..ACROSS_THE_TURN
        };
        let expected = Refusals {
            answered: 60,
            by_the_provider: 60,
            by_the_router: 0,
        };
        assert_eq!(run.refusals(), expected, "{profile}");
    }
}

#[test]
fn br_040_a_router_with_the_providers_sliding_minute_is_refused_nothing() {
    let run = Run {
        usage_window: "sliding",
        ..ACROSS_THE_TURN
    };
    let expected = Refusals {
        answered: 60,
        by_the_provider: 0,
        by_the_router: 60,
    };
    assert_eq!(run.refusals(), expected);
}

/// A provider that allots a sixth of the limit to each ten seconds.
const SLICES: Run = Run {
    quota: "request_slice_s: 10",
    starts_at: "2024-01-01T00:00:00Z",
    ..ACROSS_THE_TURN
};

#[test]
fn br_040_a_provider_with_slices_takes_one_a_second_and_ten_of_a_burst() {
    for profile in ["litellm-1.92", "litellm-1.110", "corrected"] {
        let steady = Run {
            profile,
            per_second: 1.0,
            duration_s: 60.5,
            ..SLICES
        };
        assert_eq!(steady.refusals().answered, 60, "{profile}");
        let burst = Run {
            profile,
            per_second: 600.0,
            duration_s: 0.101,
            ..SLICES
        };
        let expected = Refusals {
            answered: 10,
            by_the_provider: 50,
            by_the_router: 0,
        };
        assert_eq!(burst.refusals(), expected, "{profile}");
    }
}

#[test]
fn br_040_a_router_with_the_providers_slices_is_refused_nothing() {
    let burst = Run {
        usage_window: "10",
        per_second: 600.0,
        duration_s: 0.101,
        ..SLICES
    };
    let expected = Refusals {
        answered: 10,
        by_the_provider: 0,
        by_the_router: 50,
    };
    assert_eq!(burst.refusals(), expected);
}
