//! Counts allocations: once a run has reached its greatest number of requests in flight, a further
//! request allocates nothing.

use benches::plan;
use router::StrategySpec;
use sim::record_run;

#[test]
fn a_request_allocates_nothing_in_steady_state() {
    for strategy in StrategySpec::NAMES {
        let short = allocations(strategy, 100);
        let long = allocations(strategy, 400);

        // 300,000 more requests; growing vectors and histograms may double now and then.
        let more = long.saturating_sub(short);
        assert!(
            more <= 50,
            "{strategy}: {more} more allocations for 300,000 more requests"
        );
    }
}

/// Allocations of a whole run of this many seconds at 1,000 requests a second.
fn allocations(strategy: &str, duration_s: u64) -> u64 {
    let plan = plan(10, strategy, duration_s);
    let counted = allocation_counter::measure(|| {
        record_run(&plan, &()).expect("the plan is valid");
    });
    counted.count_total
}
