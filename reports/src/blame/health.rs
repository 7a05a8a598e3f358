//! How a deployment is, as far as a run shows: down, out of quota, or ready.

use std::time::Duration;

use router::{ErrorClass, Failure, Instant, Outcome};

/// What is known of one deployment at the present.
#[derive(Debug)]
pub(crate) struct Health {
    /// Server errors since the last success.
    errors_in_a_row: u32,
    /// How the last attempt that ended went; `None` before the first.
    ended_well: Option<bool>,
    /// When it last said 429.
    limited_at: Option<Instant>,
    /// When its cooldown ends.
    pub(crate) benched_until: Instant,
    /// When its provider is at fault, in order of time and apart from each other.
    faults: Vec<(Instant, Instant)>,
    /// How many of them are over.
    past: usize,
}

impl Health {
    pub(crate) fn new(faults: &[(Instant, Instant)]) -> Self {
        Self {
            errors_in_a_row: 0,
            ended_well: None,
            limited_at: None,
            benched_until: Instant::ZERO,
            faults: joined(faults),
            past: 0,
        }
    }

    /// An attempt ended.
    #[inline]
    pub(crate) fn ended(&mut self, at: Instant, outcome: &Outcome) {
        match outcome {
            Outcome::Success { .. } => {
                self.errors_in_a_row = 0;
                self.ended_well = Some(true);
            }
            Outcome::Failure(failure) => self.failed(at, failure),
        }
    }

    fn failed(&mut self, at: Instant, failure: &Failure) {
        self.ended_well = Some(false);
        match failure.class {
            ErrorClass::RateLimit => self.limited_at = Some(at),
            ErrorClass::Api
            | ErrorClass::ApiConnection
            | ErrorClass::BadGateway
            | ErrorClass::InternalServer
            | ErrorClass::ServiceUnavailable => self.errors_in_a_row += 1,
            // What says nothing of whether it is down.
            ErrorClass::Authentication
            | ErrorClass::BadRequest
            | ErrorClass::ContentPolicyViolation
            | ErrorClass::ContextWindowExceeded
            | ErrorClass::NotFound
            | ErrorClass::Timeout => {}
        }
    }

    /// Whether a fault of its provider's schedule is on, or the last three attempts that said
    /// anything ended with a server error. Asked in order of time.
    pub(crate) fn is_down(&mut self, at: Instant) -> bool {
        while self.faults.get(self.past).is_some_and(|&(_, to)| to <= at) {
            self.past += 1;
        }
        let fault = self.faults.get(self.past);
        fault.is_some_and(|&(from, _)| from <= at) || self.errors_in_a_row >= DOWN_AFTER
    }

    /// Whether it said 429 within the last minute, the span of most quotas.
    pub(crate) fn is_limited(&self, at: Instant) -> bool {
        let within = |limited: Instant| at.since(limited) < QUOTA_SPAN;
        self.limited_at.is_some_and(within)
    }

    /// Whether its last attempt went well and nothing speaks against the next.
    pub(crate) fn is_ready(&mut self, at: Instant) -> bool {
        self.ended_well == Some(true) && !self.is_limited(at) && !self.is_down(at)
    }
}

/// The same times in order, those that touch made one.
fn joined(spans: &[(Instant, Instant)]) -> Vec<(Instant, Instant)> {
    let mut spans = spans.to_vec();
    spans.sort_unstable();
    spans.dedup_by(|next, kept| {
        let touches = next.0 <= kept.1;
        if touches {
            kept.1 = kept.1.max(next.1);
        }
        touches
    });
    spans
}

/// Server errors in a row after which a deployment counts as down.
const DOWN_AFTER: u32 = 3;
const QUOTA_SPAN: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    fn failure(status: u16) -> Outcome {
        Outcome::Failure(Failure::with_status(status))
    }

    const SUCCESS: Outcome = Outcome::Success {
        usage: router::Usage::new(1, 1),
        first_token_after: None,
    };

    #[test]
    fn three_server_errors_in_a_row_mean_down_whatever_stands_between_but_a_success() {
        let mut health = Health::new(&[]);
        for status in [500, 429, 503, 408] {
            health.ended(at(1.0), &failure(status));
            assert!(!health.is_down(at(1.0)), "after {status}");
        }
        health.ended(at(2.0), &failure(502));
        assert!(health.is_down(at(2.0)));
        health.ended(at(3.0), &SUCCESS);
        assert!(!health.is_down(at(3.0)));
    }

    #[test]
    fn a_fault_is_on_from_its_beginning_until_before_its_end_and_overlaps_count_once() {
        let spans = [
            (at(50.0), at(60.0)),
            (at(10.0), at(20.0)),
            (at(15.0), at(30.0)),
        ];
        let mut health = Health::new(&spans);

        assert_eq!(health.faults, [(at(10.0), at(30.0)), (at(50.0), at(60.0))]);
        let asked = [5.0, 10.0, 25.0, 30.0, 49.0, 50.0, 60.0];
        let found = asked.map(|second| health.is_down(at(second)));
        assert_eq!(found, [false, true, true, false, false, true, false]);
    }

    #[test]
    fn ready_is_who_answered_last_and_was_not_refused_for_a_minute() {
        let mut health = Health::new(&[]);
        assert!(!health.is_ready(at(0.0)), "nobody has asked it yet");
        health.ended(at(1.0), &SUCCESS);
        assert!(health.is_ready(at(1.0)));
        health.ended(at(2.0), &failure(429));
        health.ended(at(3.0), &SUCCESS);
        assert!(!health.is_ready(at(61.9)));
        assert!(health.is_ready(at(62.0)));
    }
}
