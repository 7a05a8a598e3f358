//! `routelab live`: a scenario over HTTP on loopback, beside its simulation, as the two arms of one
//! report. Both have the same requests and the same luck, so that what differs is the driver. Where the
//! machine could not keep up, the result is undecided and says so.

use std::{num::NonZeroUsize, path::Path, time::Duration};

use reports::RunRecord;
use scenarios::RunPlan;
use sim::{live_record, run_plans};

use super::{Ended, compare, compare::Side, replay, run};
use crate::{
    cli::{LiveArgs, ScenarioArgs},
    complaint::Complaint,
    output,
    progress::note,
};

/// A scenario in virtual time and over HTTP.
pub(super) struct Both {
    pub(super) sides: [Side; 2],
    pub(super) sim: Vec<RunRecord>,
    pub(super) live: Vec<RunRecord>,
    /// How late the machine was at most, in the run's time.
    pub(super) latest: Duration,
}

pub(super) fn live(args: &LiveArgs) -> Result<Ended, Complaint> {
    let mut scenario = args.scenario.clone();
    // Real time is dear: one replication unless more are asked for.
    scenario.reps = Some(scenario.reps.unwrap_or(1));
    if !args.output.no_report {
        output::check_directory(&args.output.out)?;
    }
    let both = run_both(
        &scenario,
        args.speed,
        args.output.jobs,
        args.journal.as_deref(),
    )?;
    let command = format!(
        "routelab live {} --speed {}",
        args.scenario.typed(),
        args.speed
    );
    let records = both.sim.into_iter().chain(both.live).collect();
    let sweep = compare::side_by_side("driver", &both.sides, records, command, false);
    let ended = run::give_out(&sweep, &[], &args.output, false)?;
    Ok(match too_slow(both.latest, args.speed) {
        None => ended,
        Some(why) => {
            note(&why);
            Ended::Undecided
        }
    })
}

/// Runs a scenario, as one arm, in both ways.
pub(super) fn run_both(
    scenario: &ScenarioArgs,
    speed: f64,
    jobs: Option<NonZeroUsize>,
    journal: Option<&Path>,
) -> Result<Both, Complaint> {
    let side = |label: &str| {
        let scenario = compare::as_one_arm(scenario, &[])?;
        let label = label.to_owned();
        Ok::<_, Complaint>(Side { label, scenario })
    };
    let sides = [side("sim")?, side("live")?];
    let plans = sides[0].scenario.plans();
    let sim = run_plans(&plans, jobs.unwrap_or(NonZeroUsize::MIN), &())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Complaint::Usage {
            message: error.to_string(),
            help: "the system gives no threads".to_owned(),
        })?;
    let (mut live, mut latest) = (Vec::new(), Duration::ZERO);
    for (number, plan) in plans.iter().enumerate() {
        let seconds = plan.workload.duration().as_secs_f64() / speed;
        note(&format!(
            "live run {} of {}: {seconds:.0} s at least",
            number + 1,
            plans.len()
        ));
        let plan = RunPlan {
            arm: 1,
            ..plan.clone()
        };
        let file = journal.filter(|_| number == 0);
        let heard = file.map(|file| replay::begin(file, &plan)).transpose()?;
        let run = runtime.block_on(live_record(&plan, speed, heard))?;
        live.push(run.record);
        latest = latest.max(run.latest);
        if let (Some(journal), Some(file)) = (run.journal, file) {
            replay::finish(journal, file)?;
        }
    }
    Ok(Both {
        sides,
        sim,
        live,
        latest,
    })
}

/// Why the live side tells of the machine and not of the router, if it does.
pub(super) fn too_slow(latest: Duration, speed: f64) -> Option<String> {
    (latest > TOO_LATE).then(|| {
        format!(
            "arrivals or timers came up to {:.1} s late: this machine is too slow for --speed {speed}, and \
             the live side tells of the machine and not of the router; choose a lower one",
            latest.as_secs_f64(),
        )
    })
}

/// In the run's time: what comes later than this meets another router than it should.
const TOO_LATE: Duration = Duration::from_millis(500);
