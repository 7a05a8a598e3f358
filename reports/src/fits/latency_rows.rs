//! What one answer says of a latency model: its likelihood, and what it adds to an EM step.
//!
//! The model is that of `mock-providers`: an answer of n tokens takes F + (n − 1)·T, with F a mixture of
//! log-normal parts and T log-normal. A stream shows both; an answer in one piece shows the sum, over
//! which the hidden part is integrated (the trapezoidal rule over ±4.5 deviations of whichever of F and
//! (n − 1)·T spreads less); an answer that was cut off at c shows that the sum is above c.

use super::{
    latency::Seen,
    log_normal::{LogNormalPart, Mixture, density},
};
use crate::stats::normal_cdf;

/// F and T, with the numbers of further tokens that answers have which never came.
#[derive(Clone, Debug)]
pub(crate) struct Model<'a> {
    pub(crate) first: Mixture,
    pub(crate) per_token: Option<LogNormalPart>,
    pub(crate) usual_further: &'a [f64],
}

/// A way in which an answer may have come about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Its density; of all ways of one answer it is normalised by their sum.
    pub(crate) weight: f64,
    /// The part of the mixture that F is of.
    pub(crate) part: usize,
    /// ln F and its square, or their means where F is known in part.
    pub(crate) ln: (f64, f64),
    /// ln T, where it says something of it.
    pub(crate) per_token: Option<f64>,
}

impl Model<'_> {
    /// The logarithm of the likelihood of one answer.
    pub(crate) fn ln_likelihood(&self, seen: &Seen, ways: &mut Vec<Way>) -> f64 {
        self.ways(seen, ways);
        let sum: f64 = ways.iter().map(|way| way.weight).sum();
        libm::log(sum.max(SMALLEST))
    }

    /// Every way in which this answer may have come about.
    pub(crate) fn ways(&self, seen: &Seen, ways: &mut Vec<Way>) {
        ways.clear();
        match *seen {
            Seen::Parts {
                first_ms,
                per_token_ms,
            } => {
                let ln = libm::log(first_ms);
                let ln_token = per_token_ms.map(libm::log);
                let of_token = match (&self.per_token, ln_token) {
                    (Some(part), Some(ln)) => part.density(ln),
                    _ => 1.0,
                };
                for (part, of) in self.first.parts.iter().enumerate() {
                    ways.push(Way {
                        weight: of.weight * of.density(ln) * of_token,
                        part,
                        ln: (ln, ln * ln),
                        per_token: ln_token,
                    });
                }
            }
            Seen::Whole { total_ms, further } => match &self.per_token {
                Some(per_token) if further > 0.0 => {
                    for (part, of) in self.first.parts.iter().enumerate() {
                        sum_ways(total_ms, further, (part, of), per_token, ways);
                    }
                }
                _ => self.ways(
                    &Seen::Parts {
                        first_ms: total_ms,
                        per_token_ms: None,
                    },
                    ways,
                ),
            },
            Seen::Late { after_ms } => self.late(after_ms, ways),
        }
    }

    fn late(&self, after_ms: f64, ways: &mut Vec<Way>) {
        let Some(token) = &self.per_token else {
            for (part, of) in self.first.parts.iter().enumerate() {
                beyond(after_ms, 1.0, (part, of), None, ways);
            }
            return;
        };
        let share = 1.0 / crate::stats::size(self.usual_further.len().max(1));
        for &further in self.usual_further {
            for z in nodes() {
                let ln_token = token.mu + token.sigma * z;
                let left = after_ms - further * libm::exp(ln_token);
                let weight = share * density(z) * NODE;
                for (part, of) in self.first.parts.iter().enumerate() {
                    beyond(left, weight, (part, of), Some(ln_token), ways);
                }
            }
        }
    }
}

/// F is above `left`.
fn beyond(
    left: f64,
    weight: f64,
    (part, of): (usize, &LogNormalPart),
    per_token: Option<f64>,
    ways: &mut Vec<Way>,
) {
    let LogNormalPart { mu, sigma, .. } = *of;
    let (share, mean, square) = match left > 0.0 {
        false => (1.0, 0.0, 1.0),
        true => {
            let from = (libm::log(left) - mu) / sigma;
            let share = normal_cdf(-from).max(SMALLEST);
            // Mean and mean square of a normal number above `from`.
            let hazard = density(from) / share;
            (share, hazard, 1.0 + from * hazard)
        }
    };
    ways.push(Way {
        weight: weight * of.weight * share,
        part,
        ln: (
            mu + sigma * mean,
            mu * mu + 2.0 * mu * sigma * mean + sigma * sigma * square,
        ),
        per_token,
    });
}

/// F + further·T is `total`.
fn sum_ways(
    total: f64,
    further: f64,
    (part, of): (usize, &LogNormalPart),
    token: &LogNormalPart,
    ways: &mut Vec<Way>,
) {
    let spread = |p: &LogNormalPart, times: f64| total.min(times * libm::exp(p.mu)) * p.sigma;
    let over_first = spread(of, 1.0) < spread(token, further);
    for z in nodes() {
        let weight = of.weight * density(z) * NODE;
        let (ln_first, ln_token, weight) = if over_first {
            let ln_first = of.mu + of.sigma * z;
            let rest = total - libm::exp(ln_first);
            if rest <= 0.0 {
                continue;
            }
            let ln_token = libm::log(rest / further);
            (ln_first, ln_token, weight * token.density(ln_token) / rest)
        } else {
            let ln_token = token.mu + token.sigma * z;
            let rest = total - further * libm::exp(ln_token);
            if rest <= 0.0 {
                continue;
            }
            let ln_first = libm::log(rest);
            (ln_first, ln_token, weight * of.density(ln_first) / rest)
        };
        ways.push(Way {
            weight,
            part,
            ln: (ln_first, ln_first * ln_first),
            per_token: Some(ln_token),
        });
    }
}

/// The share of answers with so many further tokens that take `total` at most.
pub(crate) fn share_within(
    first: &Mixture,
    per_token: Option<&LogNormalPart>,
    further: f64,
    total: f64,
) -> f64 {
    let Some(token) = per_token.filter(|_| further > 0.0) else {
        return first.cdf(total);
    };
    let step = further * libm::exp(token.mu) * token.sigma;
    let of_part = |of: &LogNormalPart| -> f64 {
        let over_first = libm::exp(of.mu) * of.sigma < step;
        let share = |z: f64| {
            let (ln_known, times) = match over_first {
                true => (of.mu + of.sigma * z, 1.0),
                false => (token.mu + token.sigma * z, further),
            };
            let rest = total - times * libm::exp(ln_known);
            match (rest > 0.0, over_first) {
                (false, _) => 0.0,
                (true, true) => normal_cdf((libm::log(rest / further) - token.mu) / token.sigma),
                (true, false) => normal_cdf((libm::log(rest) - of.mu) / of.sigma),
            }
        };
        of.weight * nodes().map(|z| density(z) * NODE * share(z)).sum::<f64>()
    };
    first.parts.iter().map(of_part).sum()
}

/// Places of the trapezoidal rule, in deviations.
fn nodes() -> impl Iterator<Item = f64> {
    (-15_i32..=15).map(|n| f64::from(n) * NODE)
}

const NODE: f64 = 0.3;
/// Keeps the logarithm of what cannot be from being endless.
const SMALLEST: f64 = 1e-300;
