//! What quotas let through at most, minute by minute.
//!
//! A fixed minute of the wall clock, and any span of a minute under a sliding window, let through the
//! limit. A token bucket is kept as one that is filled at the beginning of each minute with what flows
//! in during it, which lets through no less than the true one. Tokens are turned into a number of
//! requests: as many of those that could come in that minute as fit, the cheapest first.

use std::collections::BTreeMap;

use mock_providers::{QuotaSpec, TokenCharge, WindowKind};
use scenarios::{Arrival, RunPlan};

use super::{flow::Flow, luck::may_say_nothing, place};

/// The quotas of a plan, each once.
pub(super) struct Pools {
    /// Each deployment's quota; `None`: nothing is limited.
    of_deployment: Vec<Option<u32>>,
    each: Vec<QuotaSpec>,
    /// Whether an answer without a word may be charged to it, which costs its prompt alone.
    is_silent: Vec<bool>,
}

impl Pools {
    pub(super) fn of(plan: &RunPlan) -> Self {
        let mut pools = Self {
            of_deployment: Vec::new(),
            each: Vec::new(),
            is_silent: Vec::new(),
        };
        for binding in plan.providers.iter() {
            let resolved = binding.spec.resolve().ok();
            let is_silent = resolved.as_ref().is_some_and(may_say_nothing);
            let quota = resolved.and_then(|spec| spec.quota);
            let number = quota.map(|quota| {
                let shared = |known: &QuotaSpec| known.pool.is_some() && known.pool == quota.pool;
                let known = pools.each.iter().position(shared);
                let number = known.unwrap_or_else(|| {
                    pools.each.push(quota);
                    pools.is_silent.push(false);
                    pools.each.len() - 1
                });
                pools.is_silent[number] |= is_silent;
                u32::try_from(number).unwrap_or(u32::MAX)
            });
            pools.of_deployment.push(number);
        }
        pools
    }

    pub(super) fn of_deployment(&self, deployment: usize) -> Option<u32> {
        self.of_deployment[deployment]
    }
}

/// What could come to each quota in each minute.
pub(super) struct Meters<'a> {
    pools: &'a Pools,
    /// Tokens and tokens of answers that each request would be charged, by place.
    charges: BTreeMap<u32, Vec<(u64, u64)>>,
}

impl<'a> Meters<'a> {
    pub(super) const fn new(pools: &'a Pools) -> Self {
        Self {
            pools,
            charges: BTreeMap::new(),
        }
    }

    /// A request could come to this quota in this minute.
    pub(super) fn add(&mut self, place: u32, arrival: &Arrival) {
        let pool = (place >> 16) as usize;
        let answer = match self.pools.is_silent[pool] {
            true => 0,
            false => arrival
                .output_tokens
                .min(arrival.max_tokens.unwrap_or(u32::MAX)),
        };
        let answer = u64::from(answer);
        let charges = (
            least_charge(&self.pools.each[pool], arrival, answer),
            answer,
        );
        self.charges.entry(place).or_default().push(charges);
    }

    /// Nodes from which each place's requests come.
    pub(super) fn build(self, flow: &mut Flow) -> BTreeMap<u32, usize> {
        let mut nodes = BTreeMap::new();
        for (number, quota) in (0..).zip(&self.pools.each) {
            let mut places = self.charges.range(place(number, 0)..=place(number, 0xffff));
            let Some((_, last)) = places.next_back().map(|(place, _)| (0, place & 0xffff)) else {
                continue;
            };
            let all = flow.node();
            // A day of the wall clock may begin within the run.
            let days = u64::from(last) / (24 * 60) + 2;
            let a_day = quota
                .requests_per_day
                .map(|limit| limit.saturating_mul(days));
            flow.edge(Flow::SOURCE, all, a_day.unwrap_or(Flow::NO_LIMIT));
            let mut before: Option<usize> = None;
            for minute in 0..=last {
                let (way_in, way_out) = (flow.node(), flow.node());
                let bucket = bucket(quota);
                let flows_in = match (quota.requests_per_minute, bucket) {
                    (None, _) => Flow::NO_LIMIT,
                    (Some(limit), None) => in_a_minute(quota, limit),
                    (Some(limit), Some(burst)) if minute == 0 => limit.saturating_add(burst),
                    (Some(limit), Some(_)) => limit,
                };
                flow.edge(all, way_in, flows_in.min(Flow::NO_LIMIT));
                if let (Some(before), Some(burst)) = (before, bucket) {
                    flow.edge(before, way_in, burst.min(Flow::NO_LIMIT));
                }
                before = Some(way_in);
                let charges = self.charges.get(&place(number, minute));
                let most = charges.map_or(0, |charges| by_tokens(quota, charges));
                flow.edge(way_in, way_out, most);
                nodes.insert(place(number, minute), way_out);
            }
        }
        nodes
    }
}

/// The requests that a full bucket holds, where they are counted by one.
fn bucket(quota: &QuotaSpec) -> Option<u64> {
    let limit = quota.requests_per_minute?;
    let is_bucket = quota.window == Some(WindowKind::TokenBucket);
    is_bucket.then(|| quota.burst_requests.unwrap_or(limit))
}

/// Requests in a minute; slices may each round their share up, and overlap its ends.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "limits of providers, rounded up; a float beyond all integers saturates"
)]
fn in_a_minute(quota: &QuotaSpec, limit: u64) -> u64 {
    let Some(slice_s) = quota.request_slice_s.filter(|slice_s| *slice_s < 60.0) else {
        return limit;
    };
    let slices = (60.0 / slice_s).ceil() + 1.0;
    let in_a_slice = (limit as f64 * slice_s / 60.0).ceil().max(1.0);
    (slices * in_a_slice) as u64
}

/// How many requests fit in a minute by their tokens.
fn by_tokens(quota: &QuotaSpec, charges: &[(u64, u64)]) -> u64 {
    let is_bucket = quota.window == Some(WindowKind::TokenBucket);
    let a_minute = |limit: u64, burst: Option<u64>| match is_bucket {
        true => limit.saturating_add(burst.unwrap_or(limit)),
        false => limit,
    };
    let fit =
        |limit: Option<u64>, burst: Option<u64>, one_more: bool, of: fn(&(u64, u64)) -> u64| {
            let Some(limit) = limit else { return u64::MAX };
            let mut sorted: Vec<u64> = charges.iter().map(of).collect();
            sorted.sort_unstable();
            let mut left = a_minute(limit, burst);
            let fits = sorted.iter().take_while(|charge| {
                let rest = left.checked_sub(**charge);
                left = rest.unwrap_or(left);
                rest.is_some()
            });
            fits.count() as u64 + u64::from(one_more)
        };
    let overdraft = quota.overdraft.unwrap_or_default();
    let tokens = fit(
        quota.tokens_per_minute,
        quota.burst_tokens,
        overdraft,
        |one| one.0,
    );
    let output = fit(quota.output_tokens_per_minute, None, false, |one| one.1);
    tokens.min(output).min(charges.len() as u64)
}

/// The least that the quota is charged for the request in the minute in which it is let in.
fn least_charge(quota: &QuotaSpec, arrival: &Arrival, answer: u64) -> u64 {
    let prompt = u64::from(arrival.prompt_tokens);
    let most = arrival.max_tokens.or(quota.unset_max_tokens);
    let most = u64::from(most.unwrap_or(arrival.output_tokens));
    let reserved = match quota.token_charge.unwrap_or_default() {
        TokenCharge::LargerOfPromptAndMaxTokens => prompt.max(most),
        TokenCharge::Prompt => return prompt,
        TokenCharge::PromptAndAnswer => return prompt + answer,
        TokenCharge::PromptAndMaxTokens => prompt + most,
    };
    match quota.settles.unwrap_or_default() {
        true => reserved.min(prompt + answer),
        false => reserved,
    }
}
