//! What a push does to one run.

use super::Served;

/// The share of the service before the push at which it counts as back, in every window.
pub(super) const BACK: f64 = 0.9;

/// What became of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recovery {
    /// The share that was answered well before the push.
    pub before: f64,
    /// The share in the worst window from the beginning of the push on.
    pub worst: f64,
    /// Seconds from the end of the push to the beginning of the first three windows in a row in
    /// which it serves as before; `None`: not within the run.
    pub after_s: Option<f64>,
}

/// Reads a run with a push from `begin_s` to `end_s`; `None` if nothing arrived before it.
#[must_use]
pub fn recovery(served: &Served, begin_s: f64, end_s: f64) -> Option<Recovery> {
    let before = served.share(0.0, begin_s)?;
    let shares: Vec<Option<f64>> = served.shares().collect();
    let begins = |at: usize| reports::stats::size(at) * served.width_s;
    let is_back = |share: &Option<f64>| share.is_none_or(|share| share >= BACK * before);
    let since = |from_s: f64| (0..shares.len()).filter(move |&at| begins(at) >= from_s - 1e-9);
    let worst = since(begin_s)
        .filter_map(|at| shares[at])
        .fold(f64::INFINITY, f64::min);
    let back = since(end_s).find(|&at| {
        let row = shares.get(at..at + STEADY);
        row.is_some_and(|row| row.iter().all(is_back))
    });
    Some(Recovery {
        before,
        worst: if worst.is_finite() { worst } else { before },
        after_s: back.map(|at| begins(at) - end_s),
    })
}

/// Windows in a row after which a service is taken to be back.
const STEADY: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn served(shares: &[u32]) -> Served {
        Served {
            width_s: 10.0,
            windows: shares.iter().map(|&good| (100, good)).collect(),
        }
    }

    #[test]
    fn a_service_is_back_at_the_first_of_three_good_windows() {
        // The push is over after 40 s; a single good window does not count.
        let run = served(&[100, 98, 20, 30, 40, 97, 60, 95, 96, 97, 30]);
        let found = recovery(&run, 20.0, 40.0).unwrap();

        assert!((found.before - 0.99).abs() < 1e-12);
        assert!((found.worst - 0.2).abs() < 1e-12);
        assert_eq!(found.after_s, Some(30.0));
    }

    #[test]
    fn a_service_that_stays_away_has_no_time_of_recovery() {
        let run = served(&[100, 100, 20, 20, 30, 30, 98, 97]);

        assert_eq!(recovery(&run, 20.0, 40.0).unwrap().after_s, None);
        let unhurt = served(&[100, 100, 99, 99, 99, 99, 99]);
        assert_eq!(recovery(&unhurt, 20.0, 40.0).unwrap().after_s, Some(0.0));
        assert!(recovery(&served(&[]), 20.0, 40.0).is_none());
    }
}
