//! `routelab run`: every arm and replication of a scenario, a table, a report, and whether its
//! expectations hold.

use std::{fmt::Write as _, fs, num::NonZeroUsize, path::Path, thread};

use reports::{RunRecord, SweepRecord};
use scenarios::{Expectation, RunPlan, Scenario};
use sim::{
    Finding, SpendLog, Verdict, add_hindsight, judge, request_list, run_plans, simulate,
    sweep_record,
};

use super::{
    Ended, replay,
    settle::{Arms, Settled, settle},
};
use crate::{
    cli::{Format, OutputArgs, RunArgs},
    complaint::Complaint,
    output,
    progress::{Progress, note},
};

pub(super) fn run(args: &RunArgs) -> Result<Ended, Complaint> {
    let command = format!(
        "routelab run {}{}",
        args.scenario.typed(),
        typed_hindsight(args.hindsight)
    );
    let scenario = args.scenario.load()?;
    if let Some(file) = &args.spend_log {
        write_spend_log(&scenario, file)?;
    }
    if let Some(file) = &args.journal {
        replay::write_journal(&scenario, file)?;
    }
    if let Some(file) = &args.requests {
        let plan = scenario.plan(scenario.reference(), 0);
        write(file, &request_list(&plan.workload, plan.seed))?;
        note(&format!("requests: {}", file.display()));
    }
    run_scenario(&scenario, command, args.hindsight, &args.output)
}

/// Runs the reference arm's first replication once more, for its log alone.
fn write_spend_log(scenario: &Scenario, file: &Path) -> Result<(), Complaint> {
    let plan = scenario.plan(scenario.reference(), 0);
    let mut log = SpendLog::new(&plan)?;
    simulate(&plan, &mut log)?;
    write(file, &log.csv())?;
    note(&format!("spend log: {}", file.display()));
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Complaint> {
    fs::write(file, text).map_err(|source| Complaint::Write {
        what: file.display().to_string(),
        source,
    })
}

/// Runs a scenario and gives out what came of it. `command` is told in the report.
pub(super) fn run_scenario(
    scenario: &Scenario,
    command: String,
    hindsight: bool,
    output: &OutputArgs,
) -> Result<Ended, Complaint> {
    let mut plans = scenario.plans();
    let arms = Arms {
        kind: scenario.kind(),
        labels: (scenario.arms().iter().map(|arm| arm.labels.as_slice())).collect(),
        reference: scenario.reference(),
    };
    let whole = counts_all(&plans, hindsight);
    let settled = settle(&mut plans, &arms, whole, output)?;
    let mut done = execute_plans(&plans, output)?;
    let mut chosen = None;
    if !scenario.replications_given() && !hindsight {
        chosen = until_known(scenario, &settled, &mut plans, &mut done, output)?;
    }
    if hindsight {
        done.add_hindsight(&plans, output)?;
    }
    let interrupted = done.interrupted || settled.interrupted;
    let partial = done.records.len() < plans.len();
    let mut sweep = sweep_record(scenario, in_order(done.records), command);
    sweep.partial = partial;
    sweep.replications = replications(&plans);
    sweep.notes.extend(settled.notes);
    sweep.notes.extend(chosen);
    give_out(&sweep, scenario.expect(), output, interrupted)
}

/// Why the start-up of a lasting state cannot be left out, if so.
pub(super) fn counts_all(plans: &[RunPlan], hindsight: bool) -> Option<&'static str> {
    if hindsight {
        return Some("the bound by hindsight is one on all requests");
    }
    let has_client = plans.iter().any(|plan| plan.client.is_some());
    has_client.then_some("calls of a client library are counted from the first")
}

/// Runs more replications until every arm is known well enough, and tells how many there are and why.
fn until_known(
    scenario: &Scenario,
    settled: &Settled,
    plans: &mut Vec<RunPlan>,
    done: &mut DoneRuns,
    output: &OutputArgs,
) -> Result<Option<String>, Complaint> {
    let all: f64 = (plans.iter())
        .map(|plan| plan.workload.expected_arrivals())
        .sum();
    loop {
        if done.interrupted || done.records.is_empty() {
            return Ok(None);
        }
        let have = replications(plans);
        let sweep = sweep_record(scenario, in_order(done.records.clone()), String::new());
        let Some(known) = reports::precision(&sweep) else {
            return Ok(None);
        };
        let of_requests = f64::from(scenario.replications()) * REQUESTS_AT_MOST / all.max(1.0);
        let most = REPLICATIONS_AT_MOST.min(whole(of_requests)).max(have);
        let wanted = known.wanted.min(most);
        if wanted <= have {
            let why = match known.wanted <= have {
                true => "enough for what is asked",
                false => "the most that are run by themselves; `--reps` takes more",
            };
            return Ok(Some(format!(
                "{have} replications, {why}: in every arm {} (asked: {}).",
                known.reached, known.asked
            )));
        }
        note(&format!(
            "{} after {have} replications: running up to {wanted}",
            known.reached
        ));
        let is_left = |arm: &usize| !settled.refused.contains(arm);
        let arms = (0..scenario.arms().len()).filter(is_left);
        let more: Vec<RunPlan> = arms
            .flat_map(|arm| (have..wanted).map(move |number| (arm, number)))
            .map(|(arm, number)| RunPlan {
                warm_up: settled.warm_up,
                ..scenario.plan(arm, number)
            })
            .collect();
        let further = execute_plans(&more, output)?;
        plans.extend(more);
        done.records.extend(further.records);
        done.interrupted = further.interrupted;
    }
}

fn in_order(mut records: Vec<RunRecord>) -> Vec<RunRecord> {
    records.sort_by_key(|run| (run.arm, run.replication));
    records
}

fn replications(plans: &[RunPlan]) -> u32 {
    let last = plans.iter().map(|plan| plan.replication + 1).max();
    last.unwrap_or(0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of replications; the cast saturates"
)]
fn whole(value: f64) -> u32 {
    value.max(0.0) as u32
}

/// Replications that are run without being asked for.
const REPLICATIONS_AT_MOST: u32 = 40;
/// Requests that are simulated without being asked for.
const REQUESTS_AT_MOST: f64 = 2e7;

/// Records of finished runs.
pub(super) struct DoneRuns {
    pub(super) records: Vec<RunRecord>,
    pub(super) interrupted: bool,
}

impl DoneRuns {
    /// Bounds the finished runs by hindsight, unless the user has had enough.
    pub(super) fn add_hindsight(
        &mut self,
        plans: &[RunPlan],
        output: &OutputArgs,
    ) -> Result<(), Complaint> {
        if self.interrupted {
            return Ok(());
        }
        let progress = Progress::start_batch(plans.len(), 1);
        let added = add_hindsight(&mut self.records, plans, jobs(output), &progress);
        self.interrupted = progress.finish();
        added?;
        if !self.interrupted && self.records.iter().all(|run| run.hindsight_good.is_none()) {
            note(
                "hindsight: nothing is bounded; it needs an `slo` and no response cache, and requests of \
                 fewer than 16 attempts",
            );
        }
        Ok(())
    }
}

/// The flag as it is typed.
pub(super) fn typed_hindsight(hindsight: bool) -> &'static str {
    match hindsight {
        true => " --hindsight",
        false => "",
    }
}

pub(super) fn jobs(output: &OutputArgs) -> NonZeroUsize {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    output.jobs.unwrap_or(cores)
}

/// Runs plans with progress on standard error.
pub(super) fn execute_plans(plans: &[RunPlan], output: &OutputArgs) -> Result<DoneRuns, Complaint> {
    if !output.no_report {
        output::check_directory(&output.out)?;
    }
    let jobs = jobs(output);
    let progress = Progress::start(plans.len(), jobs.get().min(plans.len()));
    let records = run_plans(plans, jobs, &progress);
    let interrupted = progress.finish();
    Ok(DoneRuns {
        records: records?,
        interrupted,
    })
}

/// Prints the result, writes the report, and judges the expectations.
pub(super) fn give_out(
    sweep: &SweepRecord,
    expectations: &[Expectation],
    output: &OutputArgs,
    interrupted: bool,
) -> Result<Ended, Complaint> {
    if sweep.arms.iter().all(|arm| arm.runs.is_empty()) {
        note("interrupted before the first run was finished: there is nothing to report");
        return Ok(Ended::Interrupted);
    }
    let verdicts = judge(expectations, sweep)?;
    let judged = verdicts_text(&verdicts);
    // The report comes first: whoever reads standard output may leave early.
    if !output.no_report {
        let page = output::write_report(sweep, &output.out)?;
        note(&format!("report: {}", page.display()));
    }
    match output.format {
        Format::Console => output::print(&(reports::console(sweep) + &judged))?,
        Format::Markdown => output::print(&reports::markdown(sweep))?,
        Format::Csv => output::print(&reports::csv_text(sweep)?)?,
        Format::Json => output::print(&reports::json_text(sweep)?)?,
    }
    if output.format != Format::Console && !judged.is_empty() {
        note(judged.trim_end());
    }
    Ok(if interrupted {
        note("interrupted: the result is partial");
        Ended::Interrupted
    } else {
        match Finding::worst(&verdicts) {
            Finding::Holds => Ended::Done,
            Finding::Inconclusive => Ended::Undecided,
            Finding::Fails => Ended::ExpectationFailed,
        }
    })
}

/// What became of each expectation: one line for the arms in which it holds, and one for every arm in
/// which it does not. Nothing if nothing was expected.
fn verdicts_text(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let mut text = "\nWhat was expected\n".to_owned();
    for same in verdicts.chunk_by(|a, b| a.expectation == b.expectation) {
        let Verdict { metric, bound, .. } = &same[0];
        let holding = same
            .iter()
            .filter(|verdict| verdict.finding == Finding::Holds)
            .count();
        if holding > 0 {
            let arms = match same.len() {
                1 => same[0].found.clone(),
                all if all == holding => format!("in all {all} arms"),
                all => format!("in {holding} of {all} arms"),
            };
            let _ = writeln!(text, "  {:<12}  {metric} {bound}: {arms}", Finding::Holds);
        }
        for verdict in same
            .iter()
            .filter(|verdict| verdict.finding != Finding::Holds)
        {
            let at = if verdict.arm.is_empty() {
                String::new()
            } else {
                format!(" at {}", verdict.arm)
            };
            let Verdict { finding, found, .. } = verdict;
            let _ = writeln!(text, "  {finding:<12}  {metric} {bound}{at}: {found}");
        }
    }
    text
}
