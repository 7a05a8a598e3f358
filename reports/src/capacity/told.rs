//! A capacity plan in sentences and as a table.

use super::{Below, CapacityLine, CapacityRecord, Measure, Outage, SizeFound, SizeUnit};
use crate::{advice::lower_first, aligned::aligned, metrics::metric, stats::Estimate};

/// The finding, the hardest line first, then what the present size carries.
#[must_use]
pub fn capacity_finding(plan: &CapacityRecord) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(line) = plan.hardest() {
        told.extend(needs(plan, line));
        told.extend(line.below.as_ref().map(|below| one_less(plan, below)));
        told.extend(
            line.below
                .as_ref()
                .and_then(|below| bottleneck(plan, below)),
        );
    }
    told.extend(headroom(plan));
    let undecided = (plan.lines.iter()).filter(|line| line.found == SizeFound::NotShown);
    for line in undecided.filter(|line| Some(*line) != plan.hardest()) {
        told.push(format!("Undecided for {}.", asked(line)));
    }
    told.push(format!(
        "A size is enough where each bound of {} is shown to hold with {} % confidence, by replications \
         on seeds that took no part in the search.",
        plan.slo,
        percent(plan.confidence),
    ));
    told
}

/// What a line needs.
fn needs(plan: &CapacityRecord, line: &CapacityLine) -> Vec<String> {
    let asked = asked(line);
    let groups = || {
        let names = plan.groups.iter().map(|group| format!("`{}`", group.name));
        names.collect::<Vec<_>>().join(" and ")
    };
    let each = || {
        let each = plan.groups.iter().zip(&line.sizes);
        let each = each.map(|(group, size)| {
            let now = plan.unit.show(group.present);
            format!(
                "group `{}` needs {} (now {now})",
                group.name,
                plan.unit.show_whole(*size)
            )
        });
        each.collect::<Vec<_>>().join(", ")
    };
    match line.found {
        SizeFound::Shown => vec![
            format!("For {asked}, {}.", each()),
            format!(
                "There {} ({} replications).",
                measures(plan, line),
                line.replications
            ),
        ],
        SizeFound::NotShown => vec![
            format!("Undecided for {asked}: the search ended where {}.", each()),
            format!(
                "There {}, which {} fresh replications do not show to be enough; allow more with --max-reps.",
                measures(plan, line),
                line.replications
            ),
        ],
        SizeFound::None => vec![
            format!(
                "For {asked}, no size of {} up to {} is shown to meet {}.",
                groups(),
                plan.unit.show_whole(plan.most),
                plan.slo
            ),
            match line.out {
                Outage::None | Outage::Deployment => {
                    format!("At that size {}.", measures(plan, line))
                }
                Outage::Provider => format!(
                    "At that size {}; a group whose deployments are all with one provider has no size that \
                     survives it.",
                    measures(plan, line)
                ),
            },
        ],
    }
}

fn one_less(plan: &CapacityRecord, below: &Below) -> String {
    let failures = below.failures.iter().take(2);
    let failures: Vec<String> = failures
        .map(|(exception, share)| format!("{} % {exception}", percent(*share)))
        .collect();
    format!(
        "At {} {}{}{}.",
        plan.unit.show_whole(below.size),
        told(plan, &below.measure),
        match (below.is_missed, below.is_backlogged) {
            (_, true) => ", and the backlog grows through the run: what lasts is worse",
            (true, false) => "",
            (false, false) => ", which is not shown to be enough",
        },
        match failures.is_empty() {
            true => String::new(),
            false => format!("; of the failures there {}", failures.join(" and ")),
        }
    )
}

fn bottleneck(plan: &CapacityRecord, below: &Below) -> Option<String> {
    let metric = metric(&below.measure.metric)?;
    Some(match &below.bottleneck {
        Some(found) => format!(
            "First bottleneck: {} (without it, {} would be {} at {}).",
            found.limit,
            lower_first(metric.title()),
            metric.unit().show(found.without),
            plan.unit.show_whole(below.size),
        ),
        None => {
            "No single limit is the bottleneck: lifting none of them alone gains anything; what is \
                 left are the providers' own latency and failures."
                .to_owned()
        }
    })
}

fn headroom(plan: &CapacityRecord) -> Option<String> {
    let each = plan.headroom.iter().map(|headroom| {
        let load = match headroom.load {
            None => "less than 0.05× of today's load".to_owned(),
            Some(load) if headroom.is_at_least => format!("{} or more", times(load)),
            Some(load) => times(load),
        };
        format!("{load} with {}", headroom.out.words())
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| {
        format!(
            "At its present size it carries {} (steps of 0.05×).",
            each.join(" and ")
        )
    })
}

/// The load and what is out: `3× today's load with any one deployment out`.
fn asked(line: &CapacityLine) -> String {
    let when = line.when.as_ref().map(|when| format!(" ({when})"));
    format!(
        "{} today's load{} with {}",
        times(line.load),
        when.unwrap_or_default(),
        line.out.words()
    )
}

fn measures(plan: &CapacityRecord, line: &CapacityLine) -> String {
    let each: Vec<String> = (line.measures.iter())
        .map(|measure| told(plan, measure))
        .collect();
    match each.is_empty() {
        true => "nothing was measured".to_owned(),
        false => each.join(", "),
    }
}

/// A measure: `success is 99.92 ± 0.03 % (at least 99.50 %)`.
fn told(plan: &CapacityRecord, measure: &Measure) -> String {
    let Some(metric) = metric(&measure.metric) else {
        return format!("{} is unknown", measure.metric);
    };
    let group = match plan.groups.as_slice() {
        [_] => String::new(),
        groups => groups
            .get(measure.group)
            .map_or(String::new(), |group| format!(" of `{}`", group.name)),
    };
    let side = if measure.at_least {
        "at least"
    } else {
        "at most"
    };
    let out = match measure.out.is_empty() {
        true => String::new(),
        false => format!(", with {} out", measure.out),
    };
    format!(
        "{}{group} is {} ({side} {}{out})",
        lower_first(metric.title()),
        value(measure),
        metric.unit().show(measure.limit)
    )
}

fn value(measure: &Measure) -> String {
    let unit = metric(&measure.metric).map(crate::metrics::Metric::unit);
    let estimate = measure.mean.map(|mean| Estimate {
        mean,
        half_width: measure.half_width,
        n: 0,
    });
    match (unit, estimate) {
        (Some(unit), Some(estimate)) => unit.show_estimate(&estimate),
        _ => "unknown: in a replication nothing was answered".to_owned(),
    }
}

/// Lines for a terminal: a head, then a line for each load and outage.
#[must_use]
pub fn capacity_table(plan: &CapacityRecord) -> String {
    let rows: Vec<Vec<String>> = rows(plan);
    let mut text = String::new();
    for line in aligned(&rows) {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The finding and the table, to be pasted into a ticket.
#[must_use]
pub fn capacity_markdown(plan: &CapacityRecord) -> String {
    let mut text = format!("{}\n\n", escaped(&capacity_finding(plan).join(" ")));
    for (at, row) in rows(plan).iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
        text += &format!("| {} |\n", cells.join(" | "));
        if at == 0 {
            let rule: Vec<&str> = row.iter().map(|_| "---").collect();
            text += &format!("| {} |\n", rule.join(" | "));
        }
    }
    text
}

/// The head and the rows of the table.
pub(crate) fn rows(plan: &CapacityRecord) -> Vec<Vec<String>> {
    let group = |group: &super::CapacityGroup| {
        let now = plan.unit.show(group.present);
        match plan.unit {
            SizeUnit::Deployments => format!("{}: deployments (now {now})", group.name),
            SizeUnit::QuotaTenths => format!("{}: quota", group.name),
        }
    };
    let head = ["Load".to_owned(), "Out".to_owned()]
        .into_iter()
        .chain(plan.groups.iter().map(group))
        .chain(
            [
                "At that size",
                "One less",
                "First bottleneck",
                "$ per 1,000",
                "$ per hour",
            ]
            .map(str::to_owned),
        );
    let row = |line: &CapacityLine| {
        let load = match &line.when {
            Some(when) => format!("{} ({when})", times(line.load)),
            None => times(line.load),
        };
        let size = |at: usize| match (line.found, line.sizes.get(at)) {
            (SizeFound::Shown, Some(size)) => plan.unit.show(*size),
            (SizeFound::NotShown, Some(size)) => format!("{}?", plan.unit.show(*size)),
            (SizeFound::None, _) | (_, None) => format!("more than {}", plan.unit.show(plan.most)),
        };
        let measured: Vec<String> = (line.measures.iter())
            .map(|measure| format!("{} {}", name(&measure.metric), value(measure)))
            .collect();
        let below = line.below.as_ref();
        let one_less = below.map(|below| {
            let open = match (below.is_missed, below.is_backlogged) {
                (_, true) => ", backlog grows",
                (true, false) => "",
                (false, false) => "?",
            };
            format!(
                "{} {}{open}",
                name(&below.measure.metric),
                value(&below.measure)
            )
        });
        let bound = below.map(|below| match &below.bottleneck {
            Some(found) => found.limit.clone(),
            None => "no single limit".to_owned(),
        });
        let dollars =
            |usd: Option<f64>| usd.map_or_else(|| NOTHING.to_owned(), |usd| format!("{usd:.2}"));
        [load, line.out.words().to_owned()]
            .into_iter()
            .chain((0..plan.groups.len()).map(size))
            .chain([
                measured.join("; "),
                one_less.unwrap_or_else(|| NOTHING.to_owned()),
                bound.unwrap_or_else(|| NOTHING.to_owned()),
                dollars(line.cost_usd_per_1000_requests),
                dollars(line.cost_usd_per_hour),
            ])
            .collect()
    };
    std::iter::once(head.collect())
        .chain(plan.lines.iter().map(row))
        .collect()
}

fn name(metric_name: &str) -> String {
    metric(metric_name).map_or_else(
        || metric_name.to_owned(),
        |metric| lower_first(metric.title()),
    )
}

/// `3×`, `1.25×`.
pub(crate) fn times(load: f64) -> String {
    let text = format!("{load:.2}");
    format!("{}×", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A share in per cent, without decimals that it does not need.
fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// What is not known or not there.
const NOTHING: &str = "—";
