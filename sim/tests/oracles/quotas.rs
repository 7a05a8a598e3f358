//! Quotas of providers: what a fixed window lets through at its edge, what a bucket never lets through, and
//! how many a bucket turns away.

use reports::RunRecord;
use router::{Event, Instant, Observer, Outcome};

use crate::figure::{Model, hold, hold_records, share};

/// When attempts were answered, in seconds since the run's beginning; here that is when they were sent.
#[derive(Default)]
struct Admitted(Vec<f64>);

impl Observer for Admitted {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if let Event::Finished {
            outcome: Outcome::Success { .. },
            ..
        } = *event
        {
            self.0.push(at.as_secs_f64());
        }
    }
}

impl Admitted {
    /// The most that were let in within any `seconds`, both ends included.
    fn most_in(&self, seconds: f64) -> usize {
        let times = &self.0;
        let until = |from: f64| times.partition_point(|&at| at <= from + seconds + 1e-6);
        let counts = times.iter().enumerate().map(|(n, &from)| until(from) - n);
        counts.max().unwrap_or(0)
    }

    /// The least burst b with which no span of t seconds let in more than b + rate · t.
    fn burst(&self, per_second: f64) -> f64 {
        let mut most = 0.0_f64;
        let mut debt = 0.0;
        let mut before = 0.0;
        for &at in &self.0 {
            debt = (debt - per_second * (at - before)).max(0.0) + 1.0;
            most = most.max(debt);
            before = at;
        }
        most
    }
}

const AT_ONCE: &str = "{constant: {ms: 0}}";

/// E min(N, c) for a Poisson number N of mean `a`: Σ over k < c of P(N > k).
fn expected_min(a: f64, c: u32) -> f64 {
    let mut term = libm::exp(-a);
    let mut up_to = term;
    let mut sum = 0.0;
    for k in 1..=c {
        sum += 1.0 - up_to;
        term *= a / f64::from(k);
        up_to += term;
    }
    sum
}

#[test]
fn a_fixed_minute_lets_two_quotas_through_around_its_edge() {
    // Two seconds around the edge of a minute: each side of it has the whole minute's quota of 100.
    let around = |per_second: f64| {
        let found = Model {
            seed: 17,
            starts_at: "2026-03-02T09:00:59Z",
            service: AT_ONCE,
            provider: "quota: {requests_per_minute: 100}",
            per_second,
            counted_s: 2.0,
            replications: 3_000,
            ..Model::PLAIN
        }
        .heard(Admitted::default);
        let counts = found.iter().map(|one| share(one.0.len() as u64, 1));
        counts.collect::<Vec<f64>>()
    };

    hold(
        "fixed minute, let in by 100 a second",
        &around(100.0),
        |k| 2.0 * expected_min(100.0 * k, 100),
    );
    // Nobody comes short of 100 out of 1,000.
    let flooded = around(1_000.0);
    assert!(flooded.iter().all(|&admitted| admitted == 200.0));
}

#[test]
fn floods_get_twice_the_quota_in_a_minute_only_from_a_fixed_window() {
    let most = |quota: &str| {
        Model {
            starts_at: "2026-03-02T09:00:30Z",
            service: AT_ONCE,
            seed: 18,
            provider: &format!("quota: {{requests_per_minute: 120, {quota}}}"),
            per_second: 600.0,
            counted_s: 150.0,
            replications: 3,
            ..Model::PLAIN
        }
        .heard(Admitted::default)
    };
    let in_a_minute = |found: &[Admitted]| {
        let most = found.iter().map(|one| one.most_in(60.0));
        most.collect::<Vec<usize>>()
    };

    let fixed = most("window: fixed_minute");
    // Each minute's quota is gone within its first seconds, so that 2C are of less than 60 s.
    assert_eq!(in_a_minute(&fixed), [240; 3]);
    let sliding = most("window: sliding");
    assert_eq!(in_a_minute(&sliding), [120; 3]);
    for burst in [1, 10, 120] {
        let bucket = most(&format!("window: token_bucket, burst_requests: {burst}"));
        for one in &bucket {
            // The bound is reached: b at once, and then each token as it comes, two a second.
            let found = one.burst(2.0);
            let b = f64::from(burst);
            assert!(found <= b + 1e-6 && found > b - 0.1, "{found} for {b}");
            let most = one.most_in(60.0);
            assert!(most <= burst as usize + 120, "{most} for {burst}");
            assert!(most >= burst as usize + 118, "{most} for {burst}");
            // In the long run, a bucket lets its rate through.
            let flow = share(one.0.len() as u64 - u64::from(burst as u32), 1) / 150.0;
            assert!((flow / 2.0 - 1.0).abs() < 0.01, "{flow}");
        }
    }
}

/// Share of Poisson arrivals that find no token in a bucket that holds `burst` and gets one in the time in
/// which `load` arrive. What is missing from a full bucket is the work in an M/D/1 queue which only those
/// enter who find at most K = burst − 1 in it. Below K it has the shape of M/D/1's,
/// Q(x) = Σ over j ≤ x of (ρ(j − x))ʲ / j! · e^(ρ(x − j)) (Erlang 1909; Kleinrock I, 5.10 and its exercises), and what enters is
/// what is served: ρ · P(work ≤ K) = 1 − P₀. So P₀ = 1 / (1 + ρQ(K)), and P₀ · Q(K) of all arrivals enter.
fn without_a_token(burst: u32, load: f64) -> f64 {
    let k = burst - 1;
    let mut q = 0.0;
    let mut factorial = 1.0;
    for j in 0..=k {
        if j > 0 {
            factorial *= f64::from(j);
        }
        let left = f64::from(k - j);
        q += libm::pow(-load * left, f64::from(j)) / factorial * libm::exp(load * left);
    }
    1.0 - q / (1.0 + load * q)
}

#[test]
fn a_token_bucket_turns_away_as_a_queue_with_bounded_work() {
    // One token: a server without a line.
    assert!((without_a_token(1, 1.5) - 1.5 / 2.5).abs() < 1e-12);
    for (seed, burst) in [(19, 1), (20, 3), (21, 6)] {
        let records = Model {
            seed,
            service: AT_ONCE,
            provider: &format!(
                "quota: {{requests_per_minute: 60, window: token_bucket, burst_requests: {burst}}}"
            ),
            per_second: 1.2,
            counted_s: 24_000.0,
            warm_up_s: 100.0,
            ..Model::PLAIN
        }
        .records();

        let refused = |record: &RunRecord| share(record.failed, record.requests);
        let what = format!("bucket of {burst}, turned away");
        hold_records(&what, &records, refused, |k| {
            without_a_token(burst, 1.2 * k)
        });
    }
}
