//! How well a fit of the first three quarters of a log holds on the last: distances between distribution
//! functions with intervals, quantiles side by side, and whether errors stayed as they were.

use reports::{
    fits::{Distance, Fitted, LatencyFit, Lived, Seen, TokenLengths, distance, survivors},
    stats::size,
};
use router::{KeyedRng, Purpose, Seed};
use scenarios::logs::{Log, LogRow};
use serde::Serialize;

use super::{
    deployment::{DeploymentFit, fit, is_answer, knows_tokens, rows_of, seen, usual_further},
    pairs::{QuantilePair, known, pairs},
    traffic::{TrafficFit, answered_tokens, counts},
    window::{Span, Window},
};

/// What the test on the last quarter gave.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HeldOut {
    /// Where the fitted part ends and the tested part begins, in seconds of the run.
    pub from_s: f64,
    /// Gaps between requests, by the rate of the tested part itself: a rate is no forecast.
    pub gaps: Option<Distance>,
    /// Requests a second in the fitted and in the tested part.
    pub rates: Option<(f64, f64)>,
    /// Tokens of prompts.
    pub prompt: Option<Distance>,
    /// Tokens of answers.
    pub output: Option<Distance>,
    /// For the pictures: quantiles of gaps, in mean gaps.
    pub gap_pairs: Vec<QuantilePair>,
    /// Quantiles of prompt tokens.
    pub prompt_pairs: Vec<QuantilePair>,
    /// Quantiles of answer tokens.
    pub output_pairs: Vec<QuantilePair>,
    /// Each deployment that could be tested.
    pub deployments: Vec<HeldOutDeployment>,
}

/// One deployment.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HeldOutDeployment {
    /// Its id.
    pub id: String,
    /// Times of answers.
    pub latency: Option<Distance>,
    /// Median, 90th and 99th percentile of times of answers.
    pub quantiles: Vec<QuantileCheck>,
    /// Share of attempts that failed in the fitted and in the tested part.
    pub failed: (Fitted, Fitted),
    /// For the picture: times of answers in ms, with the share of the tested ones at or below, and what
    /// the fit says of them.
    pub curve: Vec<(f64, f64, f64)>,
    /// For the picture: quantiles of times in ms, as if every answer had as many tokens as the median one.
    pub pairs: Vec<QuantilePair>,
}

/// A quantile of the tested answers, and what the fit says.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct QuantileCheck {
    /// Which, from 0 to 1.
    pub share: f64,
    /// As seen, in milliseconds.
    pub seen_ms: f64,
    /// As fitted, in milliseconds.
    pub fitted_ms: f64,
}

impl HeldOut {
    pub(crate) fn of(log: &Log, window: &Window, deployments: &[DeploymentFit]) -> Self {
        let (before, after) = window.halves();
        let mut told = Vec::new();
        let traffic = TrafficFit::of(log, window, before, &mut told);
        let times = window.arrivals(log, after);
        let holes = window.holes_in(after);
        let arrivals = traffic.as_ref().map(|traffic| &traffic.arrivals);
        let gaps = arrivals.map_or_else(Vec::new, |fit| {
            fit.gap_shares(&times, after.0, after.1, &holes)
        });
        let gap_pairs = arrivals.map_or_else(Vec::new, |fit| {
            pairs(&known(&gaps), gaps.len(), |q| fit.gap_quantile(q))
        });
        let rates = traffic.as_ref().map(|traffic| {
            let missing: f64 = holes.iter().map(|hole| hole.to_s - hole.from_s).sum();
            let covered = (after.1 - after.0 - missing).max(1e-9);
            (
                traffic.arrivals.per_second.value,
                size(times.len()) / covered,
            )
        });
        let rows: Vec<&LogRow> = window.rows(log, after).collect();
        let lengths = |fit: Option<&TokenLengths>, tokens: Vec<f64>| {
            let Some(fit) = fit else {
                return (None, Vec::new());
            };
            let shares = token_shares(fit, &tokens);
            let quantiles = pairs(&known(&shares), shares.len(), |q| fit.quantile(q));
            (distance(&lived(&shares)), quantiles)
        };
        let of = |which: fn(&TrafficFit) -> Option<&TokenLengths>| traffic.as_ref().and_then(which);
        let prompts = counts(&rows, |row| row.prompt_tokens);
        let (prompt, prompt_pairs) = lengths(of(|t| t.prompt.as_ref()), prompts);
        let outputs = counts(&rows, answered_tokens);
        let (output, output_pairs) = lengths(of(|t| t.output.as_ref()), outputs);
        let number = |id: &str| {
            log.deployments
                .iter()
                .position(|deployment| deployment.id == id)
        };
        let tested = deployments
            .iter()
            .filter_map(|deployment| tested(log, window, (before, after), number(&deployment.id)?));
        Self {
            from_s: after.0,
            gaps: distance(&lived(&gaps)),
            rates,
            prompt,
            output,
            gap_pairs,
            prompt_pairs,
            output_pairs,
            deployments: tested.collect(),
        }
    }
}

fn tested(
    log: &Log,
    window: &Window,
    (before, after): (Span, Span),
    which: usize,
) -> Option<HeldOutDeployment> {
    let fitted = fit(log, window, before, which, &mut Vec::new())?;
    let rows = rows_of(log, window, after, which);
    if rows.is_empty() {
        return None;
    }
    let failed = |rows: &[&LogRow]| {
        let failed = rows.iter().filter(|row| !is_answer(row)).count();
        super::failures::proportion(failed, rows.len())
    };
    let before = rows_of(log, window, before, which);
    let test = fitted
        .latency
        .as_ref()
        .map(|fit| Test::of(fit, &fitted, &rows, window));
    Some(HeldOutDeployment {
        id: fitted.id.clone(),
        failed: (failed(&before), failed(&rows)),
        latency: test.as_ref().and_then(|test| distance(&test.shares())),
        quantiles: test.as_ref().map_or_else(Vec::new, Test::quantiles),
        curve: test.as_ref().map_or_else(Vec::new, Test::curve),
        pairs: test.as_ref().map_or_else(Vec::new, Test::pairs),
    })
}

/// Tested answers: further tokens, milliseconds, and whether they were cut off then.
struct Test<'a> {
    fit: &'a LatencyFit,
    answers: Vec<(f64, f64, bool)>,
}

impl<'a> Test<'a> {
    fn of(
        fit: &'a LatencyFit,
        deployment: &DeploymentFit,
        rows: &[&LogRow],
        window: &Window,
    ) -> Self {
        let answered: Vec<&LogRow> = rows.iter().copied().filter(|row| is_answer(row)).collect();
        let has_counts = knows_tokens(&answered);
        let usual = usual_further(&answered);
        let usual = usual[usual.len() / 2];
        let limit = &deployment.failures.limit;
        let limit = limit
            .as_ref()
            .filter(|_| deployment.failures.hangs.is_none());
        let answers = rows.iter().filter_map(|row| {
            let further = row
                .output_tokens
                .map_or(usual, |tokens| f64::from(tokens) - 1.0);
            match seen(row, has_counts, limit, window.ends_ns)? {
                Seen::Parts {
                    first_ms,
                    per_token_ms,
                } => {
                    let further = if has_counts { further } else { 0.0 };
                    Some((
                        further,
                        first_ms + further * per_token_ms.unwrap_or(0.0),
                        false,
                    ))
                }
                Seen::Whole { total_ms, further } => Some((further, total_ms, false)),
                Seen::Late { after_ms } => Some((further, after_ms, true)),
            }
        });
        let answers: Vec<_> = answers.collect();
        let step = answers.len().div_ceil(MOST).max(1);
        Self {
            fit,
            answers: answers.into_iter().step_by(step).collect(),
        }
    }

    /// Where in the fitted distribution each answer lies, given its length. Where the fit says that nearly
    /// all take what this one took, give or take `ALIKE`, its place among them is drawn.
    fn shares(&self) -> Vec<Lived> {
        let of = |(number, (further, ms, beyond)): (u64, &(f64, f64, bool))| {
            let within = |ms: f64| self.fit.share_within(*further, ms);
            let (below, above) = (within(ms * (1.0 - ALIKE)), within(ms * (1.0 + ALIKE)));
            let draw = || KeyedRng::new(SEED, AMONG, number, 0).unit();
            Lived {
                at: match !beyond && above - below > NEARLY_ALL {
                    true => below + draw() * (above - below),
                    false => within(*ms),
                },
                beyond: *beyond,
            }
        };
        (0..).zip(&self.answers).map(of).collect()
    }

    /// The share of all of them that would be there after `ms`.
    fn fitted(&self, ms: f64) -> f64 {
        let each = self
            .answers
            .iter()
            .map(|(further, ..)| self.fit.share_within(*further, ms));
        each.sum::<f64>() / size(self.answers.len())
    }

    /// The curve of times that were seen: milliseconds, share above.
    fn survivors(&self) -> Vec<(f64, f64)> {
        let of = |(_, at, beyond): &(f64, f64, bool)| Lived {
            at: *at,
            beyond: *beyond,
        };
        survivors(&self.answers.iter().map(of).collect::<Vec<_>>())
    }

    fn quantiles(&self) -> Vec<QuantileCheck> {
        let seen = self.survivors();
        let check = |share: &f64| {
            if size(self.answers.len()) * (1.0 - share) < 5.0 {
                return None;
            }
            let seen_ms = seen.iter().find(|(_, above)| *above <= 1.0 - share)?.0;
            let (mut low, mut high) = (seen_ms / 30.0, seen_ms * 30.0);
            for _ in 0..24 {
                let middle = (low * high).sqrt();
                if self.fitted(middle) < *share {
                    low = middle
                } else {
                    high = middle
                }
            }
            Some(QuantileCheck {
                share: *share,
                seen_ms,
                fitted_ms: (low * high).sqrt(),
            })
        };
        [0.5, 0.9, 0.99].iter().filter_map(check).collect()
    }

    /// Places in the fitted distribution, as times of an answer of the median length.
    fn pairs(&self) -> Vec<QuantilePair> {
        let mut further: Vec<f64> = self.answers.iter().map(|answer| answer.0).collect();
        further.sort_by(f64::total_cmp);
        let further = further.get(further.len() / 2).copied().unwrap_or(0.0);
        let time = |q: f64| {
            let (mut low, mut high) = (libm::log(1e-3), libm::log(1e9));
            for _ in 0..50 {
                let middle = f64::midpoint(low, high);
                match self.fit.share_within(further, libm::exp(middle)) < q {
                    true => low = middle,
                    false => high = middle,
                }
            }
            libm::exp(f64::midpoint(low, high))
        };
        pairs(&survivors(&self.shares()), self.answers.len(), time)
    }

    fn curve(&self) -> Vec<(f64, f64, f64)> {
        let seen = self.survivors();
        let step = seen.len().div_ceil(POINTS).max(1);
        let last = seen.len().saturating_sub(1);
        let kept = seen
            .iter()
            .enumerate()
            .filter(|(at, _)| at % step == 0 || *at == last);
        kept.map(|(_, (ms, above))| (*ms, 1.0 - above, self.fitted(*ms)))
            .collect()
    }
}

/// Where in the fitted distribution each count lies; counts are whole, so a place between the count before
/// and itself is drawn.
fn token_shares(fit: &TokenLengths, tokens: &[f64]) -> Vec<f64> {
    let step = tokens.len().div_ceil(10 * MOST).max(1);
    let share = |(number, tokens): (u64, &f64)| {
        let (below, within) = (fit.cdf(tokens - 1.0), fit.cdf(*tokens));
        below + KeyedRng::new(SEED, BETWEEN, number, 0).unit() * (within - below)
    };
    (0..).zip(tokens.iter().step_by(step)).map(share).collect()
}

fn lived(values: &[f64]) -> Vec<Lived> {
    values
        .iter()
        .map(|at| Lived {
            at: *at,
            beyond: false,
        })
        .collect()
}

/// Tested answers of a deployment; each costs an integral for each step of a quantile.
const MOST: usize = 500;
const POINTS: usize = 60;
const SEED: Seed = Seed(1);
/// Times that differ by less are as good as the same: five times the narrowest deviation that is fitted.
const ALIKE: f64 = 0.005;
const NEARLY_ALL: f64 = 0.9;
const AMONG: Purpose = Purpose::named("sim.calibrate.among_alike");
const BETWEEN: Purpose = Purpose::named("sim.calibrate.between_tokens");
