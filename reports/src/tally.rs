//! What one deployment saw, counted while the run lasts.

use router::{ErrorClass, Failure, Instant, Outcome, Prices, Usage};

use crate::{
    record::{AttemptError, DeploymentRecord},
    recorder_setup::DeploymentLabel,
    span_union::SpanUnion,
};

/// The running counts of one deployment.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) picks: u64,
    pub(crate) sent: u64,
    successes: u64,
    mirrored: u64,
    mirrored_failed: u64,
    pub(crate) cache_hits: u64,
    errors: Vec<(AttemptErrorKey, u64)>,
    prompt_tokens: u64,
    completion_tokens: u64,
    cached_tokens: u64,
    cost_usd: Option<f64>,
    tokens_lost: u64,
    pub(crate) in_flight: u32,
    in_flight_max: u32,
    pub(crate) cooled: SpanUnion,
}

type AttemptErrorKey = (ErrorClass, Option<u16>);

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            picks: 0,
            sent: 0,
            successes: 0,
            mirrored: 0,
            mirrored_failed: 0,
            cache_hits: 0,
            errors: Vec::with_capacity(ERROR_KINDS_EXPECTED),
            prompt_tokens: 0,
            completion_tokens: 0,
            cached_tokens: 0,
            cost_usd: Some(0.0),
            tokens_lost: 0,
            in_flight: 0,
            in_flight_max: 0,
            cooled: SpanUnion::default(),
        }
    }

    #[inline]
    pub(crate) fn sent(&mut self) {
        self.sent += 1;
        self.arrived();
    }

    /// An attempt for a mirror arrives: load, but nobody's attempt.
    pub(crate) fn mirrored(&mut self) {
        self.mirrored += 1;
        self.arrived();
    }

    /// An attempt for a mirror ended.
    pub(crate) fn mirror_left(&mut self, outcome: &Outcome, prices: &Prices) {
        self.left();
        match outcome {
            Outcome::Success { usage, .. } => self.billed(*usage, prices),
            Outcome::Failure(_) => self.mirrored_failed += 1,
        }
    }

    #[inline]
    fn arrived(&mut self) {
        self.in_flight += 1;
        self.in_flight_max = self.in_flight_max.max(self.in_flight);
    }

    #[inline]
    pub(crate) fn left(&mut self) {
        debug_assert!(self.in_flight > 0, "an attempt ends that was never sent");
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// One answer of unknown cost makes the sum unknown.
    #[inline]
    pub(crate) fn succeeded(&mut self, usage: Usage, prices: &Prices) {
        self.successes += 1;
        self.billed(usage, prices);
    }

    #[inline]
    fn billed(&mut self, usage: Usage, prices: &Prices) {
        self.prompt_tokens += u64::from(usage.prompt_tokens);
        self.completion_tokens += u64::from(usage.completion_tokens);
        self.cached_tokens += u64::from(usage.cached_tokens);
        if let Some(sum) = self.cost_usd {
            self.cost_usd = prices.cost(usage).map(|usd| sum + usd);
        }
    }

    pub(crate) fn failed(&mut self, failure: &Failure) {
        count(&mut self.errors, (failure.class, failure.status));
        self.tokens_lost += u64::from(failure.tokens_delivered);
    }

    pub(crate) fn finish(self, label: DeploymentLabel, end: Instant) -> DeploymentRecord {
        let cooled = self.cooled.finish(end);
        let errors = most_frequent_first(self.errors)
            .into_iter()
            .map(|((class, status), count)| AttemptError {
                class,
                status,
                count,
            })
            .collect();
        DeploymentRecord {
            id: label.id,
            group: label.group,
            provider: label.provider,
            picks: self.picks,
            sent: self.sent,
            successes: self.successes,
            mirrored: self.mirrored,
            mirrored_failed: self.mirrored_failed,
            cache_hits: self.cache_hits,
            errors,
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.completion_tokens,
            cached_tokens: self.cached_tokens,
            tokens_lost: self.tokens_lost,
            cost_usd: self.cost_usd,
            in_flight_max: self.in_flight_max,
            cooled_s: cooled.total.as_secs_f64(),
            cooldowns: cooled.begun,
            cooldown_spans: cooled.spans,
            cooldown_spans_dropped: cooled.dropped,
        }
    }
}

/// Counts one more of `key`. A run meets a handful of kinds, so a scan is the fastest look-up.
pub(crate) fn count<K: PartialEq>(counts: &mut Vec<(K, u64)>, key: K) {
    match counts.iter_mut().find(|(known, _)| *known == key) {
        Some((_, count)) => *count += 1,
        None => counts.push((key, 1)),
    }
}

pub(crate) fn most_frequent_first<K: Ord>(mut counts: Vec<(K, u64)>) -> Vec<(K, u64)> {
    counts.sort_by(|(a, many_a), (b, many_b)| many_b.cmp(many_a).then_with(|| a.cmp(b)));
    counts
}

/// Room made beforehand for kinds of errors; there are 12 classes, few with more than one status.
pub(crate) const ERROR_KINDS_EXPECTED: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_of_unknown_cost_makes_the_sum_unknown() {
        let prices = Prices {
            input: Some(0.5),
            ..Prices::default()
        };
        let mut tally = Tally::new();

        tally.succeeded(Usage::new(10, 0), &prices);
        tally.succeeded(Usage::new(2, 0), &prices);
        assert_eq!(tally.cost_usd, Some(6.0));
        tally.succeeded(Usage::new(10, 1), &prices);
        assert_eq!(tally.cost_usd, None);
    }

    #[test]
    fn equal_counts_are_listed_in_the_order_of_their_kinds() {
        assert_eq!(
            most_frequent_first(vec![("b", 2), ("c", 5), ("a", 2)]),
            [("c", 5), ("a", 2), ("b", 2)]
        );
    }
}
