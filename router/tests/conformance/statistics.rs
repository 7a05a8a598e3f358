//! Whether two samples may come from one source.

use crate::vector::Distribution;

/// How unlikely a difference must be to count: one in ten thousand.
pub(crate) const SIGNIFICANT: f64 = 1e-4;

/// Whether two samples, counted by kind, have the same shares: the chance of shares at least this
/// far apart if they have. `None` where a kind is expected fewer than [`LEAST_EXPECTED`] times in
/// either sample, for which Pearson's test is not made.
///
/// Pearson's chi-square test of homogeneity. Each pair holds the counts of one kind.
pub(crate) fn chi_square(kinds: &[(u32, u32)]) -> Option<f64> {
    let (first, second) = kinds.iter().fold((0, 0), |(a, b), k| (a + k.0, b + k.1));
    let all = f64::from(first + second);
    let mut statistic = 0.0;
    for &(a, b) in kinds {
        for (seen, of) in [(a, first), (b, second)] {
            let expected = f64::from(a + b) * f64::from(of) / all;
            if !(LEAST_EXPECTED..).contains(&expected) {
                return None;
            }
            let off = f64::from(seen) - expected;
            statistic += off * off / expected;
        }
    }
    let freedom = f64::from(u32::try_from(kinds.len()).unwrap()) - 1.0;
    Some(upper_tail(statistic, freedom))
}

/// From how many expected of each kind on Pearson's test holds well enough (Cochran's rule).
const LEAST_EXPECTED: f64 = 5.0;

/// The chance that chi-square of so many degrees of freedom is at least this: the regularized upper
/// incomplete gamma function, by its series near zero and its continued fraction beyond.
fn upper_tail(statistic: f64, freedom: f64) -> f64 {
    let (a, x) = (freedom / 2.0, statistic / 2.0);
    if a <= 0.0 || x <= 0.0 {
        return 1.0;
    }
    let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        let mut term = 1.0 / a;
        let mut sum = term;
        let mut n = a;
        while term > sum * 1e-15 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    // Lentz's method.
    let mut b = x + 1.0 - a;
    let mut c = f64::MAX;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for n in 1..10_000 {
        let n = f64::from(n);
        let an = n * (a - n);
        b += 2.0;
        d = 1.0 / an.mul_add(d, b);
        c = b + an / c;
        let step = c * d;
        fraction *= step;
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

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
fn the_upper_tail_of_chi_square_is_that_of_published_tables() {
    // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4.
    for (statistic, freedom, chance) in [
        (3.841, 1.0, 0.05),
        (6.635, 1.0, 0.01),
        (9.210, 2.0, 0.01),
        (2.204, 6.0, 0.90),
        (18.307, 10.0, 0.05),
        (20.515, 5.0, 0.001),
        (124.342, 100.0, 0.05),
    ] {
        let found = upper_tail(statistic, freedom);
        assert!(
            (found - chance).abs() < 2e-4 * chance.max(0.1),
            "{statistic} of {freedom}: {found}"
        );
    }
}

#[test]
fn homogeneity_is_judged_as_in_a_published_example() {
    // Party by gender, from Agresti (2007), as in the documentation of R's chisq.test:
    // X-squared = 30.07, df = 2, p-value = 2.954e-07.
    let chance = chi_square(&[(762, 484), (327, 239), (468, 477)]).unwrap();

    assert!((chance - 2.954e-7).abs() < 1e-10, "{chance}");
    assert!(chi_square(&[(500, 510), (500, 490)]).unwrap() > 0.5);
}

#[test]
fn kinds_that_are_hardly_expected_are_not_judged_by_chi_square() {
    assert!(chi_square(&[(4, 4), (996, 996)]).is_none());
    assert!(chi_square(&[(5, 5), (995, 995)]).is_some());
    assert!(
        chi_square(&[(10, 0), (30, 3)]).is_none(),
        "the small sample"
    );
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
