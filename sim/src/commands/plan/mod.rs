//! `routelab plan`: how much is needed for more load, with something out? Sizes are changed and judged
//! by [`sim::capacity`]; here are the runs, the search over groups, and what is told of it.

mod below;
mod field;
mod headroom;
mod lines;
mod loads;
mod measured;
mod report;
mod seen;

use reports::{CapacityGroup, CapacityRecord, Outage, SizeUnit};
use sim::tune::{Bound, Limit};

use super::Ended;
use crate::{
    cli::{Format, Out, PlanArgs, Sized},
    complaint::Complaint,
    output,
    progress::note,
};

pub(super) fn plan(args: &PlanArgs) -> Result<Ended, Complaint> {
    let bounds = bounds(&args.slo)?;
    let loads = loads::loads(args)?;
    check(args)?;
    let unit = match args.size {
        Sized::Deployments => SizeUnit::Deployments,
        Sized::Quota => SizeUnit::QuotaTenths,
    };
    let most = match (args.size, args.most) {
        (Sized::Deployments, most) => most.unwrap_or(64),
        (Sized::Quota, most) => 10 * most.unwrap_or(16),
    };
    if !args.output.no_report {
        output::check_directory(&args.output.out)?;
    }
    let mut field = field::Field::new(args, unit, most, bounds)?;
    if !field.check_known()? {
        note("interrupted before anything was found");
        return Ok(Ended::Interrupted);
    }
    let mut record = CapacityRecord {
        unit,
        slo: args.slo.trim().to_owned(),
        confidence: args.confidence,
        groups: (field.groups.iter().zip(&field.present))
            .map(|(name, present)| CapacityGroup {
                name: name.clone(),
                present: *present,
            })
            .collect(),
        most,
        lines: Vec::new(),
        headroom: Vec::new(),
    };
    let outages = outages(args);
    let Some(lines) = lines::lines(&mut field, &loads, &outages)? else {
        note("interrupted before the plan was done: nothing is written");
        return Ok(Ended::Interrupted);
    };
    record.lines = lines;
    for &out in &outages {
        let Some(headroom) = headroom::headroom(&mut field, out)? else {
            note("interrupted before the plan was done: nothing is written");
            return Ok(Ended::Interrupted);
        };
        record.headroom.push(headroom);
    }
    if !args.output.no_report {
        let Some(sweep) = report::sweep(args, &field, &record)? else {
            note("interrupted before the plan was done: nothing is written");
            return Ok(Ended::Interrupted);
        };
        let page = output::write_report(&sweep, &args.output.out)?;
        note(&format!("report: {}", page.display()));
    }
    give_out(args.output.format, &record)?;
    Ok(match record.is_decided() {
        true => Ended::Done,
        false => Ended::Undecided,
    })
}

fn give_out(format: Format, record: &CapacityRecord) -> Result<(), Complaint> {
    let finding = reports::capacity_finding(record);
    match format {
        Format::Json => {
            let document = serde_json::json!({"finding": finding, "plan": record});
            output::print(&format!("{document:#}\n"))
        }
        Format::Markdown => output::print(&reports::capacity_markdown(record)),
        Format::Console | Format::Csv => {
            let text = finding.join("\n") + "\n\n" + &reports::capacity_table(record);
            let picture = output::fitting(reports::capacity_picture(record));
            output::print(&(text + &picture))
        }
    }
}

fn bounds(slo: &str) -> Result<Vec<Bound>, Complaint> {
    let usage = |message: String| Complaint::Usage {
        message: format!("--slo: {message}"),
        help:
            "for example: --slo 'success >= 99.5%; p99 <= 8s'; `routelab list metrics` names the \
               metrics"
                .to_owned(),
    };
    let bounds = Bound::read_all(slo).map_err(|error| usage(error.to_string()))?;
    match bounds
        .iter()
        .find(|bound| matches!(bound.limit, Limit::Relative(_)))
    {
        None => Ok(bounds),
        Some(bound) => Err(usage(format!(
            "the limit of {} is relative, and there is nothing here that it could be relative to",
            bound.metric.name()
        ))),
    }
}

/// Tells of what cannot be done together.
fn check(args: &PlanArgs) -> Result<(), Complaint> {
    let usage = |message: &str, help: &str| {
        Err(Complaint::Usage {
            message: message.to_owned(),
            help: help.to_owned(),
        })
    };
    if args.output.format == Format::Csv {
        return usage(
            "--format: plan gives its answer as console, markdown or json only",
            "the report's directory has its runs as tables",
        );
    }
    if args.scenario.reps.is_some() {
        return usage(
            "--reps: plan chooses the number of replications by itself",
            "bound it with --max-reps",
        );
    }
    if !(args.confidence >= 0.5 && args.confidence <= 0.9999) {
        return usage(
            "--confidence: accepted is a share from 0.5 to 0.9999",
            "for example: --confidence 0.95",
        );
    }
    Ok(())
}

/// What is out, each once, the least first.
fn outages(args: &PlanArgs) -> Vec<Outage> {
    let mut outages: Vec<Outage> = (args.outage.iter())
        .map(|out| match out {
            Out::None => Outage::None,
            Out::Deployment => Outage::Deployment,
            Out::Provider => Outage::Provider,
        })
        .collect();
    outages.sort_unstable();
    outages.dedup();
    outages
}
