//! Where and when a request could be answered in time, with the luck that it draws.

use std::time::Duration;

use mock_providers::{DailySpec, FailureMode, LatencySpec, Provider, ProviderCall, ProviderSpec};
use router::{DeploymentId, Instant, Outcome, RequestId};
use scenarios::{Arrival, RunPlan};

use super::{ATTEMPTS, minute, place, quota::Pools};
use crate::SimError;

/// The deployments that a request for each of the workload's models could come to.
pub(super) struct Reach(Vec<Vec<usize>>);

impl Reach {
    pub(super) fn of(plan: &RunPlan) -> Self {
        let settings = &plan.router.settings;
        // Whatever could lead to another group is taken to lead anywhere.
        let leads_away = settings.fallbacks.is_some()
            || !settings.default_fallbacks.is_empty()
            || settings.context_window_fallbacks.is_some()
            || settings.content_policy_fallbacks.is_some()
            || !settings.routing_groups.is_empty()
            || !plan.workload.sender_names().is_empty();
        let all: Vec<usize> = (0..plan.router.deployments.len()).collect();
        let of_model = |name: &String| {
            let alias = settings.model_group_alias.get(name);
            let group = |&at: &usize| {
                let group = &plan.router.deployments[at].model_name;
                group == name || Some(group) == alias
            };
            let found: Vec<usize> = all.iter().copied().filter(group).collect();
            match leads_away || found.is_empty() {
                true => all.clone(),
                false => found,
            }
        };
        Self(plan.workload.models().iter().map(of_model).collect())
    }

    pub(super) fn into_places(self) -> Vec<Vec<usize>> {
        self.0
    }

    pub(super) fn of_model(&self, model: u16) -> &[usize] {
        &self.0[usize::from(model)]
    }
}

/// The choices of a request.
#[derive(Default)]
pub(super) struct Choices {
    /// A deployment without a quota could answer it in time.
    pub(super) is_free: bool,
    /// Quotas and minutes under which it could be answered in time, in order.
    pub(super) places: Vec<u32>,
}

/// Draws what could be.
pub(super) struct Chances<'a> {
    plan: &'a RunPlan,
    each: Vec<Upstream>,
}

/// A provider that is never slow and never fails by chance.
struct Upstream {
    provider: Provider,
    /// What its times are multiplied by at its fastest; 0 if it could answer at once.
    fastest: f64,
    /// When no attempt can succeed, in order and apart from each other.
    down: Vec<(Instant, Instant)>,
}

impl<'a> Chances<'a> {
    pub(super) fn new(plan: &'a RunPlan) -> Result<Self, SimError> {
        let each = plan.providers.iter().enumerate().map(|(number, binding)| {
            let upstream = Upstream::new(plan, number, &binding.spec);
            upstream.map_err(|source| SimError::Provider {
                deployment: plan.router.deployments[number].id.clone(),
                name: binding.name.clone(),
                source,
            })
        });
        Ok(Self {
            plan,
            each: each.collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn choices(
        &mut self,
        number: u64,
        arrival: &Arrival,
        deployments: &[usize],
        pools: &Pools,
    ) -> Choices {
        let mut choices = Choices::default();
        let end = self.deadline(arrival.at);
        for &deployment in deployments {
            let pool = pools.of_deployment(deployment);
            let mut could_be = Vec::new();
            self.open(deployment, arrival.at, end, |minute| {
                could_be.push(place(pool.unwrap_or(0), minute));
            });
            // What is there already cannot be gained.
            could_be.retain(|place| pool.is_none() || !choices.places.contains(place));
            let mut latest: Option<Instant> = None;
            for attempt in 0..ATTEMPTS {
                if could_be.is_empty() {
                    break;
                }
                let last = self.last_moment(number, arrival, deployment, attempt);
                if last.is_none_or(|last| latest.is_some_and(|latest| last <= latest)) {
                    continue;
                }
                latest = last;
                let mut open = Vec::new();
                self.open(deployment, arrival.at, last.unwrap_or(end), |minute| {
                    open.push(place(pool.unwrap_or(0), minute));
                });
                if pool.is_none() && !open.is_empty() {
                    choices.is_free = true;
                    return choices;
                }
                could_be.retain(|place| !open.contains(place));
                choices.places.extend(open);
            }
            choices.places.sort_unstable();
            choices.places.dedup();
        }
        choices
    }

    /// The last moment at which a good answer could end.
    fn deadline(&self, arrived: Instant) -> Instant {
        let slo = self.plan.slo;
        let bounds = [slo.latency, slo.first_token].into_iter().flatten();
        // An answer may take any time after its first token where only that is bounded.
        arrived + bounds.min().unwrap_or(Duration::ZERO)
    }

    /// The last moment at which this attempt could be sent and be answered in time; `None`: it cannot.
    fn last_moment(
        &mut self,
        number: u64,
        arrival: &Arrival,
        deployment: usize,
        attempt: u16,
    ) -> Option<Instant> {
        let upstream = &mut self.each[deployment];
        let call = ProviderCall {
            request: RequestId(number),
            attempt,
            deployment: DeploymentId(u32::try_from(deployment).unwrap_or(u32::MAX)),
            prompt_tokens: arrival.prompt_tokens,
            output_tokens: arrival.output_tokens,
            max_tokens: arrival.max_tokens,
            stream: true,
            beginning: mock_providers::Beginning::default(),
            batch: false,
        };
        let reply = upstream.provider.respond(arrival.at, &call);
        let first_token = match reply.outcome {
            Outcome::Success {
                first_token_after, ..
            } => first_token_after.unwrap_or(reply.total_after),
            // Nothing fails here but what the router is not told of beforehand.
            Outcome::Failure(_) => Duration::ZERO,
        };
        let least = |took: Duration| took.mul_f64(upstream.fastest).saturating_sub(ROUNDING);
        let slo = self.plan.slo;
        let in_time = |bound: Option<Duration>, took: Duration| match bound {
            None => Some(Duration::MAX),
            Some(bound) => bound.checked_sub(least(took)),
        };
        let spare = in_time(slo.latency, reply.total_after)?;
        let spare = spare.min(in_time(slo.first_token, first_token)?);
        Some(arrival.at + spare)
    }

    /// Tells of every minute in which the deployment is up at some moment from `from` to `to`.
    fn open(&self, deployment: usize, from: Instant, to: Instant, mut tell: impl FnMut(u32)) {
        let mut at = from;
        let down = &self.each[deployment].down;
        let first = down.partition_point(|(_, end)| *end <= from);
        let mut told: Option<u32> = None;
        let mut up = |from: Instant, to: Instant| {
            for minute in minute(self.plan, from)..=minute(self.plan, to) {
                if told.is_none_or(|told| minute > told) {
                    told = Some(minute);
                    tell(minute);
                }
            }
        };
        for &(begin, end) in &down[first..] {
            if begin > to {
                break;
            }
            if begin > at {
                up(at, Instant::from_nanos(begin.as_nanos() - 1));
            }
            at = end;
        }
        if at <= to {
            up(at, to);
        }
    }
}

impl Upstream {
    fn new(
        plan: &RunPlan,
        number: usize,
        spec: &ProviderSpec,
    ) -> Result<Self, mock_providers::SpecError> {
        let spec = spec.resolve()?;
        let until = Instant::ZERO + plan.workload.duration();
        let patience = [plan.slo.latency, plan.slo.first_token]
            .into_iter()
            .flatten();
        let until = until + patience.max().unwrap_or(Duration::ZERO);
        let faulty = Provider::new(&spec, plan.seed, number as u64, plan.router.epoch)?;
        let spans = faulty.fault_spans(until).into_iter();
        let is_down = |kind: &str| kind == "outage" || kind == "flapping";
        let down = spans.filter(|span| is_down(span.kind));
        let mut down: Vec<(Instant, Instant)> = down.map(|span| (span.from, span.to)).collect();
        let fastest = match may_say_nothing(&spec) {
            // What says nothing is taken for an answer, and may come at any time.
            true => {
                down.clear();
                0.0
            }
            false => spec.latency.as_ref().map_or(0.0, fastest),
        };
        let latency = spec.latency.map(|latency| LatencySpec {
            load: None,
            daily: None,
            ..latency
        });
        let calm = ProviderSpec {
            latency,
            quota: None,
            prompt_cache: None,
            max_concurrent: None,
            faults: None,
            ..spec
        };
        Ok(Self {
            provider: Provider::new(&calm, plan.seed, number as u64, plan.router.epoch)?,
            fastest,
            down: united(down),
        })
    }
}

/// Whether an attempt may get a 200 without a word, which counts as an answer.
pub(super) fn may_say_nothing(spec: &ProviderSpec) -> bool {
    let mut faults = spec.faults.iter().flatten();
    faults.any(|fault| matches!(fault, FailureMode::Broken(_) | FailureMode::Scripted(_)))
}

/// What times are multiplied by at most in one's favour: by no load and the best hour.
fn fastest(latency: &LatencySpec) -> f64 {
    let curves = latency.load.iter().flatten();
    let load = curves.map(|curve| {
        let slowdowns = curve.points.iter().map(|point| point.slowdown);
        slowdowns.fold(1.0, f64::min)
    });
    let hours = match &latency.daily {
        Some(DailySpec::Points(points)) => {
            let slowdowns = points.iter().map(|point| point.slowdown);
            slowdowns.fold(1.0, f64::min)
        }
        // Its fastest hours are at 0.65.
        Some(DailySpec::UsDay) => 0.5,
        None => 1.0,
    };
    load.product::<f64>() * hours
}

/// Spans in order, joined where they touch.
fn united(mut spans: Vec<(Instant, Instant)>) -> Vec<(Instant, Instant)> {
    spans.sort_unstable();
    let mut united: Vec<(Instant, Instant)> = Vec::new();
    for (from, to) in spans {
        match united.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => united.push((from, to)),
        }
    }
    united
}

/// More than times can be off by rounding.
const ROUNDING: Duration = Duration::from_nanos(1_000);
