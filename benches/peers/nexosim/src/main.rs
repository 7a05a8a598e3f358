//! The toy model in NeXosim 1.0.0: `toy-nexosim REQUESTS REPLICATIONS`, one line of JSON for each replication.
//!
//! Poisson arrivals, 15 a second. Three deployments of four slots, first come, first served; an answer takes
//! an exponential time of mean 0.4 s. Each request goes to a deployment drawn at random among those that are
//! not benched. An attempt fails with probability 0.05, after 10 ms and without a slot; its deployment is then
//! benched for a second, and the request is tried once more. Where all are benched it fails at once.
//!
//! A router and three deployments are models of their own, as NeXosim wants them; the simulation is on one
//! thread, because it has hardly anything to do at the same time.

use std::{
    collections::VecDeque,
    env,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use nexosim::{
    Message,
    model::{Context, Model, schedulable},
    ports::Output,
    simulation::{Mailbox, SimInit},
    time::MonotonicTime,
};
use serde::{Deserialize, Serialize};

/// A request on its way.
#[derive(Clone, Copy, Message, Serialize, Deserialize)]
struct Request {
    arrived: MonotonicTime,
    tries: u8,
    deployment: usize,
    failed: bool,
}

/// What a replication counted.
#[derive(Clone, Copy, Default)]
struct Counts {
    completed: u64,
    attempts: u64,
    latency_s: f64,
}

/// SplitMix64.
#[derive(Serialize, Deserialize)]
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean_s: f64) -> Duration {
        Duration::from_secs_f64((-(1.0 - self.unit()).ln() * mean_s).max(1e-9))
    }
}

/// Lets requests arrive, and decides where they go.
#[derive(Serialize, Deserialize)]
struct Router {
    draws: Draws,
    left: u64,
    benched_until: [MonotonicTime; 3],
    to: [Output<Request>; 3],
    #[serde(skip)]
    counts: Counts,
    #[serde(skip)]
    end: Arc<Mutex<Counts>>,
}

#[Model]
impl Router {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        self.next(cx);
    }

    fn next(&mut self, cx: &Context<Self>) {
        if self.left > 0 {
            self.left -= 1;
            let gap = self.draws.exponential(1.0 / 15.0);
            cx.schedule_event(gap, schedulable!(Self::arrive), ())
                .expect("it is later");
        }
    }

    #[nexosim(schedulable)]
    async fn arrive(&mut self, _: (), cx: &Context<Self>) {
        let request = Request {
            arrived: cx.time(),
            tries: 0,
            deployment: 0,
            failed: false,
        };
        self.send(request, cx.time()).await;
        self.next(cx);
    }

    /// An attempt ended.
    async fn ended(&mut self, request: Request, cx: &Context<Self>) {
        let now = cx.time();
        if request.failed {
            self.benched_until[request.deployment] = now + Duration::from_secs(1);
            if request.tries < 2 {
                self.send(request, now).await;
            }
        } else {
            self.counts.completed += 1;
            self.counts.latency_s += now.duration_since(request.arrived).as_secs_f64();
        }
        *self.end.lock().expect("nobody panics") = self.counts;
    }

    async fn send(&mut self, mut request: Request, now: MonotonicTime) {
        let is_ready = |&d: &usize| self.benched_until[d] <= now;
        let ready = (0..3).filter(is_ready).count();
        if ready == 0 {
            return;
        }
        let drawn = ((self.draws.unit() * ready as f64) as usize).min(ready - 1);
        let deployment = (0..3)
            .filter(is_ready)
            .nth(drawn)
            .expect("as many are ready");
        self.counts.attempts += 1;
        request.deployment = deployment;
        request.tries += 1;
        request.failed = self.draws.unit() < 0.05;
        self.to[deployment].send(request).await;
    }
}

/// Four slots and a line.
#[derive(Serialize, Deserialize)]
struct Deployment {
    draws: Draws,
    busy: u8,
    line: VecDeque<Request>,
    done: Output<Request>,
}

#[Model]
impl Deployment {
    async fn attempt(&mut self, request: Request, cx: &Context<Self>) {
        if request.failed {
            let after = Duration::from_millis(10);
            cx.schedule_event(after, schedulable!(Self::fail), request)
                .expect("it is later");
        } else if self.busy < 4 {
            self.busy += 1;
            self.serve(request, cx);
        } else {
            self.line.push_back(request);
        }
    }

    fn serve(&mut self, request: Request, cx: &Context<Self>) {
        let takes = self.draws.exponential(0.4);
        cx.schedule_event(takes, schedulable!(Self::answer), request)
            .expect("it is later");
    }

    #[nexosim(schedulable)]
    async fn answer(&mut self, request: Request, cx: &Context<Self>) {
        match self.line.pop_front() {
            Some(next) => self.serve(next, cx),
            None => self.busy -= 1,
        }
        self.done.send(request).await;
    }

    #[nexosim(schedulable)]
    async fn fail(&mut self, request: Request) {
        self.done.send(request).await;
    }
}

fn run(requests: u64, seed: u64) -> Counts {
    let end = Arc::new(Mutex::new(Counts::default()));
    let start = MonotonicTime::EPOCH;
    let mut router = Router {
        draws: Draws(seed << 8),
        left: requests,
        benched_until: [start; 3],
        to: Default::default(),
        counts: Counts::default(),
        end: Arc::clone(&end),
    };
    let at_router = Mailbox::new();
    let mut bench = SimInit::with_num_threads(1);
    for number in 0..3 {
        let mut deployment = Deployment {
            draws: Draws(seed << 8 | (number as u64 + 1)),
            busy: 0,
            line: VecDeque::new(),
            done: Output::default(),
        };
        let mailbox = Mailbox::new();
        router.to[number].connect(Deployment::attempt, &mailbox);
        deployment.done.connect(Router::ended, &at_router);
        bench = bench.add_model(deployment, mailbox, "deployment");
    }
    let bench = bench.add_model(router, at_router, "router");
    let mut simulation = bench.init(start).expect("the bench is whole");
    simulation.run().expect("it runs to its end");
    let counts = *end.lock().expect("nobody panics");
    counts
}

fn main() {
    let number = |at| {
        env::args()
            .nth(at)
            .and_then(|text| text.parse().ok())
            .expect("REQUESTS REPLICATIONS")
    };
    let (requests, replications): (u64, u64) = (number(1), number(2));
    for seed in 0..replications {
        let begun = Instant::now();
        let counts = run(requests, seed);
        let took = begun.elapsed().as_secs_f64();
        let of = requests as f64;
        println!(
            "{{\"requests\": {requests}, \"cpu_s\": {took}, \"success\": {}, \"attempts\": {}, \"mean_s\": {}}}",
            counts.completed as f64 / of,
            counts.attempts as f64 / of,
            counts.latency_s / counts.completed as f64
        );
    }
}
