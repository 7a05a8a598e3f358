//! What a run sounds like, to be held against another run: each event in words.

use std::fmt::Write as _;

use router::{Event, Instant, Observer};

/// Keeps every event.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Heard {
    /// With its times.
    pub(crate) whole: Vec<(Instant, String)>,
    /// Whether somebody waited, was asked to, or a cooldown or a count of a fixed length ended.
    pub(crate) waited: bool,
}

impl Observer for Heard {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        self.waited |= matches!(event, Event::Waiting { .. });
        self.whole.push((at, format!("{event:?}")));
    }
}

/// Keeps every event without its times.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Timeless {
    pub(crate) events: Vec<(Instant, String)>,
    /// Somebody waited, which takes times that no setting says.
    pub(crate) waited: bool,
}

impl Observer for Timeless {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        let mut words = String::new();
        let _ = match *event {
            Event::Picked {
                request,
                deployment,
                attempt,
                candidates,
            } => {
                write!(
                    words,
                    "{request} picks {} as {attempt} of {candidates}",
                    deployment.0
                )
            }
            Event::Sent {
                request,
                deployment,
                attempt,
            } => {
                write!(words, "{request} sends {attempt} to {}", deployment.0)
            }
            Event::Finished {
                request,
                deployment,
                outcome,
                ..
            } => {
                let failed = match outcome {
                    router::Outcome::Success { .. } => None,
                    router::Outcome::Failure(failure) => Some(failure.class),
                };
                write!(words, "{request} ends at {} with {failed:?}", deployment.0)
            }
            Event::CooledDown {
                request,
                deployment,
                why,
                ..
            } => {
                write!(words, "{request} benches {} for {why:?}", deployment.0)
            }
            Event::Retrying { request, retry, of } => {
                write!(words, "{request} retries {retry} of {of}")
            }
            Event::FellBack {
                request,
                from,
                to,
                why,
            } => {
                write!(
                    words,
                    "{request} goes from {} to {} by {why:?}",
                    from.0, to.0
                )
            }
            Event::Answered { request, answer } => {
                let failed = matches!(answer, router::Answer::Failed { .. });
                write!(words, "{request} is answered, failed: {failed}")
            }
            Event::Waiting { .. } => {
                self.waited = true;
                return;
            }
            Event::Arrived { .. }
            | Event::PassedOver { .. }
            | Event::NothingToPick { .. }
            | Event::SlotRefused { .. }
            | Event::FailuresSpent { .. }
            | Event::LimitRefused { .. }
            | Event::CacheHit { .. }
            | Event::Mirrored { .. }
            | Event::CooldownCleared { .. }
            | Event::ParkedForSlot { .. }
            | Event::FirstToken { .. }
            | Event::MovedOn { .. }
            | Event::GivenUp { .. }
            | Event::Cancelled { .. } => return,
        };
        self.events.push((at, words));
    }
}
