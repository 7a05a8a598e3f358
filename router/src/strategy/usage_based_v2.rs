//! `usage-based-routing-v2`: the fewest tokens answered in this minute, by deployment and UTC
//! minute. (semantics 3.5)

use std::time::Duration;

use super::{Candidates, PickContext, RoutingStrategy, Sent, UsageArgs};
use crate::{
    outcome::Outcome,
    request::DeploymentId,
    rng::KeyedRng,
    time::{Epoch, Instant},
    window::MinuteCount,
};

/// `usage-based-routing-v2`.
#[derive(Debug)]
pub(super) struct UsageBasedV2 {
    ttl: Duration,
    epoch: Epoch,
    /// By deployment.
    counts: Vec<Counts>,
    /// Scratch: the candidates with the fewest tokens.
    lowest: Vec<DeploymentId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tokens: MinuteCount,
    requests: MinuteCount,
}

impl UsageBasedV2 {
    pub(super) fn new(args: UsageArgs, epoch: Epoch) -> Self {
        Self {
            ttl: args.ttl,
            epoch,
            counts: Vec::new(),
            lowest: Vec::new(),
        }
    }

    fn counts(&mut self, deployment: DeploymentId) -> &mut Counts {
        let at = deployment.index();
        if at >= self.counts.len() {
            self.counts.resize(at + 1, Counts::default());
        }
        &mut self.counts[at]
    }
}

impl RoutingStrategy for UsageBasedV2 {
    fn pick(
        &mut self,
        cx: &PickContext<'_>,
        candidates: &Candidates<'_>,
        rng: &mut KeyedRng,
    ) -> Option<DeploymentId> {
        let minute = self.epoch.minute(cx.now);
        self.lowest.clear();
        let mut least = u64::MAX;
        for &deployment in candidates.members {
            let config = cx.config(deployment);
            let counts = self.counts(deployment);
            let tokens = counts.tokens.at(cx.now, minute).unwrap_or(0);
            let requests = counts.requests.at(cx.now, minute);
            let over_tpm = config
                .tpm
                .is_some_and(|limit| tokens + u64::from(cx.request.prompt_tokens) > limit);
            let over_rpm = match (requests, config.rpm) {
                (Some(requests), Some(limit)) => requests + 1 >= limit,
                (None, _) | (_, None) => false,
            };
            if over_tpm || over_rpm || tokens > least {
                continue;
            }
            if tokens < least {
                self.lowest.clear();
                least = tokens;
            }
            self.lowest.push(deployment);
        }
        match self.lowest.len() {
            0 => None,
            n => Some(self.lowest[rng.below(n)]),
        }
    }

    fn on_sent(&mut self, now: Instant, sent: &Sent<'_>) {
        let (minute, ttl) = (self.epoch.minute(now), self.ttl);
        let counts = self.counts(sent.deployment);
        counts.requests.add(now, minute, ttl, 1);
    }

    fn on_finished(&mut self, now: Instant, sent: &Sent<'_>, _took: Duration, outcome: &Outcome) {
        if let Outcome::Success { usage, .. } = outcome {
            let (minute, ttl) = (self.epoch.minute(now), self.ttl);
            let counts = self.counts(sent.deployment);
            counts.tokens.add(now, minute, ttl, usage.total());
        }
    }
}
