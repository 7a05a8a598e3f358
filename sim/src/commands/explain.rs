//! `routelab explain`: one request's whole story, told by a full run that it is part of.

use router::{Instant, RequestId};
use scenarios::RunPlan;
use sim::{Sought, Story, find_first, labels_text, simulate};

use super::Ended;
use crate::{
    cli::{ExplainArgs, Fate},
    complaint::Complaint,
    output,
};

pub(super) fn explain(args: &ExplainArgs) -> Result<Ended, Complaint> {
    let scenario = args.scenario.load()?;
    if args.arm >= scenario.arms().len() || args.rep >= scenario.replications() {
        return Err(Complaint::Usage {
            message: format!(
                "there is no arm {} with a replication {}",
                args.arm, args.rep
            ),
            help: format!(
                "arms are 0 to {}, replications 0 to {}",
                scenario.arms().len() - 1,
                scenario.replications() - 1,
            ),
        });
    }
    let plan = scenario.plan(args.arm, args.rep);

    let request = request(args, &plan)?;
    let mut story = Story::new(&plan, request)?;
    let run_end = simulate(&plan, &mut story)?;
    let Some(arrived) = story.arrived() else {
        return Err(Complaint::Usage {
            message: format!("request {} does not arrive in this run", request.0),
            help: format!("its {} requests are counted from 0", run_end.requests),
        });
    };

    let labels = labels_text(&scenario.arms()[args.arm].labels);
    let arm = if labels.is_empty() {
        String::new()
    } else {
        format!(", {labels}")
    };
    output::print(&format!(
        "request {} of {}{arm}, replication {}: arrived {:.3} s into the run; times below count from then\n\n{story}",
        request.0,
        scenario.name(),
        args.rep,
        Instant::as_secs_f64(arrived),
    ))?;
    Ok(Ended::Done)
}

/// The request that was named, or the first that had the fate.
fn request(args: &ExplainArgs, plan: &RunPlan) -> Result<RequestId, Complaint> {
    let sought = match (args.first, args.request) {
        (None, number) => return Ok(RequestId(number.unwrap_or_default())),
        (Some(Fate::Cached), _) => Sought::Cached,
        (Some(Fate::Failed), _) => Sought::Failed,
        (Some(Fate::FellBack), _) => Sought::FellBack,
        (Some(Fate::Mirrored), _) => Sought::Mirrored,
        (Some(Fate::Retried), _) => Sought::Retried,
        (Some(Fate::Waited), _) => Sought::Waited,
    };
    find_first(plan, sought)?.ok_or_else(|| Complaint::Usage {
        message: "there is no such request in this run".to_owned(),
        help: "try another arm or replication: --arm N, --rep N".to_owned(),
    })
}
