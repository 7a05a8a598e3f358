//! Nobody is sent again sooner than an honoured `retry-after` says (invariant 12), whether the router
//! waits or the client library inside an attempt does.
//!
//! LiteLLM honours whole seconds from 1 to 60, where the group has nobody else to go to; `corrected` a
//! hint in any form of up to 60 s. A wait of this kind is announced with its reason, so that what is
//! checked is the length: it must not end before the provider's moment.

use std::collections::BTreeMap;

use router::{Event, Failure, Instant, Outcome, RequestId, RetryAfter, WaitReason};

use super::rule::{Found, Now, Rule};

/// Invariant 12.
#[derive(Debug, Default)]
pub(super) struct Waits {
    of: BTreeMap<RequestId, Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    /// The latest failure, and when it came.
    failure: Option<(Instant, Failure)>,
    /// Nobody may send it before, and why.
    not_before: Option<(Instant, &'static str)>,
}

impl Heard {
    /// The moment that the provider asked for, as far as `why` honours it.
    fn asked_for(&self, why: WaitReason, every_form: bool) -> Option<Instant> {
        let (at, failure) = self.failure?;
        let whole = |from: Instant, to: Instant| {
            let left = to.as_nanos().checked_sub(from.as_nanos())?;
            Some(Instant::from_nanos(
                from.as_nanos() + left / SECOND_NS * SECOND_NS,
            ))
        };
        let seconds = |seconds: i64| {
            let seconds = u64::try_from(seconds).ok()?;
            Some(Instant::from_nanos(at.as_nanos() + seconds * SECOND_NS))
        };
        let millis = |millis: u64| Instant::from_nanos(at.as_nanos() + millis * 1_000_000);
        let body = |reads: bool| {
            let wait = failure.wait_in_body.filter(|_| reads)?;
            Some(at + wait)
        };
        let of_client = why == WaitReason::ClientRetry;
        match failure.retry_after {
            Some(RetryAfter::Seconds(n)) if n >= 0 => seconds(n),
            Some(RetryAfter::Date(date)) if every_form && !of_client && date > at => Some(date),
            Some(RetryAfter::Date(date)) if !every_form || of_client => whole(at, date),
            Some(RetryAfter::Millis(n)) if every_form || of_client => Some(millis(n)),
            Some(_) | None => body(every_form && !of_client),
        }
    }
}

impl Rule for Waits {
    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        if let Event::Arrived { request } = event {
            self.of.insert(request.id, Heard::default());
            return;
        }
        let corrections = &now.plan.router.profile.corrections;
        let every_form = corrections.hints_are_obeyed;
        // An account of several deployments is waited for by its cooldown.
        let has_account = |d: &router::DeploymentConfig| d.quota_group.is_some();
        let by_account =
            corrections.shared_quotas && now.plan.router.deployments.iter().any(has_account);
        let Some(heard) = event.request().and_then(|id| self.of.get_mut(&id)) else {
            return;
        };
        if let Event::Finished { outcome, .. } = event {
            heard.failure = match outcome {
                Outcome::Failure(failure) => Some((now.at, *failure)),
                Outcome::Success { .. } => None,
            };
        } else if let Event::LimitRefused { .. } = event {
            // What is waited for now is the router's own refusal.
            heard.failure = None;
        } else if let Event::FellBack { .. } = event {
            *heard = Heard::default();
        } else if let Event::Waiting {
            request,
            until,
            why,
        } = *event
        {
            heard.not_before = Some((until, "it waits"));
            let honours = match why {
                WaitReason::RetryAfter => !by_account,
                WaitReason::ClientRetry => true,
                WaitReason::Backoff | WaitReason::Queue => false,
            };
            let asked = heard.asked_for(why, every_form).filter(|_| honours);
            if let Some(asked) = asked.filter(|&asked| until < asked) {
                let what = format_args!("it waits until {until}, it was asked to until {asked}");
                found.add(12, now, request, what);
            }
        } else if let Event::Sent { request, .. } = *event {
            if let Some((until, why)) = heard.not_before.filter(|(until, _)| now.at < *until) {
                found.add(
                    12,
                    now,
                    request,
                    format_args!("{why} until {until}, and is sent"),
                );
            }
            heard.not_before = None;
        } else if let Event::Answered { request, .. } | Event::Cancelled { request, .. } = *event {
            self.of.remove(&request);
        }
    }
}

const SECOND_NS: u64 = 1_000_000_000;
