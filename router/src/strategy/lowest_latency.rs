//! `latency-based-routing`: the lowest mean latency of late. (semantics 3.3)
//!
//! A deployment that was never measured counts as zero and so gets everything until its first
//! answer; the zero stays among its samples until ten real ones have pushed it out. Failures leave
//! no trace, except that a timeout counts as a thousand seconds. Latency is for each output token.
//! `corrected` keeps no such zero, and ranks streams by the plain time to their first token alone.

use std::time::Duration;

use super::{Candidates, LowestLatencyArgs, PickContext, RoutingStrategy, Sent, StrategySpec};
use crate::{
    latency_samples::{SampleRules, Samples, push},
    outcome::{ErrorClass, Outcome},
    profile::Profile,
    request::DeploymentId,
    rng::KeyedRng,
    time::{Epoch, Instant},
};

/// `latency-based-routing`.
#[derive(Debug)]
pub(super) struct LowestLatency {
    /// How samples are kept.
    own_ttl: Duration,
    /// `own_ttl`, unless another strategy makes the key.
    ttl: Duration,
    max_latency_list_size: usize,
    /// How often a request counts: twice if cost-based routing counts it too.
    counts: u64,
    first_token_per_output_token: bool,
    latency_of_empty_answers: bool,
    knows_percentile: bool,
    rules: SampleRules,
    epoch: Epoch,
    /// By group.
    groups: Vec<Map>,
    /// Scratch: candidates and their values.
    values: Vec<(DeploymentId, f64)>,
    /// Scratch: samples in their order.
    sorted: Vec<f64>,
}

/// What is known of one group.
#[derive(Debug, Default)]
struct Map {
    /// By deployment; `None`: never seen.
    entries: Vec<Option<Entry>>,
    /// When all of it is forgotten: set at the first write and never moved.
    expires: Instant,
}

#[derive(Debug)]
struct Entry {
    samples: Samples,
    minute: u64,
    tokens: u64,
    requests: u64,
}

impl LowestLatency {
    pub(super) fn new(args: LowestLatencyArgs, profile: &Profile, epoch: Epoch) -> Self {
        Self {
            own_ttl: args.ttl,
            ttl: args.ttl,
            max_latency_list_size: args.max_latency_list_size,
            counts: 1,
            first_token_per_output_token: profile.first_token_per_output_token,
            latency_of_empty_answers: profile.latency_of_empty_answers,
            knows_percentile: profile.knows_ttft_percentile,
            rules: SampleRules::new(profile),
            epoch,
            groups: Vec::new(),
            values: Vec::new(),
            sorted: Vec::new(),
        }
    }

    fn map(&mut self, group: usize) -> &mut Map {
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, Map::default);
        }
        &mut self.groups[group]
    }

    /// The entry to write to; a map that is over is begun anew.
    fn entry_to_write(&mut self, now: Instant, sent: &Sent<'_>) -> &mut Entry {
        let ttl = self.ttl;
        let map = self.map(sent.group.index());
        if now >= map.expires {
            map.entries.clear();
            map.expires = now + ttl;
        }
        let at = sent.deployment.index();
        if at >= map.entries.len() {
            map.entries.resize_with(at + 1, || None);
        }
        map.entries[at].get_or_insert_with(|| Entry::new(Samples::new(now)))
    }
}

impl Entry {
    const fn new(samples: Samples) -> Self {
        Self {
            samples,
            minute: 0,
            tokens: 0,
            requests: 0,
        }
    }

    fn usage(&self, minute: u64) -> (u64, u64) {
        if self.minute == minute {
            (self.tokens, self.requests)
        } else {
            (0, 0)
        }
    }
}

impl RoutingStrategy for LowestLatency {
    fn pick(
        &mut self,
        cx: &PickContext<'_>,
        candidates: &Candidates<'_>,
        rng: &mut KeyedRng,
    ) -> Option<DeploymentId> {
        let minute = self.epoch.local_minute(cx.now);
        let mut args = match cx.spec {
            StrategySpec::LowestLatency(args) => *args,
            StrategySpec::SimpleShuffle
            | StrategySpec::LeastBusy
            | StrategySpec::LowestCost
            | StrategySpec::UsageBased(_)
            | StrategySpec::UsageBasedV2(_)
            | StrategySpec::ProviderBudget
            | StrategySpec::Priority => LowestLatencyArgs::default(),
        };
        args.ttft_percentile = args.ttft_percentile.filter(|_| self.knows_percentile);
        let rules = self.rules;
        let mut values = std::mem::take(&mut self.values);
        let mut sorted = std::mem::take(&mut self.sorted);
        values.clear();
        let map = self.map(cx.group.index());
        let exists = cx.now < map.expires;
        let tokens_asked = u64::from(cx.request.prompt_tokens);
        for &deployment in candidates.members {
            let at = deployment.index();
            if exists && at >= map.entries.len() {
                map.entries.resize_with(at + 1, || None);
            }
            let (value, (tokens, requests)) = if exists {
                let entry = map.entries[at]
                    .get_or_insert_with(|| Entry::new(Samples::of_a_candidate(cx.now, rules)));
                let samples = &mut entry.samples;
                let value = samples.value(cx.now, cx.request.stream, &args, rules, &mut sorted);
                (value, entry.usage(minute))
            } else {
                (0.0, (0, 0))
            };
            let config = cx.config(deployment);
            let limit = |limit: Option<u64>| limit.filter(|&l| l > 0).unwrap_or(u64::MAX);
            if tokens + tokens_asked <= limit(config.tpm_limit())
                && requests < limit(config.rpm_limit())
            {
                values.push((deployment, value));
            }
        }
        let lowest = values.iter().map(|v| v.1).fold(f64::INFINITY, f64::min);
        let most = lowest + args.lowest_latency_buffer * lowest;
        values.retain(|v| v.1 <= most);
        let picked = match values.len() {
            0 => None,
            n => Some(values[rng.below(n)].0),
        };
        self.values = values;
        self.sorted = sorted;
        picked
    }

    fn configure(&mut self, spec: &StrategySpec) {
        if let StrategySpec::LowestLatency(args) = spec {
            self.own_ttl = args.ttl;
            self.max_latency_list_size = args.max_latency_list_size;
        }
    }

    fn share_key(&mut self, ttl: Option<Duration>) {
        self.counts = if ttl.is_some() { 2 } else { 1 };
        self.ttl = ttl.unwrap_or(self.own_ttl);
    }

    fn on_finished(&mut self, now: Instant, sent: &Sent<'_>, took: Duration, outcome: &Outcome) {
        let size = self.max_latency_list_size;
        let (usage, first_token_after) = match outcome {
            Outcome::Success {
                usage,
                first_token_after,
            } => (usage, first_token_after),
            Outcome::Failure(failure) => {
                // Blocking calls do not tell strategies of failures (observed).
                if failure.class == ErrorClass::Timeout && !sent.request.is_blocking() {
                    let rules = self.rules;
                    let samples = &mut self.entry_to_write(now, sent).samples;
                    let samples = samples.penalised(sent.stream, rules);
                    push(samples, TIMEOUT_PENALTY_S, size);
                }
                return;
            }
        };
        let tokens = f64::from(usage.completion_tokens);
        let seconds = match usage.completion_tokens {
            0 if self.latency_of_empty_answers || sent.request.is_blocking() => took.as_secs_f64(),
            0 => 0.0,
            _ => took.as_secs_f64() / tokens,
        };
        let per_token = self.first_token_per_output_token;
        let first_token = first_token_after.filter(|_| sent.stream).and_then(|after| {
            match (per_token, usage.completion_tokens) {
                (true, 0) => None,
                (true, _) => Some(after.as_secs_f64() / tokens),
                (false, _) => Some(after.as_secs_f64()),
            }
        });
        let (minute, counts) = (self.epoch.local_minute(now), self.counts);
        let entry = self.entry_to_write(now, sent);
        push(&mut entry.samples.latency, seconds, size);
        if let Some(sample) = first_token {
            push(&mut entry.samples.first_token, sample, size);
        }
        let (tokens, requests) = entry.usage(minute);
        entry.minute = minute;
        entry.tokens = tokens + counts * usage.total();
        entry.requests = requests + counts;
    }
}

/// What a timeout counts as. (semantics 0 and 3.3)
const TIMEOUT_PENALTY_S: f64 = 1_000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::tests::{Fixture, deployments};

    fn fixture(args: LowestLatencyArgs, profile: Profile) -> Fixture {
        Fixture::new(StrategySpec::LowestLatency(args), deployments(2), profile)
    }

    fn share_of_first(fixture: &mut Fixture) -> f64 {
        let picks = (0..1_000).filter(|&r| fixture.pick(r, &[0, 1], true) == Some(DeploymentId(0)));
        f64::from(u32::try_from(picks.count()).unwrap()) / 1_000.0
    }

    #[test]
    fn an_unseen_deployment_gets_everything_until_it_is_measured() {
        let mut fixture = fixture(LowestLatencyArgs::default(), Profile::default());
        fixture.succeeded(DeploymentId(0), 0.1);

        assert!(share_of_first(&mut fixture) < 1e-9);
    }

    #[test]
    fn br_042_in_the_corrected_profile_the_zero_is_gone_with_the_first_sample() {
        let mut fixture = fixture(LowestLatencyArgs::default(), Profile::corrected());
        fixture.succeeded(DeploymentId(0), 0.25);
        assert_eq!(fixture.pick(0, &[0, 1], true), Some(DeploymentId(1)));

        fixture.succeeded(DeploymentId(1), 0.375);
        assert!((share_of_first(&mut fixture) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_newcomers_zero_stays_among_its_samples() {
        let mut fixture = fixture(LowestLatencyArgs::default(), Profile::default());
        fixture.succeeded(DeploymentId(0), 0.25);
        assert_eq!(fixture.pick(0, &[0, 1], true), Some(DeploymentId(1)));

        // One sample of 0.375 s averages to 0.1875 s with the zero, which still beats 0.25 s.
        fixture.succeeded(DeploymentId(1), 0.375);
        assert!(share_of_first(&mut fixture) < 1e-9);

        // With a second one the average is 0.25 s: equal.
        fixture.succeeded(DeploymentId(1), 0.375);
        let share = share_of_first(&mut fixture);
        assert!((share - 0.5).abs() < 0.07, "{share}");
    }

    #[test]
    fn the_buffer_makes_near_ones_equal() {
        let args = LowestLatencyArgs {
            lowest_latency_buffer: 0.5,
            ..Default::default()
        };
        let mut fixture = fixture(args, Profile::default());
        fixture.succeeded(DeploymentId(0), 0.2);
        for _ in 0..10 {
            let _ = fixture.pick(0, &[0, 1], true);
            fixture.succeeded(DeploymentId(1), 0.3);
        }
        let share = share_of_first(&mut fixture);
        assert!((share - 0.5).abs() < 0.07, "{share}");
    }

    #[test]
    fn a_timeout_counts_as_a_thousand_seconds_and_other_failures_as_nothing() {
        let mut fixture = fixture(LowestLatencyArgs::default(), Profile::default());
        for d in [0, 1] {
            let _ = fixture.pick(0, &[0, 1], true);
            fixture.succeeded(DeploymentId(d), 0.2);
        }
        fixture.failed(DeploymentId(1), ErrorClass::InternalServer);
        fixture.failed(DeploymentId(0), ErrorClass::Timeout);

        assert!(share_of_first(&mut fixture) < 1e-9);
    }

    #[test]
    fn the_timeout_of_a_blocking_call_leaves_no_trace() {
        let mut fixture = fixture(LowestLatencyArgs::default(), Profile::default());
        for (d, seconds) in [(0, 0.1), (1, 0.4)] {
            let _ = fixture.pick(0, &[0, 1], true);
            fixture.succeeded(DeploymentId(d), seconds);
        }
        fixture.blocking = true;
        fixture.failed(DeploymentId(0), ErrorClass::Timeout);

        assert!(share_of_first(&mut fixture) > 0.999);
    }

    #[test]
    fn an_answer_without_tokens_took_no_time_in_1_92_unless_the_call_is_blocking() {
        let slow = |profile, blocking| {
            let mut fixture = fixture(LowestLatencyArgs::default(), profile);
            fixture.blocking = blocking;
            fixture.finished(
                DeploymentId(0),
                9.0,
                &Outcome::Success {
                    usage: crate::Usage::new(10, 0),
                    first_token_after: None,
                },
            );
            for _ in 0..2 {
                fixture.succeeded(DeploymentId(1), 0.5);
            }
            share_of_first(&mut fixture) < 1e-9
        };

        assert!(!slow(Profile::litellm_1_92(), false));
        assert!(slow(Profile::litellm_1_92(), true));
        assert!(slow(Profile::litellm_1_110(), false));
    }

    #[test]
    fn everything_is_forgotten_a_ttl_after_the_first_write() {
        let args = LowestLatencyArgs {
            ttl: Duration::from_secs(1),
            ..Default::default()
        };
        let mut fixture = fixture(args, Profile::default());
        fixture.succeeded(DeploymentId(0), 0.1);
        fixture.at(0.9);
        assert_eq!(fixture.pick(0, &[0, 1], true), Some(DeploymentId(1)));

        fixture.at(1.0);
        let share = share_of_first(&mut fixture);
        assert!((share - 0.5).abs() < 0.07, "{share}");
    }

    #[test]
    fn a_deployment_over_its_rpm_is_not_picked_until_the_next_minute() {
        let mut configs = deployments(1);
        configs[0].rpm = Some(2);
        let spec = StrategySpec::LowestLatency(LowestLatencyArgs::default());
        let mut fixture = Fixture::new(spec, configs, Profile::default());
        for _ in 0..2 {
            assert!(fixture.pick(0, &[0], true).is_some());
            fixture.succeeded(DeploymentId(0), 0.1);
        }

        assert_eq!(fixture.pick(0, &[0], true), None);
        fixture.at(60.0);
        assert!(fixture.pick(0, &[0], true).is_some());
    }
}
