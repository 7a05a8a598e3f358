//! EM over a latency model, and the choice between one log-normal part and two.

use super::{
    LogNormalPart, Mixture,
    latency::{NARROWEST, Seen, part},
    latency_rows::{Model, Way},
};
use crate::stats::size;

/// One part or two, with the logarithm of its likelihood less half the logarithm of the number of rows for
/// each parameter (half of the BIC, the other way round).
pub(crate) fn best<'a>(one: Model<'a>, rows: &[Seen]) -> (Model<'a>, f64) {
    let half = 0.5 * libm::log(size(rows.len()));
    let of_token = if one.per_token.is_some() { 2.0 } else { 0.0 };
    let (for_one, for_two) = (2.0 + of_token, 5.0 + of_token);
    let (one, ln_one) = em(one, rows, f64::NEG_INFINITY);
    let needed = ln_one + (for_two - for_one) * half;
    let (two, ln_two) = em(split(&one), rows, needed);
    match ln_two - for_two * half > ln_one - for_one * half && is_sound(&two) {
        true => (two, ln_two - for_two * half),
        false => (one, ln_one - for_one * half),
    }
}

/// Σ ln t over the sums: what turns a density of ln t into one of t.
pub(crate) fn ln_totals(rows: &[Seen]) -> f64 {
    let of = |row: &Seen| match *row {
        Seen::Whole { total_ms, further } if further > 0.0 => libm::log(total_ms),
        Seen::Whole { .. } | Seen::Parts { .. } | Seen::Late { .. } => 0.0,
    };
    rows.iter().map(of).sum()
}

/// The same with a small heavy part.
fn split<'a>(one: &Model<'a>) -> Model<'a> {
    let LogNormalPart { mu, sigma, .. } = one.first.parts[0];
    let body = LogNormalPart {
        weight: 0.97,
        mu,
        sigma: 0.9 * sigma,
    };
    let heavy = LogNormalPart {
        weight: 0.03,
        mu: mu + 2.5 * sigma,
        sigma: sigma.max(0.3),
    };
    Model {
        first: Mixture {
            parts: vec![body, heavy],
        },
        ..one.clone()
    }
}

/// A part of a handful of answers, or one that is a single value, is a matter of chance.
fn is_sound(model: &Model<'_>) -> bool {
    let sound = |p: &LogNormalPart| p.weight > 0.001 && p.sigma > 2.0 * NARROWEST;
    model.first.parts.iter().all(sound)
}

/// The best model from there on, with the logarithm of its likelihood. Of one that will not come to `needed`, what
/// was reached when that was plain: rounds gain less and less.
fn em<'a>(mut model: Model<'a>, rows: &[Seen], needed: f64) -> (Model<'a>, f64) {
    let mut ways: Vec<Way> = Vec::new();
    let mut before = f64::NEG_INFINITY;
    for round in 0..MOST_ROUNDS {
        let mut parts = vec![[0.0; 3]; model.first.parts.len()];
        let mut token = [0.0; 3];
        let mut ln_likelihood = 0.0;
        for row in rows {
            model.ways(row, &mut ways);
            let sum: f64 = ways.iter().map(|way| way.weight).sum();
            ln_likelihood += libm::log(sum.max(1e-300));
            if sum < 1e-300 {
                continue;
            }
            for way in &ways {
                let weight = way.weight / sum;
                let part = &mut parts[way.part];
                part[0] += weight;
                part[1] += weight * way.ln.0;
                part[2] += weight * way.ln.1;
                if let Some(ln) = way.per_token {
                    token[0] += weight;
                    token[1] += weight * ln;
                    token[2] += weight * ln * ln;
                }
            }
        }
        let gain = ln_likelihood - before;
        let left = size(MOST_ROUNDS - round);
        if gain < ENOUGH || round >= FEWEST_ROUNDS && ln_likelihood + gain * left < needed {
            break;
        }
        before = ln_likelihood;
        let all: f64 = parts.iter().map(|part| part[0]).sum();
        for (part, sums) in model.first.parts.iter_mut().zip(&parts) {
            if sums[0] > 0.0 {
                *part = LogNormalPart {
                    weight: sums[0] / all,
                    ..moments(sums)
                };
            }
        }
        if let Some(part) = model.per_token.as_mut().filter(|_| token[0] > 0.0) {
            *part = moments(&token);
        }
    }
    (model, before)
}

fn moments(sums: &[f64; 3]) -> LogNormalPart {
    let mu = sums[1] / sums[0];
    let variance = (sums[2] / sums[0] - mu * mu).max(0.0);
    part((mu, variance.sqrt().max(NARROWEST)))
}

const MOST_ROUNDS: usize = 200;
/// The first rounds go to where the parts are, and tell nothing of those that follow.
const FEWEST_ROUNDS: usize = 15;
/// A round that gains less is the last.
const ENOUGH: f64 = 3e-3;
