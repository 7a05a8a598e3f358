//! How a limit is counted over time. Each window tells whether more fits now, and when it will.
//!
//! | window | what it never lets through | how it is kept |
//! | --- | --- | --- |
//! | fixed | more than the limit between two edges of the wall clock (up to twice the limit in a span that lies across an edge) | a count, reset at the edge |
//! | sliding | more than the limit in any span of the window's length | 61 counts, each of a 60th of the window; the oldest counts in whole, so a use leaves up to a 60th of the window late and never early |
//! | token bucket | more than `burst + rate·t` in any span `t` | a level in exact integers, no rounding |

use router::{Epoch, Instant};

/// A way to count. Its moments never run back; a moment before the latest counts as the latest.
#[derive(Clone, Debug)]
pub(crate) enum Window {
    Bucket(Bucket),
    Fixed(Fixed),
    Sliding(Sliding),
}

impl Window {
    /// Brings the window to `at`.
    pub(crate) fn advance(&mut self, at: Instant) {
        match self {
            Self::Bucket(bucket) => bucket.advance(at),
            Self::Fixed(fixed) => fixed.advance(at),
            Self::Sliding(sliding) => sliding.advance(at),
        }
    }

    /// Whether `amount` more fits now.
    pub(crate) fn fits(&self, amount: u64) -> bool {
        match self {
            Self::Bucket(bucket) => bucket.fits(amount),
            Self::Fixed(fixed) => fixed.fits(amount),
            Self::Sliding(sliding) => sliding.fits(amount),
        }
    }

    /// Uses up `amount`, whether it fits or not.
    pub(crate) fn take(&mut self, amount: u64) {
        match self {
            Self::Bucket(bucket) => bucket.take(amount),
            Self::Fixed(fixed) => fixed.take(amount),
            Self::Sliding(sliding) => sliding.take(amount),
        }
    }

    /// Lets `share` of the limit through from now on.
    pub(super) fn set_share(&mut self, share: f64) {
        match self {
            Self::Bucket(bucket) => {
                bucket.rate_per_minute = scaled(bucket.full_rate, share);
                bucket.burst = scaled(bucket.full_burst, share);
                bucket.level = bucket.level.min(in_units(bucket.burst));
            }
            Self::Fixed(fixed) => fixed.limit = scaled(fixed.full_limit, share),
            Self::Sliding(sliding) => sliding.limit = scaled(sliding.full_limit, share),
        }
    }

    /// How much fits now.
    pub(super) fn remaining(&self) -> u64 {
        match self {
            Self::Bucket(bucket) => u64::try_from(bucket.level / UNITS).unwrap_or_default(),
            Self::Fixed(fixed) => fixed.limit.saturating_sub(fixed.used),
            Self::Sliding(sliding) => sliding.limit.saturating_sub(sliding.sum),
        }
    }

    /// When all of it is free again, if nothing else comes. `now` is where the window was brought to
    /// last.
    pub(super) fn resets(&self, now: Instant) -> Instant {
        match self {
            Self::Bucket(bucket) => bucket.reaches(in_units(bucket.burst)),
            Self::Fixed(fixed) if fixed.used > 0 => Instant::from_nanos(fixed.edge_ns),
            Self::Sliding(sliding) if sliding.sum > 0 => sliding.empties(),
            Self::Fixed(_) | Self::Sliding(_) => now,
        }
    }

    /// From when on `amount` fits, if nothing else comes; `None` if it never will. `now` is where
    /// the window was brought to last.
    pub(crate) fn frees(&self, now: Instant, amount: u64) -> Option<Instant> {
        if self.fits(amount) {
            return Some(now);
        }
        match self {
            Self::Bucket(bucket) => bucket.frees(amount),
            Self::Fixed(fixed) => fixed.frees(amount),
            Self::Sliding(sliding) => sliding.frees(amount),
        }
    }
}

/// A bucket that fills evenly.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    full_rate: u64,
    full_burst: u64,
    /// What holds now, where the limits are lowered.
    rate_per_minute: u64,
    burst: u64,
    /// In [`UNITS`]. Below 0 it is in debt.
    level: i128,
    may_owe: bool,
    filled_at: Instant,
}

impl Bucket {
    /// A full bucket that holds `burst`.
    pub(crate) const fn new(rate_per_minute: u64, burst: u64) -> Self {
        Self {
            full_rate: rate_per_minute,
            full_burst: burst,
            rate_per_minute,
            burst,
            level: in_units(burst),
            may_owe: false,
            filled_at: Instant::ZERO,
        }
    }

    /// The same bucket, which may give more than it holds.
    pub(super) const fn owing(mut self) -> Self {
        self.may_owe = true;
        self
    }

    fn advance(&mut self, at: Instant) {
        let passed = at.as_nanos().saturating_sub(self.filled_at.as_nanos());
        let filled = self.level + i128::from(passed) * i128::from(self.rate_per_minute);
        self.level = filled.min(in_units(self.burst));
        self.filled_at = at.max(self.filled_at);
    }

    const fn fits(&self, amount: u64) -> bool {
        in_units(amount) <= self.level
    }

    fn take(&mut self, amount: u64) {
        let level = self.level - in_units(amount);
        self.level = if self.may_owe { level } else { level.max(0) };
    }

    fn frees(&self, amount: u64) -> Option<Instant> {
        (amount <= self.burst).then(|| self.reaches(in_units(amount)))
    }

    /// When the level is at `level`, if nothing is taken.
    fn reaches(&self, level: i128) -> Instant {
        let missing = u128::try_from(level - self.level).unwrap_or_default();
        let wait_ns = u64::try_from(missing.div_ceil(u128::from(self.rate_per_minute)));
        let at_ns = self.filled_at.as_nanos();
        Instant::from_nanos(at_ns.saturating_add(wait_ns.unwrap_or(u64::MAX)))
    }
}

/// From one edge of the wall clock to the next.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    full_limit: u64,
    limit: u64,
    length_ns: u64,
    /// Where the present window ends.
    edge_ns: u64,
    used: u64,
}

impl Fixed {
    /// `limit` in each `length_ns` of the wall clock, whose windows began in 1970.
    pub(crate) fn new(limit: u64, length_ns: u64, epoch: Epoch) -> Self {
        let unix_ns = u128::from(epoch.unix_seconds()) * 1_000_000_000;
        let into_window = u64::try_from(unix_ns % u128::from(length_ns))
            .expect("a remainder is below its divisor, which is a u64");
        Self {
            full_limit: limit,
            limit,
            length_ns,
            edge_ns: length_ns - into_window,
            used: 0,
        }
    }

    fn advance(&mut self, at: Instant) {
        if let Some(past) = at.as_nanos().checked_sub(self.edge_ns) {
            let windows = past / self.length_ns + 1;
            self.edge_ns = self
                .edge_ns
                .saturating_add(windows.saturating_mul(self.length_ns));
            self.used = 0;
        }
    }

    fn fits(&self, amount: u64) -> bool {
        self.used.saturating_add(amount) <= self.limit
    }

    fn take(&mut self, amount: u64) {
        self.used = self.used.saturating_add(amount);
    }

    fn frees(&self, amount: u64) -> Option<Instant> {
        (amount <= self.limit).then_some(Instant::from_nanos(self.edge_ns))
    }
}

/// The span of one length before now.
#[derive(Clone, Debug)]
pub(crate) struct Sliding {
    full_limit: u64,
    limit: u64,
    part_ns: u64,
    /// What was used in each part; a ring.
    used: Box<[u64; PARTS]>,
    /// Where the newest part stands in the ring.
    slot: usize,
    /// Which part of the run the newest is.
    newest: u64,
    sum: u64,
}

impl Sliding {
    /// `limit` in any span of `length_ns`.
    pub(crate) fn new(limit: u64, length_ns: u64) -> Self {
        let part_ns = length_ns.div_ceil(PARTS as u64 - 1);
        Self {
            full_limit: limit,
            limit,
            part_ns,
            used: Box::new([0; PARTS]),
            slot: 0,
            newest: 0,
            sum: 0,
        }
    }

    fn advance(&mut self, at: Instant) {
        let now = (at.as_nanos() / self.part_ns).max(self.newest);
        if now - self.newest >= PARTS as u64 {
            self.used.fill(0);
            self.sum = 0;
            self.newest = now;
        }
        while self.newest < now {
            self.newest += 1;
            self.slot = (self.slot + 1) % PARTS;
            self.sum -= std::mem::take(&mut self.used[self.slot]);
        }
    }

    fn fits(&self, amount: u64) -> bool {
        self.sum.saturating_add(amount) <= self.limit
    }

    fn take(&mut self, amount: u64) {
        self.used[self.slot] += amount;
        self.sum += amount;
    }

    fn frees(&self, amount: u64) -> Option<Instant> {
        let room = self.limit.checked_sub(amount)?;
        let mut left = self.sum;
        // From the oldest part to the newest, each of which leaves when it is 61 parts old.
        for parts in 1..=PARTS {
            left -= self.used[(self.slot + parts) % PARTS];
            if left <= room {
                let leaves = (self.newest + parts as u64).saturating_mul(self.part_ns);
                return Some(Instant::from_nanos(leaves));
            }
        }
        None
    }

    /// When the last part that was used has left.
    fn empties(&self) -> Instant {
        let used = |parts: &usize| self.used[(self.slot + parts) % PARTS] > 0;
        let last = (1..=PARTS).rev().find(used).unwrap_or_default();
        Instant::from_nanos((self.newest + last as u64).saturating_mul(self.part_ns))
    }
}

/// `amount` of a bucket in its units.
const fn in_units(amount: u64) -> i128 {
    amount as i128 * UNITS
}

/// `share` of a limit, rounded down, but never nothing.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a share of a count of 10^12 at most"
)]
fn scaled(limit: u64, share: f64) -> u64 {
    ((limit as f64 * share) as u64).max(1)
}

/// Parts of a sliding window: sixty, and the one that is going out of it.
const PARTS: usize = 61;
/// A bucket's level is counted in 60 billionths of a request or token, so that a nanosecond at
/// one a minute fills exactly one unit.
const UNITS: i128 = 60_000_000_000;

#[cfg(test)]
mod tests;
