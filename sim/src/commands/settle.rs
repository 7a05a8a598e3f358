//! A study of a lasting state: what its start-up is, left out of every number, and the refusal of arms
//! under which nothing lasts.

use std::time::Duration;

use reports::RunRecord;
use scenarios::{Kind, RunPlan};
use sim::{StartUp, labels_text, overload, run_plans, start_up};

use super::run::jobs;
use crate::{cli::OutputArgs, complaint::Complaint, progress::Progress};

/// What was done to the plans of a study.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// What the reader should know of it.
    pub(super) notes: Vec<String>,
    /// Arms that were refused: they have no plan any more.
    pub(super) refused: Vec<usize>,
    /// The start-up that every plan leaves out.
    pub(super) warm_up: Duration,
    /// Whether the user had enough.
    pub(super) interrupted: bool,
}

/// Arms as a study sees them.
pub(super) struct Arms<'a> {
    pub(super) kind: Kind,
    /// The labels of each.
    pub(super) labels: Vec<&'a [(String, String)]>,
    pub(super) reference: usize,
}

/// Does nothing to a passing event. Of a lasting state it runs the first replications of every arm to see
/// how long the start-up takes, the same for all arms, and takes out the plans of arms whose backlog grows.
///
/// # Errors
///
/// If there is no lasting state under the reference.
pub(super) fn settle(
    plans: &mut Vec<RunPlan>,
    arms: &Arms<'_>,
    whole: Option<&str>,
    output: &OutputArgs,
) -> Result<Settled, Complaint> {
    let mut settled = Settled::default();
    if arms.kind == Kind::Terminating {
        return Ok(settled);
    }
    let pilots: Vec<RunPlan> = (plans.iter())
        .filter(|plan| plan.replication < PILOTS)
        .cloned()
        .collect();
    let progress = Progress::start_batch(pilots.len(), jobs(output).get().min(pilots.len()));
    let runs = run_plans(&pilots, jobs(output), &progress);
    settled.interrupted = progress.finish();
    let mut runs = runs?;
    if settled.interrupted {
        return Ok(settled);
    }
    for (arm, labels) in arms.labels.iter().enumerate() {
        let of_arm: Vec<RunRecord> = runs.iter().filter(|run| run.arm == arm).cloned().collect();
        let Some((first, second)) = overload(&of_arm) else {
            continue;
        };
        let name = match labels.is_empty() {
            true => "this configuration".to_owned(),
            false => labels_text(labels),
        };
        let told = format!(
            "{name} has no lasting state: its backlog grows, from at most {first:.0} unfinished requests in the first half of \
             a run to {second:.0} in the second (means over {} replications)",
            of_arm.len()
        );
        if arm == arms.reference || arms.labels.len() == 1 {
            return Err(Complaint::Usage {
                message: told,
                help:
                    "what is measured would depend on how long the run is: take less load or more \
                       capacity, or say `kind: terminating` to study how it fills up"
                        .to_owned(),
            });
        }
        settled.notes.push(format!("Refused: {told}."));
        settled.refused.push(arm);
    }
    let is_left = |arm: usize| !settled.refused.contains(&arm);
    plans.retain(|plan| is_left(plan.arm));
    runs.retain(|run| is_left(run.arm));
    if let Some(why) = whole {
        settled
            .notes
            .push(format!("The start-up is not left out: {why}."));
        return Ok(settled);
    }
    let duration_s = runs.first().map_or(0.0, |run| run.duration_s);
    let (warm_up_s, told) = match start_up(&runs) {
        StartUp::EndsAt(warm_up_s) => (
            warm_up_s,
            format!(
                "The first {warm_up_s:.0} s of {duration_s:.0} s are left out of every number: the start-up, by MSER-5 over \
                 unfinished requests."
            ),
        ),
        StartUp::NotOver => (
            0.0,
            format!(
                "WARNING: whether the start-up is over cannot be told within {duration_s:.0} s (MSER-5), so nothing is \
                 left out: make `workload.duration_s` longer."
            ),
        ),
    };
    settled.notes.push(told);
    settled.warm_up = Duration::from_secs_f64(warm_up_s);
    for plan in plans {
        plan.warm_up = settled.warm_up;
    }
    Ok(settled)
}

/// Replications of each arm in which the start-up is looked for.
const PILOTS: u32 = 3;
