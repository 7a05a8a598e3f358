//! What may be changed: knobs that are typed, or those that most routers have.

use router::{DeploymentConfig, RouterSettings};
use scenarios::Scenario;
use sim::tune::{Knob, Space};

use crate::complaint::Complaint;

/// The space of a search: the knobs given, else the usual ones.
pub(super) fn space(given: &[(String, String)], base: &Scenario) -> Result<Space, Complaint> {
    let place = |path: &str| scenarios::setting_path(path).unwrap_or_else(|_| path.to_owned());
    if let Some((path, _)) = twice(given, |a, b| place(&a.0) == place(&b.0)) {
        return Err(Complaint::Usage {
            message: format!("--knob {path} is given twice"),
            help: "give all its values in one, as in --knob cooldown_time=1,5,30".to_owned(),
        });
    }
    let router = base.plan(0, 0).router;
    let settings = &router.settings;
    let mut knobs = if given.is_empty() {
        let mut knobs = usual(settings);
        knobs.extend(weights(&router.deployments));
        knobs
    } else {
        given
            .iter()
            .map(|(path, values)| typed(path, values, settings))
            .collect::<Result<_, _>>()?
    };
    knobs.retain(|knob| knob.levels.len() > 1);
    if knobs.is_empty() {
        return Err(Complaint::Usage {
            message: "there is nothing to choose from: every knob has one value only".to_owned(),
            help: "for example: --knob cooldown_time=1,5,30".to_owned(),
        });
    }
    Ok(Space { knobs })
}

/// A knob as typed: its values, and the present setting where it is not among them.
fn typed(path: &str, values: &str, settings: &RouterSettings) -> Result<Knob, Complaint> {
    let values: Vec<String> = values
        .split(',')
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
        .collect();
    if values.is_empty() {
        return Err(Complaint::Usage {
            message: format!("--knob {path} has no values"),
            help: "for example: --knob cooldown_time=1,5,30".to_owned(),
        });
    }
    if let Some(value) = twice(&values, |a, b| same(a, b)) {
        return Err(Complaint::Usage {
            message: format!("--knob {path}: `{value}` appears twice"),
            help: "keep one of the two".to_owned(),
        });
    }
    Ok(knob(path, &values, present(path, settings)))
}

/// The first that is the same as one before it.
pub(super) fn twice<T>(all: &[T], same: impl Fn(&T, &T) -> bool) -> Option<&T> {
    let found = (0..all.len()).find(|&at| all[..at].iter().any(|one| same(one, &all[at])));
    found.map(|at| &all[at])
}

/// The knobs of a search that names none. Levels are ours: steps that users try.
fn usual(settings: &RouterSettings) -> Vec<Knob> {
    let of = |path: &str, values: &[&str]| {
        let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
        knob(path, &values, present(path, settings))
    };
    vec![
        of(
            "routing_strategy",
            &[
                "simple-shuffle",
                "least-busy",
                "latency-based-routing",
                "usage-based-routing-v2",
            ],
        ),
        of("cooldown_time", &["1", "2", "5", "10", "20", "30", "60"]),
        of("allowed_fails", &["0", "1", "2", "5", "10"]),
        of("num_retries", &["0", "1", "2", "3", "5"]),
        of("retry_after", &["0", "1", "2", "5"]),
        of("timeout", &["10", "20", "30", "60", "120"]),
        of(
            "default_max_parallel_requests",
            &["5", "10", "20", "50", "100"],
        ),
    ]
}

/// The weights of groups in which every deployment has one, or none has anything to share by. The
/// weights of a group are written together: LiteLLM reads a missing one beside others as 0.
fn weights(deployments: &[DeploymentConfig]) -> Vec<Knob> {
    let of = |(at, deployment): (usize, &DeploymentConfig)| {
        let group = || {
            let all = deployments.iter();
            all.filter(|other| other.model_name == deployment.model_name)
        };
        let all_weighted = group().all(|one| one.weight.is_some());
        let none_shares =
            group().all(|one| one.weight.is_none() && one.rpm.is_none() && one.tpm.is_none());
        if group().count() < 2 || !(all_weighted || none_shares) {
            return None;
        }
        let bundle = deployments
            .iter()
            .position(|other| other.model_name == deployment.model_name);
        let present = deployment.weight.unwrap_or(1.0);
        let levels = [0.25, 0.5, 1.0, 2.0, 4.0].map(|part| (present * part).to_string());
        let path = format!("model_list[{at}].litellm_params.weight");
        Some(Knob {
            bundle,
            ..knob(&path, &levels, Some(present.to_string()))
        })
    };
    deployments.iter().enumerate().filter_map(of).collect()
}

/// Levels in order, with the present setting among them.
fn knob(path: &str, values: &[String], present: Option<String>) -> Knob {
    let present = present.unwrap_or_else(|| NOT_SET.to_owned());
    let mut levels = values.to_vec();
    if !levels.iter().any(|level| same(level, &present)) {
        levels.insert(0, present.clone());
    }
    let number = |level: &String| level.parse::<f64>().ok();
    let ordered = levels
        .iter()
        .all(|level| level == NOT_SET || number(level).is_some());
    if ordered {
        // What is not set stands before every number.
        let rank = |level: &String| number(level).unwrap_or(f64::NEG_INFINITY);
        levels.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    }
    let at = levels.iter().position(|level| same(level, &present));
    Knob {
        path: path.to_owned(),
        present: at.unwrap_or(0),
        levels,
        ordered,
        bundle: None,
    }
}

fn same(a: &str, b: &str) -> bool {
    let numbers = a.parse::<f64>().ok().zip(b.parse::<f64>().ok());
    numbers.map_or(a == b, |(a, b)| a.to_bits() == b.to_bits())
}

/// A setting as it is now, with LiteLLM's default where it has one.
fn present(path: &str, settings: &RouterSettings) -> Option<String> {
    let seconds = |time: std::time::Duration| time.as_secs_f64().to_string();
    match path.rsplit('.').next().unwrap_or(path) {
        "routing_strategy" => Some(settings.routing_strategy.name().to_owned()),
        "cooldown_time" => Some(
            settings
                .cooldown_time
                .map_or_else(|| "5".to_owned(), seconds),
        ),
        "allowed_fails" => settings.allowed_fails.map(|n| n.to_string()),
        "num_retries" => {
            let given = settings.num_retries.or(settings.global_num_retries);
            Some(given.map_or_else(|| "2".to_owned(), |n| n.to_string()))
        }
        "retry_after" => Some(seconds(settings.retry_after)),
        "timeout" => settings.timeout.map(seconds),
        "default_max_parallel_requests" => settings
            .default_max_parallel_requests
            .map(|n| n.to_string()),
        _ => None,
    }
}

/// How a setting that is not set is shown.
const NOT_SET: &str = "(as it is)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_present_setting_is_a_level_and_numbers_are_in_order() {
        let settings = RouterSettings {
            cooldown_time: Some(std::time::Duration::from_secs(7)),
            ..RouterSettings::default()
        };

        let knob = typed("cooldown_time", "30, 1,5", &settings).unwrap();

        assert_eq!(knob.levels, ["1", "5", "7", "30"]);
        assert_eq!(knob.present, 2);
        assert!(knob.ordered);
    }

    #[test]
    fn weights_are_turned_where_deployments_share_evenly_or_by_weight() {
        let deployment = |group: &str, weight, rpm| DeploymentConfig {
            model_name: group.to_owned(),
            weight,
            rpm,
            ..DeploymentConfig::default()
        };

        let knobs = weights(&[
            deployment("even", None, None),
            deployment("by-rpm", None, Some(10)),
            deployment("even", None, None),
            deployment("by-rpm", None, Some(20)),
            deployment("lone", None, None),
            deployment("weighted", Some(3.0), None),
            deployment("weighted", Some(1.0), None),
        ]);

        let paths: Vec<_> = knobs
            .iter()
            .map(|knob| (knob.path.as_str(), knob.bundle))
            .collect();
        assert_eq!(paths.len(), 4, "{paths:?}");
        assert_eq!(paths[1], ("model_list[2].litellm_params.weight", Some(0)));
        assert_eq!(knobs[2].levels[knobs[2].present], "3");
        assert_eq!(knobs[2].bundle, Some(5));
    }

    #[test]
    fn what_is_not_set_comes_before_every_number_and_names_have_no_order() {
        let usual = usual(&RouterSettings::default());
        let of = |path: &str| usual.iter().find(|knob| knob.path == path).unwrap();

        assert_eq!(of("timeout").levels[0], NOT_SET);
        assert_eq!(of("timeout").present, 0);
        assert_eq!(of("num_retries").levels[of("num_retries").present], "2");
        assert!(!of("routing_strategy").ordered);
    }
}
