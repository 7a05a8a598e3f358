//! A probe in sentences and as a table.

use super::{ProbeArm, ProbeRecord};
use crate::{
    aligned::aligned,
    stats::{quantile_interval, wilson},
};

/// What was found, arm by arm.
#[must_use]
pub fn probe_finding(probe: &ProbeRecord) -> Vec<String> {
    let mut told = Vec::new();
    for arm in &probe.arms {
        told.push(format!("{}{}.", named(arm), after_push(probe, arm)));
        told.extend(weak(arm));
        told.push(format!("{}{}.", named(arm), on_ramp(probe, arm)));
    }
    told.push(format!(
        "A service is back where it answers at least 90 % as many requests well as before the push, in three \
         windows of {} s in a row; medians have their 95 % intervals over replications, shares Wilson's.",
        number(probe.width_s)
    ));
    told
}

fn named(arm: &ProbeArm) -> String {
    match arm.label.is_empty() {
        true => String::new(),
        false => format!("{}: ", arm.label),
    }
}

fn after_push(probe: &ProbeRecord, arm: &ProbeArm) -> String {
    let (lost, all) = (arm.lost(), arm.after_s.len());
    let watched = number(probe.watched_s);
    let median = median(&arm.after_s, "s");
    let share = share(arm);
    let push = &probe.push;
    match lost {
        0 => format!(
            "after {push} all {all} replications recover, in {median} (not recovering within {watched} s: {share})"
        ),
        lost if lost == all => format!(
            "after {push} none of {all} replications recovers within {watched} s ({share} do not), although the load \
             is back at 1×: a metastable state"
        ),
        lost => format!(
            "after {push} {lost} of {all} replications do not recover within {watched} s ({share}), although the load \
             is back at 1×; the median is {median}"
        ),
    }
}

/// A doubt, where there was nothing to lose.
fn weak(arm: &ProbeArm) -> Option<String> {
    (arm.before < 0.9).then(|| {
        format!(
            "{}only {} of the requests were answered well before the push: what follows is compared with that.",
            named(arm),
            percent(arm.before)
        )
    })
}

fn on_ramp(probe: &ProbeRecord, arm: &ProbeArm) -> String {
    let top = probe.loads.get(probe.top()).copied().unwrap_or(1.0);
    let broken = arm.breaks.iter().flatten().count();
    let all = arm.breaks.len();
    if broken == 0 {
        return format!("as the load rises it does not break up to {}×", number(top));
    }
    let recovers: Vec<Option<f64>> = (arm.breaks.iter().zip(&arm.recovers))
        .filter(|(breaks, _)| breaks.is_some())
        .map(|(_, recovers)| *recovers)
        .collect();
    // A load that was never low enough is below every one that was tried.
    let lowest = probe.loads.iter().copied().fold(f64::INFINITY, f64::min);
    let stuck = recovers.iter().filter(|one| one.is_none()).count();
    let recovery = if stuck * 2 >= recovers.len() && stuck > 0 {
        format!(
            "and is not back even at {}×, the lowest load, in {stuck} of {} replications",
            number(lowest),
            recovers.len()
        )
    } else {
        format!("and is back at {} on the way down", median(&recovers, "×"))
    };
    let breaks = median(&arm.breaks, "×");
    match broken == all {
        true => format!("as the load rises it breaks at {breaks}, {recovery}"),
        false => format!(
            "as the load rises it breaks in {broken} of {all} replications (at {breaks}), {recovery}"
        ),
    }
}

/// The median with its interval; what is missing is longer than anything seen.
fn median(values: &[Option<f64>], unit: &str) -> String {
    let mut sorted: Vec<f64> = values
        .iter()
        .map(|one| one.unwrap_or(f64::INFINITY))
        .collect();
    sorted.sort_by(f64::total_cmp);
    let Some(middle) = sorted.get(sorted.len().saturating_sub(1) / 2) else {
        return "unknown".to_owned();
    };
    let shown = |value: f64| match value.is_finite() {
        true => format!("{}{}", number(value), spaced(unit)),
        false => "more than was watched".to_owned(),
    };
    match quantile_interval(&sorted, 0.5) {
        None => shown(*middle),
        Some((low, _)) if low.is_infinite() => shown(low),
        Some((low, high)) => format!("{} ({} to {})", shown(*middle), shown(low), shown(high)),
    }
}

fn spaced(unit: &str) -> String {
    match unit {
        "×" => unit.to_owned(),
        unit => format!(" {unit}"),
    }
}

/// The share of replications that do not recover, as an interval.
fn share(arm: &ProbeArm) -> String {
    let (lost, all) = (arm.lost() as u64, arm.after_s.len() as u64);
    match wilson(lost, all) {
        None => "unknown".to_owned(),
        Some((low, high)) => format!("95 % interval {} to {}", percent(low), percent(high)),
    }
}

/// Lines for a terminal.
#[must_use]
pub fn probe_table(probe: &ProbeRecord) -> String {
    let lines = aligned(&rows(probe)).into_iter();
    lines.map(|line| format!("  {line}\n")).collect()
}

/// The finding and the table as Markdown.
#[must_use]
pub fn probe_markdown(probe: &ProbeRecord) -> String {
    let escaped = |text: &str| text.replace('|', "\\|");
    let mut text = format!("{}\n\n", escaped(&probe_finding(probe).join(" ")));
    for (at, row) in rows(probe).iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
        text += &format!("| {} |\n", cells.join(" | "));
        if at == 0 {
            text += &format!(
                "| {} |\n",
                row.iter().map(|_| "---").collect::<Vec<_>>().join(" | ")
            );
        }
    }
    text
}

/// The head and the rows of the table.
pub(crate) fn rows(probe: &ProbeRecord) -> Vec<Vec<String>> {
    let head = [
        "Arm",
        "Before the push",
        "Not recovered",
        "Time to recover",
        "Breaks at",
        "Recovers at",
    ];
    let row = |arm: &ProbeArm| {
        let broken: Vec<Option<f64>> = (arm.breaks.iter().zip(&arm.recovers))
            .filter(|(breaks, _)| breaks.is_some())
            .map(|(_, recovers)| recovers.or(Some(f64::NEG_INFINITY)))
            .collect();
        let recovers = match broken.is_empty() {
            true => "—".to_owned(),
            false => {
                let mut loads: Vec<f64> = broken.iter().flatten().copied().collect();
                loads.sort_by(f64::total_cmp);
                match loads[(loads.len() - 1) / 2] {
                    load if load.is_finite() => format!("{}×", number(load)),
                    _ => "at no load".to_owned(),
                }
            }
        };
        let breaks = match arm.breaks.iter().flatten().count() {
            0 => "—".to_owned(),
            _ => median(&arm.breaks, "×"),
        };
        vec![
            match arm.label.is_empty() {
                true => "as it is".to_owned(),
                false => arm.label.clone(),
            },
            percent(arm.before),
            format!("{} of {}, {}", arm.lost(), arm.after_s.len(), share(arm)),
            median(&arm.after_s, "s"),
            breaks,
            recovers,
        ]
    };
    std::iter::once(head.map(str::to_owned).to_vec())
        .chain(probe.arms.iter().map(row))
        .collect()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
