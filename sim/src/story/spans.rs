//! Where a request's time went: its attempts and waits, side by side on one line of time.

use std::time::Duration;

use router::{Event, Outcome, WaitReason};

/// What a span of a request's life was spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpanKind {
    /// An attempt that answered.
    Answering,
    /// An attempt that failed.
    Failing,
    /// A wait: backoff, a provider's `retry-after`, a slot, or the priority queue.
    Waiting,
}

impl SpanKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Answering, Self::Failing, Self::Waiting];

    /// What it is called in a sentence about time.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Answering => "the attempt that answered",
            Self::Failing => "attempts that failed",
            Self::Waiting => "waiting",
        }
    }
}

/// A part of a request's life; times are since its arrival.
#[derive(Clone, PartialEq, Debug)]
pub struct Span {
    /// What it was.
    pub kind: SpanKind,
    /// In words: `attempt 1 at east`, `backoff`.
    pub what: String,
    /// Its beginning.
    pub from: Duration,
    /// Its end.
    pub to: Duration,
    /// When its first token came, in a streamed attempt.
    pub first_token: Option<Duration>,
    /// How it ended, if it was an attempt.
    pub ended: String,
}

impl Span {
    /// How long it lasted.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.to.saturating_sub(self.from)
    }
}

/// The spans of one request as they come about.
#[derive(Debug, Default)]
pub(super) struct Spans {
    done: Vec<Span>,
    /// The wait that is going on: what for, and since when.
    waits: Option<(&'static str, Duration)>,
}

impl Spans {
    /// Hears what happened to the request `after` its arrival. `at` names the deployment of an attempt,
    /// and `ended` says how it ended.
    pub(super) fn hear(&mut self, after: Duration, event: &Event<'_>, at: &str, ended: &str) {
        match *event {
            Event::Waiting { why, .. } => {
                let what = match why {
                    WaitReason::Backoff => "backoff",
                    WaitReason::ClientRetry => "the client library's backoff",
                    WaitReason::RetryAfter => "the provider's retry-after",
                    WaitReason::Queue => "the priority queue",
                };
                self.begin_wait(after, what);
            }
            Event::ParkedForSlot { .. } => self.begin_wait(after, "a free slot"),
            Event::Finished {
                attempt,
                took,
                outcome,
                ..
            } => {
                let from = after.saturating_sub(took);
                let (kind, first) = match outcome {
                    Outcome::Success {
                        first_token_after, ..
                    } => (SpanKind::Answering, *first_token_after),
                    Outcome::Failure(failure) => (SpanKind::Failing, failure.first_token_after),
                };
                self.done.push(Span {
                    kind,
                    what: format!("attempt {} at {at}", attempt + 1),
                    from,
                    to: after,
                    first_token: first.map(|first| from + first),
                    ended: ended.to_owned(),
                });
            }
            Event::Answered { .. }
            | Event::Cancelled { .. }
            | Event::CacheHit { .. }
            | Event::FellBack { .. }
            | Event::FailuresSpent { .. }
            | Event::LimitRefused { .. }
            | Event::Retrying { .. }
            | Event::Sent { .. } => self.end_wait(after),
            Event::Arrived { .. }
            | Event::CooledDown { .. }
            | Event::CooldownCleared { .. }
            | Event::FirstToken { .. }
            | Event::GivenUp { .. }
            | Event::Mirrored { .. }
            | Event::MovedOn { .. }
            | Event::NothingToPick { .. }
            | Event::PassedOver { .. }
            | Event::Picked { .. }
            | Event::SlotRefused { .. } => {}
        }
    }

    /// A wait begins, unless the same is going on already: the priority queue asks again and again.
    fn begin_wait(&mut self, after: Duration, what: &'static str) {
        if self.waits.is_some_and(|(going_on, _)| going_on == what) {
            return;
        }
        self.end_wait(after);
        self.waits = Some((what, after));
    }

    fn end_wait(&mut self, after: Duration) {
        if let Some((what, from)) = self.waits.take() {
            self.done.push(Span {
                kind: SpanKind::Waiting,
                what: what.to_owned(),
                from,
                to: after,
                first_token: None,
                ended: String::new(),
            });
        }
    }

    pub(super) fn done(&self) -> &[Span] {
        &self.done
    }
}
