//! The real clock of a server: moments of a run from the moment the server began.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use router::{Epoch, Instant};

/// Counts from a whole second of the wall clock, so that quotas by its minutes are right.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: std::time::Instant,
    /// What the run's clock showed then.
    offset: Duration,
    epoch: Epoch,
    speed: f64,
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "a server lives in real time; the model is told what time it is"
    )]
    pub(crate) fn start() -> Self {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started: std::time::Instant::now(),
            offset: Duration::from_nanos(wall.subsec_nanos().into()),
            epoch: Epoch::from_unix_seconds(wall.as_secs()),
            speed: 1.0,
        }
    }

    /// A clock that begins now at a run's beginning, and goes `speed` times as fast as the wall's.
    #[cfg(feature = "http")]
    #[expect(
        clippy::disallowed_methods,
        reason = "a server lives in real time; the model is told what time it is"
    )]
    pub(crate) fn of_run(epoch: Epoch, speed: f64) -> Self {
        Self {
            started: std::time::Instant::now(),
            offset: Duration::ZERO,
            epoch,
            speed,
        }
    }

    pub(crate) const fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::ZERO + self.offset + self.started.elapsed().mul_f64(self.speed)
    }

    /// The moment for a timer; `None` if it never comes.
    #[cfg(feature = "http")]
    pub(crate) fn when(&self, at: Instant) -> Option<std::time::Instant> {
        let after = at.since(Instant::ZERO).saturating_sub(self.offset);
        self.started.checked_add(after.div_f64(self.speed))
    }
}
