//! The smallest value of a function of a few numbers, without derivatives (J. A. Nelder and R. Mead, "A
//! simplex method for function minimization", Computer Journal 7, 1965).

/// Searches from `start` with first steps of `step`; gives the place and its value.
pub(crate) fn smallest(
    start: &[f64],
    step: f64,
    most_calls: usize,
    mut of: impl FnMut(&[f64]) -> f64,
) -> (Vec<f64>, f64) {
    let n = start.len();
    let mut calls = 0;
    let mut value = |at: &[f64]| {
        calls += 1;
        let found = of(at);
        (if found.is_nan() { f64::INFINITY } else { found }, calls)
    };
    let mut corners: Vec<(Vec<f64>, f64)> = Vec::with_capacity(n + 1);
    for which in 0..=n {
        let mut at = start.to_vec();
        if which > 0 {
            at[which - 1] += step;
        }
        let found = value(&at).0;
        corners.push((at, found));
    }
    loop {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, worst) = (corners[0].1, corners[n].1);
        let mut centre = vec![0.0; n];
        for (at, _) in &corners[..n] {
            for (sum, x) in centre.iter_mut().zip(at) {
                *sum += x / crate::stats::size(n);
            }
        }
        let away = |by: f64| -> Vec<f64> {
            let last = &corners[n].0;
            centre
                .iter()
                .zip(last)
                .map(|(c, w)| c + by * (c - w))
                .collect()
        };
        let (mirrored, farther) = (away(1.0), away(2.0));
        let (near, inside) = (away(0.5), away(-0.5));
        let (at_mirror, done) = value(&mirrored);
        if (worst - best).abs() <= 1e-8 * (1.0 + best.abs()) || done >= most_calls {
            return corners.swap_remove(0);
        }
        if at_mirror < best {
            let at_farther = value(&farther).0;
            corners[n] = match at_farther < at_mirror {
                true => (farther, at_farther),
                false => (mirrored, at_mirror),
            };
            continue;
        }
        if at_mirror < corners[n - 1].1 {
            corners[n] = (mirrored, at_mirror);
            continue;
        }
        let closer = if at_mirror < worst { near } else { inside };
        let at_closer = value(&closer).0;
        if at_closer < worst.min(at_mirror) {
            corners[n] = (closer, at_closer);
            continue;
        }
        let first = corners[0].0.clone();
        for (at, found) in &mut corners[1..] {
            for (x, to) in at.iter_mut().zip(&first) {
                *x = f64::midpoint(*x, *to);
            }
            *found = value(at).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottom_of_a_bent_valley_is_found() {
        let banana = |x: &[f64]| {
            let bend = x[1] - x[0] * x[0];
            (1.0 - x[0]) * (1.0 - x[0]) + 100.0 * bend * bend
        };
        let (at, found) = smallest(&[-1.0, 1.0], 0.5, 5_000, banana);

        assert!(found < 1e-7, "{found}");
        assert!((at[0] - 1.0).abs() < 1e-2, "{at:?}");
    }
}
