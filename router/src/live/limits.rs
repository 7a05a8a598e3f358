//! When an attempt has taken too long: the plan's deadline, kept as bytes come.

use std::time::Duration;

use crate::{
    step::{Deadline, StreamLimits},
    time::Instant,
};

/// The deadline of an attempt under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    deadline: Deadline,
    sent: Instant,
    /// The last byte, or the sending.
    sign: Instant,
    /// The last content.
    content: Option<Instant>,
}

impl Limits {
    pub(super) const fn new(deadline: Deadline, sent: Instant) -> Self {
        Self {
            deadline,
            sent,
            sign: sent,
            content: None,
        }
    }

    /// When it was sent.
    pub(super) const fn sent(&self) -> Instant {
        self.sent
    }

    /// Bytes came.
    pub(super) const fn sign(&mut self, now: Instant) {
        self.sign = now;
    }

    /// Content came.
    pub(super) const fn content(&mut self, now: Instant) {
        self.content = Some(now);
    }

    /// When it is over; [`Instant::NEVER`] without a limit.
    pub(super) fn end(&self) -> Instant {
        let after = |from: Instant, limit: Option<Duration>| {
            limit.map_or(Instant::NEVER, |limit| from + limit)
        };
        match self.deadline {
            Deadline::None => Instant::NEVER,
            Deadline::Whole(limit) => self.sent + limit,
            Deadline::Silence(limit) => self.sign + limit,
            Deadline::Content(StreamLimits {
                first_token,
                idle,
                total,
            }) => {
                let quiet = match self.content {
                    None => after(self.sent, first_token),
                    Some(last) => after(last, idle),
                };
                quiet.min(after(self.sent, total))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    #[test]
    fn a_bound_on_silence_begins_anew_with_each_byte_and_one_on_the_whole_does_not() {
        let limit = Duration::from_secs(3);
        let mut silence = Limits::new(Deadline::Silence(limit), at(1.0));
        let mut whole = Limits::new(Deadline::Whole(limit), at(1.0));
        assert_eq!(silence.end(), at(4.0));

        silence.sign(at(3.0));
        whole.sign(at(3.0));

        assert_eq!((silence.end(), whole.end()), (at(6.0), at(4.0)));
        assert_eq!(Limits::new(Deadline::None, at(1.0)).end(), Instant::NEVER);
    }

    #[test]
    fn bounds_on_content_are_three_and_keep_alives_are_none() {
        let seconds = |n| Some(Duration::from_secs(n));
        let deadline = Deadline::Content(StreamLimits {
            first_token: seconds(5),
            idle: seconds(2),
            total: seconds(8),
        });
        let mut limits = Limits::new(deadline, at(0.0));
        limits.sign(at(4.0));
        assert_eq!(limits.end(), at(5.0));

        limits.content(at(4.5));
        assert_eq!(limits.end(), at(6.5));
        limits.content(at(6.4));
        assert_eq!(limits.end(), at(8.0));
    }
}
