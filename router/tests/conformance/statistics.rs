//! Whether two samples may come from one source.

use crate::vector::Distribution;

/// How unlikely a difference must be to count: one in ten thousand.
pub(crate) const SIGNIFICANT: f64 = 1e-4;

/// Fisher's exact test, two-sided: the chance of shares at least this far apart if both samples
/// have the same one. `k` of `n` are of the kind in question.
pub(crate) fn fisher(first: (u32, u32), second: (u32, u32)) -> f64 {
    let ((k1, n1), (k2, n2)) = (first, second);
    let of_kind = k1 + k2;
    let ln_chance =
        |k: u32| ln_choose(n1, k) + ln_choose(n2, of_kind - k) - ln_choose(n1 + n2, of_kind);
    let observed = ln_chance(k1);
    let least = of_kind.saturating_sub(n2);
    let most = of_kind.min(n1);
    let as_far = (least..=most)
        .map(ln_chance)
        .filter(|&ln| ln <= observed + 1e-9);
    as_far.map(libm::exp).sum::<f64>().min(1.0)
}

/// Whether repeats differ more than independent draws with one share would: Pearson's statistic
/// against its mean and spread.
pub(crate) fn over_dispersed(repeats: &[(u32, u32)]) -> bool {
    let (of_kind, all) = repeats.iter().fold((0, 0), |(k, n), r| (k + r.0, n + r.1));
    if of_kind == 0 || of_kind == all {
        return false;
    }
    let share = f64::from(of_kind) / f64::from(all);
    let statistic: f64 = repeats
        .iter()
        .map(|&(k, n)| {
            let expected = share * f64::from(n);
            let off = f64::from(k) - expected;
            off * off / (expected * (1.0 - share))
        })
        .sum();
    let freedom = f64::from(u32::try_from(repeats.len()).unwrap()) - 1.0;
    statistic > freedom + 4.0 * (2.0 * freedom).sqrt()
}

/// What differs between a recorded sample and ours, if anything does. `tolerance_ms` is the
/// recorder's own overhead.
pub(crate) fn differs(
    recorded: &Distribution,
    ours: &mut [f64],
    tolerance_ms: f64,
) -> Option<String> {
    ours.sort_by(f64::total_cmp);
    let count = f64::from(u32::try_from(ours.len()).unwrap());
    let both = 1.0 / f64::from(recorded.n) + 1.0 / count;
    let range = (recorded.max - recorded.min).max(ours[ours.len() - 1] - ours[0]);
    let quantiles = [
        (0.10, recorded.p10),
        (0.25, recorded.p25),
        (0.50, recorded.median),
        (0.75, recorded.p75),
        (0.90, recorded.p90),
    ];
    for (q, theirs) in quantiles {
        let mine = quantile(ours, q);
        // Four standard errors of a quantile of a flat distribution.
        let slack = tolerance_ms + 4.0 * range * (q * (1.0 - q) * both).sqrt();
        if (mine - theirs).abs() > slack {
            return Some(format!(
                "quantile {q} is {mine:.0} ms, recorded {theirs:.0} ms"
            ));
        }
    }
    let mean = ours.iter().sum::<f64>() / count;
    // A flat distribution's spread is its range over the root of twelve.
    let slack = tolerance_ms + 4.0 * range / 12.0_f64.sqrt() * both.sqrt();
    if (mean - recorded.mean).abs() > slack {
        return Some(format!(
            "mean is {mean:.0} ms, recorded {:.0} ms",
            recorded.mean
        ));
    }
    // The extremes of n flat draws lie within this of the ends, but for one time in 10,000.
    let gap = range * 9.2 * both;
    let (least, most) = (ours[0], ours[ours.len() - 1]);
    if least < recorded.min - gap - tolerance_ms || most > recorded.max + gap + tolerance_ms {
        return Some(format!(
            "{least:.0} to {most:.0} ms, recorded {:.0} to {:.0} ms",
            recorded.min, recorded.max
        ));
    }
    None
}

fn quantile(sorted: &[f64], q: f64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "samples are small and q lies in 0 to 1"
    )]
    let at = ((sorted.len() - 1) as f64 * q).round() as usize;
    sorted[at]
}

fn ln_choose(n: u32, k: u32) -> f64 {
    let ln_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

#[test]
fn fishers_test_tells_shares_apart() {
    assert!(fisher((500, 1_000), (510, 1_000)) > 0.5);
    assert!(fisher((500, 1_000), (650, 1_000)) < SIGNIFICANT);
    assert!(fisher((0, 1_000), (0, 1_000)) > 0.99);
    // Known value: 3 of 4 against 1 of 4.
    assert!((fisher((3, 4), (1, 4)) - 0.485_714_285_7).abs() < 1e-9);
}

#[test]
fn repeats_that_each_settle_on_something_else_are_over_dispersed() {
    assert!(over_dispersed(&[
        (30, 30),
        (0, 30),
        (29, 30),
        (2, 30),
        (30, 30)
    ]));
    assert!(!over_dispersed(&[
        (14, 30),
        (16, 30),
        (11, 30),
        (18, 30),
        (15, 30)
    ]));
}
