//! Quantiles straight from what was seen, whatever its distribution is.

use super::latency::Seen;
use crate::stats::{CONFIDENCE, binomial_cdf};

/// What answers say of a quantile by themselves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Sample {
    /// Its 95 % interval.
    Within(f64, f64),
    /// They are too few to reach that far.
    TooFew,
    /// Nothing: it was seen as a part of a sum, or it lies behind a time limit.
    NotSeen,
}

/// The quantile `q` of the time to the first token, or of the whole answer where tokens take no time of their own.
pub(crate) fn seen_quantile(rows: &[Seen], has_tokens: bool, q: f64) -> Sample {
    let (mut known, mut cut_off) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        match *row {
            Seen::Parts { first_ms, .. } => known.push(first_ms),
            Seen::Whole { total_ms, further } if !has_tokens || further <= 0.0 => {
                known.push(total_ms);
            }
            Seen::Late { after_ms } if !has_tokens => cut_off.push(after_ms),
            // Of these the time to the first token is not known at all.
            Seen::Whole { .. } | Seen::Late { .. } => return Sample::NotSeen,
        }
    }
    known.sort_by(f64::total_cmp);
    let least = cut_off.iter().copied().fold(f64::INFINITY, f64::min);
    match order_interval(&known, cut_off.len(), q) {
        Some((low, high)) if high <= least => Sample::Within(low, high),
        None if cut_off.is_empty() => Sample::TooFew,
        Some(_) | None => Sample::NotSeen,
    }
}

/// The 95 % interval of the quantile `q` of independent positive values, of which `beyond` are larger than all that
/// are known. `None` where the sample does not reach that far.
///
/// The value of rank r is above the quantile with the chance that fewer than r of n lie at or below it, which is
/// binomial. Between the two ranks around 2.5 % lies a straight line in the logarithm (R. Beran and P. Hall,
/// "Interpolated nonparametric prediction intervals and confidence intervals", JRSS B 55, 1993).
pub(crate) fn order_interval(sorted: &[f64], beyond: usize, q: f64) -> Option<(f64, f64)> {
    let n = sorted.len() + beyond;
    let between = |outer: f64, inner: f64, share: f64| match outer > 0.0 && inner > 0.0 {
        true => libm::exp((1.0 - share) * libm::log(outer) + share * libm::log(inner)),
        false => (1.0 - share) * outer + share * inner,
    };
    let (below, inwards) = rank(n, q)?;
    let low = between(*sorted.get(below - 1)?, *sorted.get(below)?, inwards);
    let (above, inwards) = rank(n, 1.0 - q)?;
    let high = between(
        *sorted.get(n - above)?,
        *sorted.get(n - above - 1)?,
        inwards,
    );
    Some((low, high))
}

/// The largest rank of n that is above the quantile with a chance of 2.5 % at most, and how far it is from there to
/// the next, from 0 to 1; `None` if even the first is more often.
fn rank(n: usize, q: f64) -> Option<(usize, f64)> {
    let allowed = (1.0 - CONFIDENCE) / 2.0;
    let chance = |rank: usize| match rank.checked_sub(1) {
        Some(most) => binomial_cdf(most, n, q),
        None => 0.0,
    };
    let (mut rank, mut too_far) = (0, n + 1);
    while too_far - rank > 1 {
        let middle = usize::midpoint(rank, too_far);
        if chance(middle) <= allowed {
            rank = middle;
        } else {
            too_far = middle;
        }
    }
    if rank == 0 || rank >= n {
        return None;
    }
    let (at, next) = (chance(rank), chance(rank + 1));
    Some((rank, (allowed - at) / (next - at)))
}

#[cfg(test)]
mod tests {
    use router::{KeyedRng, Purpose, Seed};

    use super::*;
    use crate::stats::size;

    const TEST: Purpose = Purpose::named("test.order_interval");

    /// Values whose quantile `q` is `q` itself.
    fn drawn(n: u64, study: u64) -> Vec<f64> {
        let unit = |at| KeyedRng::new(Seed(study), TEST, at, n).unit();
        let mut values: Vec<f64> = (0..n).map(unit).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    #[test]
    fn intervals_hold_the_quantile_in_95_of_100_samples() {
        for (n, q) in [(60, 0.5), (400, 0.95), (2_000, 0.99)] {
            let held = (0..2_000).filter(|study| {
                let (low, high) = order_interval(&drawn(n, *study), 0, q).unwrap();
                low <= q && q <= high
            });
            let held = size(held.count()) / 2_000.0;
            // Three standard errors of a share of 2,000, and what the straight line between ranks is off by.
            assert!((held - 0.95).abs() < 0.019, "{n} values, {q}: {held}");
        }
    }

    #[test]
    fn a_sample_that_does_not_reach_so_far_has_no_interval() {
        assert_eq!(order_interval(&drawn(60, 1), 0, 0.99), None);
        assert_eq!(order_interval(&[1.0; 5], 0, 0.5), None);
        assert_eq!(order_interval(&[], 0, 0.5), None);
    }

    #[test]
    fn ranks_of_a_hundred_are_those_of_the_binomial_distribution() {
        // P(B ≤ 39) = 0.01760 and P(B ≤ 40) = 0.02844 of 100 tosses: 0.68 of the way from rank 40 to rank 41.
        let (rank, inwards) = rank(100, 0.5).unwrap();

        assert_eq!(rank, 40);
        assert!((inwards - 0.683).abs() < 0.002, "{inwards}");
    }

    #[test]
    fn what_was_cut_off_counts_as_later_and_hides_what_is_behind_it() {
        let row = |ms: f64| match ms <= 0.8 {
            true => Seen::Whole {
                total_ms: ms,
                further: 0.0,
            },
            false => Seen::Late { after_ms: 0.8 },
        };
        let rows: Vec<Seen> = drawn(1_000, 1).into_iter().map(row).collect();

        let (low, high) = order_interval(&drawn(1_000, 1), 0, 0.5).unwrap();
        assert_eq!(seen_quantile(&rows, false, 0.5), Sample::Within(low, high));
        assert_eq!(seen_quantile(&rows, false, 0.9), Sample::NotSeen);
        assert_eq!(seen_quantile(&rows, true, 0.5), Sample::NotSeen);
        assert_eq!(seen_quantile(&rows[..3], false, 0.5), Sample::TooFew);
    }
}
