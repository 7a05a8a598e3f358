//! `routelab compare sim live`: does the run over HTTP tell the same as the simulation, within margins?

use reports::{Margin, Sameness, Twins};

use super::{Ended, gate, live};
use crate::{cli::TwinArgs, complaint::Complaint, output};

pub(super) fn compare(args: &TwinArgs) -> Result<Ended, Complaint> {
    let margins: Vec<Margin> = gate::read_margins(&args.margins)?;
    let mut scenario = args.scenario.clone();
    scenario.reps = Some(scenario.reps.unwrap_or(REPLICATIONS));
    let both = live::run_both(&scenario, args.speed, args.jobs, args.journal.as_deref())?;
    let title = both.sides[0].scenario.name();
    let mut twins = Twins::judge(title, &both.sim, &both.live, &margins);
    twins.doubt = live::too_slow(both.latest, args.speed);
    output::print(&twins.text())?;
    Ok(match twins.sameness() {
        Sameness::Same => Ended::Done,
        Sameness::Undecided => Ended::Undecided,
        Sameness::Differs => Ended::ExpectationFailed,
    })
}

/// Real time is dear, and fewer have no interval worth the name.
const REPLICATIONS: u32 = 4;
