//! Nobody is sent to a deployment that is paused or in cooldown (invariant 7); a cooldown ends when it
//! says, and no failure moves that end but where the profile lets the longer one win (invariant 8); it
//! lasts as long as the settings or the provider say, and where they say zero there is none (invariants
//! 9 and 16).
//!
//! Exceptions of invariant 7, each by a setting of the profile or the config: a request that was parked
//! for a slot goes on once it has one, the client library tries again inside its attempt, a call by a
//! deployment's id asks no cooldown, and one trial at a time goes to a deployment whose trial is due.

use std::time::Duration;

use router::{
    Decision, DeploymentId, Event, Failure, Input, Instant, Outcome, RequestId, RetryAfter, Router,
    RouterSettings,
};
use scenarios::RunPlan;

use super::rule::{Found, Now, Rule};

/// Invariants 7, 8, 9 and 16.
#[derive(Debug)]
pub(super) struct Cooldowns {
    /// By instance and deployment.
    of: Vec<Vec<Bench>>,
    /// What the input under way told of a deployment's failure or refusal, and whose it was.
    cause: Option<(RequestId, DeploymentId, Cause)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cause {
    Failure(Failure),
    /// The router's own limits refused the attempt.
    Refusal,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bench {
    /// When the timer of the latest cooldown ends.
    end: Instant,
    /// It waits for a trial to succeed.
    held: bool,
    /// Whose trial is under way.
    trial: Option<RequestId>,
    /// A trial failed since, which keeps it out for another length without a word.
    prolonged: bool,
}

impl Cooldowns {
    pub(super) fn new(plan: &RunPlan) -> Self {
        let instances = plan.instances.count.max(1) as usize;
        let one = vec![Bench::default(); plan.router.deployments.len()];
        Self {
            of: vec![one; instances],
            cause: None,
        }
    }

    fn bench(&mut self, now: &Now<'_>, deployment: DeploymentId) -> &mut Bench {
        &mut self.of[now.instance][deployment.index()]
    }

    fn cooled(
        &mut self,
        now: &Now<'_>,
        (deployment, request): (DeploymentId, RequestId),
        until: Instant,
        found: &mut Found,
    ) {
        let Now { plan, at, .. } = *now;
        let longer_wins = plan.router.profile.corrections.longer_cooldown_wins;
        let one_trial = plan.router.settings.cooldown_recovery.one_trial;
        let length = match self.cause {
            Some((_, from, cause)) => length(plan, at, from, cause),
            None => Length::Unknown,
        };
        let spread = plan.router.settings.cooldown_recovery.spread;
        let shares = now.shares();
        let before = *self.bench(now, deployment);
        let running = at < before.end && !before.prolonged;
        let id = &plan.router.deployments[deployment.index()].id;
        if until < at {
            found.add(
                8,
                now,
                request,
                format_args!("the cooldown of {id} ends at {until}"),
            );
        }
        let keeps_end = running && (!longer_wins || until == before.end);
        if keeps_end && until != before.end && !shares {
            let was = before.end;
            let what = format_args!("the running cooldown of {id} now ends at {until}, not {was}");
            found.add(8, now, request, what);
        }
        if running && until < before.end && !shares {
            found.add(
                8,
                now,
                request,
                format_args!("the cooldown of {id} is cut to {until}"),
            );
        }
        if !running || !keeps_end {
            let lasts = until.since(at);
            let fits = match length {
                Length::Of(length) => {
                    let most = length.mul_f64(1.0 + spread) + A_TICK;
                    let least = length.mul_f64(1.0 - spread).saturating_sub(A_TICK);
                    (least..=most).contains(&lasts)
                }
                Length::None => {
                    let what = format_args!("{id} is benched, with a cooldown of zero");
                    found.add(16, now, request, what);
                    true
                }
                Length::Unknown => true,
            };
            if !fits && !shares && !before.prolonged {
                let what =
                    format_args!("the cooldown of {id} lasts {lasts:?}, expected {length:?}");
                found.add(9, now, request, what);
            }
        }
        let bench = self.bench(now, deployment);
        bench.end = until;
        bench.held = one_trial;
        bench.prolonged = false;
    }

    fn picked(
        &mut self,
        now: &Now<'_>,
        (deployment, request): (DeploymentId, RequestId),
        found: &mut Found,
    ) {
        let tries = has_trials(now.plan, deployment);
        let shares = now.shares();
        let bench = self.bench(now, deployment);
        let probed = bench.held || now.at < bench.end;
        let fault = if !tries {
            (now.at < bench.end).then(|| format!("it is in cooldown until {}", bench.end))
        } else if probed && bench.trial.is_some_and(|other| other != request) && !shares {
            Some(format!("a trial is under way for {:?}", bench.trial))
        } else {
            // Another instance's trial may have ended a cooldown that they share.
            let early = bench.held && now.at < bench.end && !shares;
            let too_early = early && !has_probe(now.plan, deployment);
            too_early.then(|| format!("no trial is due before {}", bench.end))
        };
        if tries && probed {
            bench.trial = Some(request);
        }
        if let Some(what) = fault {
            let id = &now.plan.router.deployments[deployment.index()].id;
            found.add(7, now, request, format_args!("{id} was picked: {what}"));
        }
    }

    fn forget_trials(&mut self, now: &Now<'_>, request: RequestId) {
        for bench in &mut self.of[now.instance] {
            bench.trial = bench.trial.filter(|&trial| trial != request);
        }
    }
}

impl Rule for Cooldowns {
    fn input(&mut self, _now: &Now<'_>, _router: &Router, _input: &Input<'_>, _found: &mut Found) {
        self.cause = None;
    }

    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        match *event {
            Event::Picked {
                request,
                deployment,
                ..
            } => self.picked(now, (deployment, request), found),
            Event::Sent {
                request,
                deployment,
                ..
            } if now.plan.router.deployments[deployment.index()].blocked => {
                found.add(
                    7,
                    now,
                    request,
                    "it was sent to a deployment that is paused",
                );
            }
            Event::Finished {
                request,
                deployment,
                outcome,
                ..
            } => match outcome {
                Outcome::Failure(failure) => {
                    let bench = self.bench(now, deployment);
                    bench.prolonged |= bench.trial == Some(request);
                    self.cause = Some((request, deployment, Cause::Failure(*failure)));
                }
                Outcome::Success { .. } => {}
            },
            Event::LimitRefused {
                request,
                deployment: Some(deployment),
                ..
            } => self.cause = Some((request, deployment, Cause::Refusal)),
            Event::CooledDown {
                deployment,
                request,
                until,
                ..
            } => self.cooled(now, (deployment, request), until, found),
            Event::CooldownCleared { deployment } => {
                let at = now.at;
                let bench = self.bench(now, deployment);
                bench.end = bench.end.min(at);
                bench.held = false;
                bench.prolonged = false;
            }
            Event::PassedOver {
                request,
                deployment,
                why: router::PassedOver::Cooled(until),
            } if !now.shares() && !has_trials(now.plan, deployment) => {
                let end = self.bench(now, deployment).end;
                if until != end || now.at >= end {
                    let what =
                        format_args!("passed over until {until}, its cooldown ends at {end}");
                    found.add(8, now, request, what);
                }
            }
            Event::Arrived { .. }
            | Event::PassedOver { .. }
            | Event::NothingToPick { .. }
            | Event::SlotRefused { .. }
            | Event::FailuresSpent { .. }
            | Event::LimitRefused { .. }
            | Event::CacheHit { .. }
            | Event::Mirrored { .. }
            | Event::ParkedForSlot { .. }
            | Event::Sent { .. }
            | Event::FirstToken { .. }
            | Event::Waiting { .. }
            | Event::Retrying { .. }
            | Event::MovedOn { .. }
            | Event::FellBack { .. }
            | Event::GivenUp { .. }
            | Event::Answered { .. }
            | Event::Cancelled { .. } => {}
        }
        // A trial is over with its attempt, or where none was sent.
        if let Event::Finished { request, .. }
        | Event::LimitRefused { request, .. }
        | Event::FailuresSpent { request, .. }
        | Event::SlotRefused { request, .. }
        | Event::CacheHit { request, .. }
        | Event::Answered { request, .. }
        | Event::Cancelled { request, .. } = *event
        {
            self.forget_trials(now, request);
        }
    }

    fn decided(
        &mut self,
        now: &Now<'_>,
        router: &Router,
        _decision: &Decision<'_>,
        found: &mut Found,
    ) {
        if now.shares() {
            return;
        }
        for (number, bench) in (0..).zip(&self.of[now.instance]) {
            let deployment = DeploymentId(number);
            if has_trials(now.plan, deployment) {
                continue;
            }
            let expected = (now.at < bench.end).then_some(bench.end);
            let told = router.cooled_until(now.at, deployment);
            if told != expected {
                let id = &now.plan.router.deployments[deployment.index()].id;
                let what = format_args!("{id} is out until {told:?}, expected {expected:?}");
                found.add(8, now, None, what);
            }
        }
    }
}

/// Whether somebody may be sent there although it is out.
fn has_trials(plan: &RunPlan, deployment: DeploymentId) -> bool {
    plan.router.settings.cooldown_recovery.one_trial || has_probe(plan, deployment)
}

fn has_probe(plan: &RunPlan, deployment: DeploymentId) -> bool {
    let corrections = &plan.router.profile.corrections;
    let after = plan.router.deployments[deployment.index()].cooldown_probe_after;
    corrections.probes_long_cooldowns && after.is_some()
}

/// How long a cooldown must be.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Length {
    /// There must be none.
    None,
    Of(Duration),
    Unknown,
}

fn length(plan: &RunPlan, at: Instant, deployment: DeploymentId, cause: Cause) -> Length {
    let settings = &plan.router.settings;
    let Cause::Failure(failure) = cause else {
        return Length::Of(routers_own(settings));
    };
    let profile = &plan.router.profile;
    let of = &plan.router.deployments[deployment.index()];
    let newer = profile.model_info_cooldown_settings;
    let own = of.model_info_cooldown_time.filter(|_| newer);
    let hint = hint(at, &failure, profile.corrections.reads_every_hint);
    if settings.default_litellm_params.cooldown_time.is_some() {
        return Length::Unknown;
    }
    let length = own
        .or(of.cooldown_time)
        .or(hint)
        .unwrap_or_else(|| routers_own(settings));
    if length.is_zero() {
        return Length::None;
    }
    let empty = failure.status == Some(402) || failure.cause == router::Cause::CreditExhausted;
    match profile.corrections.no_credit_benches_for {
        Some(long) if empty => Length::Of(hint.unwrap_or_else(|| long.max(length))),
        Some(_) | None => Length::Of(length),
    }
}

fn routers_own(settings: &RouterSettings) -> Duration {
    let given = settings.cooldown_time.unwrap_or_default();
    if given.is_zero() { FIVE_SECONDS } else { given }
}

/// What the provider asks for: whole seconds of the one header in LiteLLM, a date cut to them and in
/// the past none; in `corrected` every form, and zero is none.
fn hint(at: Instant, failure: &Failure, every_form: bool) -> Option<Duration> {
    let ahead = |date: Instant| (date >= at).then(|| date.since(at));
    let header = match failure.retry_after {
        Some(RetryAfter::Seconds(seconds)) => u64::try_from(seconds).ok().map(Duration::from_secs),
        Some(RetryAfter::Date(date)) if every_form => ahead(date).filter(|left| !left.is_zero()),
        Some(RetryAfter::Date(date)) => ahead(date).map(|left| Duration::from_secs(left.as_secs())),
        Some(RetryAfter::Millis(millis)) if every_form => Some(Duration::from_millis(millis)),
        Some(RetryAfter::Millis(_) | RetryAfter::Unreadable) | None => None,
    };
    match every_form {
        true => header
            .or(failure.wait_in_body)
            .filter(|hint| !hint.is_zero()),
        false => header,
    }
}

/// LiteLLM's own, where none is set, or zero.
const FIVE_SECONDS: Duration = Duration::from_secs(5);
/// Fractions of a nanosecond are rounded either way.
const A_TICK: Duration = Duration::from_nanos(2);
