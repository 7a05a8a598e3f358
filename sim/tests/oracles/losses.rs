//! Queues in which nobody waits: whoever finds all servers busy is turned away.

use reports::RunRecord;

use crate::figure::{EXPONENTIAL, Model, hold_records, share};

/// Probability that all of `servers` are busy under an offered load of `a` Erlang, whatever the
/// distribution of the service. Source: A. K. Erlang (1917); L. Kleinrock, *Queueing Systems* I, 3.6.
pub(crate) fn erlang_b(servers: u32, a: f64) -> f64 {
    (1..=servers).fold(1.0, |blocked, n| a * blocked / (f64::from(n) + a * blocked))
}

#[test]
fn slots_that_refuse_block_as_erlang_says_whatever_the_service() {
    for (seed, service) in [
        (9, EXPONENTIAL),
        (10, "{constant: {ms: 100}}"),
        (
            11,
            "{log_normal: {median_ms: 60.653065971263345, sigma: 1}}",
        ),
    ] {
        let records = Model {
            seed,
            params: "max_parallel_requests: 4",
            service,
            per_second: 40.0,
            counted_s: 450.0,
            warm_up_s: 20.0,
            ..Model::PLAIN
        }
        .records();

        let refused = |record: &RunRecord| share(record.slots_refused, record.requests);
        let what = format!("M/G/4/4 of {service}, refused");
        hold_records(&what, &records, refused, |k| erlang_b(4, 4.0 * k));
    }
}
