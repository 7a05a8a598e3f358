//! Whether replications show that a bound holds, that it does not, or neither.
//!
//! Replications are looked at a few times, each time with twice as many; an error probability that is
//! shared out over the looks holds for all of them together (Bonferroni).

use reports::stats;

use crate::tune::{Bound, Relation};

/// What replications show of a bound, or of a size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// It is kept, with the asked confidence.
    Meets,
    /// Neither is shown.
    Undecided,
    /// It is broken, with the asked confidence.
    Misses,
}

/// The verdict on the mean over replications. `meets` and `misses` are the probabilities of a wrong
/// verdict of that kind that are accepted. A replication without a value (nothing was answered, so
/// there is no latency) breaks the bound by itself. Fewer than two replications show nothing.
#[must_use]
pub fn judge(
    bound: &Bound,
    limit: f64,
    values: &[Option<f64>],
    meets: f64,
    misses: f64,
) -> Verdict {
    if values.iter().any(Option::is_none) {
        return Verdict::Misses;
    }
    if values.len() < 2 {
        return Verdict::Undecided;
    }
    // Above 0 is on the right side.
    let margins: Vec<f64> = (values.iter().flatten())
        .map(|value| match bound.relation {
            Relation::AtLeast => value - limit,
            Relation::AtMost => limit - value,
        })
        .collect();
    let (mean, n) = (stats::mean(&margins), stats::size(margins.len()));
    let error = (stats::variance(&margins) / n).sqrt();
    // The limit itself is within the bound; the same value each time has no error.
    if error == 0.0 {
        return match mean >= 0.0 {
            true => Verdict::Meets,
            false => Verdict::Misses,
        };
    }
    if stats::p_above_zero(mean, error, n - 1.0) < meets {
        Verdict::Meets
    } else if stats::p_above_zero(-mean, error, n - 1.0) < misses {
        Verdict::Misses
    } else {
        Verdict::Undecided
    }
}

/// Whether a backlog grows: the peak of unfinished requests in the second half of a run's arrivals
/// against that in its first half, replication by replication. It does where the second is above
/// `GROWTH` times the first beyond chance (p < 1 %) and `FEWEST_WAITING` on average. A lasting state
/// has no such growth; a short run hides an overload by it, for those who wait are answered after the
/// end.
#[must_use]
pub fn backlog_grows(peaks: &[(f64, f64)]) -> bool {
    if peaks.len() < 2 {
        return false;
    }
    let excess: Vec<f64> = peaks
        .iter()
        .map(|(first, second)| second - GROWTH * first)
        .collect();
    let second: Vec<f64> = peaks.iter().map(|(_, second)| *second).collect();
    let n = stats::size(peaks.len());
    let error = (stats::variance(&excess) / n).sqrt();
    stats::mean(&second) >= FEWEST_WAITING
        && stats::p_above_zero(stats::mean(&excess), error, n - 1.0) < 0.01
}

/// A growth of the backlog from one half of a run to the other that counts.
const GROWTH: f64 = 1.3;
/// Unfinished requests below which nobody speaks of a backlog.
const FEWEST_WAITING: f64 = 10.0;

/// The verdict on all of them: met if each is met, missed if one is.
#[must_use]
pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    verdicts.into_iter().max().unwrap_or(Verdict::Meets)
}

/// Numbers of replications at which is looked: from `FEWEST`, each time twice as many, up to `most`.
#[must_use]
pub fn looks(most: u32) -> Vec<u32> {
    let mut looks = vec![FEWEST.min(most)];
    while let Some(&last) = looks.last().filter(|&&last| last < most) {
        looks.push(last.saturating_mul(2).min(most));
    }
    looks
}

/// Replications of the first look.
const FEWEST: u32 = 10;

#[cfg(test)]
mod tests {
    use router::{KeyedRng, Purpose, Seed};

    use super::*;
    use crate::tune::Bound;

    fn bound(text: &str) -> Bound {
        Bound::read_all(text).unwrap()[0]
    }

    fn judged(text: &str, limit: f64, values: &[f64]) -> Verdict {
        let values: Vec<_> = values.iter().copied().map(Some).collect();
        judge(&bound(text), limit, &values, 0.05, 0.05)
    }

    #[test]
    fn a_bound_is_met_only_where_chance_is_ruled_out() {
        let at_least = |values: &[f64]| judged("success >= 99%", 0.99, values);

        assert_eq!(at_least(&[0.999, 0.998, 0.999, 0.997]), Verdict::Meets);
        assert_eq!(at_least(&[0.98, 0.97, 0.975, 0.98]), Verdict::Misses);
        assert_eq!(at_least(&[0.999, 0.97, 1.0, 0.999]), Verdict::Undecided);
        assert_eq!(at_least(&[0.999]), Verdict::Undecided);
    }

    #[test]
    fn the_limit_itself_is_within_the_bound() {
        assert_eq!(judged("success >= 100%", 1.0, &[1.0; 4]), Verdict::Meets);
        assert_eq!(judged("p99 <= 8s", 8_000.0, &[8_000.1; 4]), Verdict::Misses);
    }

    #[test]
    fn a_replication_without_any_answer_breaks_a_bound_on_latency() {
        let values = [Some(1.0), None, Some(1.0)];
        let found = judge(&bound("p99 <= 8s"), 8_000.0, &values, 0.05, 0.05);

        assert_eq!(found, Verdict::Misses);
    }

    #[test]
    fn a_backlog_grows_only_where_it_does_so_beyond_chance() {
        let growing = [(40.0, 90.0), (35.0, 80.0), (50.0, 85.0), (42.0, 95.0)];
        let steady = [(40.0, 50.0), (55.0, 41.0), (38.0, 60.0), (47.0, 45.0)];
        let few = [(2.0, 5.0), (2.0, 6.0), (1.0, 5.0), (2.0, 5.0)];

        assert!(backlog_grows(&growing));
        assert!(!backlog_grows(&steady));
        assert!(!backlog_grows(&few));
        assert!(!backlog_grows(&[]));
    }

    #[test]
    fn one_that_misses_spoils_all_and_one_that_is_open_leaves_all_open() {
        use Verdict::{Meets, Misses, Undecided};

        assert_eq!(worst([Meets, Meets]), Meets);
        assert_eq!(worst([Meets, Undecided]), Undecided);
        assert_eq!(worst([Misses, Undecided, Meets]), Misses);
    }

    #[test]
    fn looks_double_and_end_at_the_most() {
        assert_eq!(looks(100), [10, 20, 40, 80, 100]);
        assert_eq!(looks(10), [10]);
        assert_eq!(looks(4), [4]);
    }

    /// The truth lies exactly at the limit, so every "meets" is wrong: it may come in 5 of 100 studies
    /// at most, however often is looked.
    #[test]
    fn looking_several_times_does_not_raise_the_share_of_wrong_verdicts() {
        let bound = bound("success >= 50%");
        let looks = looks(160);
        let alpha = 0.05 / stats::size(looks.len());
        let purpose = Purpose::named("sim.capacity.test");
        let wrong = (0..2_000).filter(|&study| {
            let draw = |n: u32| {
                let mut rng = KeyedRng::new(Seed(7), purpose, study, u64::from(n));
                Some((0..12).map(|_| rng.unit()).sum::<f64>() / 12.0)
            };
            let values: Vec<_> = (0..160).map(draw).collect();
            looks.iter().any(|&look| {
                let seen = &values[..look as usize];
                judge(&bound, 0.5, seen, alpha, alpha) == Verdict::Meets
            })
        });
        let wrong = wrong.count();

        assert!((20..=100).contains(&wrong), "{wrong} of 2,000");
    }
}
