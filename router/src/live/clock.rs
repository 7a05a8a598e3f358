//! Real time as moments of a run, and moments as times to wait for.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant as RealInstant, sleep_until};

use crate::time::{Epoch, Instant};

/// Counts from a whole second of the wall clock, so that minutes are those of the wall.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: RealInstant,
    /// What the run's clock showed then.
    offset: Duration,
    epoch: Epoch,
    speed: f64,
}

impl Clock {
    /// A clock that goes as the wall's does.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "a live router lives in real time; the core is told what time it is"
    )]
    pub fn start() -> Self {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started: RealInstant::now(),
            offset: Duration::from_nanos(wall.subsec_nanos().into()),
            epoch: Epoch::from_unix_seconds(wall.as_secs()),
            speed: 1.0,
        }
    }

    /// A clock that begins now at the run's beginning, and goes `speed` times as fast as the wall's.
    ///
    /// # Panics
    ///
    /// If `speed` is not a finite number above zero.
    #[must_use]
    pub fn of_run(epoch: Epoch, speed: f64) -> Self {
        assert!(
            speed.is_finite() && speed > 0.0,
            "a clock goes forward, found a speed of {speed}"
        );
        Self {
            started: RealInstant::now(),
            offset: Duration::ZERO,
            epoch,
            speed,
        }
    }

    /// What the wall clock said at the run's beginning.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The moment that it is.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::ZERO + self.offset + self.started.elapsed().mul_f64(self.speed)
    }

    /// Waits for a moment. One that never comes is waited for without end.
    pub async fn sleep_until(&self, at: Instant) {
        match self.real(at) {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    /// A moment as the timers of this process know it; `None` if it never comes.
    pub(super) fn real(&self, at: Instant) -> Option<RealInstant> {
        if at == Instant::NEVER {
            return None;
        }
        let after = at.since(Instant::ZERO).saturating_sub(self.offset);
        self.started.checked_add(after.div_f64(self.speed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_fast_clock_reaches_a_moment_sooner() {
        let clock = Clock::of_run(Epoch::default(), 10.0);

        let real = clock.real(Instant::from_secs_f64(50.0)).unwrap();

        assert_eq!(real - clock.started, Duration::from_secs(5));
        assert_eq!(clock.real(Instant::NEVER), None);
    }

    #[tokio::test]
    async fn a_clock_of_the_wall_counts_from_a_whole_second() {
        let clock = Clock::start();
        assert!(clock.now() >= Instant::ZERO + clock.offset);

        let real = clock.real(Instant::from_secs_f64(2.0)).unwrap();

        assert_eq!(real - clock.started, Duration::from_secs(2) - clock.offset);
    }
}
