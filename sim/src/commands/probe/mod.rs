//! `routelab probe`: does a service come back by itself after a push? What is read off the runs is
//! [`sim::probe`]; here are the plans, the runs and what is told.

mod plans;

use std::{num::NonZeroUsize, thread};

use reports::{ProbeArm, ProbeRecord, SweepRecord, stats};
use scenarios::{RunPlan, Scenario};
use sim::{
    SimError, for_plans,
    probe::{Recovery, Served, Turns, record_served, recovery, turns},
    record_run, sweep_record,
};

use super::{Ended, quoted};
use crate::{
    cli::{Format, ProbeArgs, Push},
    complaint::Complaint,
    output,
    progress::{Progress, note},
};

pub(super) fn probe(args: &ProbeArgs) -> Result<Ended, Complaint> {
    let study = plans::Study::read(args)?;
    if args.output.format == Format::Csv {
        return Err(Complaint::Usage {
            message: "--format: probe gives its answer as console, markdown or json only"
                .to_owned(),
            help: "the report's directory has its runs as tables".to_owned(),
        });
    }
    let scenario = args.scenario.load()?;
    let (pushed, ramped) = (study.pushed(&scenario)?, study.ramped(&scenario)?);
    if !args.output.no_report {
        output::check_directory(&args.output.out)?;
    }
    let width_s = study.width_s(&scenario);
    let served = |plan: &RunPlan, watch: &Progress| record_served(plan, width_s, watch);
    let step_width_s = study.step_s / 20.0;
    let stepped = |plan: &RunPlan, watch: &Progress| record_served(plan, step_width_s, watch);
    let after = run(args, &pushed, served)?;
    let Some((after, ramp)) = after.zip(run(args, &ramped, stepped)?) else {
        note("interrupted before the probe was done: nothing is written");
        return Ok(Ended::Interrupted);
    };
    let record = ProbeRecord {
        push: study.told(),
        begin_s: study.before_s,
        end_s: study.before_s + study.length_s,
        watched_s: study.watched_s,
        width_s,
        loads: study.loads.clone(),
        step_s: study.step_s,
        arms: arms(&study, &scenario, &after, &ramp)?,
    };
    if !args.output.no_report {
        let Some(runs) = run(args, &pushed, record_run)? else {
            note("interrupted before the report was done: nothing is written");
            return Ok(Ended::Interrupted);
        };
        let sweep = SweepRecord {
            answer: reports::probe_finding(&record),
            probe: Some(record.clone()),
            ..sweep_record(&scenario, runs, typed(args))
        };
        let page = output::write_report(&sweep, &args.output.out)?;
        note(&format!("report: {}", page.display()));
    }
    give_out(args.output.format, &record)?;
    Ok(Ended::Done)
}

fn give_out(format: Format, record: &ProbeRecord) -> Result<(), Complaint> {
    let finding = reports::probe_finding(record);
    match format {
        Format::Json => {
            let document = serde_json::json!({"finding": finding, "probe": record});
            output::print(&format!("{document:#}\n"))
        }
        Format::Markdown => output::print(&reports::probe_markdown(record)),
        Format::Console | Format::Csv => {
            let text = finding.join("\n") + "\n\n" + &reports::probe_table(record);
            let picture = output::fitting(reports::probe_picture(record));
            output::print(&(text + &picture))
        }
    }
}

/// What became of each arm. Runs come arm by arm.
fn arms(
    study: &plans::Study,
    scenario: &Scenario,
    after: &[Served],
    ramp: &[Served],
) -> Result<Vec<ProbeArm>, Complaint> {
    let replications = scenario.replications() as usize;
    let both = after.chunks(replications).zip(ramp.chunks(replications));
    let arms = scenario.arms().iter().zip(both);
    arms.map(|(arm, (after, ramp))| {
        let labels = arm
            .labels
            .iter()
            .map(|(axis, value)| format!("{axis} {value}"));
        let label = labels.collect::<Vec<_>>().join(" · ");
        let found = |served| recovery(served, study.before_s, study.before_s + study.length_s);
        let found: Option<Vec<Recovery>> = after.iter().map(found).collect();
        let found = found.ok_or_else(|| Complaint::Usage {
            message: "in a replication nothing arrives before the push".to_owned(),
            help: "give it more time: --before 600".to_owned(),
        })?;
        let turns: Vec<Turns> = (ramp.iter())
            .map(|served| turns(served, &study.loads, study.step_s))
            .collect();
        let before: Vec<f64> = found.iter().map(|one| one.before).collect();
        let by_time: Vec<Vec<Option<f64>>> =
            after.iter().map(|one| one.shares().collect()).collect();
        let by_step: Vec<Vec<Option<f64>>> = turns.iter().map(|one| one.shares.clone()).collect();
        Ok(ProbeArm {
            label,
            before: stats::mean(&before),
            after_s: found.iter().map(|one| one.after_s).collect(),
            by_time: means(&by_time),
            by_step: means(&by_step),
            breaks: turns.iter().map(|one| one.breaks).collect(),
            recovers: turns.iter().map(|one| one.recovers).collect(),
        })
    })
    .collect()
}

/// Means place by place, of those that have a value there.
fn means(rows: &[Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let length = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mean = |at: usize| {
        let known: Vec<f64> = rows.iter().filter_map(|row| *row.get(at)?).collect();
        (!known.is_empty()).then(|| stats::mean(&known))
    };
    (0..length).map(mean).collect()
}

/// Runs plans; `None` if interrupted.
fn run<T: Send + Sync>(
    args: &ProbeArgs,
    plans: &[RunPlan],
    run: impl Fn(&RunPlan, &Progress) -> Result<T, SimError> + Sync,
) -> Result<Option<Vec<T>>, Complaint> {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let jobs = args.output.jobs.unwrap_or(cores);
    let progress = Progress::start(plans.len(), jobs.get().min(plans.len()));
    let done = for_plans(plans, jobs, &progress, |plan| run(plan, &progress));
    let interrupted = progress.finish();
    let done = done?;
    Ok((!interrupted && done.len() == plans.len()).then_some(done))
}

fn typed(args: &ProbeArgs) -> String {
    let push = match args.push {
        Push::Load => format!("--push load --factor {}", args.factor),
        Push::Outage => "--push outage".to_owned(),
    };
    format!(
        "routelab probe {} {push} --before {} --length {} --watch {} --ramp {} --step {}",
        args.scenario.typed(),
        args.before,
        args.length,
        args.watch,
        quoted(&args.ramp),
        args.step
    )
}
