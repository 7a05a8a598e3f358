//! `routelab gate`: did this change make routing worse? Old against new on the same requests and
//! the same luck, each metric with the loss that it may have; more replications are run until the
//! gate is decided, within a bound.

use std::{
    fs,
    io::Write as _,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::Command,
};

use reports::{Gate, GateSide, GateVerdict, Margin, RunRecord, SweepRecord};
use scenarios::{Expectation, RunPlan};
use sim::{Finding, judge};

use super::{
    Ended,
    compare::{Side, configs, side_by_side},
    run,
};
use crate::{
    cli::{Format, GateArgs, OutputArgs, ScenarioArgs},
    complaint::Complaint,
    output,
    progress::note,
};

pub(super) fn gate(args: &GateArgs) -> Result<Ended, Complaint> {
    let margins = margins(&args.margins)?;
    let gate = match (&args.baseline, &args.results) {
        (Some(old), Some(new)) => of_results(args, old, new, &margins)?,
        _ => match run_sides(args, &margins)? {
            Some(gate) => gate,
            None => return Ok(Ended::Interrupted),
        },
    };
    // Files come first: whoever reads standard output may leave early.
    if let Some(file) = &args.junit {
        let text = reports::gate_junit(&gate).map_err(|why| cannot_write(file, &why))?;
        write(file, &text)?;
    }
    if let Some(file) = &args.json {
        write(file, &reports::gate_json(&gate))?;
    }
    if let Some(file) = &args.summary {
        append(file, &reports::gate_markdown(&gate))?;
    }
    output::print(&reports::gate_text(&gate))?;
    Ok(match gate.verdict() {
        GateVerdict::Pass => Ended::Done,
        GateVerdict::Inconclusive => Ended::Undecided,
        GateVerdict::Fail => Ended::ExpectationFailed,
    })
}

/// Judges two reports. Nothing is run, so nothing that says how to run has a meaning.
fn of_results(
    args: &GateArgs,
    old: &Path,
    new: &Path,
    margins: &[Margin],
) -> Result<Gate, Complaint> {
    let ScenarioArgs {
        prices,
        profile,
        sets,
        seed,
        reps,
        ..
    } = &args.scenario;
    if prices.is_some() || profile.is_some() || seed.is_some() || reps.is_some() || !sets.is_empty()
    {
        return Err(Complaint::Usage {
            message: "--baseline and --results are judged as they are: nothing is run".to_owned(),
            help: "leave out --prices, --profile, --set, --seed and --reps".to_owned(),
        });
    }
    let (old, new) = (results(old)?, results(new)?);
    if !old.same_scenario(&new) {
        return Err(Complaint::Usage {
            message: "the results are of different scenarios".to_owned(),
            help: "compare results of one scenario under an old and a new config".to_owned(),
        });
    }
    Ok(Gate::judge(&old, &new, margins))
}

fn margins(given: &[(String, String)]) -> Result<Vec<Margin>, Complaint> {
    match given.is_empty() {
        true => Ok(Margin::defaults()),
        false => read_margins(given),
    }
}

/// Margins as they are typed.
pub(super) fn read_margins(given: &[(String, String)]) -> Result<Vec<Margin>, Complaint> {
    let read = |(metric, loss): &(String, String)| {
        Margin::read(metric, loss).map_err(|error| Complaint::Usage {
            message: format!("--margin {metric}={loss}: {error}"),
            help: "for example: --margin success_ratio=0.5pp --margin latency_p99_ms=10%".into(),
        })
    };
    given.iter().map(read).collect()
}

fn results(file: &Path) -> Result<GateSide, Complaint> {
    let label = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|error| Complaint::Usage {
        message: format!("cannot read {label}: {error}"),
        help: "give the `results.json` of a report of `routelab run` or `compare`".to_owned(),
    })?;
    GateSide::of_results(&text, &label).map_err(|why| Complaint::Usage {
        message: format!("cannot use {label}: {why}"),
        help: "give the `results.json` of a report of `routelab run` or `compare`".to_owned(),
    })
}

/// Runs both sides until the gate is decided or the bound is reached; `None` if interrupted
/// before anything could be judged.
fn run_sides(args: &GateArgs, margins: &[Margin]) -> Result<Option<Gate>, Complaint> {
    let config = args
        .scenario
        .config
        .as_deref()
        .unwrap_or_else(|| Path::new(""));
    let at_revision = |rev: &Option<String>| {
        let kept = rev.as_ref().map(|rev| of_revision(config, rev));
        kept.transpose()
    };
    let (old_kept, new_kept) = (at_revision(&args.against_rev)?, at_revision(&args.rev)?);
    let file = |kept: &Option<Kept>, given: &Path| {
        let kept = kept.as_ref().map(|kept| kept.0.clone());
        kept.unwrap_or_else(|| given.to_path_buf())
    };
    let old = file(&old_kept, args.against.as_deref().unwrap_or(config));
    let new = file(&new_kept, config);
    let label = |rev: &Option<String>, file: &Path| {
        let named = rev
            .as_ref()
            .map(|rev| format!("{}@{rev}", config.display()));
        named.unwrap_or_else(|| file.display().to_string())
    };
    let at = |reps: Option<u32>| -> Result<Vec<Side>, Complaint> {
        let scenario = ScenarioArgs {
            reps,
            config: Some(old.clone()),
            ..args.scenario.clone()
        };
        let mut sides = configs(&scenario, &old, &new)?;
        sides[0].label = label(&args.against_rev, &old);
        sides[1].label = label(&args.rev, &new);
        Ok(sides)
    };
    let mut sides = at(args.scenario.reps)?;
    if args.scenario.reps.is_none() && sides[0].scenario.replications() < FEWEST {
        sides = at(Some(FEWEST.min(args.max_reps)))?;
    }
    // The sides are single arms: what is expected is read off the scenario as it stands.
    let whole = ScenarioArgs {
        config: Some(new.clone()),
        ..args.scenario.clone()
    };
    let expected = whole.load()?.expect().to_vec();

    let mut records = Vec::new();
    let mut from = 0;
    loop {
        let reps = sides[0].scenario.replications();
        let done = run::execute_plans(&plans(&sides, from), &silently(args.jobs))?;
        records.extend(done.records);
        let sweep = side_by_side("config", &sides, in_order(&records), String::new(), false);
        if done.interrupted {
            note("interrupted: nothing was judged and nothing written");
            return Ok(None);
        }
        let gate = judged(&sweep, &sides, margins, &expected)?;
        let more = gate.next_replications(reps, args.max_reps);
        let Some(wanted) = more.filter(|_| args.scenario.reps.is_none()) else {
            return Ok(Some(gate));
        };
        note(&format!(
            "undecided after {reps} replications: running up to {wanted}"
        ));
        from = reps;
        sides = at(Some(wanted))?;
    }
}

/// Plans of both sides from replication `from` on, one side's beside the other's.
fn plans(sides: &[Side], from: u32) -> Vec<RunPlan> {
    let of = |(arm, side): (usize, &Side)| {
        let plans = side.scenario.plans().into_iter();
        plans
            .filter(|plan| plan.replication >= from)
            .map(|plan| RunPlan { arm, ..plan })
            .collect::<Vec<_>>()
    };
    sides.iter().enumerate().flat_map(of).collect()
}

fn in_order(records: &[RunRecord]) -> Vec<RunRecord> {
    let mut records = records.to_vec();
    records.sort_by_key(|run| (run.arm, run.replication));
    records
}

/// Judges the margins, and of what is expected all that is not for single arms of a sweep.
fn judged(
    sweep: &SweepRecord,
    sides: &[Side],
    margins: &[Margin],
    expected: &[Expectation],
) -> Result<Gate, Complaint> {
    let side = |arm: usize| GateSide::of_arm(sweep, arm, &sides[arm].label);
    let mut gate = Gate::judge(&side(0), &side(1), margins);
    let only_new = SweepRecord {
        arms: vec![sweep.arms[1].clone()],
        reference: 0,
        ..sweep.clone()
    };
    gate.doubts = sides[1].scenario.unused_providers().cloned().collect();
    for expectation in expected.iter().filter(|e| e.filter.is_empty()) {
        let verdicts = judge(std::slice::from_ref(expectation), &only_new)?;
        for verdict in verdicts {
            let asked = format!("{} {}: {}", verdict.metric, verdict.bound, verdict.found);
            let finding = match verdict.finding {
                Finding::Holds => GateVerdict::Pass,
                Finding::Inconclusive => GateVerdict::Inconclusive,
                Finding::Fails => GateVerdict::Fail,
            };
            gate.expectations.push((asked, finding));
        }
    }
    Ok(gate)
}

fn silently(jobs: Option<NonZeroUsize>) -> OutputArgs {
    OutputArgs {
        jobs,
        out: PathBuf::new(),
        no_report: true,
        format: Format::Console,
    }
}

/// A file that is removed when it is no longer needed.
struct Kept(PathBuf);

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The config as it was in a revision, in a file beside the system's other temporary ones.
fn of_revision(config: &Path, rev: &str) -> Result<Kept, Complaint> {
    let folder = match config.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let name = config.file_name().unwrap_or_default().to_string_lossy();
    let complaint = |why: &str| Complaint::Usage {
        message: format!("git has no {}@{rev}: {}", config.display(), why.trim()),
        help: "give a revision in which the file is there, and run inside its repository".into(),
    };
    let shown = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["show", "--end-of-options", &format!("{rev}:./{name}")])
        .output()
        .map_err(|error| complaint(&format!("git cannot be run: {error}")))?;
    if !shown.status.success() {
        return Err(complaint(&String::from_utf8_lossy(&shown.stderr)));
    }
    let plain: String = rev.chars().filter(char::is_ascii_alphanumeric).collect();
    let file = format!("routelab-{}-{plain}-{name}", std::process::id());
    let file = std::env::temp_dir().join(file);
    fs::write(&file, shown.stdout).map_err(|source| Complaint::Write {
        what: file.display().to_string(),
        source,
    })?;
    Ok(Kept(file))
}

fn write(file: &Path, text: &str) -> Result<(), Complaint> {
    fs::write(file, text).map_err(|source| Complaint::Write {
        what: file.display().to_string(),
        source,
    })
}

fn append(file: &Path, text: &str) -> Result<(), Complaint> {
    let mut options = fs::OpenOptions::new();
    options
        .create(true)
        .append(true)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|source| Complaint::Write {
            what: file.display().to_string(),
            source,
        })
}

fn cannot_write(file: &Path, why: &str) -> Complaint {
    Complaint::Write {
        what: file.display().to_string(),
        source: std::io::Error::other(why.to_owned()),
    }
}

/// Replications that a gate begins with where nobody sets their number.
const FEWEST: u32 = 10;
