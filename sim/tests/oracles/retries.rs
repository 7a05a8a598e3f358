//! What tries again multiplies: attempts for a request, and for a call with a client library in front.
//!
//! Each attempt fails with probability p, independently. With r retries a request takes
//! 1 + p + … + pʳ = (1 − pʳ⁺¹) / (1 − p) attempts on average and fails with pʳ⁺¹; with q retries of a client
//! library for each failed request, a call takes (1 − p⁽ʳ⁺¹⁾⁽ᑫ⁺¹⁾) / (1 − p) and fails with p⁽ʳ⁺¹⁾⁽ᑫ⁺¹⁾.

use reports::{CallsRecord, RunRecord};

use crate::figure::{Model, hold_records, share};

/// Attempts until one goes well, of at most `most`.
fn attempts(p: f64, most: i32) -> f64 {
    (1.0 - libm::pow(p, f64::from(most))) / (1.0 - p)
}

#[test]
fn retries_send_a_geometric_number_of_attempts() {
    let records = Model {
        seed: 22,
        settings: "disable_cooldowns: true, num_retries: 3",
        deployments: 2,
        service: "{constant: {ms: 10}}",
        provider: "faults: [{error_rate: {share: 0.5, status: 500}}]",
        per_second: 100.0,
        counted_s: 360.0,
        ..Model::PLAIN
    }
    .records();

    let sent = |record: &RunRecord| share(record.attempts, record.requests);
    hold_records("retries, attempts a request", &records, sent, |k| {
        attempts(0.5 * k, 4)
    });
    let failed = |record: &RunRecord| share(record.failed, record.requests);
    hold_records("retries, requests that fail", &records, failed, |k| {
        libm::pow(0.5 * k, 4.0)
    });
}

#[test]
fn a_client_library_multiplies_the_retries_of_the_router() {
    let records = Model {
        seed: 23,
        settings: "disable_cooldowns: true, num_retries: 3",
        deployments: 2,
        service: "{constant: {ms: 10}}",
        provider: "faults: [{error_rate: {share: 0.8, status: 500}}]",
        per_second: 100.0,
        counted_s: 300.0,
        more: "client: {sdk: openai, max_retries: 2}",
        ..Model::PLAIN
    }
    .records();

    fn calls(record: &RunRecord) -> &CallsRecord {
        record.calls.as_ref().expect("there is a client")
    }
    let of = |figure: fn(&CallsRecord) -> f64| move |record: &RunRecord| figure(calls(record));
    let sent = of(|calls| share(calls.attempts, calls.calls));
    hold_records("layers, attempts a call", &records, sent, |k| {
        attempts(0.8 * k, 12)
    });
    let asked = of(|calls| share(calls.requests, calls.calls));
    hold_records("layers, requests a call", &records, asked, |k| {
        attempts(libm::pow(0.8 * k, 4.0), 3)
    });
    let failed = of(|calls| share(calls.failed, calls.calls));
    hold_records("layers, calls that fail", &records, failed, |k| {
        libm::pow(0.8 * k, 12.0)
    });
}
