//! The same callers asking more often: a workload at a multiple of its rate, over the same time.
//!
//! Rates are multiplied step by step, gaps keep their coefficient of variation, and what is asked
//! stays as it is. A replayed trace is played faster, and over again until the time is filled. Arrival
//! n keeps its luck, so that loads can be compared on common random numbers.

use std::{sync::Arc, time::Duration};

use super::{
    Client, Replay, Traffic, Workload,
    rate::{Rate, Step},
};

impl Workload {
    /// This workload at `factor` times its rate; the duration stays.
    ///
    /// # Panics
    ///
    /// If `factor` is not a number above 0.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        assert!(
            factor.is_finite() && factor > 0.0,
            "a load is a number above 0"
        );
        let traffic = match &self.traffic {
            Traffic::Generated { rate, gap, lengths } => Traffic::Generated {
                rate: rate.times(factor),
                gap: *gap,
                lengths: lengths.clone(),
            },
            Traffic::Replayed(replay) => {
                Traffic::Replayed(replay.times(factor, self.duration.as_secs_f64()))
            }
            Traffic::Clients(clients) => {
                let faster = |client: &Client| Client {
                    rate: client.rate.times(factor),
                    ..client.clone()
                };
                Traffic::Clients(clients.iter().map(faster).collect())
            }
        };
        Self {
            traffic,
            ..self.clone()
        }
    }
}

impl Workload {
    /// This workload at its mean rate times a factor that changes in steps, each up to so many seconds
    /// of the run; the last is the end. `None` for what is no single process under a rate curve: traces
    /// and callers of their own.
    ///
    /// # Panics
    ///
    /// If there is no step.
    #[must_use]
    pub fn in_steps(&self, steps: &[(f64, f64)]) -> Option<Self> {
        let Traffic::Generated { gap, lengths, .. } = &self.traffic else {
            return None;
        };
        let mean = self.expected_arrivals() / self.duration.as_secs_f64();
        let step = |&(until_s, factor): &(f64, f64)| Step {
            until_s,
            per_second: mean * factor,
        };
        let (end_s, _) = steps.last().expect("there is a step");
        Some(Self {
            traffic: Traffic::Generated {
                rate: Rate::Steps(steps.iter().map(step).collect()),
                gap: *gap,
                lengths: lengths.clone(),
            },
            duration: Duration::from_secs_f64(*end_s),
            ..self.clone()
        })
    }
}

impl Rate {
    fn times(&self, factor: f64) -> Self {
        let faster = |steps: &Arc<[Step]>| {
            let faster = |step: &Step| Step {
                per_second: step.per_second * factor,
                ..*step
            };
            steps.iter().map(faster).collect()
        };
        match self {
            Self::Constant(rate) => Self::Constant(rate * factor),
            Self::Steps(steps) => Self::Steps(faster(steps)),
            Self::Cycle { steps, offset_s } => Self::Cycle {
                steps: faster(steps),
                offset_s: *offset_s,
            },
            Self::OnOff {
                on,
                off,
                on_mean_s,
                off_mean_s,
            } => Self::OnOff {
                on: on * factor,
                off: off * factor,
                on_mean_s: *on_mean_s,
                off_mean_s: *off_mean_s,
            },
        }
    }
}

impl Replay {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a time as recorded, never negative; to a nanosecond in a hundred days"
    )]
    fn times(&self, factor: f64, duration_s: f64) -> Self {
        let rate_multiplier = self.rate_multiplier * factor;
        let recorded_ns = (duration_s * 1e9 * rate_multiplier).round();
        let rounds = (recorded_ns / self.period_ns as f64).floor();
        let rest_ns = recorded_ns - rounds * self.period_ns as f64;
        Self {
            rate_multiplier,
            repeat: rounds as u32,
            partial: (self.rows).partition_point(|row| (row.at_ns as f64) < rest_ns),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use router::Seed;

    use crate::{LoadOptions, Scenario, Source};

    fn arrivals(arrivals: &str, factor: f64) -> Vec<f64> {
        let text = format!(
            "
purpose: A test.
kind: steady
litellm: {{model_list: [{{model_name: m, litellm_params: {{model: openai/a}}}}]}}
workload: {{{arrivals}}}
"
        );
        let source = Source::Text {
            name: "test".to_owned(),
            text,
        };
        let options = LoadOptions::default();
        let plan = Scenario::load(&source, &options).unwrap().plan(0, 0);
        let faster = plan.workload.times(factor);
        assert_eq!(faster.duration(), plan.workload.duration());
        let times = faster.arrivals(Seed(1)).map(|one| one.at.as_secs_f64());
        times.collect()
    }

    #[test]
    fn twice_the_load_is_the_same_arrivals_in_half_the_time() {
        let generated = "arrivals: {poisson: {per_second: 20}}, \
                         lengths: {prompt: {constant: 1}, output: {constant: 1}}, duration_s: 100";
        let (once, twice) = (arrivals(generated, 1.0), arrivals(generated, 2.0));

        assert!(twice.len() > 2 * once.len() - 200, "{}", twice.len());
        for (slow, fast) in once.iter().zip(&twice) {
            assert!((slow - 2.0 * fast).abs() < 1e-6, "{slow} {fast}");
        }
    }

    #[test]
    fn a_pulse_stays_where_it_is_and_is_as_many_times_higher() {
        let pulse = "arrivals: {pulse: {per_second: 10, factor: 3, from_s: 40, to_s: 60}}, \
                     lengths: {prompt: {constant: 1}, output: {constant: 1}}, duration_s: 100";
        let count = |factor, from: f64, to: f64| {
            let all = arrivals(pulse, factor);
            all.iter().filter(|at| **at >= from && **at < to).count()
        };

        let (outside, inside) = (count(5.0, 0.0, 20.0), count(5.0, 40.0, 60.0));
        assert!((900..1_100).contains(&outside), "{outside}");
        assert!((2_800..3_200).contains(&inside), "{inside}");
    }
}
