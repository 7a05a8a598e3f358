//! What a run shows: who was called when, what callers got, and who was out until when.

use std::time::Duration;

use router::{
    CooldownReason, DeploymentId, Event, Instant, Observer, Outcome, RequestId, RouteError,
    WaitReason,
};

use crate::frames::Timed;

/// A moment of the run.
pub(crate) fn at(seconds: f64) -> Instant {
    Instant::ZERO + span(seconds)
}

/// A span, to the microsecond.
pub(crate) fn span(seconds: f64) -> Duration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "seconds of a test"
    )]
    Duration::from_micros((seconds * 1e6).round() as u64)
}

/// A call that reached a provider.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Hit {
    pub(crate) provider: String,
    pub(crate) at: Instant,
    pub(crate) ended: Instant,
    /// Its request's place in the order of asking.
    pub(crate) ask: usize,
    pub(crate) outcome: Option<Outcome>,
    /// What was sent, if that is told, and whether opening frames were kept back.
    pub(crate) frames: &'static [Timed],
    pub(crate) keeps_opening_back: bool,
}

/// What became of a request.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Answered {
    pub(crate) asked: Instant,
    /// When it was over.
    pub(crate) ended: Instant,
    pub(crate) got: Got,
    /// Who was called for it, in order.
    pub(crate) path: Vec<String>,
    pub(crate) waits: Vec<(Duration, WaitReason)>,
    /// Time spent in waits and parked, as the router reports it.
    pub(crate) queued: Duration,
    pub(crate) fallbacks: u16,
}

/// What a caller got.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Got {
    /// An answer of this provider.
    Ok(String),
    Error(RouteError),
    /// The caller went away.
    Cancelled,
}

impl Answered {
    pub(crate) fn is_ok(&self) -> bool {
        matches!(self.got, Got::Ok(_))
    }

    pub(crate) fn took(&self) -> Duration {
        self.ended.since(self.asked)
    }

    /// The provider that served it.
    pub(crate) fn by(&self) -> &str {
        match &self.got {
            Got::Ok(provider) => provider,
            other => panic!("not served: {other:?}"),
        }
    }

    pub(crate) fn error(&self) -> RouteError {
        match self.got {
            Got::Error(error) => error,
            _ => panic!("no error: {:?}", self.got),
        }
    }

    /// The status of its error; a success has none.
    pub(crate) fn status(&self) -> Option<u16> {
        match &self.got {
            Got::Error(error) => error.status(),
            Got::Ok(_) | Got::Cancelled => None,
        }
    }

    /// "Try again in …" of a router's own refusal.
    pub(crate) fn try_again_in(&self) -> Option<Duration> {
        match &self.got {
            Got::Error(RouteError::NoDeployments { try_again_in, .. }) => Some(*try_again_in),
            Got::Error(RouteError::RateLimited { retry_after, .. }) => {
                Some(Duration::from_secs((*retry_after).into()))
            }
            Got::Error(_) | Got::Ok(_) | Got::Cancelled => None,
        }
    }

    pub(crate) fn waited(&self) -> Duration {
        self.waits.iter().map(|(wait, _)| *wait).sum()
    }
}

/// A cooldown as it was set.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bench {
    pub(crate) provider: String,
    pub(crate) at: Instant,
    pub(crate) until: Instant,
    pub(crate) why: CooldownReason,
}

/// Listens to one router.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) benches: Vec<(DeploymentId, Instant, Instant, CooldownReason)>,
    pub(crate) waits: Vec<(RequestId, Duration, WaitReason)>,
    /// Every event, as text.
    pub(crate) text: Vec<String>,
}

impl Observer for Log {
    fn observe(&mut self, now: Instant, event: &Event<'_>) {
        self.text.push(format!("{now} {event:?}"));
        match event {
            Event::CooledDown {
                deployment,
                until,
                why,
                ..
            } => {
                self.benches.push((*deployment, now, *until, *why));
            }
            Event::Waiting {
                request,
                until,
                why,
            } => {
                self.waits.push((*request, until.since(now), *why));
            }
            _ => {}
        }
    }
}
