//! Instructions of one simulated request, counted by valgrind: the same number in every run, whatever
//! else the machine does, so that a change which costs a percent is seen.
//!
//! Each case is run for a short and for a long time, and what the longer run takes more is divided by
//! the requests that it has more; so what a run costs once does not count. What is too much says
//! `gate.rs`: over 2 % more than was accepted last ([`ACCEPTED`], which whoever makes a request cheaper,
//! or dearer for a good reason, writes anew) and, with `--against FILE`, which is this program built from
//! another revision (`.ci/run instructions` builds the one before), over 2 % more than there, unless the
//! two accept different numbers. Two bounds hold whatever was accepted: features that nobody uses
//! must cost nothing, which is less than [`BEFORE_FEATURES`], and neither must those that only a group
//! uses which nobody asks for. Without valgrind it says so and holds nothing.

#![expect(clippy::print_stdout, reason = "the counts are the result")]

use std::{
    env,
    hint::black_box,
    io,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use benches::{
    floor::floor,
    gate::{Before, Counted},
    plan, plan_beside_features,
};
use router::Seed;
use sim::{record_run, simulate};

/// What is counted, and the instructions of one request that were accepted last.
const ACCEPTED: [(&str, f64); 7] = [
    ("floor", 717.0),
    (PLAIN, 2_761.0),
    ("simple-shuffle/10/without_metrics", 2_294.0),
    (BESIDE_FEATURES, 2_761.0),
    ("simple-shuffle/100", 2_761.0),
    ("least-busy/10", 3_373.0),
    ("latency-based-routing/10", 5_066.0),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    match arguments.as_slice() {
        [_, flag, case, seconds] if flag == RUN => {
            let seconds = seconds.parse().expect("this program wrote it");
            println!("{}", run(case, seconds));
            ExitCode::SUCCESS
        }
        [_, flag, case] if flag == ACCEPTS => {
            println!("{}", accepted(case).expect("it is in the list"));
            ExitCode::SUCCESS
        }
        _ => hold(&arguments),
    }
}

/// Counts every case, and fails if one takes too much.
fn hold(arguments: &[String]) -> ExitCode {
    let this = env::current_exe().expect("this program has a path");
    let named = arguments.iter().position(|argument| argument == AGAINST);
    let before = named.map(|at| PathBuf::from(arguments.get(at + 1).expect("a file follows")));
    // `--test` only shows that it works.
    let cases = if arguments.iter().any(|argument| argument == "--test") {
        1
    } else {
        ACCEPTED.len()
    };
    let mut faults = Vec::new();
    for (case, accepted) in ACCEPTED.into_iter().take(cases) {
        let found = match per_request(&this, case) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                println!("instructions: not counted, because there is no valgrind here");
                return ExitCode::SUCCESS;
            }
            Err(error) => {
                println!("instructions: valgrind failed: {error}");
                return ExitCode::FAILURE;
            }
        };
        let is_bounded = case == PLAIN || case == BESIDE_FEATURES;
        let counted = Counted {
            case,
            found,
            accepted,
            before: before
                .as_deref()
                .and_then(|program| in_other(program, case)),
            bound: is_bounded.then_some(BEFORE_FEATURES),
        };
        println!("{}", counted.told());
        faults.extend(counted.faults());
    }
    if faults.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nA request takes too many instructions:");
    for fault in &faults {
        println!("  {fault}");
    }
    println!(
        "Make it cheaper; or, for a good reason, write the new number into ACCEPTED of benches/instructions.rs."
    );
    ExitCode::FAILURE
}

/// The number of a case that was accepted last.
fn accepted(case: &str) -> Option<f64> {
    let mut list = ACCEPTED.into_iter();
    list.find(|(name, _)| *name == case)
        .map(|(_, accepted)| accepted)
}

/// A case in another revision, which may not have it.
fn in_other(program: &Path, case: &str) -> Option<Before> {
    let found = match per_request(program, case) {
        Ok(found) => found,
        Err(error) => {
            println!("{case}: not counted in {}: {error}", program.display());
            return None;
        }
    };
    let told = Command::new(program).args([ACCEPTS, case]).output();
    let told = told.ok().map(|output| output.stdout);
    let accepted = told.and_then(|told| String::from_utf8_lossy(&told).trim().parse().ok());
    Some(Before { found, accepted })
}

/// Instructions of one request.
fn per_request(program: &Path, case: &str) -> io::Result<f64> {
    let (few, short) = count(program, case, SHORT_S)?;
    let (many, long) = count(program, case, LONG_S)?;
    Ok((long - short) / (many - few))
}

/// Requests of a run of this many seconds of a case, and all of its instructions.
fn count(program: &Path, case: &str, seconds: u64) -> io::Result<(f64, f64)> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no"])
        .arg("--cachegrind-out-file=/dev/null")
        .arg(program)
        .args([RUN, case, &seconds.to_string()])
        .output()?;
    let counted = String::from_utf8_lossy(&output.stderr).into_owned();
    let requests = String::from_utf8_lossy(&output.stdout).trim().parse();
    // Its line is `==123== I refs: 1,234,567`, with more or less space between.
    let refs = counted
        .lines()
        .find(|line| line.contains("refs:"))
        .and_then(|line| line.rsplit(':').next())
        .and_then(|number| number.trim().replace(',', "").parse().ok());
    match (requests, refs) {
        (Ok(requests), Some(refs)) => Ok((requests, refs)),
        (Ok(_) | Err(_), _) => Err(io::Error::other(counted)),
    }
}

/// Runs a case for this many seconds of virtual time, and tells how many requests it had.
fn run(case: &str, seconds: u64) -> u64 {
    if case == "floor" {
        black_box(floor(1_000 * seconds, Seed(1)));
        return 1_000 * seconds;
    }
    if case == BESIDE_FEATURES {
        let record = record_run(&plan_beside_features(seconds), &());
        return record.expect("the plan is valid").requests;
    }
    let mut parts = case.split('/');
    let strategy = parts.next().expect("a case begins with a strategy");
    let deployments = parts.next().and_then(|number| number.parse().ok());
    let plan = plan(
        deployments.expect("and goes on with a number"),
        strategy,
        seconds,
    );
    match parts.next() {
        None => record_run(&plan, &()).map(|record| record.requests),
        Some(_) => simulate(&plan, &mut ()).map(|end| end.requests),
    }
    .expect("the plan is valid")
}

const RUN: &str = "--run";
const AGAINST: &str = "--against";
const ACCEPTS: &str = "--accepts";
const PLAIN: &str = "simple-shuffle/10";
const BESIDE_FEATURES: &str = "simple-shuffle/10/beside_features";
/// Of [`PLAIN`] before the router knew all of LiteLLM's features (counted at that tree).
const BEFORE_FEATURES: f64 = 2_934.0;
/// The greatest number of requests in flight is reached, and with it the room for them.
const SHORT_S: u64 = 20;
const LONG_S: u64 = 60;
