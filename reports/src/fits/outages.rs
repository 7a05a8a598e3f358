//! Times in which nearly everything failed.
//!
//! Each failure counts +1 and each answer −3, so a stretch in which more than three quarters fail climbs.
//! A stretch is an outage if its climb is one that the usual share of failures would not make by chance in
//! a log of that length (a chance of about e⁻¹² by the gambler's-ruin bound p^climb), if four fifths of
//! it failed, and if it lasted ten seconds. Shorter ones are bursts.

use serde::Serialize;

use super::{Fitted, Lasting, Silence};
use crate::stats::size;

/// An attempt as it ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tried {
    /// When it began, in seconds.
    pub at_s: f64,
    /// Whether it failed.
    pub failed: bool,
}

/// A time in which nearly everything failed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct OutageFit {
    /// The first failure, and the last answer before it: it began between.
    pub from_s: Fitted,
    /// The last failure, and the first answer after it: it ended between.
    pub to_s: Fitted,
    /// Share of attempts that failed.
    pub severity: f64,
    /// Attempts in it.
    pub attempts: usize,
}

/// Every outage among these attempts, in order of their beginning.
#[must_use]
pub fn outages(tried: &[Tried]) -> Vec<OutageFit> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    // The usual share of failures is that outside of outages: once more, now that they are known.
    for _ in 0..2 {
        let outside = |at: &usize| !found.iter().any(|(from, to)| (*from..=*to).contains(at));
        let calm: Vec<usize> = (0..tried.len()).filter(outside).collect();
        let failed = calm.iter().filter(|at| tried[**at].failed).count();
        let usual = ((size(failed) + 1.0) / (size(calm.len()) + 2.0)).min(0.5);
        let needed = (libm::log(size(tried.len().max(1))) + 12.0) / -libm::log(usual);
        found = climbs(tried, needed.max(FEWEST_FAILURES));
        found.retain(|span| is_outage(tried, *span));
    }
    found.into_iter().map(|span| told(tried, span)).collect()
}

/// Stretches that climb by `needed` or more, from their first failure to the top of the climb.
fn climbs(tried: &[Tried], needed: f64) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let (mut height, mut from, mut top) = (0.0, 0, (0.0, 0));
    for (at, one) in tried.iter().enumerate() {
        if height <= 0.0 {
            (height, from, top) = (0.0, at, (0.0, at));
        }
        height += if one.failed { 1.0 } else { -3.0 };
        if height > top.0 {
            top = (height, at);
        }
        let is_over = height <= 0.0 || height < top.0 - needed || at + 1 == tried.len();
        if is_over && top.0 >= needed {
            found.push((from, top.1));
            height = 0.0;
            top = (0.0, at);
        }
    }
    found
}

fn is_outage(tried: &[Tried], (from, to): (usize, usize)) -> bool {
    tried[to].at_s - tried[from].at_s >= SHORTEST_S && severity(tried, (from, to)) >= LEAST_SEVERITY
}

fn severity(tried: &[Tried], (from, to): (usize, usize)) -> f64 {
    let within = &tried[from..=to];
    size(within.iter().filter(|one| one.failed).count()) / size(within.len())
}

fn told(tried: &[Tried], (from, to): (usize, usize)) -> OutageFit {
    let before = from.checked_sub(1).map(|at| tried[at].at_s);
    let after = tried.get(to + 1).map(|one| one.at_s);
    OutageFit {
        from_s: Fitted {
            value: tried[from].at_s,
            low: before,
            high: Some(tried[from].at_s),
        },
        to_s: Fitted {
            value: tried[to].at_s,
            low: Some(tried[to].at_s),
            high: after,
        },
        severity: severity(tried, (from, to)),
        attempts: to - from + 1,
    }
}

impl OutageFit {
    /// When it began: between the last answer before and its first failure.
    fn begins_s(&self) -> f64 {
        f64::midpoint(
            self.from_s.low.unwrap_or(self.from_s.value),
            self.from_s.value,
        )
    }

    /// When it ended: between its last failure and the first answer after.
    fn ends_s(&self) -> f64 {
        f64::midpoint(self.to_s.value, self.to_s.high.unwrap_or(self.to_s.value))
    }

    /// How long they last. One that was under way when the log began takes no part, one that was when it
    /// ended is at least so long.
    #[must_use]
    pub fn lengths(outages: &[Self]) -> Option<Lasting> {
        let begun = outages.iter().filter(|outage| outage.from_s.low.is_some());
        let (whole, cut_off): (Vec<&Self>, Vec<&Self>) =
            begun.partition(|outage| outage.to_s.high.is_some());
        let lengths = |of: Vec<&Self>| -> Vec<f64> {
            let length = |outage: &&Self| outage.ends_s() - outage.begins_s();
            of.iter()
                .map(length)
                .filter(|length| *length > 0.0)
                .collect()
        };
        Lasting::of(&lengths(whole), &lengths(cut_off))
    }

    /// How long it is from the end of one to the beginning of the next. The last such time was cut off by the
    /// end of the log, others by a hole in it; what came before the first outage takes no part.
    #[must_use]
    pub fn gaps(outages: &[Self], log_ends_s: f64, holes: &[Silence]) -> Option<Lasting> {
        let (mut whole, mut cut_off) = (Vec::new(), Vec::new());
        for (at, outage) in outages.iter().enumerate() {
            if outage.to_s.high.is_none() {
                continue;
            }
            let from_s = outage.ends_s();
            let next_s = outages.get(at + 1).map(Self::begins_s);
            let until_s = next_s.unwrap_or(log_ends_s);
            let within = |hole: &&Silence| from_s <= hole.from_s && hole.from_s < until_s;
            let hole = holes.iter().find(within);
            let to_s = hole.map_or(until_s, |hole| hole.from_s);
            let is_whole = hole.is_none() && next_s.is_some();
            if to_s > from_s {
                if is_whole { &mut whole } else { &mut cut_off }.push(to_s - from_s);
            }
        }
        Lasting::of(&whole, &cut_off)
    }
}

const FEWEST_FAILURES: f64 = 5.0;
const SHORTEST_S: f64 = 10.0;
const LEAST_SEVERITY: f64 = 0.8;

#[cfg(test)]
mod tests {
    use router::{KeyedRng, Purpose, Seed};

    use super::*;

    const TEST: Purpose = Purpose::named("test.outages");

    fn log(share: f64, down: &[(f64, f64)]) -> Vec<Tried> {
        let one = |n: u64| {
            let at_s = size(usize::try_from(n).unwrap()) * 0.5;
            let is_down = down.iter().any(|(from, to)| (*from..*to).contains(&at_s));
            let luck = KeyedRng::new(Seed(3), TEST, n, 0).unit();
            Tried {
                at_s,
                failed: is_down || luck < share,
            }
        };
        (0..20_000).map(one).collect()
    }

    #[test]
    fn outages_are_found_where_they_were_and_nowhere_else() {
        let down = [(1_000.0, 1_120.0), (5_000.0, 5_600.0)];
        for share in [0.0, 0.02, 0.2] {
            let found = outages(&log(share, &down));

            assert_eq!(found.len(), 2, "{share}: {found:?}");
            for (outage, (from, to)) in found.iter().zip(down) {
                assert!((outage.from_s.value - from).abs() < 6.0, "{outage:?}");
                assert!((outage.to_s.value - to).abs() < 6.0, "{outage:?}");
                assert!(outage.severity > 0.95);
            }
            assert_eq!(outages(&log(share, &[])), []);
        }
    }

    #[test]
    fn half_of_all_failing_is_no_outage() {
        assert_eq!(outages(&log(0.5, &[])), []);
    }

    #[test]
    fn an_outage_that_was_under_way_has_no_beginning() {
        let found = outages(&log(0.0, &[(0.0, 60.0)]));

        assert_eq!(found.len(), 1);
        assert_eq!(found[0].from_s.low, None);
        assert_eq!(OutageFit::lengths(&found), None);
    }

    #[test]
    fn lengths_and_gaps_are_those_between_the_ends_and_the_log_s_end_cuts_one_off() {
        let begins = [1_000.0, 2_100.0, 3_000.0, 4_400.0, 5_200.0, 6_600.0];
        let lasts = [100.0, 90.0, 120.0, 80.0, 110.0, 100.0];
        let down: Vec<(f64, f64)> = begins.iter().zip(lasts).map(|(b, l)| (*b, b + l)).collect();
        let found = outages(&log(0.0, &down));
        let gaps = |holes: &[Silence]| OutageFit::gaps(&found, 10_000.0, holes);

        let lengths = OutageFit::lengths(&found).unwrap();
        assert_eq!(lengths.n, 6);
        assert!((lengths.median_s.value - 99.0).abs() < 2.0, "{lengths:?}");
        let (whole, short) = (gaps(&[]).unwrap(), {
            let cut = OutageFit::gaps(&found, 6_701.0, &[]);
            cut.unwrap()
        });
        assert_eq!((whole.n, short.n), (5, 5));
        // 3,300 s without an outage say that they are farther apart than the five gaps alone.
        assert!(whole.mean_s.value > 1.2 * short.mean_s.value, "{whole:?}");
        let hole = Silence {
            from_s: 3_500.0,
            to_s: 3_600.0,
        };
        assert_eq!(gaps(&[hole]), None, "four gaps are left");
    }
}
