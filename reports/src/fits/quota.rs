//! The quota that 429s speak of: what was let through in minutes in which some attempts were not.
//!
//! Minutes are those of the wall clock. If a limit on requests is behind the 429s, about as many attempts
//! were accepted in each such minute; if one on tokens, about as many tokens. Of the two the one that
//! varies less is taken, and if neither is steady, or quiet minutes let more through, the 429s are of
//! another kind (shared capacity, a lowered limit) and no number is made up.

use serde::Serialize;

use super::Fitted;
use crate::stats::{mean, quantile_interval, size, variance};

/// What happened in one minute at one deployment.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct MinuteCount {
    /// Minutes since 1970, or since the log's zero.
    pub minute: i64,
    /// Attempts that got no 429.
    pub accepted: f64,
    /// Their tokens.
    pub tokens: f64,
    /// Attempts that got 429.
    pub rejected: f64,
    /// Attempts accepted after the first 429.
    pub accepted_after: f64,
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuotaKind {
    /// Requests a minute.
    Requests,
    /// Tokens a minute.
    Tokens,
}

/// What 429s say about a quota.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuotaFit {
    /// No 429: the quota is at least the busiest minute.
    NotSeen {
        /// Requests of the busiest minute.
        requests: f64,
        /// Tokens of the minute with most tokens.
        tokens: f64,
    },
    /// A steady limit.
    Steady {
        /// Of what.
        kind: QuotaKind,
        /// So many a minute.
        per_minute: Fitted,
        /// Minutes in which it was reached.
        minutes: usize,
        /// Whether nothing passes between the first 429 and the end of its minute: the count begins anew
        /// with each minute of the clock. Otherwise it refills or slides.
        is_fixed_minute: bool,
    },
    /// 429s without a steady limit behind them.
    Unsteady {
        /// Share of attempts that got 429.
        share: f64,
        /// Attempts that got 429.
        rejected: f64,
    },
}

/// Something counted in a minute.
type Count = fn(&MinuteCount) -> f64;

/// Attempts by minute: when (seconds), their tokens, and whether they got 429. Times rise. The first and
/// the last minute are left out unless they are the only ones: the log may hold parts of them only.
#[must_use]
pub fn per_minute(attempts: impl Iterator<Item = (f64, f64, bool)>) -> Vec<MinuteCount> {
    let mut minutes: Vec<MinuteCount> = Vec::new();
    for (at_s, tokens, rejected) in attempts {
        let minute = whole(at_s / 60.0);
        if minutes.last().is_none_or(|last| last.minute != minute) {
            minutes.push(MinuteCount {
                minute,
                ..MinuteCount::default()
            });
        }
        let Some(last) = minutes.last_mut() else {
            continue;
        };
        if rejected {
            last.rejected += 1.0;
        } else {
            last.accepted += 1.0;
            last.tokens += tokens;
            last.accepted_after += f64::from(u8::from(last.rejected > 0.0));
        }
    }
    if minutes.len() > 2 {
        minutes.pop();
        minutes.remove(0);
    }
    minutes
}

impl QuotaFit {
    /// What these minutes say; `None` without any.
    #[must_use]
    pub fn of(minutes: &[MinuteCount]) -> Option<Self> {
        let most = |of: Count, among: &[&MinuteCount]| {
            among.iter().map(|minute| of(minute)).fold(0.0, f64::max)
        };
        let all: Vec<&MinuteCount> = minutes.iter().collect();
        let busy = |minute: &&MinuteCount| minute.rejected > 0.0;
        let (full, quiet): (Vec<&MinuteCount>, Vec<&MinuteCount>) =
            all.iter().copied().partition(busy);
        let (requests, tokens) = (|m: &MinuteCount| m.accepted, |m: &MinuteCount| m.tokens);
        if all.is_empty() {
            return None;
        }
        if full.is_empty() {
            return Some(Self::NotSeen {
                requests: most(requests, &all),
                tokens: most(tokens, &all),
            });
        }
        let rejected: f64 = full.iter().map(|minute| minute.rejected).sum();
        let accepted: f64 = all.iter().map(|minute| minute.accepted).sum();
        let unsteady = Self::Unsteady {
            share: rejected / (rejected + accepted),
            rejected,
        };
        if full.len() < FEWEST_MINUTES {
            return Some(unsteady);
        }
        let kinds: [(QuotaKind, Count); 2] =
            [(QuotaKind::Requests, requests), (QuotaKind::Tokens, tokens)];
        let steady = kinds.into_iter().filter_map(|(kind, of)| {
            let values: Vec<f64> = full.iter().map(|minute| of(minute)).collect();
            let level = median(&values);
            let varies = variance(&values).sqrt() / mean(&values);
            let above = quiet
                .iter()
                .filter(|minute| of(minute) > 1.05 * level)
                .count();
            let is_limit = level > 0.0 && size(above) <= 0.02 * size(quiet.len()).max(1.0);
            (varies < STEADY && is_limit).then_some((kind, of, values, varies))
        });
        let steadiest = steady.reduce(|best, next| if next.3 < best.3 { next } else { best });
        let Some((kind, of, values, _)) = steadiest else {
            return Some(unsteady);
        };
        let after: f64 = full.iter().map(|minute| minute.accepted_after).sum();
        let passed: f64 = full.iter().map(|minute| minute.accepted).sum();
        let least = most(of, &quiet).max(0.0);
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        let (per_minute, bound) = match kind {
            QuotaKind::Requests => {
                let interval = quantile_interval(&values, 0.5).unwrap_or((low, high));
                let level = median(&values);
                (
                    Fitted::within(
                        level,
                        (interval.0.min(level), interval.1.max(level).max(least)),
                    ),
                    0.02,
                )
            }
            QuotaKind::Tokens => {
                // What did not fit was at most about one more request.
                let each = full.iter().map(|minute| minute.tokens).sum::<f64>() / passed;
                let level = high.max(least);
                (Fitted::within(level, (level, level + each)), 0.5)
            }
        };
        Some(Self::Steady {
            kind,
            per_minute,
            minutes: full.len(),
            is_fixed_minute: after <= bound * passed,
        })
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[expect(clippy::cast_possible_truncation, reason = "a minute since 1970")]
fn whole(minutes: f64) -> i64 {
    minutes.floor() as i64
}

/// Fewer minutes with 429s are no limit that could be told from chance.
const FEWEST_MINUTES: usize = 3;
/// Deviation ÷ mean of what was accepted, up to which it is a limit.
const STEADY: f64 = 0.15;

#[cfg(test)]
mod tests {
    use super::*;

    /// `demand` attempts in each minute, evenly; at most `limit` pass.
    fn minutes(demands: &[u32], limit: u32) -> Vec<MinuteCount> {
        let attempts = demands.iter().zip(0_u32..).flat_map(|(demand, minute)| {
            (0..*demand).map(move |n| {
                let at_s = 60.0 * f64::from(minute) + 60.0 * f64::from(n) / f64::from(*demand);
                (at_s, 100.0 + f64::from(n % 7), n >= limit)
            })
        });
        per_minute(attempts)
    }

    #[test]
    fn a_limit_on_requests_is_what_full_minutes_let_through() {
        let found = QuotaFit::of(&minutes(&[10, 40, 90, 95, 100, 50, 99, 10], 60)).unwrap();

        let QuotaFit::Steady {
            kind,
            per_minute,
            minutes,
            is_fixed_minute,
        } = found
        else {
            panic!("{found:?}")
        };
        assert_eq!(
            (kind, minutes, is_fixed_minute),
            (QuotaKind::Requests, 4, true)
        );
        assert!((per_minute.value - 60.0).abs() < 1e-9 && per_minute.holds(60.0));
    }

    #[test]
    fn without_a_429_the_busiest_minute_is_a_lower_bound() {
        let found = QuotaFit::of(&minutes(&[10, 40, 90, 20, 5], 1_000)).unwrap();

        assert!(
            matches!(found, QuotaFit::NotSeen { requests, .. } if (requests - 90.0).abs() < 1e-9),
            "{found:?}"
        );
        assert_eq!(QuotaFit::of(&[]), None);
    }

    #[test]
    fn scattered_429s_are_no_limit() {
        let scattered = (0..10_000_u32).map(|n| {
            (
                f64::from(n) * (1.0 + f64::from(n % 3)) / 9.0,
                10.0,
                n % 97 == 0,
            )
        });
        let mut sorted: Vec<_> = scattered.collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));

        let found = QuotaFit::of(&per_minute(sorted.into_iter())).unwrap();

        assert!(matches!(found, QuotaFit::Unsteady { .. }), "{found:?}");
    }
}
