//! The parameters of a latency model as a list of numbers, and the slope of its likelihood along each: by
//! Fisher's identity the mean of what it would be if nothing were hidden.

use super::{
    LogNormalPart, Mixture,
    information::{from_score, logit, share_of},
    latency::{Seen, part},
    latency_rows::Model,
};

/// Means, logarithms of deviations, and log-odds of the second part's weight.
pub(crate) fn packed(model: &Model<'_>) -> Vec<f64> {
    let mut at = Vec::new();
    for part in model.first.parts.iter().chain(&model.per_token) {
        at.extend([part.mu, libm::log(part.sigma)]);
    }
    if let [_, heavy] = &model.first.parts[..] {
        at.push(logit(heavy.weight));
    }
    at
}

/// The model of these numbers, with so many parts of the first.
pub(crate) fn unpacked<'a>(at: &[f64], parts: usize, usual_further: &'a [f64]) -> Model<'a> {
    let one = |n: usize| part((at[2 * n], libm::exp(at[2 * n + 1])));
    let heavy = match parts {
        2 => share_of(at[at.len() - 1]),
        _ => 0.0,
    };
    let weights = [1.0 - heavy, heavy];
    let first = (0..parts).map(|n| LogNormalPart {
        weight: weights[n],
        ..one(n)
    });
    Model {
        first: Mixture {
            parts: first.collect(),
        },
        per_token: (at.len() >= 2 * parts + 2).then(|| one(parts)),
        usual_further,
    }
}

/// The slope of the logarithm of the likelihood along each parameter.
fn score(model: &Model<'_>, rows: &[Seen]) -> Vec<f64> {
    let mut slopes = vec![0.0; packed(model).len()];
    let parts = model.first.parts.len();
    let last = slopes.len() - 1;
    let mut ways = Vec::new();
    for row in rows {
        model.ways(row, &mut ways);
        let sum: f64 = ways.iter().map(|way| way.weight).sum();
        if sum < 1e-300 {
            continue;
        }
        let mut add = |which: usize, of: &LogNormalPart, (ln, square): (f64, f64), weight: f64| {
            let variance = of.sigma * of.sigma;
            slopes[2 * which] += weight * (ln - of.mu) / variance;
            let away = square - 2.0 * of.mu * ln + of.mu * of.mu;
            slopes[2 * which + 1] += weight * (away / variance - 1.0);
        };
        let mut in_second = 0.0;
        for way in &ways {
            let weight = way.weight / sum;
            add(way.part, &model.first.parts[way.part], way.ln, weight);
            if let Some((token, ln)) = model.per_token.as_ref().zip(way.per_token) {
                add(parts, token, (ln, ln * ln), weight);
            }
            in_second += if way.part == 1 { weight } else { 0.0 };
        }
        if let [_, heavy] = &model.first.parts[..] {
            slopes[last] += in_second - heavy.weight;
        }
    }
    slopes
}

/// The model at the top of its likelihood, which EM comes near to in ever smaller rounds: one step of Newton's
/// from there, if it leads up. With the covariance of its parameters.
pub(crate) fn settled<'a>(model: Model<'a>, rows: &[Seen]) -> (Model<'a>, Option<Vec<Vec<f64>>>) {
    let (parts, usual) = (model.first.parts.len(), model.usual_further);
    let at = packed(&model);
    let slopes = |at: &[f64]| score(&unpacked(at, parts, usual), rows);
    let Some(spread) = from_score(&at, slopes) else {
        return (model, None);
    };
    let here = slopes(&at);
    let row = |row: &Vec<f64>| row.iter().zip(&here).map(|(c, s)| c * s).sum::<f64>();
    let step: Vec<f64> = spread.iter().map(row).collect();
    // Twice of what the step gains.
    let gain: f64 = step
        .iter()
        .zip(&here)
        .map(|(step, slope)| step * slope)
        .sum();
    if gain < SETTLED {
        return (model, Some(spread));
    }
    let there: Vec<f64> = at.iter().zip(&step).map(|(at, step)| at + step).collect();
    let next = unpacked(&there, parts, usual);
    match ln_likelihood(&next, rows) > ln_likelihood(&model, rows) {
        true => (next, from_score(&there, slopes).or(Some(spread))),
        false => (model, Some(spread)),
    }
}

fn ln_likelihood(model: &Model<'_>, rows: &[Seen]) -> f64 {
    let mut ways = Vec::new();
    rows.iter()
        .map(|row| model.ln_likelihood(row, &mut ways))
        .sum()
}

/// The top is nearer than a tenth of a standard error.
const SETTLED: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_likelihood() {
        let model = Model {
            first: Mixture {
                parts: vec![
                    LogNormalPart {
                        weight: 0.9,
                        mu: 6.0,
                        sigma: 0.4,
                    },
                    LogNormalPart {
                        weight: 0.1,
                        mu: 7.5,
                        sigma: 0.5,
                    },
                ],
            },
            per_token: Some(part((3.0, 0.3))),
            usual_further: &[20.0, 80.0],
        };
        let rows = [
            Seen::Parts {
                first_ms: 380.0,
                per_token_ms: Some(22.0),
            },
            Seen::Parts {
                first_ms: 1_500.0,
                per_token_ms: None,
            },
            Seen::Whole {
                total_ms: 2_300.0,
                further: 70.0,
            },
            Seen::Whole {
                total_ms: 900.0,
                further: 0.0,
            },
            Seen::Late { after_ms: 2_500.0 },
        ];
        let at = packed(&model);
        let found = score(&model, &rows);

        assert_eq!(found.len(), 7);
        for (which, found) in found.iter().enumerate() {
            let moved = |by: f64| {
                let mut there = at.clone();
                there[which] += by;
                ln_likelihood(&unpacked(&there, 2, model.usual_further), &rows)
            };
            let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            // What the places of the integral are off by.
            assert!(
                (found - slope).abs() < 0.02 * (1.0 + slope.abs()),
                "{which}: {found}, {slope}"
            );
        }
    }
}
