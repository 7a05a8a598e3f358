//! What a driver needs to send an attempt, and what is worked out once for a deployment.
//!
//! A timeout bounds one attempt, never the whole request. (semantics 10)

use std::time::Duration;

use crate::{
    config::{DeploymentConfig, RouterSettings},
    limits, pattern,
    registry::Registry,
    request::ModelId,
    router::Router,
    step::{Attempt, AttemptPlan, Deadline, StreamLimits, Trail},
};

/// What is worked out once for a deployment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    pub(crate) slots: Option<u32>,
    /// Its group has no other.
    pub(crate) lone: bool,
    /// The router has generic fallbacks for its group: those of an alias or of a request do not
    /// count (`allowed-fails-lone-which-fallbacks-count`).
    pub(crate) has_fallback: bool,
    /// The group that gets a copy of what is picked for it.
    pub(crate) silent: Option<ModelId>,
    /// Its `model_name` has stars.
    pub(crate) wildcard: bool,
    pub(crate) whole: Duration,
    silence: Option<Duration>,
    /// Given by hand, the deployment's before the router's.
    limits: StreamLimits,
}

impl Fixed {
    pub(crate) fn new(
        deployment: &DeploymentConfig,
        settings: &RouterSettings,
        registry: &Registry,
    ) -> Self {
        Self {
            slots: limits::slots(deployment, settings),
            lone: registry.group_size(&deployment.model_name) == 1,
            has_fallback: registry
                .known(&deployment.model_name)
                .is_some_and(|group| registry.routes(group).generic.is_some()),
            silent: deployment
                .silent_model
                .as_deref()
                .and_then(|name| registry.known(name)),
            wildcard: pattern::is_pattern(&deployment.model_name),
            whole: given(deployment.timeout)
                .or_else(|| given(settings.request_timeout))
                .or_else(|| given(settings.timeout))
                .unwrap_or(DEFAULT_TIMEOUT),
            silence: given(deployment.stream_timeout)
                .or_else(|| given(settings.stream_timeout))
                .or_else(|| library_silence(settings))
                .or_else(|| given(settings.default_litellm_params.stream_timeout)),
            limits: deployment.stream_limits.or(settings.stream_limits),
        }
    }
}

impl Router {
    /// What to send, and how long it may take.
    #[must_use]
    #[inline]
    pub fn plan(&self, attempt: &Attempt) -> AttemptPlan<'_> {
        let state = self.requests.peek(attempt.ticket);
        let deployment = &self.config.deployments[attempt.deployment.index()];
        let fixed = &self.fixed[attempt.deployment.index()];
        let target = self.registry.target(state.hop.group);
        let filled = target.upstream_model(attempt.deployment);
        let overrides = state.request.overrides.as_ref();
        let stream = state.request.stream;
        let own_whole = overrides.and_then(|o| given(o.timeout));
        let own_silence = overrides.and_then(|o| given(o.stream_timeout));
        let (callers, operators) = match stream {
            // A silence that the operator set is not replaced by the caller's whole.
            true => (
                own_silence.or_else(|| own_whole.filter(|_| fixed.silence.is_none())),
                fixed.silence.unwrap_or(fixed.whole),
            ),
            false => (own_whole, fixed.whole),
        };
        let limit = callers.unwrap_or(operators);
        AttemptPlan {
            deployment: &deployment.id,
            model: filled.unwrap_or(&deployment.model),
            stream,
            deadline: match stream {
                true => self.of_a_stream(fixed.limits, limit),
                false => Deadline::Whole(limit),
            },
            // What limits a stream's content is the operator's.
            callers_limit: callers.is_some_and(|own| own < operators)
                && (!stream || fixed.limits == StreamLimits::default()),
            keeps_opening_back: stream && !self.config.profile.opening_frames_pass,
            wants_first_token: stream && state.holds_slot && !self.config.profile.streams_hold_slot,
        }
    }
}

impl Router {
    /// What was tried so far for the request of an attempt under way, with it.
    #[must_use]
    pub fn trail(&self, attempt: &Attempt) -> Trail {
        self.requests.peek(attempt.ticket).trail(None)
    }

    /// `stream_timeout`, or whatever stands in for it, fills in for limits that are not given.
    /// (BR-051)
    fn of_a_stream(&self, limits: StreamLimits, silence: Duration) -> Deadline {
        if self.config.profile.keep_alives_are_progress && limits == StreamLimits::default() {
            return Deadline::Silence(silence);
        }
        Deadline::Content(StreamLimits {
            first_token: limits.first_token.or(Some(silence)),
            idle: limits.idle.or(Some(silence)),
            total: limits.total,
        })
    }
}

impl StreamLimits {
    /// Each of these limits, else the other's.
    fn or(self, other: Self) -> Self {
        Self {
            first_token: given(self.first_token).or_else(|| given(other.first_token)),
            idle: given(self.idle).or_else(|| given(other.idle)),
            total: given(self.total).or_else(|| given(other.total)),
        }
    }
}

/// The process-wide limit bounds silence too, but only where the router has a timeout of its own.
/// (semantics 10)
fn library_silence(settings: &RouterSettings) -> Option<Duration> {
    given(settings.timeout).and_then(|_| given(settings.request_timeout))
}

/// A time that was given: zero counts as not given. (semantics 10)
fn given(time: Option<Duration>) -> Option<Duration> {
    time.filter(|t| !t.is_zero())
}

/// What a chat request's timeout is where none is set. (semantics 0: chat HTTP fallback timeout)
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);
