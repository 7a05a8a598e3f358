//! Queues in which everybody waits: M/M/1, M/M/c, M/G/1, and M/G/∞, in which nobody does.
//!
//! λ is the rate of arrivals, S the time of service with mean 1/μ, a = λ/μ. Sources: L. Kleinrock,
//! *Queueing Systems* I (1975), 3.2 (M/M/1), 3.5 (Erlang C) and 5.6 (Pollaczek and Khinchine); L. Takács,
//! *Introduction to the Theory of Queues* (1962), 3.2 (M/G/∞: a Poisson number whatever the distribution of S).

use reports::RunRecord;

use crate::{
    figure::{EXPONENTIAL, Found, Model, hold, hold_records, share},
    losses::erlang_b,
};

/// Probability of having to wait before `servers` under a load of `a` Erlang.
fn erlang_c(servers: u32, a: f64) -> f64 {
    let c = f64::from(servers);
    let blocked = erlang_b(servers, a);
    c * blocked / (c - a * (1.0 - blocked))
}

/// Mean time in M/M/c, in seconds, for a mean service of `s` seconds.
fn mean_time(servers: u32, per_second: f64, s: f64) -> f64 {
    let a = per_second * s;
    s + erlang_c(servers, a) * s / (f64::from(servers) - a)
}

/// Mean time in M/G/1, in seconds, by the first two moments of the service in milliseconds.
fn pollaczek_khinchine(per_second: f64, first_ms: f64, second_ms: f64) -> f64 {
    let per_ms = per_second / 1_000.0;
    (first_ms + per_ms * second_ms / (2.0 * (1.0 - per_ms * first_ms))) / 1_000.0
}

fn latency(record: &RunRecord) -> f64 {
    assert_eq!(record.completed, record.requests);
    record.latency.mean_s
}

#[test]
fn one_slot_is_an_m_m_1_queue() {
    let records = Model {
        provider: "max_concurrent: 1",
        per_second: 5.0,
        counted_s: 6_500.0,
        warm_up_s: 100.0,
        ..Model::PLAIN
    }
    .records();

    hold_records("M/M/1, mean time", &records, latency, |k| {
        mean_time(1, 5.0, 0.1 * k)
    });
    // The time in an M/M/1 queue is exponential, so that half of all take ln 2 of its mean.
    let median = |record: &RunRecord| record.latency.quantile_s(0.5).unwrap();
    hold_records("M/M/1, median", &records, median, |k| {
        std::f64::consts::LN_2 * mean_time(1, 5.0, 0.1 * k)
    });
}

#[test]
fn slots_of_a_provider_are_an_m_m_c_queue() {
    let records = Model {
        seed: 2,
        provider: "max_concurrent: 4",
        per_second: 28.0,
        counted_s: 1_600.0,
        warm_up_s: 50.0,
        ..Model::PLAIN
    }
    .records();

    hold_records("M/M/4, mean time", &records, latency, |k| {
        mean_time(4, 28.0, 0.1 * k)
    });
}

#[test]
fn slots_of_the_router_are_an_m_m_c_queue_too() {
    let records = Model {
        seed: 3,
        profile: "corrected",
        params: "max_parallel_requests: 4",
        per_second: 28.0,
        counted_s: 1_600.0,
        warm_up_s: 50.0,
        ..Model::PLAIN
    }
    .records();

    hold_records("M/M/4 in the router, mean time", &records, latency, |k| {
        mean_time(4, 28.0, 0.1 * k)
    });
    let waits = |record: &RunRecord| share(record.parked, record.requests);
    hold_records("M/M/4 in the router, who waits", &records, waits, |k| {
        erlang_c(4, 2.8 * k)
    });
}

#[test]
fn service_that_always_takes_as_long_is_an_m_d_1_queue() {
    let records = Model {
        seed: 4,
        service: "{constant: {ms: 100}}",
        provider: "max_concurrent: 1",
        per_second: 6.0,
        counted_s: 3_000.0,
        warm_up_s: 100.0,
        ..Model::PLAIN
    }
    .records();

    hold_records("M/D/1, mean time", &records, latency, |k| {
        pollaczek_khinchine(6.0, 100.0 * k, 10_000.0 * k * k)
    });
}

#[test]
fn service_that_varies_much_is_an_m_g_1_queue() {
    // Its mean is 100 ms, and its second moment 0.8 · 2 · 50² + 0.2 · 2 · 300².
    let records = Model {
        seed: 5,
        service: "{mixture: [{weight: 0.8, of: {gamma: {mean_ms: 50, cv: 1}}}, \
                  {weight: 0.2, of: {gamma: {mean_ms: 300, cv: 1}}}]}",
        provider: "max_concurrent: 1",
        per_second: 4.0,
        counted_s: 17_000.0,
        warm_up_s: 100.0,
        ..Model::PLAIN
    }
    .records();

    hold_records("M/G/1, mean time", &records, latency, |k| {
        pollaczek_khinchine(4.0, 100.0 * k, 40_000.0 * k * k)
    });
}

#[test]
fn without_a_bound_the_number_in_flight_is_poisson_whatever_the_service() {
    // Each has a mean of 100 ms: e^(σ²/2) times its median for a log-normal one.
    for (seed, service) in [
        (6, EXPONENTIAL),
        (7, "{constant: {ms: 100}}"),
        (8, "{log_normal: {median_ms: 60.653065971263345, sigma: 1}}"),
    ] {
        let found = Model {
            seed,
            service,
            per_second: 20.0,
            counted_s: 1_900.0,
            warm_up_s: 20.0,
            ..Model::PLAIN
        }
        .heard(|| Found::new(1, 20.0));

        let of = |figure: fn(&Found) -> f64| found.iter().map(figure).collect::<Vec<f64>>();
        let told = |what| format!("M/G/∞ of {service}, {what}");
        hold(&told("mean in flight"), &of(Found::mean), |k| 2.0 * k);
        hold(&told("variance"), &of(Found::variance), |k| 2.0 * k);
        let idle = |one: &Found| share(one.finding[0], one.arrivals);
        hold(&told("nobody"), &of(idle), |k| libm::exp(-2.0 * k));
    }
}

#[test]
#[should_panic(expected = "by theory")]
fn traffic_that_is_two_percent_heavier_than_it_should_be_is_noticed() {
    let records = Model {
        seed: 4,
        service: "{constant: {ms: 100}}",
        provider: "max_concurrent: 1",
        per_second: 6.0 * 1.02,
        counted_s: 3_000.0,
        warm_up_s: 100.0,
        ..Model::PLAIN
    }
    .records();

    hold_records("M/D/1, mean time", &records, latency, |k| {
        pollaczek_khinchine(6.0, 100.0 * k, 10_000.0 * k * k)
    });
}
