//! A run of this many million requests (20 if not said), and the most memory that it took:
//! `cargo run --release -p benches --example many_requests -- 20`

#![expect(clippy::print_stdout, reason = "the measurement is the result")]

use std::{env, fs, time::Instant};

use benches::plan;
use sim::record_run;

fn main() {
    let millions: u64 = env::args()
        .nth(1)
        .map_or(20, |text| text.parse().expect("a number"));
    let plan = plan(10, "simple-shuffle", millions * 1_000);
    let begun = Instant::now();
    let record = record_run(&plan, &()).expect("the plan is valid");
    println!(
        "{} requests in {:.1} s",
        record.requests,
        begun.elapsed().as_secs_f64()
    );
    // Linux keeps the high-water mark of resident memory here.
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find(|line| line.starts_with("VmHWM"));
        println!("{}", peak.unwrap_or("no VmHWM in /proc/self/status"));
    }
}
