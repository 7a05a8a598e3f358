//! Who is to blame for all requests without an answer, over every replication of an arm, each blame
//! with an example to look at.

use std::{num::NonZeroUsize, thread};

use reports::{RunRecord, Unit, aligned, bar, blame_shares};
use scenarios::{RunPlan, Scenario};
use sim::{first_of_each_blame, run_plans};

use super::of_arm;
use crate::{cli::ExplainArgs, commands::Ended, complaint::Complaint, output, progress::Progress};

pub(super) fn tell(args: &ExplainArgs, scenario: &Scenario) -> Result<Ended, Complaint> {
    let plans: Vec<RunPlan> = (0..scenario.replications())
        .map(|replication| scenario.plan(args.arm, replication))
        .collect();
    let jobs = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let progress = Progress::start(plans.len(), jobs.get().min(plans.len()));
    let records = run_plans(&plans, jobs, &progress);
    let interrupted = progress.finish();
    let records = records?;
    if interrupted {
        return Ok(Ended::Interrupted);
    }
    output::print(&text(args, scenario, &records)?)?;
    Ok(Ended::Done)
}

fn text(
    args: &ExplainArgs,
    scenario: &Scenario,
    records: &[RunRecord],
) -> Result<String, Complaint> {
    let requests: u64 = records.iter().map(|run| run.requests).sum();
    let unanswered: u64 = records.iter().map(|run| run.failed + run.cancelled).sum();
    let mut text = format!(
        "{}: {unanswered} of {requests} requests got no answer ({} replications).\n",
        of_arm(args, scenario),
        records.len()
    );
    let shares = blame_shares(records);
    let Some(largest) = shares.first() else {
        return Ok(text);
    };
    text.push_str(&format!(
        "Most of them, {}, are blamed on: {}. {}\n\n",
        Unit::Ratio.show_estimate(&largest.of_unanswered),
        largest.blame.title().to_lowercase(),
        largest.blame.about()
    ));
    let examples = first_of_each_blame(&scenario.plan(args.arm, args.rep))?;
    let titles = [
        "Blame",
        "Of those without an answer",
        "",
        "Of all requests",
        "For example",
    ];
    let mut lines = vec![titles.map(str::to_owned).to_vec()];
    for share in &shares {
        let example = examples.get(&share.blame);
        lines.push(vec![
            share.blame.title().to_owned(),
            Unit::Ratio.show_estimate(&share.of_unanswered),
            bar(share.of_unanswered.mean, 20),
            Unit::Ratio.show_estimate(&share.of_all),
            example.map_or_else(String::new, |request| format!("--request {}", request.0)),
        ]);
    }
    for line in aligned(&lines) {
        text.push_str(&format!("  {line}\n"));
    }
    text.push_str("\nWhat they mean\n");
    for share in &shares {
        text.push_str(&format!(
            "  {}: {}\n",
            share.blame.title(),
            share.blame.about()
        ));
    }
    if !examples.is_empty() {
        text.push_str(&format!(
            "\nExamples are of replication {}; see one with `--rep {} --request N`, or the first of a kind \
             with `--failed {}`.\n",
            args.rep,
            args.rep,
            largest.blame.name()
        ));
    }
    Ok(text)
}
