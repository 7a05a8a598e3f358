//! How far a fit is from what it has not seen: the largest difference between two distribution functions
//! (Kolmogorov and Smirnov), with an interval by the bootstrap, and with values that are known only to be
//! larger (Kaplan and Meier, 1958).

use router::{KeyedRng, Purpose, Seed};
use serde::Serialize;

use super::Fitted;
use crate::stats::size;

/// A value, or that it is larger.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lived {
    /// The value.
    pub at: f64,
    /// Whether it is known to be above, and not to be this.
    pub beyond: bool,
}

/// How far a fit is off.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Distance {
    /// Values that were not used in the fit.
    pub n: usize,
    /// The largest difference between the distribution functions, from 0 to 1, with its interval.
    pub largest: Fitted,
    /// About how far chance alone would make it in 95 of 100 samples, if the fit held and values were
    /// independent: 1.358 ÷ √n.
    pub by_chance: f64,
}

/// The share above each value (Kaplan and Meier), in rising order of values: S falls by 1 ÷ (those that
/// have lived as long) at each value that was reached.
#[must_use]
pub fn survivors(values: &[Lived]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    // Of equal values those that were reached come first: the others lived longer.
    sorted.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.beyond.cmp(&b.beyond)));
    let mut share = 1.0;
    let mut curve: Vec<(f64, f64)> = Vec::with_capacity(sorted.len());
    for (before, value) in sorted.iter().enumerate().filter(|(_, value)| !value.beyond) {
        share *= 1.0 - 1.0 / size(sorted.len() - before);
        match curve.last_mut() {
            Some(last) if last.0.total_cmp(&value.at).is_eq() => last.1 = share,
            _ => curve.push((value.at, share)),
        }
    }
    curve
}

/// How far values that should be spread evenly over 0 to 1 are from being so; `None` with fewer than 20.
#[must_use]
pub fn distance(values: &[Lived]) -> Option<Distance> {
    let n = values.len();
    if n < FEWEST {
        return None;
    }
    let found = largest(values);
    let mut again: Vec<f64> = (0..RESAMPLES)
        .map(|round| {
            let mut rng = KeyedRng::new(SEED, RESAMPLE, round, 0);
            let drawn: Vec<Lived> = (0..n).map(|_| values[rng.below(n)]).collect();
            largest(&drawn)
        })
        .collect();
    again.sort_by(f64::total_cmp);
    Some(Distance {
        n,
        largest: Fitted::within(
            found,
            (again[4].min(found), again[again.len() - 5].max(found)),
        ),
        by_chance: 1.358 / size(n).sqrt(),
    })
}

fn largest(values: &[Lived]) -> f64 {
    let mut before = 1.0;
    let mut off: f64 = 0.0;
    for (at, share) in survivors(values) {
        off = off
            .max((1.0 - share - at).abs())
            .max((1.0 - before - at).abs());
        before = share;
    }
    off
}

const FEWEST: usize = 20;
const RESAMPLES: u64 = 200;
const SEED: Seed = Seed(1);
const RESAMPLE: Purpose = Purpose::named("reports.fits.resample");

#[cfg(test)]
mod tests {
    use super::*;

    fn lived(values: &[(f64, bool)]) -> Vec<Lived> {
        let of = |&(at, beyond): &(f64, bool)| Lived { at, beyond };
        values.iter().map(of).collect()
    }

    /// By hand: of five, one at 1; of the three left after the one beyond 1.5, one at 2, so 4/5 · 2/3.
    #[test]
    fn survivors_are_those_of_kaplan_and_meier_by_hand() {
        let values = lived(&[
            (1.0, false),
            (1.5, true),
            (2.0, false),
            (2.5, true),
            (3.0, true),
        ]);

        let curve = survivors(&values);

        assert_eq!(curve.len(), 2);
        assert!((curve[0].1 - 0.8).abs() < 1e-12);
        assert!((curve[1].1 - 0.8 * 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn evenly_spread_values_are_near_and_squeezed_ones_far() {
        let even: Vec<_> = (0..500)
            .map(|n| ((f64::from(n) + 0.5) / 500.0, false))
            .collect();
        let squeezed: Vec<_> = even.iter().map(|(u, _)| (u * u, false)).collect();

        let (near, far) = (
            distance(&lived(&even)).unwrap(),
            distance(&lived(&squeezed)).unwrap(),
        );

        assert!(near.largest.value < 0.002, "{near:?}");
        // u − u² is largest at ½.
        assert!((far.largest.value - 0.25).abs() < 0.005, "{far:?}");
        assert!(far.largest.low.unwrap() > far.by_chance);
    }
}
