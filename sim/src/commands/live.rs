//! `routelab live`: a scenario over HTTP on loopback, beside its simulation, as the two arms of one
//! report. Both have the same requests and the same luck, so that what differs is the driver. Where the
//! machine could not keep up, the result is undecided and says so.

use std::{num::NonZeroUsize, time::Duration};

use scenarios::RunPlan;
use sim::{live_record, run_plans};

use super::{Ended, compare, compare::Side, replay, run};
use crate::{cli::LiveArgs, complaint::Complaint, output, progress::note};

pub(super) fn live(args: &LiveArgs) -> Result<Ended, Complaint> {
    let mut scenario = args.scenario.clone();
    // Real time is dear: one replication unless more are asked for.
    scenario.reps = Some(scenario.reps.unwrap_or(1));
    let side = |label: &str| {
        let scenario = compare::as_one_arm(&scenario, &[])?;
        let label = label.to_owned();
        Ok::<_, Complaint>(Side { label, scenario })
    };
    let sides = [side("sim")?, side("live")?];
    if !args.output.no_report {
        output::check_directory(&args.output.out)?;
    }
    let plans = sides[0].scenario.plans();
    let mut records = run_plans(&plans, args.output.jobs.unwrap_or(NonZeroUsize::MIN), &())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Complaint::Usage {
            message: error.to_string(),
            help: "the system gives no threads".to_owned(),
        })?;
    let mut latest = Duration::ZERO;
    for (number, plan) in plans.iter().enumerate() {
        let seconds = plan.workload.duration().as_secs_f64() / args.speed;
        note(&format!(
            "live run {} of {}: {seconds:.0} s at least",
            number + 1,
            plans.len()
        ));
        let plan = RunPlan {
            arm: 1,
            ..plan.clone()
        };
        let journal = args.journal.as_deref().filter(|_| number == 0);
        let journal = journal.map(|file| replay::begin(file, &plan)).transpose()?;
        let run = runtime.block_on(live_record(&plan, args.speed, journal))?;
        let (record, late) = (run.record, run.latest);
        if let (Some(journal), Some(file)) = (run.journal, &args.journal) {
            replay::finish(journal, file)?;
        }
        records.push(record);
        latest = latest.max(late);
    }
    let command = format!(
        "routelab live {} --speed {}",
        args.scenario.typed(),
        args.speed
    );
    let sweep = compare::side_by_side("driver", &sides, records, command, false);
    let ended = run::give_out(&sweep, &[], &args.output, false)?;
    if latest <= TOO_LATE {
        return Ok(ended);
    }
    note(&format!(
        "arrivals came up to {:.1} s late: this machine is too slow for --speed {}, and the live arm \
         tells of the machine and not of the router; choose a lower one",
        latest.as_secs_f64(),
        args.speed
    ));
    Ok(Ended::Undecided)
}

/// In the run's time: requests that come later than this meet another router than they should.
const TOO_LATE: Duration = Duration::from_millis(500);
