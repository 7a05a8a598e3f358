//! What latency-based routing remembers of one deployment, and what that comes to. (semantics 3.3)
//!
//! Two kinds of samples: seconds for each output token, and seconds to the first token of a stream.
//! In LiteLLM the first stand in for the second where there are none, and the zero that stands for a
//! deployment without samples stays one of them; `corrected` does neither. (BR-041, BR-042)

use std::{collections::VecDeque, time::Duration};

use crate::{profile::Profile, strategy::LowestLatencyArgs, time::Instant};

/// How samples are kept and read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleRules {
    /// The zero of a deployment without samples stays among them.
    placeholder_is_a_sample: bool,
    /// Streams are ranked by times to the first token alone.
    kinds_apart: bool,
}

impl SampleRules {
    pub(crate) const fn new(profile: &Profile) -> Self {
        Self {
            placeholder_is_a_sample: profile.latency_placeholder_is_a_sample,
            kinds_apart: profile.streams_ranked_by_first_token_alone,
        }
    }
}

/// The record of one deployment.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    /// When the record was made.
    since: Instant,
    /// Seconds for each output token.
    pub(crate) latency: VecDeque<f64>,
    /// Seconds to the first token.
    pub(crate) first_token: VecDeque<f64>,
}

impl Samples {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            since: now,
            ..Self::default()
        }
    }

    /// What a deployment gets that is seen first as a candidate.
    pub(crate) fn of_a_candidate(now: Instant, rules: SampleRules) -> Self {
        let mut samples = Self::new(now);
        if rules.placeholder_is_a_sample {
            samples.latency.push_back(0.0);
        }
        samples
    }

    /// The list that ranks it for such a request.
    pub(crate) fn ranking(&mut self, stream: bool, rules: SampleRules) -> &mut VecDeque<f64> {
        if stream && (rules.kinds_apart || !self.first_token.is_empty()) {
            &mut self.first_token
        } else {
            &mut self.latency
        }
    }

    /// The list that a timeout is written to.
    pub(crate) fn penalised(&mut self, stream: bool, rules: SampleRules) -> &mut VecDeque<f64> {
        if stream && rules.kinds_apart {
            &mut self.first_token
        } else {
            &mut self.latency
        }
    }

    /// What it counts as; `percentile` is for streams, and `sorted` is scratch.
    pub(crate) fn value(
        &mut self,
        now: Instant,
        stream: bool,
        args: &LowestLatencyArgs,
        rules: SampleRules,
        sorted: &mut Vec<f64>,
    ) -> f64 {
        let age = now.since(self.since);
        let percentile = args
            .ttft_percentile
            .filter(|_| stream && !self.first_token.is_empty());
        let samples = self.ranking(stream, rules);
        match percentile {
            _ if samples.is_empty() => unmeasured(args, age),
            Some(p) => nth_of_sorted(samples, p, sorted),
            None => mean(samples),
        }
    }
}

/// What a deployment without samples counts as. An empty record is the same as none. (BR-042)
fn unmeasured(args: &LowestLatencyArgs, age: Duration) -> f64 {
    let start = args.unmeasured.filter(|start| !start.decay.is_zero());
    start.map_or(0.0, |start| {
        start.latency.as_secs_f64() * libm::exp(-age.as_secs_f64() / start.decay.as_secs_f64())
    })
}

/// Adds a sample to a list of at most `size`.
pub(crate) fn push(samples: &mut VecDeque<f64>, sample: f64, size: usize) {
    while samples.len() >= size.max(1) {
        samples.pop_front();
    }
    samples.push_back(sample);
}

#[expect(clippy::cast_precision_loss, reason = "lists are short")]
fn mean(samples: &VecDeque<f64>) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The value at place ⌈n·p⌉ of the sorted samples, from 1.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lists are short and p is in (0, 1]"
)]
fn nth_of_sorted(samples: &VecDeque<f64>, p: f64, sorted: &mut Vec<f64>) -> f64 {
    let place = ((samples.len() as f64 * p).ceil() as usize).clamp(1, samples.len());
    sorted.clear();
    sorted.extend(samples);
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[place - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::Unmeasured;

    #[test]
    fn a_percentile_is_the_sample_at_its_place() {
        let samples = VecDeque::from([0.4, 0.1, 0.3, 0.2]);
        let at = |p| nth_of_sorted(&samples, p, &mut Vec::new());

        assert!((at(0.5) - 0.2).abs() < 1e-12);
        assert!((at(1.0) - 0.4).abs() < 1e-12);
        assert!((at(0.01) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn br_042_an_empty_record_counts_as_zero_and_divides_by_nothing() {
        let args = LowestLatencyArgs::default();
        for profile in [
            Profile::litellm_1_92(),
            Profile::litellm_1_110(),
            Profile::corrected(),
        ] {
            let rules = SampleRules::new(&profile);
            for stream in [false, true] {
                let mut empty = Samples::new(Instant::ZERO);
                let value = empty.value(Instant::ZERO, stream, &args, rules, &mut Vec::new());
                assert!(value.abs() < 1e-12, "{value}");
            }
        }
    }

    #[test]
    fn br_042_a_start_value_decays_to_1_over_e_in_its_time() {
        let args = LowestLatencyArgs {
            unmeasured: Some(Unmeasured::default()),
            ..Default::default()
        };
        let value = |age| unmeasured(&args, Duration::from_secs(age));

        assert!((value(0) - 1.0).abs() < 1e-12);
        assert!((value(10) - 0.367_879_441).abs() < 1e-9);
        assert!((value(20) - 0.135_335_283).abs() < 1e-9);
    }

    #[test]
    fn br_041_a_stream_without_first_tokens_borrows_no_other_latency_in_the_corrected_profile() {
        let value = |profile: &Profile| {
            let rules = SampleRules::new(profile);
            let mut samples = Samples::new(Instant::ZERO);
            samples.latency.push_back(0.5);
            let args = LowestLatencyArgs::default();
            samples.value(Instant::ZERO, true, &args, rules, &mut Vec::new())
        };

        assert!((value(&Profile::litellm_1_110()) - 0.5).abs() < 1e-12);
        assert!(value(&Profile::corrected()).abs() < 1e-12);
    }
}
