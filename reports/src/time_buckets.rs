//! The run by time, in a bounded number of buckets.
//!
//! The time of arrivals is cut into [`Timeline::BUCKETS`] buckets. What comes after the last arrival
//! gets as many again; a run that lasts longer still has its buckets joined in pairs, so that
//! memory stays the same and only the resolution drops.

use std::time::Duration;

use router::{DeploymentId, Instant};

use crate::record::{DeploymentTimeline, TimeBucket, Timeline};

/// Counts by time. `advance` is called with each event's moment, which never runs back.
#[derive(Debug)]
pub(crate) struct TimeBuckets {
    width_ns: u64,
    /// The bucket of the present moment, and its end.
    now: usize,
    now_ends_ns: u64,
    /// Unfinished requests, as of the last arrival or end.
    unfinished: u32,
    buckets: Vec<TimeBucket>,
    /// By deployment, then bucket.
    attempts: Vec<Vec<Attempts>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    sent: u32,
    failed: u32,
}

impl TimeBuckets {
    pub(crate) fn new(duration: Duration, deployments: usize) -> Self {
        let width_ns = (router::nanos(duration) / Timeline::BUCKETS as u64).max(1);
        let kept = deployments.min(Timeline::DEPLOYMENTS_KEPT);
        Self {
            width_ns,
            now: 0,
            now_ends_ns: width_ns,
            unfinished: 0,
            buckets: vec![TimeBucket::default(); CAPACITY],
            attempts: vec![vec![Attempts::default(); CAPACITY]; kept],
        }
    }

    /// Moves on to the bucket of `at`.
    #[inline]
    pub(crate) fn advance(&mut self, at: Instant) {
        if at.as_nanos() >= self.now_ends_ns {
            self.move_to(at.as_nanos());
        }
    }

    #[inline]
    pub(crate) fn arrived(&mut self, unfinished: u64) {
        self.unfinished = u32::try_from(unfinished).unwrap_or(u32::MAX);
        let bucket = &mut self.buckets[self.now];
        bucket.arrived += 1;
        bucket.unfinished_max = bucket.unfinished_max.max(self.unfinished);
    }

    #[inline]
    pub(crate) fn completed(&mut self, latency: Duration) {
        let seconds = latency.as_secs_f64();
        let bucket = &mut self.buckets[self.now];
        bucket.completed += 1;
        bucket.latency_sum_s += seconds;
        bucket.latency_max_s = bucket.latency_max_s.max(seconds);
        self.unfinished = self.unfinished.saturating_sub(1);
    }

    pub(crate) fn failed(&mut self) {
        self.buckets[self.now].failed += 1;
        self.unfinished = self.unfinished.saturating_sub(1);
    }

    pub(crate) fn cancelled(&mut self) {
        self.unfinished = self.unfinished.saturating_sub(1);
    }

    #[inline]
    pub(crate) fn sent(&mut self, deployment: DeploymentId) {
        if let Some(line) = self.attempts.get_mut(deployment.index()) {
            line[self.now].sent += 1;
        }
    }

    #[inline]
    pub(crate) fn attempt_failed(&mut self, deployment: DeploymentId) {
        if let Some(line) = self.attempts.get_mut(deployment.index()) {
            line[self.now].failed += 1;
        }
    }

    /// The buckets up to the one that `end` lies in.
    pub(crate) fn finish(mut self, end: Instant) -> Timeline {
        self.advance(end);
        let used = self.now + 1;
        self.buckets.truncate(used);
        let line = |attempts: &Vec<Attempts>| DeploymentTimeline {
            sent: attempts[..used].iter().map(|one| one.sent).collect(),
            failed: attempts[..used].iter().map(|one| one.failed).collect(),
        };
        Timeline {
            bucket_s: Duration::from_nanos(self.width_ns).as_secs_f64(),
            buckets: self.buckets,
            deployments: self.attempts.iter().map(line).collect(),
        }
    }

    #[cold]
    fn move_to(&mut self, ns: u64) {
        while ns / self.width_ns >= CAPACITY as u64 {
            self.join_pairs();
        }
        let target = usize::try_from(ns / self.width_ns).expect("below the capacity");
        // Buckets in between saw nothing, but the unfinished requests were there all along.
        for bucket in &mut self.buckets[self.now + 1..=target] {
            bucket.unfinished_max = self.unfinished;
        }
        self.now = target;
        self.now_ends_ns = (target as u64 + 1).saturating_mul(self.width_ns);
    }

    fn join_pairs(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        for half in 0..CAPACITY / 2 {
            self.buckets[half] = joined(self.buckets[2 * half], self.buckets[2 * half + 1]);
            for line in &mut self.attempts {
                let (a, b) = (line[2 * half], line[2 * half + 1]);
                line[half] = Attempts {
                    sent: a.sent + b.sent,
                    failed: a.failed + b.failed,
                };
            }
        }
        self.buckets[CAPACITY / 2..].fill(TimeBucket::default());
        self.attempts
            .iter_mut()
            .for_each(|line| line[CAPACITY / 2..].fill(Attempts::default()));
        self.now /= 2;
    }
}

fn joined(a: TimeBucket, b: TimeBucket) -> TimeBucket {
    TimeBucket {
        arrived: a.arrived + b.arrived,
        completed: a.completed + b.completed,
        failed: a.failed + b.failed,
        latency_sum_s: a.latency_sum_s + b.latency_sum_s,
        latency_max_s: a.latency_max_s.max(b.latency_max_s),
        unfinished_max: a.unfinished_max.max(b.unfinished_max),
    }
}

const CAPACITY: usize = 2 * Timeline::BUCKETS;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    #[test]
    fn arrivals_fall_into_the_bucket_of_their_moment() {
        let mut buckets = TimeBuckets::new(240 * SECOND, 1);
        for moment in [0.0, 0.9, 1.0, 5.5] {
            buckets.advance(at(moment));
            buckets.arrived(1);
            buckets.completed(SECOND);
        }

        let timeline = buckets.finish(at(7.0));

        let arrived: Vec<u32> = timeline
            .buckets
            .iter()
            .map(|bucket| bucket.arrived)
            .collect();
        assert_eq!(arrived, [2, 1, 0, 0, 0, 1, 0, 0]);
        assert!((timeline.bucket_s - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_run_of_any_length_keeps_its_counts_in_the_same_memory() {
        let mut buckets = TimeBuckets::new(240 * SECOND, 1);
        for second in 0..2_000_u32 {
            buckets.advance(at(f64::from(second)));
            buckets.arrived(1);
            buckets.sent(DeploymentId(0));
            buckets.failed();
        }

        let timeline = buckets.finish(at(2_000.0));

        assert!(timeline.buckets.len() <= CAPACITY);
        assert!((timeline.bucket_s - 8.0).abs() < 1e-9);
        assert_eq!(
            timeline
                .buckets
                .iter()
                .map(|bucket| bucket.arrived)
                .sum::<u32>(),
            2_000
        );
        assert_eq!(timeline.deployments[0].sent.iter().sum::<u32>(), 2_000);
        assert!(
            timeline.deployments[0].sent[..250]
                .iter()
                .all(|&sent| sent == 8)
        );
    }

    #[test]
    fn requests_that_wait_through_quiet_buckets_are_seen_there() {
        let mut buckets = TimeBuckets::new(240 * SECOND, 0);
        buckets.arrived(1);
        buckets.arrived(2);
        buckets.advance(at(3.5));
        buckets.completed(SECOND);

        let timeline = buckets.finish(at(5.0));

        let unfinished: Vec<u32> = timeline
            .buckets
            .iter()
            .map(|bucket| bucket.unfinished_max)
            .collect();
        assert_eq!(unfinished, [2, 2, 2, 2, 1, 1]);
    }

    #[test]
    fn a_run_without_duration_is_not_a_division_by_zero() {
        let mut buckets = TimeBuckets::new(Duration::ZERO, 0);
        buckets.arrived(1);
        buckets.advance(at(100.0));
        buckets.completed(SECOND);

        let timeline = buckets.finish(at(100.0));

        assert_eq!(
            timeline
                .buckets
                .iter()
                .map(|bucket| bucket.completed)
                .sum::<u32>(),
            1
        );
    }
}
