//! The bare loop: the least work that a simulated request can be.
//!
//! An arrival, a pick among ten by weight, a log-normal latency, one attempt in twenty refused and
//! retried, a histogram of latencies. No router, no observer, no provider, no settings: what the
//! full simulation is held against. It uses the same event queue and the same keyed draws.

use hdrhistogram::Histogram;
use rand::Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use router::{Instant, KeyedRng, Purpose, Seed};
use sim::EventQueue;

/// What a run of the bare loop counted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FloorEnd {
    /// Attempts sent.
    pub attempts: u64,
    /// 99th percentile of latency, in microseconds.
    pub latency_p99_us: u64,
}

/// Runs the bare loop for this many requests, 1,000 arriving in a second.
#[must_use]
pub fn floor(requests: u64, seed: Seed) -> FloorEnd {
    let mut floor = Floor {
        seed,
        queue: EventQueue::new(),
        unfinished: Vec::new(),
        vacant: Vec::new(),
        histogram: Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("the bounds are valid"),
        in_flight: [0; DEPLOYMENTS],
        attempts: 0,
    };
    let mut arrival_ns = 0.0;
    for request in 0..requests {
        let gap: f64 = Exp1.sample(&mut KeyedRng::new(seed, ARRIVAL, request, 0));
        arrival_ns += gap * 1e9 / ARRIVALS_PER_SECOND;
        floor.run_until(instant(arrival_ns));
        floor.arrive(instant(arrival_ns), request);
    }
    floor.run_until(Instant::NEVER);
    FloorEnd {
        attempts: floor.attempts,
        latency_p99_us: floor.histogram.value_at_quantile(0.99),
    }
}

struct Floor {
    seed: Seed,
    queue: EventQueue,
    unfinished: Vec<Unfinished>,
    vacant: Vec<u32>,
    histogram: Histogram<u64>,
    in_flight: [u32; DEPLOYMENTS],
    attempts: u64,
}

#[derive(Clone, Copy)]
struct Unfinished {
    request: u64,
    arrived: Instant,
    deployment: usize,
    attempt: u64,
    refused: bool,
}

impl Floor {
    fn arrive(&mut self, now: Instant, request: u64) {
        let new = Unfinished {
            request,
            arrived: now,
            deployment: 0,
            attempt: 0,
            refused: false,
        };
        let place = if let Some(place) = self.vacant.pop() {
            self.unfinished[place as usize] = new;
            place
        } else {
            self.unfinished.push(new);
            u32::try_from(self.unfinished.len() - 1).expect("few are unfinished")
        };
        self.send(now, place);
    }

    fn run_until(&mut self, limit: Instant) {
        while let Some((now, place)) = self.queue.pop_before(limit) {
            let ended = &mut self.unfinished[place as usize];
            self.in_flight[ended.deployment] -= 1;
            if ended.refused && ended.attempt < RETRIES {
                ended.attempt += 1;
                self.send(now, place);
            } else {
                let micros = now.since(ended.arrived).as_nanos() / 1_000;
                let micros = u64::try_from(micros).expect("a run is shorter than that");
                self.histogram.saturating_record(micros);
                self.vacant.push(place);
            }
        }
    }

    fn send(&mut self, now: Instant, place: u32) {
        let sent = &mut self.unfinished[place as usize];
        let mut rng = KeyedRng::new(self.seed, PICK, sent.request, sent.attempt);
        sent.deployment = pick(&mut rng);
        self.in_flight[sent.deployment] += 1;
        self.attempts += 1;
        let mut rng = KeyedRng::new(self.seed, LATENCY, sent.request, sent.attempt);
        sent.refused = rng.unit() < REFUSED;
        let latency_s = if sent.refused {
            0.01
        } else {
            log_normal(&mut rng, MEDIAN_S, SIGMA)
        };
        self.queue
            .push(instant(latency_s.mul_add(1e9, nanos(now))), place);
    }
}

/// By weight, through a scan.
fn pick(rng: &mut KeyedRng) -> usize {
    let total: f64 = WEIGHTS.iter().sum();
    let mut left = rng.unit() * total;
    for (deployment, weight) in WEIGHTS.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return deployment;
        }
    }
    DEPLOYMENTS - 1
}

fn log_normal(rng: &mut impl Rng, median: f64, sigma: f64) -> f64 {
    let normal: f64 = StandardNormal.sample(rng);
    median * libm::exp(sigma * normal)
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns is 104 days")]
const fn nanos(at: Instant) -> f64 {
    at.as_nanos() as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and times are not negative"
)]
const fn instant(nanos: f64) -> Instant {
    Instant::from_nanos(nanos as u64)
}

const DEPLOYMENTS: usize = 10;
const WEIGHTS: [f64; DEPLOYMENTS] = [1.0; DEPLOYMENTS];
const ARRIVALS_PER_SECOND: f64 = 1_000.0;
/// Share of attempts that are refused.
const REFUSED: f64 = 0.05;
const RETRIES: u64 = 2;
const MEDIAN_S: f64 = 0.9;
const SIGMA: f64 = 0.5;
const ARRIVAL: Purpose = Purpose::named("benches.arrival");
const PICK: Purpose = Purpose::named("benches.pick");
const LATENCY: Purpose = Purpose::named("benches.latency");
