//! `routelab explain`: one request's whole story, told by a full run that it is part of; or, without
//! a request, who is to blame for all that got no answer.

mod page;
mod shares;
mod time;

use reports::Blame;
use router::{Instant, RequestId};
use scenarios::{RunPlan, Scenario};
use sim::{Sought, Story, find, labels_text, simulate};

use super::Ended;
use crate::{
    cli::{ExplainArgs, Fate, Worst},
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
    let Some(request) = request(args, &plan)? else {
        if args.out.is_some() {
            return Err(Complaint::Usage {
                message: "--out writes the story of one request, and none is asked for".to_owned(),
                help: "say which: --request N, --first, --worst or --failed".to_owned(),
            });
        }
        return shares::tell(args, &scenario);
    };
    let mut story = Story::new(&plan, request)?;
    let run_end = simulate(&plan, &mut story)?;
    let Some(arrived) = story.arrived() else {
        return Err(Complaint::Usage {
            message: format!("request {} does not arrive in this run", request.0),
            help: format!("its {} requests are counted from 0", run_end.requests),
        });
    };
    // The page comes first: whoever reads standard output may leave early.
    if let Some(file) = &args.out {
        page::write(args, &scenario, &plan, &story, file)?;
    }
    output::print(&format!(
        "request {} of {}, replication {}: arrived {:.3} s into the run; times below count from then\n\n{}{}\nWhat happened, and the setting behind it\n{story}",
        request.0,
        of_arm(args, &scenario),
        args.rep,
        Instant::as_secs_f64(arrived),
        time::finding(&story),
        time::bars(story.spans(), story.took()),
    ))?;
    Ok(Ended::Done)
}

/// The scenario's name with the settings of the arm.
fn of_arm(args: &ExplainArgs, scenario: &Scenario) -> String {
    let labels = labels_text(&scenario.arms()[args.arm].labels);
    match labels.is_empty() {
        true => scenario.name().to_owned(),
        false => format!("{}, {labels}", scenario.name()),
    }
}

/// The request that was named, or the one that is described; `None` if neither was asked for.
fn request(args: &ExplainArgs, plan: &RunPlan) -> Result<Option<RequestId>, Complaint> {
    if let Some(number) = args.request {
        return Ok(Some(RequestId(number)));
    }
    let sought = match (args.first, args.worst, args.failed) {
        (Some(fate), ..) => match fate {
            Fate::Cached => Sought::Cached,
            Fate::Failed => Sought::Failed,
            Fate::FellBack => Sought::FellBack,
            Fate::Mirrored => Sought::Mirrored,
            Fate::Retried => Sought::Retried,
            Fate::Waited => Sought::Waited,
        },
        (None, Some(Worst::Latency), _) => Sought::LongestLatency,
        (None, Some(Worst::Waits), _) => Sought::LongestWaits,
        (None, None, Some(None)) => Sought::Failed,
        (None, None, Some(Some(blame))) => Sought::Blamed(blame),
        (None, None, None) => return Ok(None),
    };
    let found = find(plan, sought)?;
    found.map(Some).ok_or_else(|| Complaint::Usage {
        message: "there is no such request in this run".to_owned(),
        help: "try another arm or replication: --arm N, --rep N".to_owned(),
    })
}

/// A blame by its name, for the command line.
pub(crate) fn blame(text: &str) -> Result<Blame, String> {
    let named = Blame::ALL.into_iter().find(|blame| blame.name() == text);
    named.ok_or_else(|| {
        let known = Blame::ALL.map(Blame::name);
        format!("known are {}", known.join(", "))
    })
}
