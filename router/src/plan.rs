//! What a driver needs to send an attempt, and what is worked out once for a deployment.
//!
//! A timeout bounds one attempt, never the whole request. (semantics 10)

use std::time::Duration;

use crate::{
    config::{DeploymentConfig, RouterSettings},
    limits,
    registry::Registry,
    router::Router,
    step::{Attempt, AttemptPlan, Deadline},
};

/// What is worked out once for a deployment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    pub(crate) slots: Option<u32>,
    /// Its group has no other.
    pub(crate) lone: bool,
    whole: Duration,
    silence: Option<Duration>,
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
            whole: given(deployment.timeout)
                .or_else(|| given(settings.timeout))
                .unwrap_or(DEFAULT_TIMEOUT),
            silence: given(deployment.stream_timeout).or_else(|| given(settings.stream_timeout)),
        }
    }
}

impl Router {
    /// What to send, and how long it may take.
    #[must_use]
    pub fn plan(&self, attempt: &Attempt) -> AttemptPlan<'_> {
        let state = self.requests.peek(attempt.ticket);
        let deployment = &self.config.deployments[attempt.deployment.index()];
        let fixed = &self.fixed[attempt.deployment.index()];
        let overrides = state.request.overrides.as_ref();
        let whole = overrides
            .and_then(|o| given(o.timeout))
            .unwrap_or(fixed.whole);
        let silence = overrides
            .and_then(|o| given(o.stream_timeout))
            .or(fixed.silence);
        let stream = state.request.stream;
        AttemptPlan {
            deployment: &deployment.id,
            model: &deployment.model,
            stream,
            deadline: match stream {
                true => Deadline::Silence(silence.unwrap_or(whole)),
                false => Deadline::Whole(whole),
            },
            wants_first_token: stream && state.holds_slot && !self.config.profile.streams_hold_slot,
        }
    }
}

/// A time that was given: zero counts as not given. (semantics 10)
fn given(time: Option<Duration>) -> Option<Duration> {
    time.filter(|t| !t.is_zero())
}

/// What a chat request's timeout is where none is set. (semantics 0: chat HTTP fallback timeout)
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);
