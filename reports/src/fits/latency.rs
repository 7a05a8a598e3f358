//! How long answers take: time to the first token and for each further one, by maximum likelihood.
//!
//! EM (Dempster, Laird and Rubin, 1977) over what is hidden: the part of the mixture, the share of an
//! answer in one piece that went by before its first token, and how long an answer that was cut off would
//! have taken. One log-normal part or two, whichever has the smaller BIC. Intervals by the delta
//! method; those of quantiles by order statistics, or by inverting the fitted share where a quantile was not seen
//! for itself.

use serde::Serialize;

use super::{
    Fitted, LogNormalPart, Mixture,
    information::{inverted_quantile, positive, share},
    latency_em::{best, ln_totals},
    latency_rows::{Model, share_within},
    latency_score::{packed, settled, unpacked},
    latency_start::{start, whole_start},
    order::{Sample, seen_quantile},
};

/// What is seen of one answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Seen {
    /// A stream that came to its end.
    Parts {
        /// To the first token, in milliseconds, above 0.
        first_ms: f64,
        /// For each further token; `None` if there was none or it took no time.
        per_token_ms: Option<f64>,
    },
    /// An answer in one piece.
    Whole {
        /// To its end, in milliseconds, above 0.
        total_ms: f64,
        /// Tokens after the first; 0 where the log does not count them.
        further: f64,
    },
    /// No answer had come when this time had passed: cut off by a time limit or by the log's end.
    Late {
        /// In milliseconds, above 0.
        after_ms: f64,
    },
}

/// Two parts of the time to the first token: the quick one and the slow one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct TwoParts {
    /// Share of answers in the slow part, from 0 to 1.
    pub slow_share: Fitted,
    /// Median of the quick part, in milliseconds.
    pub quick_median: Fitted,
    /// Median of the slow part, in milliseconds.
    pub slow_median: Fitted,
}

/// Fitted times of answers, in milliseconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LatencyFit {
    /// To the first token; of the whole answer where tokens take no time of their own.
    pub first: Mixture,
    /// For each further token; `None` where the log does not tell it apart from the first.
    pub per_token: Option<LogNormalPart>,
    /// Median, 95th and 99th percentile of `first`.
    pub first_quantiles: [Fitted; 3],
    /// The two parts of `first`; `None` if it is one.
    pub two: Option<TwoParts>,
    /// Median of `per_token`.
    pub per_token_median: Option<Fitted>,
    /// Sigma of `per_token`.
    pub per_token_sigma: Option<Fitted>,
    /// Streams, answers in one piece, and answers cut off, that it rests on.
    pub used: [usize; 3],
    /// Why `per_token` is missing or what else was not told apart.
    pub remark: Option<&'static str>,
}

impl LatencyFit {
    /// Fits all of them; `None` with fewer than `FEWEST` answers. `usual_further` are further tokens
    /// of answers as they usually are, for those that were cut off.
    #[must_use]
    pub fn of(seen: &[Seen], usual_further: &[f64]) -> Option<Self> {
        let (rows, remark) = chosen(seen)?;
        let start = start(&rows)?;
        let remark = remark.or_else(|| start.1.is_none().then_some(NO_TOKENS));
        let one = Model {
            first: Mixture::single(start.0.0, start.0.1),
            per_token: start.1,
            usual_further,
        };
        let (model, score) = best(one, &rows);
        // Answers in one piece show both times as a sum: whether tokens take any at all is for the data to say.
        let only_sums = !rows.iter().any(|row| matches!(row, Seen::Parts { .. }));
        if model.per_token.is_some() && only_sums {
            let (centre, spread) = whole_start(&rows);
            let whole = Model {
                first: Mixture::single(centre, spread),
                per_token: None,
                usual_further,
            };
            let (whole, whole_score) = best(whole, &rows);
            if whole_score - ln_totals(&rows) >= score {
                return Some(told(whole, &rows, remark.or(Some(NO_TOKENS))));
            }
        }
        Some(told(model, &rows, remark))
    }

    /// The share of answers with so many further tokens that have come after `total_ms`.
    #[must_use]
    pub fn share_within(&self, further: f64, total_ms: f64) -> f64 {
        share_within(&self.first, self.per_token.as_ref(), further, total_ms)
    }
}

/// Streams if there are enough of them, for they tell most; else everything. Long logs are thinned out
/// evenly. With what is to be told of the choice.
fn chosen(seen: &[Seen]) -> Option<(Vec<Seen>, Option<&'static str>)> {
    let is_stream = |row: &&Seen| matches!(row, Seen::Parts { .. });
    let is_late = |row: &&Seen| matches!(row, Seen::Late { .. });
    let streams = seen.iter().filter(is_stream).count();
    let late = seen.iter().filter(is_late).count();
    if seen.len() - late < FEWEST {
        return None;
    }
    let only_streams = streams >= STREAMS_ENOUGH && streams < seen.len() - late;
    let wanted = |row: &&Seen| !only_streams || is_stream(row) || is_late(row);
    let rows: Vec<Seen> = seen.iter().filter(wanted).copied().collect();
    let most = if only_streams || streams + late == seen.len() {
        MOST_STREAMS
    } else {
        MOST_WHOLE
    };
    let step = rows.len().div_ceil(most);
    let rows = rows.into_iter().step_by(step).collect();
    let remark = only_streams.then_some("answers in one piece take no part: streams tell more");
    Some((rows, remark))
}

pub(crate) fn part((mu, sigma): (f64, f64)) -> LogNormalPart {
    LogNormalPart {
        weight: 1.0,
        mu,
        sigma,
    }
}

/// The fit with its intervals.
fn told(model: Model<'_>, rows: &[Seen], remark: Option<&'static str>) -> LatencyFit {
    let (model, spread) = settled(model, rows);
    let spread = spread.as_deref();
    let at = packed(&model);
    let unpack = |at: &[f64]| unpacked(at, model.first.parts.len(), &[]);
    let quantile = |q: f64| {
        let found = model.first.quantile(q);
        match seen_quantile(rows, model.per_token.is_some(), q) {
            // Whatever the fit: what it says lies within, too.
            Sample::Within(low, high) => Fitted::within(found, (low.min(found), high.max(found))),
            Sample::TooFew => Fitted::bare(found),
            Sample::NotSeen => {
                let below = |at: &[f64], value: f64| unpack(at).first.cdf(value);
                inverted_quantile((&at, spread), found, q, below)
            }
        }
    };
    let token = |of: fn(LogNormalPart) -> f64| {
        model.per_token?;
        let value = |at: &[f64]| unpack(at).per_token.map_or(f64::NAN, of);
        Some(positive(&at, spread, value))
    };
    let two = match &model.first.parts[..] {
        [a, b] => {
            let slow = usize::from(b.mu > a.mu);
            let of = |which: usize, value: fn(&LogNormalPart) -> f64| {
                positive(&at, spread, move |at| value(&unpack(at).first.parts[which]))
            };
            Some(TwoParts {
                slow_share: share(&at, spread, |at| unpack(at).first.parts[slow].weight),
                quick_median: of(1 - slow, |part| libm::exp(part.mu)),
                slow_median: of(slow, |part| libm::exp(part.mu)),
            })
        }
        _ => None,
    };
    let count = |of: fn(&&Seen) -> bool| rows.iter().filter(of).count();
    let mut first = model.first.clone();
    first.parts.sort_by(|a, b| a.mu.total_cmp(&b.mu));
    LatencyFit {
        first,
        two,
        per_token: model.per_token,
        first_quantiles: [quantile(0.5), quantile(0.95), quantile(0.99)],
        per_token_median: token(|part| libm::exp(part.mu)),
        per_token_sigma: token(|part| part.sigma),
        used: [
            count(|row| matches!(row, Seen::Parts { .. })),
            count(|row| matches!(row, Seen::Whole { .. })),
            count(|row| matches!(row, Seen::Late { .. })),
        ],
        remark,
    }
}

/// Fewer answers are not fitted: the 95th percentile of 50 is the third largest.
pub(crate) const FEWEST: usize = 50;
/// From so many streams on, nothing else is needed.
pub(crate) const STREAMS_ENOUGH: usize = 50;
/// Answers in one piece that take part; each costs an integral a round.
const MOST_WHOLE: usize = 2_500;
const MOST_STREAMS: usize = 40_000;
/// The smallest deviation, for times that are always the same.
pub(crate) const NARROWEST: f64 = 1e-3;
const NO_TOKENS: &str = "more tokens take no more time that could be told, so an answer comes whole with its first token";

#[cfg(test)]
mod tests {
    use router::{KeyedRng, Purpose, Seed};

    use super::*;
    use crate::stats::normal_quantile;

    const TEST: Purpose = Purpose::named("test.latency_fit");

    /// F is 2 % heavy: medians 400 and 3,000 ms; T has the median 20 ms.
    fn drawn(n: u64, seed: u64) -> Vec<(f64, f64, f64)> {
        let draw = |number| {
            let mut rng = KeyedRng::new(Seed(seed), TEST, number, 0);
            let mut normal = || normal_quantile(rng.unit().clamp(1e-12, 1.0 - 1e-12));
            let (z, t, k) = (normal(), normal(), normal());
            let heavy = rng.unit() < 0.02;
            let first = match heavy {
                true => 3_000.0 * libm::exp(0.3 * z),
                false => 400.0 * libm::exp(0.4 * z),
            };
            let further = (150.0 * libm::exp(0.9 * k)).round();
            (first, 20.0 * libm::exp(0.25 * t), further)
        };
        (0..n).map(draw).collect()
    }

    fn usual(rows: &[(f64, f64, f64)]) -> Vec<f64> {
        let mut further: Vec<f64> = rows.iter().map(|row| row.2).collect();
        further.sort_by(f64::total_cmp);
        (0..16)
            .map(|n| further[(2 * n + 1) * further.len() / 32])
            .collect()
    }

    #[test]
    fn streams_give_back_body_and_tail() {
        let rows = drawn(8_000, 4);
        let seen: Vec<Seen> = rows
            .iter()
            .map(|&(first_ms, token, _)| Seen::Parts {
                first_ms,
                per_token_ms: Some(token),
            })
            .collect();

        let fit = LatencyFit::of(&seen, &usual(&rows)).unwrap();

        assert!(fit.first_quantiles[0].holds(404.0), "{fit:?}");
        assert_eq!(fit.first.parts.len(), 2, "{fit:?}");
        assert!((fit.first.parts[1].weight - 0.02).abs() < 0.007, "{fit:?}");
        assert!(fit.per_token_median.unwrap().holds(20.0), "{fit:?}");
        assert!(fit.per_token_sigma.unwrap().holds(0.25), "{fit:?}");
    }

    #[test]
    fn answers_in_one_piece_give_back_both_although_neither_was_seen() {
        let rows = drawn(4_000, 2);
        let seen: Vec<Seen> = rows
            .iter()
            .map(|&(first, token, further)| Seen::Whole {
                total_ms: first + token * further,
                further,
            })
            .collect();

        let fit = LatencyFit::of(&seen, &usual(&rows)).unwrap();

        assert!(fit.per_token_median.unwrap().holds(20.0), "{fit:?}");
        assert!(fit.per_token_sigma.unwrap().holds(0.25), "{fit:?}");
        assert!(fit.first_quantiles[0].holds(404.0), "{fit:?}");
    }

    #[test]
    fn what_was_cut_off_counts_as_later_and_not_as_missing() {
        let rows = drawn(6_000, 3);
        let limit = 600.0;
        let seen: Vec<Seen> = rows
            .iter()
            .map(|&(first_ms, ..)| match first_ms < limit {
                true => Seen::Whole {
                    total_ms: first_ms,
                    further: 0.0,
                },
                false => Seen::Late { after_ms: limit },
            })
            .collect();
        let blind: Vec<Seen> = seen
            .iter()
            .copied()
            .filter(|row| !matches!(row, Seen::Late { .. }))
            .collect();

        let fit = LatencyFit::of(&seen, &[]).unwrap();
        let blind = LatencyFit::of(&blind, &[]).unwrap();

        let (found, wrong) = (fit.first.quantile(0.8), blind.first.quantile(0.8));
        // 80 % of the mixture lie below 566.6 ms.
        assert!((found / 566.6 - 1.0).abs() < 0.03, "{found}");
        assert!(wrong < 0.93 * 566.6, "{wrong}");
    }

    #[test]
    fn tokens_that_take_no_time_are_not_given_any() {
        let rows = drawn(3_000, 5);
        let seen: Vec<Seen> = rows
            .iter()
            .map(|&(first_ms, _, further)| Seen::Whole {
                total_ms: first_ms,
                further,
            })
            .collect();

        let fit = LatencyFit::of(&seen, &usual(&rows)).unwrap();

        assert_eq!(fit.per_token, None, "{fit:?}");
        assert_eq!(fit.remark, Some(NO_TOKENS));
        assert!(fit.first_quantiles[0].holds(404.0), "{fit:?}");
    }

    #[test]
    fn too_few_answers_are_not_fitted() {
        let seen = [Seen::Whole {
            total_ms: 5.0,
            further: 3.0,
        }; FEWEST - 1];

        assert_eq!(LatencyFit::of(&seen, &[]), None);
    }
}
