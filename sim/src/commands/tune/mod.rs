//! `routelab tune`: which settings should I use? The search itself is [`sim::tune`]; here are the
//! knobs, the runs, the proof on fresh seeds, and what is told of it.

mod cases;
mod edit;
mod knobs;
mod known;
mod patch;
mod proof;
mod told;

use router::Seed;
use sim::tune::{Budget, Candidate, Objective, Space, tune as search};

use super::{Ended, quoted};
use crate::{
    cli::{Format, TuneArgs},
    complaint::Complaint,
    output,
    progress::note,
};

pub(super) fn tune(args: &TuneArgs) -> Result<Ended, Complaint> {
    let mut objective = Objective::read(&args.objective).map_err(|error| Complaint::Usage {
        message: format!("--objective: {error}"),
        help: "`routelab list metrics` names the metrics".to_owned(),
    })?;
    if !matches!(args.output.format, Format::Console | Format::Json) {
        return Err(Complaint::Usage {
            message: "--format: tune gives its answer as console or json only".to_owned(),
            help: "the report's directory has its runs as tables".to_owned(),
        });
    }
    // What cannot be written is told before the long work and not after it.
    if let Some(file) = &args.patch {
        patch::read(&args.scenario, file)?;
    }
    if !args.output.no_report {
        output::check_directory(&args.output.out)?;
    }
    let cases = cases::cases(args)?;
    let base = cases[0].load(&[], 1, 0)?;
    let space = knobs::space(&args.knobs, &base)?;
    cases::check_values(args, &cases[0], &space)?;
    patch::check(args, &space)?;
    let left_out = known::check(args, &cases, &mut objective)?;
    let mut runner = cases::Runner::new(&cases, &space, &objective, args.output.jobs);
    let budget = Budget {
        candidates: args.candidates as usize,
        replications: args.max_reps,
        ..Budget::default()
    };
    let Some(found) = search(&space, &objective, budget, Seed(base.seed()), &mut runner)? else {
        note("interrupted before anything was found");
        return Ok(Ended::Interrupted);
    };
    let Some(proof) = proof::prove(&mut runner, &found, args.proof_reps, Seed(base.seed()))? else {
        note("interrupted before the finalists were proved");
        return Ok(Ended::Interrupted);
    };
    let answer = told::Answer {
        objective: &objective,
        space: &space,
        found: &found,
        proof: &proof,
        left_out,
        doubts: base.unused_providers().cloned().collect(),
        scenarios: cases.iter().map(cases::Case::named).collect(),
    };
    let report = write_report(args, &answer, &cases, &space);
    let patch = patch::write(args, &space.changes(&proof.advised()));
    // Whatever becomes of the files, the answer is given.
    let told = patch.as_deref().unwrap_or_default();
    if args.output.format == Format::Json {
        output::print(&answer.json())?;
        if !told.is_empty() {
            note(told.trim());
        }
    } else {
        output::print(&(answer.text() + &output::fitting(answer.picture()) + told))?;
    }
    report?;
    patch?;
    Ok(match answer.breaks_a_limit() {
        true => Ended::ExpectationFailed,
        false => Ended::Done,
    })
}

fn write_report(
    args: &TuneArgs,
    answer: &told::Answer<'_>,
    cases: &[cases::Case],
    space: &Space,
) -> Result<(), Complaint> {
    if args.output.no_report {
        return Ok(());
    }
    let sweep = reports::SweepRecord {
        answer: answer.finding(),
        ..answer.proof.sweep(&cases[0], space, typed(args))?
    };
    let page = output::write_report(&sweep, &args.output.out)?;
    note(&format!("report: {}", page.display()));
    Ok(())
}

/// What a candidate is called in tables.
fn label(changes: &[(String, String)]) -> String {
    if changes.is_empty() {
        return "present".to_owned();
    }
    let changes = changes
        .iter()
        .map(|(path, value)| format!("{path}={value}"));
    changes.collect::<Vec<_>>().join(", ")
}

/// Values of the objective's metrics that a candidate had, by replication.
type Values = Vec<Vec<Option<f64>>>;

/// Candidates with the replication that is to be run.
type Jobs = Vec<(Candidate, u32)>;

fn typed(args: &TuneArgs) -> String {
    let mut command = format!(
        "routelab tune {} --objective {}",
        args.scenario.typed(),
        quoted(&args.objective)
    );
    for (scenario, weight) in &args.also {
        command += &format!(" --also {}", quoted(&format!("{scenario}={weight}")));
    }
    for (path, values) in &args.knobs {
        command += &format!(" --knob {}", quoted(&format!("{path}={values}")));
    }
    command
}
