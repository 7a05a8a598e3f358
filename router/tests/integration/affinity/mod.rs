//! Pins of sessions, of callers' keys and of prompts' prefixes.

mod failover;
mod limits;
mod prefixes;
mod sessions;

use std::{num::NonZeroU64, time::Duration};

use router::{
    Attempt, CallerId, ContentId, DeploymentId, Origin, Profile, ProfileName, RouterConfig,
    SessionId, Turn, config::OptionalPreCallChecks,
};

use crate::harness::{Hand, answered, group, sent};

pub(super) const CORRECTED: Profile = ProfileName::Corrected.profile();

pub(super) const SESSIONS: OptionalPreCallChecks = OptionalPreCallChecks {
    session_affinity: true,
    deployment_affinity: false,
    prompt_caching: false,
    enforce_model_rate_limits: false,
};
pub(super) const KEYS: OptionalPreCallChecks = OptionalPreCallChecks {
    session_affinity: false,
    deployment_affinity: true,
    ..SESSIONS
};
pub(super) const PREFIXES: OptionalPreCallChecks = OptionalPreCallChecks {
    session_affinity: false,
    prompt_caching: true,
    ..SESSIONS
};

/// Eight deployments of one group.
pub(super) fn pinned(checks: OptionalPreCallChecks, profile: Profile) -> RouterConfig {
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut config = group(ids, profile);
    config.settings.optional_pre_call_checks = checks;
    config.settings.num_retries = Some(0);
    config.settings.cooldown_time = Some(Duration::from_secs(10));
    config
}

pub(super) fn two(checks: OptionalPreCallChecks, profile: Profile) -> RouterConfig {
    let mut config = pinned(checks, profile);
    config.deployments.truncate(2);
    config
}

pub(super) fn session(number: u64) -> Origin {
    Origin {
        session: NonZeroU64::new(number).map(SessionId),
        ..Origin::default()
    }
}

pub(super) fn caller(number: u64) -> Origin {
    Origin {
        caller: NonZeroU64::new(number).map(CallerId),
        ..Origin::default()
    }
}

pub(super) fn session_of(number: u64, by: u64) -> Origin {
    Origin {
        caller: caller(by).caller,
        ..session(number)
    }
}

pub(super) fn ask(hand: &mut Hand, name: &str, origin: Origin) -> Attempt {
    sent(hand.arrive_from(origin, name, false, None))
}

/// Asks, and gives who answered.
pub(super) fn served(hand: &mut Hand, name: &str, origin: Origin) -> DeploymentId {
    let attempt = ask(hand, name, origin);
    let by = attempt.deployment();
    let _ = answered(hand.succeed(attempt));
    by
}

/// Who answers this many requests.
pub(super) fn all(hand: &mut Hand, times: usize, origin: Origin) -> Vec<DeploymentId> {
    (0..times).map(|_| served(hand, "m", origin)).collect()
}

/// A long prompt with this prefix.
pub(super) fn long(hand: &mut Hand, name: &str, prefix: u64, tokens: u32) -> Turn {
    hand.arrive_as(name, |request| {
        request.prompt_tokens = tokens;
        request.origin.prefix = NonZeroU64::new(prefix).map(ContentId);
    })
}

pub(super) fn served_long(hand: &mut Hand, name: &str, prefix: u64) -> DeploymentId {
    let attempt = sent(long(hand, name, prefix, 1_024));
    let by = attempt.deployment();
    let _ = answered(hand.succeed(attempt));
    by
}
