//! In each group and tier there is one attempt and as many retries as the settings give (invariant 10);
//! moves to other groups are bounded, so that a circle of fallbacks ends (invariant 11).
//!
//! A retry is announced, and so is an attempt for free of the profile `corrected`: whatever else is sent
//! in the same hop is one too many. A client library that tries again inside an attempt has an
//! allowance of its own.

use std::collections::{BTreeMap, BTreeSet};

use router::{Event, FallbackReason, ModelId, RequestId, WaitReason};
use scenarios::RunPlan;

use super::rule::{Found, Now, Rule};

/// Invariants 10 and 11.
#[derive(Debug)]
pub(super) struct Attempts {
    /// Numbers of retries that somebody set, the caller's own apart.
    given: BTreeSet<u32>,
    /// Tries of a client library inside one attempt.
    most_tries: u32,
    most_moves: u64,
    /// No name is led to twice by a list.
    targets_once: bool,
    no_moves: bool,
    of: BTreeMap<RequestId, Hop>,
}

#[derive(Debug, Default)]
struct Hop {
    callers: Option<u32>,
    /// Tries of the client library that an attempt of it may take.
    most_tries: u32,
    client_tries: u32,
    /// What may be sent: at the beginning of a hop, or announced by a retry or a move.
    may_send: bool,
    /// The client library is about to try again.
    client_waits: bool,
    retries: u32,
    moves: u64,
    /// Names that a list led to.
    led_to: BTreeSet<ModelId>,
}

impl Attempts {
    pub(super) fn new(plan: &RunPlan) -> Self {
        let settings = &plan.router.settings;
        let profile = &plan.router.profile;
        let policies = settings.retry_policy.iter();
        let policies = policies.chain(settings.model_group_retry_policy.values());
        let by_policy = policies.flat_map(|p| {
            [
                p.authentication,
                p.timeout,
                p.rate_limit,
                p.content_policy_violation,
                p.bad_request,
                p.internal_server,
                p.service_unavailable,
                p.not_found,
                p.default,
            ]
        });
        let of_deployments = plan.router.deployments.iter().map(|d| d.num_retries);
        let others = [
            settings.num_retries,
            settings.global_num_retries,
            settings.default_litellm_params.num_retries,
        ];
        let given: BTreeSet<u32> = (by_policy.chain(of_deployments).chain(others))
            .flatten()
            .chain([LITELLMS_RETRIES])
            // `enforce_model_rate_limits` gives its own error none.
            .chain([0])
            .collect();
        let client = plan.router.deployments.iter().filter_map(|d| d.num_retries);
        let client = client.chain(settings.default_litellm_params.num_retries);
        let client = client
            .chain(settings.default_litellm_params.max_retries)
            .max();
        let most = settings.max_fallbacks.unwrap_or(MOST_FALLBACKS);
        let longest = settings.longest_list();
        Self {
            given,
            most_tries: client.unwrap_or(0).max(LITELLMS_RETRIES),
            most_moves: (1..=most).map(|depth| longest.saturating_pow(depth)).sum(),
            targets_once: profile.fallback_targets_once,
            no_moves: most == 0,
            of: BTreeMap::new(),
        }
    }

    fn moved(
        &mut self,
        now: &Now<'_>,
        request: RequestId,
        (to, why): (ModelId, FallbackReason),
        found: &mut Found,
    ) {
        let Some(hop) = self.of.get_mut(&request) else {
            return;
        };
        hop.moves += 1;
        hop.may_send = true;
        hop.retries = 0;
        if hop.moves > self.most_moves || self.no_moves {
            let most = self.most_moves;
            let what = format_args!(
                "it moved on {} times, at most {most} are allowed",
                hop.moves
            );
            found.add(11, now, request, what);
        }
        let by_list = match why {
            FallbackReason::ContentPolicy
            | FallbackReason::ContextWindow
            | FallbackReason::Generic
            | FallbackReason::PerRequest => true,
            FallbackReason::OrderTier | FallbackReason::WeightedFailover => false,
        };
        if by_list && !hop.led_to.insert(to) && self.targets_once {
            let what = format_args!("a list led to model {} a second time", to.0);
            found.add(11, now, request, what);
        }
    }

    fn retries(
        &mut self,
        now: &Now<'_>,
        request: RequestId,
        (retry, of): (u32, u32),
        found: &mut Found,
    ) {
        let Some(hop) = self.of.get_mut(&request) else {
            return;
        };
        if !self.given.contains(&of) && hop.callers != Some(of) {
            let what = format_args!("it may be retried {of} times, which no setting gives");
            found.add(10, now, request, what);
        }
        if retry > of || retry <= hop.retries {
            let what = format_args!("retry {retry} of {of} follows retry {}", hop.retries);
            found.add(10, now, request, what);
        }
        hop.retries = retry;
        hop.may_send = true;
    }
}

impl Rule for Attempts {
    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        if let Event::Arrived { request } = event {
            let overrides = request.overrides.as_deref();
            let hop = Hop {
                callers: overrides.and_then(|o| o.num_retries),
                most_tries: self
                    .most_tries
                    .max(overrides.and_then(|o| o.max_retries).unwrap_or(0)),
                may_send: true,
                ..Hop::default()
            };
            self.of.insert(request.id, hop);
        } else if let Event::FellBack {
            request, to, why, ..
        } = *event
        {
            self.moved(now, request, (to, why), found);
        } else if let Event::Retrying { request, retry, of } = *event {
            self.retries(now, request, (retry, of), found);
        } else if let Event::Answered { request, .. } | Event::Cancelled { request, .. } = *event {
            self.of.remove(&request);
        }
        let Some(hop) = event.request().and_then(|id| self.of.get_mut(&id)) else {
            return;
        };
        if let Event::MovedOn { .. } = event {
            hop.may_send = true;
        } else if let Event::Waiting {
            why: WaitReason::ClientRetry,
            ..
        } = event
        {
            hop.client_waits = true;
        } else if let Event::Sent { request, .. } = *event {
            if hop.client_waits {
                if hop.client_tries == 0 {
                    found.add(10, now, request, "the client library tried too often");
                }
                hop.client_tries = hop.client_tries.saturating_sub(1);
            } else if hop.may_send {
                hop.client_tries = hop.most_tries;
            } else {
                found.add(10, now, request, "an attempt that no retry announced");
            }
            hop.may_send = false;
            hop.client_waits = false;
        }
    }
}

/// The longest walk that one hop may begin.
trait LongestList {
    fn longest_list(&self) -> u64;
}

impl LongestList for router::RouterSettings {
    fn longest_list(&self) -> u64 {
        let lists = [
            &self.fallbacks,
            &self.context_window_fallbacks,
            &self.content_policy_fallbacks,
        ];
        let longest = lists
            .into_iter()
            .flatten()
            .flatten()
            .map(|(_, names)| names.len());
        let longest = longest.max().unwrap_or(0).max(self.default_fallbacks.len());
        // A request may bring a list, a group has its tiers and its rest, and a special list may give
        // the generic one its turn.
        u64::try_from(2 * longest)
            .unwrap_or(u64::MAX)
            .saturating_add(OTHER_ENTRIES)
    }
}

/// LiteLLM's `num_retries`, and its client library's, where nobody sets one.
const LITELLMS_RETRIES: u32 = 2;
/// `ROUTER_MAX_FALLBACKS`.
const MOST_FALLBACKS: u32 = 5;
/// Order tiers, the rest of the group, and names that a request brings along.
const OTHER_ENTRIES: u64 = 16;
