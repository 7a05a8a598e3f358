//! What one run of a vector showed, in the recorder's words.

use std::{collections::BTreeMap, time::Duration};

use router::Instant;

/// What one run of a vector showed.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) requests: BTreeMap<String, Played>,
    pub(crate) bursts: BTreeMap<String, Vec<Played>>,
    pub(crate) batches: BTreeMap<String, Vec<Played>>,
    /// The benched set after each step, with seconds and status.
    pub(crate) benched: Vec<(String, BenchedSet)>,
    pub(crate) queries: BTreeMap<String, Vec<String>>,
    /// Every call that was seen upstream, in order of arrival: to whom, from when to when.
    pub(crate) calls: Vec<(String, Instant, Instant)>,
}

impl Trace {
    /// Names equal deployments by the order of their first use, as the recorder did.
    pub(crate) fn renamed(mut self, symmetric: &[Vec<String>]) -> Self {
        let mut in_use: Vec<String> = Vec::new();
        for (name, ..) in &self.calls {
            if !in_use.contains(name) {
                in_use.push(name.clone());
            }
        }
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for list in symmetric {
            let used = in_use.iter().filter(|name| list.contains(name));
            let unused = list.iter().filter(|name| !in_use.contains(name));
            names.extend(used.chain(unused).cloned().zip(list.iter().cloned()));
        }
        let rename = |name: &mut String| {
            if let Some(new) = names.get(name) {
                name.clone_from(new);
            }
        };
        let played = self
            .requests
            .values_mut()
            .chain(self.bursts.values_mut().flatten())
            .chain(self.batches.values_mut().flatten());
        for played in played {
            played
                .attempts
                .iter_mut()
                .for_each(|a| rename(&mut a.deployment));
            if let PlayedResult::Served { by } = &mut played.result {
                rename(by);
            }
        }
        let key = |(mut name, value)| {
            rename(&mut name);
            (name, value)
        };
        for (_, benched) in &mut self.benched {
            *benched = std::mem::take(benched).into_iter().map(key).collect();
        }
        self.calls.iter_mut().for_each(|(name, ..)| rename(name));
        self
    }

    /// The greatest number of calls in progress at a deployment.
    pub(crate) fn most_at_once(&self, deployment: &str) -> usize {
        let calls = || self.calls.iter().filter(|(name, ..)| name == deployment);
        let others = |at: Instant| calls().filter(move |(_, from, to)| *from <= at && at < *to);
        let with_itself = |(_, from, to): &(String, Instant, Instant)| {
            others(*from).count() + usize::from(from == to)
        };
        calls().map(with_itself).max().unwrap_or(0)
    }
}

/// Deployments in cooldown, with its seconds and the status that caused it.
pub(crate) type BenchedSet = BTreeMap<String, (f64, String)>;

/// What became of one request.
#[derive(Debug, Clone)]
pub(crate) struct Played {
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    /// Attempts that were seen upstream, in order of arrival there.
    pub(crate) attempts: Vec<PlayedAttempt>,
    /// Attempts on a port where nobody listens.
    pub(crate) refused: usize,
    /// Waits that the router asked for, in all and after the last attempt.
    pub(crate) waits: usize,
    pub(crate) waits_after: usize,
    pub(crate) result: PlayedResult,
}

impl Played {
    /// Of a request that starts now.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            started: now,
            ended: now,
            attempts: Vec::new(),
            refused: 0,
            waits: 0,
            waits_after: 0,
            result: PlayedResult::Served { by: String::new() },
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct PlayedAttempt {
    pub(crate) deployment: String,
    pub(crate) status: String,
    /// Waits that the router asked for since the attempt before it.
    pub(crate) waits_before: usize,
    pub(crate) arrived: Instant,
    pub(crate) ended: Instant,
}

#[derive(Debug, Clone)]
pub(crate) enum PlayedResult {
    Served {
        by: String,
    },
    Failed {
        exception: &'static str,
        status: Option<u16>,
        try_again_in: Option<Duration>,
    },
}
