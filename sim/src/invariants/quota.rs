//! A provider's quota, counted from what it answered (invariant 19).

use std::collections::BTreeMap;

use mock_providers::{ProviderCall, QuotaSpec, Reply, TokenCharge, WindowKind};
use router::{Instant, Outcome};
use scenarios::RunPlan;

/// What was let in, by quota: a pool's is one.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// By deployment: the place of its quota.
    of: Vec<Option<usize>>,
    quotas: Vec<Quota>,
    /// What the wall clock shows when the run begins, in nanoseconds since 1970.
    began_ns: u128,
}

#[derive(Debug)]
struct Quota {
    spec: QuotaSpec,
    /// Moment, requests, tokens and tokens of the answer of each attempt that was let in.
    taken: Vec<(Instant, [u64; 3])>,
}

/// One limit in the terms of every kind of window.
struct Limit {
    what: &'static str,
    /// Place in what was taken.
    place: usize,
    per_minute: u64,
    burst: u64,
    /// Length of a window that is no bucket.
    window_ns: u64,
}

impl Windows {
    pub(super) fn new(plan: &RunPlan) -> Self {
        let mut pools = BTreeMap::new();
        let mut windows = Self {
            began_ns: u128::from(plan.router.epoch.unix_seconds()) * u128::from(SECOND_NS),
            ..Self::default()
        };
        for provider in plan.providers.iter() {
            let spec = provider.spec.resolve().ok().and_then(|spec| spec.quota);
            let place = spec.map(|spec| {
                let next = windows.quotas.len();
                let place = match &spec.pool {
                    Some(pool) => *pools.entry(pool.clone()).or_insert(next),
                    None => next,
                };
                if place == next {
                    let taken = Vec::new();
                    windows.quotas.push(Quota { spec, taken });
                }
                place
            });
            windows.of.push(place);
        }
        windows
    }

    /// An attempt got this reply. Gives what is wrong if it was one too many.
    pub(super) fn let_in(
        &mut self,
        at: Instant,
        call: &ProviderCall,
        reply: &Reply,
    ) -> Option<String> {
        let quota = &mut self.quotas[self.of[call.deployment.index()]?];
        let delivered = match &reply.outcome {
            Outcome::Success { usage, .. } => usage.completion_tokens,
            Outcome::Failure(failure) if failure.tokens_delivered > 0 => failure.tokens_delivered,
            // It may have been turned away at the door.
            Outcome::Failure(_) => return None,
        };
        let tokens = quota.least_tokens(call, delivered);
        quota.taken.push((at, [1, tokens, delivered.into()]));
        let over = quota.limits().into_iter().find_map(|limit| {
            let used = quota.over(&limit, self.began_ns)?;
            let Limit {
                what, per_minute, ..
            } = limit;
            Some(format!(
                "{used} {what} were let in, of {per_minute} a minute"
            ))
        });
        over.map(|what| format!("{what} ({:?})", quota.spec.window.unwrap_or_default()))
    }
}

impl Quota {
    fn limits(&self) -> Vec<Limit> {
        let spec = &self.spec;
        let minute = 60 * SECOND_NS;
        let limit = |what, place, per_minute: Option<u64>, burst: Option<u64>| {
            let per_minute = per_minute?;
            let burst = burst.unwrap_or(per_minute);
            Some(Limit {
                what,
                place,
                per_minute,
                burst,
                window_ns: minute,
            })
        };
        let mut requests = limit("requests", 0, spec.requests_per_minute, spec.burst_requests);
        if let (Some(requests), Some(slice_s)) = (&mut requests, spec.request_slice_s) {
            requests.window_ns = router::nanos_from_secs(slice_s);
        }
        let tokens = limit("tokens", 1, spec.tokens_per_minute, spec.burst_tokens);
        // A debt may be made, or what a reservation missed be taken at the end.
        let exact = !spec.overdraft.unwrap_or_default() && spec.lowered.is_none();
        let answers = limit("tokens of answers", 2, spec.output_tokens_per_minute, None);
        [requests, tokens.filter(|_| exact), answers]
            .into_iter()
            .flatten()
            .collect()
    }

    /// What an attempt was charged at least, when it was let in.
    fn least_tokens(&self, call: &ProviderCall, delivered: u32) -> u64 {
        let weight = u64::from(self.spec.output_weight.unwrap_or(1));
        let prompt = u64::from(call.prompt_tokens);
        let most = call.max_tokens.or(self.spec.unset_max_tokens);
        let most = u64::from(most.unwrap_or(call.output_tokens));
        let reserved = match self.spec.token_charge.unwrap_or_default() {
            TokenCharge::Prompt => return prompt,
            TokenCharge::PromptAndAnswer => return prompt + weight * u64::from(delivered),
            TokenCharge::LargerOfPromptAndMaxTokens => prompt.max(most),
            TokenCharge::PromptAndMaxTokens => prompt + most,
        };
        let used = prompt + weight * u64::from(delivered);
        match self.spec.settles.unwrap_or_default() {
            true => reserved.min(used),
            false => reserved,
        }
    }

    /// What was used in the window that the latest attempt is in, if that is too much.
    fn over(&self, limit: &Limit, began_ns: u128) -> Option<u64> {
        let (latest, _) = *self.taken.last()?;
        let now = latest.as_nanos();
        let used = |from: u64| -> u64 {
            let taken = self.taken.iter().rev();
            let within = taken.take_while(|(at, _)| at.as_nanos() >= from);
            within.map(|(_, amounts)| amounts[limit.place]).sum()
        };
        let in_window = u128::from(limit.per_minute) * u128::from(limit.window_ns) / MINUTE_NS;
        let in_window = u64::try_from(in_window).unwrap_or(u64::MAX);
        match self.spec.window.unwrap_or_default() {
            WindowKind::FixedMinute => {
                let into_window = (began_ns + u128::from(now)) % u128::from(limit.window_ns);
                let into_window = u64::try_from(into_window).unwrap_or_default();
                let used = used(now.saturating_sub(into_window));
                (used > in_window).then_some(used)
            }
            WindowKind::Sliding => {
                let used = used((now + 1).saturating_sub(limit.window_ns));
                (used > in_window).then_some(used)
            }
            // In no span more than the burst and what flows in meanwhile.
            WindowKind::TokenBucket => self.taken.iter().rev().find_map(|(from, _)| {
                let span = u128::from(now - from.as_nanos());
                let flows = span * u128::from(limit.per_minute) / MINUTE_NS;
                let used = used(from.as_nanos());
                (u128::from(used) > u128::from(limit.burst) + flows).then_some(used)
            }),
        }
    }
}

const SECOND_NS: u64 = 1_000_000_000;
const MINUTE_NS: u128 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mock_providers::Beginning;
    use router::{DeploymentId, RequestId, Usage};
    use serde_json::json;

    use super::*;
    use crate::swarm::plan_of;

    fn windows(quota: &serde_json::Value) -> Windows {
        let tree = json!({
            "purpose": "A quota.",
            "kind": "terminating",
            "litellm": {"model_list": [{"model_name": "g", "litellm_params": {"model": "openai/a"}}]},
            "providers": {"default": {"latency": {"first_token": {"constant": {"ms": 1}}}, "quota": quota}},
            "workload": {
                "arrivals": {"constant": {"per_second": 1}},
                "lengths": {"prompt": {"constant": 10}, "output": {"constant": 5}},
                "duration_s": 1,
            },
        });
        Windows::new(&plan_of(&tree).unwrap())
    }

    /// Lets this many in at each of these seconds, and gives when the first was one too many.
    fn first_over(quota: &serde_json::Value, moments: &[(f64, u32)]) -> Option<f64> {
        let mut windows = windows(quota);
        let call = ProviderCall {
            request: RequestId(0),
            attempt: 0,
            deployment: DeploymentId(0),
            prompt_tokens: 10,
            output_tokens: 5,
            max_tokens: None,
            stream: false,
            beginning: Beginning::default(),
            batch: false,
        };
        let reply = Reply::success(Usage::new(10, 5), Duration::from_millis(1));
        for &(second, times) in moments {
            let at = Instant::from_secs_f64(second);
            if (0..times).any(|_| windows.let_in(at, &call, &reply).is_some()) {
                return Some(second);
            }
        }
        None
    }

    #[test]
    fn more_than_a_window_holds_is_found_in_each_kind_of_window() {
        let fixed = json!({"requests_per_minute": 3, "window": "fixed_minute"});
        assert_eq!(first_over(&fixed, &[(59.0, 3), (60.0, 3)]), None);
        assert_eq!(first_over(&fixed, &[(1.0, 3), (59.0, 1)]), Some(59.0));

        let sliding = json!({"requests_per_minute": 3, "window": "sliding"});
        assert_eq!(first_over(&sliding, &[(59.0, 3), (61.0, 1)]), Some(61.0));
        assert_eq!(first_over(&sliding, &[(0.0, 3), (60.0, 3)]), None);

        let bucket =
            json!({"requests_per_minute": 60, "burst_requests": 2, "window": "token_bucket"});
        assert_eq!(first_over(&bucket, &[(0.0, 2), (1.0, 1), (2.0, 1)]), None);
        assert_eq!(
            first_over(&bucket, &[(0.0, 2), (1.0, 1), (1.5, 1)]),
            Some(1.5)
        );
    }

    #[test]
    fn tokens_count_as_they_are_charged() {
        let tokens = json!({"tokens_per_minute": 30});
        assert_eq!(first_over(&tokens, &[(0.0, 2)]), None);
        assert_eq!(first_over(&tokens, &[(0.0, 2), (1.0, 1)]), Some(1.0));
        let prompts = json!({"tokens_per_minute": 30, "token_charge": "prompt"});
        assert_eq!(first_over(&prompts, &[(0.0, 3)]), None);
        assert_eq!(first_over(&prompts, &[(0.0, 4)]), Some(0.0));
        let answers = json!({"output_tokens_per_minute": 9});
        assert_eq!(first_over(&answers, &[(0.0, 1), (1.0, 1)]), Some(1.0));
    }
}
