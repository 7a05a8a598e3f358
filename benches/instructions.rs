//! Instructions of whole simulated runs, counted by callgrind through gungraun: the same number in every run,
//! whatever else the machine does, so that a change which costs a percent is seen.
//!
//! A run has 100,255 requests in 100 s, and some five million instructions that it needs once. It fails if it takes
//! over 2 % more than was accepted last, which is the number beside each case: whoever makes a request cheaper, or
//! dearer for a good reason, writes what was counted there. With `--baseline`, the same counted in another revision
//! (`.ci/run instructions` does it with the one before), it also fails if it takes over 2 % more than there, so that a
//! number which was not lowered with the code hides no loss.

#![expect(missing_docs, reason = "what gungraun's macros write has none")]

use benches::{
    floor::{FloorEnd, floor},
    plan, plan_beside_features,
};
use gungraun::{Callgrind, EventKind, prelude::*};
use reports::RunRecord;
use router::Seed;
use scenarios::RunPlan;
use sim::{RunEnd, record_run, simulate};

// The bare loop.
#[library_benchmark]
#[bench::requests(args = (100_000), config = accepted(71_984_000))]
fn bare(requests: u64) -> FloorEnd {
    floor(requests, Seed(1))
}

// The full router with metrics, over so many deployments.
#[library_benchmark]
#[bench::simple_shuffle_10(args = (plan(10, "simple-shuffle", SECONDS)), config = accepted_unused(280_937_000))]
#[bench::beside_features(args = (plan_beside_features(SECONDS)), config = accepted_unused(280_958_000))]
#[bench::simple_shuffle_100(args = (plan(100, "simple-shuffle", SECONDS)), config = accepted(283_591_000))]
#[bench::least_busy_10(args = (plan(10, "least-busy", SECONDS)), config = accepted(341_998_000))]
#[bench::latency_10(args = (plan(10, "latency-based-routing", SECONDS)), config = accepted(511_312_000))]
fn with_metrics(plan: RunPlan) -> RunRecord {
    record_run(&plan, &()).expect("the plan is valid")
}

// Without metrics.
#[library_benchmark]
#[bench::simple_shuffle_10(args = (plan(10, "simple-shuffle", SECONDS)), config = accepted(231_371_000))]
fn without_metrics(plan: RunPlan) -> RunEnd {
    simulate(&plan, &mut ()).expect("the plan is valid")
}

/// Virtual time of a run.
const SECONDS: u64 = 100;

/// Fails above 2 % more than this number, and above 2 % more than in what it is compared with. A toolchain of the same
/// version generates the same code; the C library picks some of its own by the processor.
fn accepted(instructions: u64) -> LibraryBenchmarkConfig {
    at_most(instructions + instructions / 50)
}

/// The same for what uses no feature, or has them only beside it: whatever was accepted, it may not take more than
/// the requests alone took before the router knew all of LiteLLM's features (2,934 each, counted at that tree), because
/// what nobody uses must cost nothing.
fn accepted_unused(instructions: u64) -> LibraryBenchmarkConfig {
    at_most((instructions + instructions / 50).min(294_148_000))
}

fn at_most(instructions: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::with_args(["--cache-sim=no"]);
    callgrind
        .soft_limits([(EventKind::Ir, 2.0)])
        .hard_limits([(EventKind::Ir, instructions)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

library_benchmark_group!(
    name = requests,
    benchmarks = [bare, with_metrics, without_metrics]
);

main!(library_benchmark_groups = requests);
