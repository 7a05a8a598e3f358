//! What became of each sender's requests: counters beside those of the whole run.
//!
//! Who sent a request is known to whoever drives the run, and told by a function of its number.

use router::{Answer, Event, Instant, Observer, Outcome, RequestId};
use serde::{Deserialize, Serialize};

use crate::{distribution::Spans, recorder_setup::RecorderSetup};

/// What became of one sender's requests. Mirrors are in none of these numbers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SenderRecord {
    /// Its name.
    pub name: String,
    /// Requests that arrived.
    pub requests: u64,
    /// Requests that were answered.
    pub completed: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Completed requests within every bound of the service level; `None` if it has no bound.
    pub good: Option<u64>,
    /// Requests that the response cache answered.
    pub cache_hits: u64,
    /// Attempts that were sent.
    pub attempts: u64,
    /// Median of the time from arrival to answer, of completed requests.
    pub latency_p50_s: Option<f64>,
    /// Their 99th percentile.
    pub latency_p99_s: Option<f64>,
    /// Prompt tokens billed by attempts that succeeded.
    pub prompt_tokens: u64,
    /// Prompt tokens that providers had in their own caches; part of `prompt_tokens`.
    pub cached_tokens: u64,
    /// Billed tokens × price in US dollars; `None` if the price of any of them is unknown.
    pub cost_usd: Option<f64>,
}

/// Hears what a router does and counts it by sender. `of` gives the place of a request's sender.
#[derive(Debug)]
pub struct BySender<'a, F> {
    of: F,
    setup: &'a RecorderSetup,
    senders: Vec<(SenderRecord, Spans)>,
}

impl<'a, F: Fn(RequestId) -> usize> BySender<'a, F> {
    /// Has heard nothing yet.
    #[must_use]
    pub fn new(names: Vec<String>, setup: &'a RecorderSetup, of: F) -> Self {
        let sender = |name| {
            let record = SenderRecord {
                name,
                good: setup.has_slo().then_some(0),
                cost_usd: Some(0.0),
                ..SenderRecord::default()
            };
            (record, Spans::new())
        };
        Self {
            of,
            setup,
            senders: names.into_iter().map(sender).collect(),
        }
    }

    /// The counts, without those who sent nothing.
    #[must_use]
    pub fn finish(self) -> Vec<SenderRecord> {
        let finished = self.senders.into_iter().map(|(record, latency)| {
            let latency = latency.finish();
            SenderRecord {
                latency_p50_s: latency.quantile_s(0.5),
                latency_p99_s: latency.quantile_s(0.99),
                ..record
            }
        });
        finished.filter(|record| record.requests > 0).collect()
    }

    fn answered(&mut self, at: Instant, place: usize, answer: &Answer) {
        let (record, spans) = &mut self.senders[place];
        let trail = answer.trail();
        record.attempts += u64::from(trail.attempts);
        match answer {
            Answer::Completed { cached, .. } => {
                let latency = at.since(trail.arrived);
                let first_token = trail.first_token.map(|at| at.since(trail.arrived));
                record.completed += 1;
                record.cache_hits += u64::from(*cached);
                spans.add(at.nanos_since(trail.arrived));
                if let Some(good) = &mut record.good {
                    *good += u64::from(self.setup.is_good(latency, first_token));
                }
            }
            Answer::Failed { .. } => record.failed += 1,
        }
    }
}

impl<F: Fn(RequestId) -> usize> Observer for BySender<'_, F> {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        let Some(request) = event.request().filter(|request| !request.is_mirror()) else {
            return;
        };
        if let Event::Arrived { .. } = event {
            self.senders[(self.of)(request)].0.requests += 1;
        } else if let Event::Answered { answer, .. } = event {
            self.answered(at, (self.of)(request), answer);
        } else if let Event::Finished {
            deployment,
            outcome: Outcome::Success { usage, .. },
            ..
        } = event
        {
            let record = &mut self.senders[(self.of)(request)].0;
            let prices = &self.setup.deployments[deployment.index()].prices;
            record.prompt_tokens += u64::from(usage.prompt_tokens);
            record.cached_tokens += u64::from(usage.cached_tokens);
            let cost = record.cost_usd.zip(prices.cost(*usage));
            record.cost_usd = cost.map(|(sum, usd)| sum + usd);
        }
    }
}
