//! How usage is counted over time where the router reserves it. (BR-037, BR-040)
//!
//! LiteLLM counts by the minute of the wall clock. A provider may count otherwise, and then refuses
//! what the router lets through at the turn of a minute; so the window can be set to the provider's.
//!
//! | window | parts | what counts |
//! | --- | --- | --- |
//! | minute | one of 60 s | since the minute began |
//! | slices | one of the slice's length | since the slice began, for a slice's share of the limit |
//! | sliding | 61 of a second | the parts that lie in the last 60 s, the oldest in whole |

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::{Epoch, Instant, nanos};

/// Over which time limits on requests and tokens a minute are counted, in the profile `corrected`.
/// The profiles of LiteLLM know minutes of the wall clock only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum UsageWindow {
    /// From one minute of the wall clock to the next.
    #[default]
    Minute,
    /// Requests from one multiple of this span to the next, each with its share of the minute's
    /// limit, and tokens by the minute.
    Slices(Duration),
    /// The last 60 s, to the second.
    Sliding,
}

impl UsageWindow {
    /// A count over this window: of requests, or of tokens.
    pub(crate) fn count(self, of_requests: bool) -> Count {
        let (part, parts) = match self {
            Self::Slices(slice) if of_requests && !slice.is_zero() => (slice, 1),
            Self::Minute | Self::Slices(_) => (MINUTE, 1),
            Self::Sliding => (Duration::from_secs(1), 61),
        };
        Count {
            part_ns: nanos(part),
            counts: vec![0; parts],
            newest: 0,
        }
    }
}

/// What was used within a window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Count {
    part_ns: u64,
    /// By the number of the part, modulo their number.
    counts: Vec<u64>,
    /// The number of the latest part that was written to.
    newest: u64,
}

impl Count {
    /// The number of the part that a moment lies in.
    pub(crate) fn part(&self, epoch: Epoch, at: Instant) -> u64 {
        epoch.part(at, self.part_ns)
    }

    /// What a limit a minute comes to in this window.
    pub(crate) fn share(&self, per_minute: u64) -> u64 {
        match self.part_ns {
            part if self.counts.len() == 1 && part < nanos(MINUTE) => {
                let share = u128::from(per_minute) * u128::from(part) / u128::from(nanos(MINUTE));
                u64::try_from(share).unwrap_or(u64::MAX)
            }
            _ => per_minute,
        }
    }

    /// What counts in the window that ends with this part.
    pub(crate) fn sum(&self, part: u64) -> u64 {
        let oldest = (part + 1).saturating_sub(self.parts());
        let first_kept = (self.newest + 1).saturating_sub(self.parts());
        (oldest.max(first_kept)..=part.min(self.newest))
            .map(|n| self.counts[self.place(n)])
            .sum()
    }

    /// Adds to a part: the present one.
    pub(crate) fn add(&mut self, part: u64, amount: u64) {
        self.advance(part);
        let place = self.place(part);
        self.counts[place] += amount;
    }

    /// Corrects what was added to a part, if it still counts.
    pub(crate) fn correct(&mut self, part: u64, added: u64, meant: u64) {
        if part > self.newest || part + self.parts() <= self.newest {
            return;
        }
        let place = self.place(part);
        self.counts[place] = (self.counts[place] + meant).saturating_sub(added);
    }

    /// The first part in which `amount` more fits below `limit`, if nothing else comes.
    pub(crate) fn frees_in(&self, part: u64, amount: u64, limit: u64) -> u64 {
        let fits = |at: &u64| self.sum(*at).saturating_add(amount) <= limit;
        (part..=part + self.parts())
            .find(fits)
            .unwrap_or_else(|| part + self.parts())
    }

    /// When a part begins.
    pub(crate) fn begins(&self, epoch: Epoch, part: u64) -> Instant {
        epoch.part_begins(part, self.part_ns)
    }

    fn advance(&mut self, part: u64) {
        if part <= self.newest {
            return;
        }
        for n in self.newest + 1..=part.min(self.newest + self.parts()) {
            let place = self.place(n);
            self.counts[place] = 0;
        }
        self.newest = part;
        if self.parts() == 1 {
            self.counts[0] = 0;
        }
    }

    fn parts(&self) -> u64 {
        self.counts.len() as u64
    }

    #[expect(clippy::cast_possible_truncation, reason = "below the number of parts")]
    fn place(&self, part: u64) -> usize {
        (part % self.parts()) as usize
    }
}

const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_over_at_its_end() {
        let mut count = UsageWindow::Minute.count(true);
        count.add(7, 3);
        count.add(7, 2);

        assert_eq!(count.sum(7), 5);
        assert_eq!(count.sum(8), 0);
        count.add(8, 1);
        assert_eq!(count.sum(8), 1);
    }

    #[test]
    fn a_sliding_minute_forgets_a_second_at_a_time_and_the_oldest_in_whole() {
        let mut count = UsageWindow::Sliding.count(true);
        count.add(100, 3);
        count.add(130, 2);

        assert_eq!(count.sum(160), 5, "the part 100 lies within 60 s still");
        assert_eq!(count.sum(161), 2);
        assert_eq!(count.sum(191), 0);
        count.add(500, 1);
        assert_eq!(count.sum(500), 1);
    }

    #[test]
    fn a_slice_has_its_share_of_the_limit_and_tokens_are_counted_by_the_minute() {
        let slices = UsageWindow::Slices(Duration::from_secs(10));

        assert_eq!(slices.count(true).share(60), 10);
        assert_eq!(slices.count(false).share(60), 60);
        assert_eq!(UsageWindow::Sliding.count(true).share(60), 60);
    }

    #[test]
    fn a_correction_counts_where_it_belongs_and_never_below_zero() {
        let mut count = UsageWindow::Minute.count(false);
        count.add(1, 2_000);
        count.correct(1, 2_000, 3_000);
        assert_eq!(count.sum(1), 3_000);

        count.add(2, 10);
        count.correct(1, 3_000, 0);
        assert_eq!(count.sum(2), 10, "the minute before is over");
        count.correct(2, 20, 0);
        assert_eq!(count.sum(2), 0);
    }

    #[test]
    fn it_frees_in_the_first_part_that_has_room() {
        let mut sliding = UsageWindow::Sliding.count(true);
        sliding.add(100, 3);
        sliding.add(130, 2);

        assert_eq!(sliding.frees_in(140, 1, 6), 140);
        assert_eq!(sliding.frees_in(140, 1, 5), 161);
        assert_eq!(sliding.frees_in(140, 4, 5), 191);
    }
}
