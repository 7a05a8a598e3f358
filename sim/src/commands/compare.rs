//! `routelab compare`: a scenario under two or more settings, or under two LiteLLM configs, as the
//! arms of one sweep. All arms meet the same requests and the same luck, so that the differences
//! between them are paired.

use std::path::Path;

use reports::{ArmRecord, AxisRecord, RunRecord, SweepRecord};
use scenarios::{RunPlan, Scenario};
use sim::sweep_record;

use super::{
    Ended, quoted, run,
    settle::{Arms, settle},
    sweep::without_axes,
    twins,
};
use crate::{
    cli::{CompareArgs, Drivers, ScenarioArgs, Twin},
    complaint::Complaint,
};

/// One of the things that are compared.
pub(super) struct Side {
    pub(super) label: String,
    pub(super) scenario: Scenario,
}

pub(super) fn compare(args: &CompareArgs) -> Result<Ended, Complaint> {
    if let Some(Drivers::Sim {
        with: Twin::Live(args),
    }) = &args.drivers
    {
        return twins::compare(args);
    }
    let (axis, sides) = match (&args.against, &args.scenario.config) {
        (Some(against), Some(config)) => ("config", configs(&args.scenario, config, against)?),
        _ => ("settings", settings(&args.scenario, &args.arms)?),
    };
    let mut plans: Vec<RunPlan> = (0..)
        .zip(&sides)
        .flat_map(|(arm, side)| {
            side.scenario
                .plans()
                .into_iter()
                .map(move |plan| RunPlan { arm, ..plan })
        })
        .collect();
    let labels: Vec<Vec<(String, String)>> = (sides.iter())
        .map(|side| vec![(axis.to_owned(), side.label.clone())])
        .collect();
    let arms = Arms {
        kind: sides[0].scenario.kind(),
        labels: labels.iter().map(Vec::as_slice).collect(),
        reference: 0,
    };
    let whole = run::counts_all(&plans, args.hindsight);
    let settled = settle(&mut plans, &arms, whole, &args.output)?;
    let mut done = run::execute_plans(&plans, &args.output)?;
    done.interrupted |= settled.interrupted;
    if args.hindsight {
        done.add_hindsight(&plans, &args.output)?;
    }
    let partial = done.records.len() < plans.len();
    let mut sweep = side_by_side(axis, &sides, done.records, typed(args), partial);
    sweep.notes.extend(settled.notes);
    run::give_out(&sweep, &[], &args.output, done.interrupted)
}

/// The scenario under each of two configs.
pub(super) fn configs(
    scenario: &ScenarioArgs,
    config: &Path,
    against: &Path,
) -> Result<Vec<Side>, Complaint> {
    if config == against {
        return Err(Complaint::Usage {
            message: "the two configs are the same file".to_owned(),
            help: "give another file with --against".to_owned(),
        });
    }
    [config, against]
        .into_iter()
        .map(|file| {
            let scenario = ScenarioArgs {
                config: Some(file.to_path_buf()),
                ..scenario.clone()
            };
            Ok(Side {
                label: file.display().to_string(),
                scenario: as_one_arm(&scenario, &[])?,
            })
        })
        .collect()
}

fn settings(scenario: &ScenarioArgs, arms: &[String]) -> Result<Vec<Side>, Complaint> {
    if arms.len() < 2 {
        return Err(Complaint::Usage {
            message: "a comparison needs at least two arms".to_owned(),
            help: format!("for example: --arm {AS_IS} --arm cooldown_time=1,num_retries=2"),
        });
    }
    let mut sides: Vec<Side> = Vec::new();
    for label in arms {
        if sides.iter().any(|side| side.label == *label) {
            return Err(Complaint::Usage {
                message: format!("the arm `{label}` is given twice"),
                help: "give each arm once; the first is the reference".to_owned(),
            });
        }
        let scenario = as_one_arm(scenario, &assignments(label)?)?;
        sides.push(Side {
            label: label.clone(),
            scenario,
        });
    }
    Ok(sides)
}

/// The scenario without its own axes, and what depends on them.
pub(super) fn as_one_arm(
    scenario: &ScenarioArgs,
    changes: &[(String, String)],
) -> Result<Scenario, Complaint> {
    let mut changed = scenario.clone();
    changed.reps = Some(scenario.load()?.replications());
    changed.sets = without_axes();
    changed
        .sets
        .extend(scenario.sets.iter().chain(changes).cloned());
    changed.load()
}

/// The changes that an arm stands for.
fn assignments(arm: &str) -> Result<Vec<(String, String)>, Complaint> {
    if arm.trim() == AS_IS {
        return Ok(Vec::new());
    }
    split_outside_brackets(arm)
        .into_iter()
        .map(|change| match change.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok((path.trim().to_owned(), value.trim().to_owned()))
            }
            _ => Err(Complaint::Usage {
                message: format!("the arm `{arm}` holds `{change}`, which changes nothing"),
                help: format!("write path=value, with commas between several, or `{AS_IS}`"),
            }),
        })
        .collect()
}

/// The parts between commas, where a comma inside brackets or quotes parts nothing.
fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut quote, mut begin) = (0_u32, None, 0);
    for (index, c) in text.char_indices() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                parts.push(&text[begin..index]);
                begin = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// The sides as the arms of one sweep; the first is the reference.
pub(super) fn side_by_side(
    axis: &str,
    sides: &[Side],
    runs: Vec<RunRecord>,
    command: String,
    partial: bool,
) -> SweepRecord {
    let labels: Vec<String> = sides.iter().map(|side| side.label.clone()).collect();
    let mut arms: Vec<ArmRecord> = labels
        .iter()
        .map(|label| ArmRecord {
            labels: vec![(axis.to_owned(), label.clone())],
            runs: Vec::new(),
        })
        .collect();
    for run in runs {
        arms[run.arm].runs.push(run);
    }
    let each: Vec<SweepRecord> = sides
        .iter()
        .map(|side| sweep_record(&side.scenario, Vec::new(), String::new()))
        .collect();
    let told = |of: fn(&SweepRecord) -> &Vec<String>| {
        let mut lines: Vec<String> = Vec::new();
        for line in each.iter().flat_map(of) {
            if !lines.contains(line) {
                lines.push(line.clone());
            }
        }
        lines
    };
    SweepRecord {
        command,
        axes: vec![AxisRecord {
            name: axis.to_owned(),
            values: labels,
        }],
        arms,
        reference: 0,
        partial,
        notes: told(|sweep| &sweep.notes),
        doubts: told(|sweep| &sweep.doubts),
        ignored: told(|sweep| &sweep.ignored),
        ..each[0].clone()
    }
}

fn typed(args: &CompareArgs) -> String {
    let mut command = format!("routelab compare {}", args.scenario.typed());
    for arm in &args.arms {
        command += &format!(" --arm {}", quoted(arm));
    }
    if let Some(against) = &args.against {
        command += &format!(" --against {}", quoted(&against.display().to_string()));
    }
    command + run::typed_hindsight(args.hindsight)
}

/// The arm that changes nothing.
const AS_IS: &str = "as-is";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_inside_brackets_and_quotes_part_nothing() {
        assert_eq!(split_outside_brackets("a=1,b=2"), ["a=1", "b=2"]);
        assert_eq!(
            split_outside_brackets("a=[1,2],b='x,y'"),
            ["a=[1,2]", "b='x,y'"]
        );
        assert_eq!(split_outside_brackets(""), [""]);
    }

    #[test]
    fn an_arm_is_a_list_of_changes_or_none() {
        let change = |path: &str, value: &str| (path.to_owned(), value.to_owned());

        assert_eq!(assignments("as-is").unwrap(), []);
        assert_eq!(
            assignments("cooldown_time=1, num_retries=2").unwrap(),
            [change("cooldown_time", "1"), change("num_retries", "2")],
        );
        assert!(assignments("cooldown_time").is_err());
    }
}
