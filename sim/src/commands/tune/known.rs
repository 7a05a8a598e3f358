//! Whether what is asked for has a value at all, told before the search and not after it.

use sim::{run_plans, tune::Objective};

use super::cases::Case;
use crate::{
    cli::{TuneArgs, USUAL_OBJECTIVE},
    complaint::Complaint,
    progress::Progress,
};

/// Runs the present settings once in each scenario and tells of a metric that has no value there.
/// The bound on cost of the usual objective, for which nobody asked, is left out instead; what is
/// told of that.
pub(super) fn check(
    args: &TuneArgs,
    cases: &[Case],
    objective: &mut Objective,
) -> Result<Option<String>, Complaint> {
    let is_usual = args.objective == USUAL_OBJECTIVE;
    let mut told = None;
    for case in cases {
        let plan = case.load(&[], 1, 0)?.plan(0, 0);
        let progress = Progress::start_batch(1, 1);
        let runs = run_plans(
            std::slice::from_ref(&plan),
            std::num::NonZeroUsize::MIN,
            &progress,
        );
        progress.finish();
        let runs = runs?;
        // An interrupted run tells nothing; the search ends by itself then.
        let Some(run) = runs.first() else {
            return Ok(told);
        };
        let is_cost = |name: &str| name.starts_with("cost_usd");
        if is_usual {
            let all = objective.bounds.len();
            let is_known = |bound: &sim::tune::Bound| {
                !is_cost(bound.metric.name()) || bound.metric.value(run).is_some()
            };
            objective.bounds.retain(is_known);
            if objective.bounds.len() < all {
                let why = "Cost is unknown without prices: its bound is left out (see --prices).";
                told = Some(why.to_owned());
            }
        }
        let unknown = objective.metrics().find(|one| one.value(run).is_none());
        let Some(metric) = unknown else { continue };
        let name = metric.title().to_lowercase();
        let scenario = case.named();
        let has_slo = plan.slo.latency.is_some() || plan.slo.first_token.is_some();
        let (message, help) = if metric.name().starts_with("goodput") && !has_slo {
            (
                format!("{name} is unknown in {scenario}: it has no slo"),
                "for example: --set slo.latency_s=20, or an objective on success",
            )
        } else {
            let help = match is_cost(metric.name()) {
                true => "give the prices of the models with --prices",
                false => "ask for another metric; `routelab list metrics` names them",
            };
            let why = "has no value under the present settings in";
            (format!("{name} {why} {scenario}"), help)
        };
        return Err(Complaint::Usage {
            message,
            help: help.to_owned(),
        });
    }
    Ok(told)
}
