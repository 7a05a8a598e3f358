//! The axes of a grid: what is varied, over which values, and which arm is the reference.
//!
//! An axis is a place in the scenario. Each arm is the scenario with the axes' values put there and
//! read again, so a value is judged exactly as if it had been written in the file.

use crate::{
    error::{ScenarioError, did_you_mean, one_of},
    expect::check_label,
    label::label,
    plan::{Arm, Axis},
    yaml::{Entry, Node, Value, canonical, quoted},
};

/// An axis with the place it varies.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SweptAxis {
    /// What the user sees of it.
    pub axis: Axis,
    /// The path that values are put to.
    pub path: String,
    /// The values, without their places, so that an error about one names the axis.
    pub values: Vec<Node>,
    /// Line and column of each value in the file.
    pub places: Vec<(u32, u32)>,
}

/// What `sweep` says.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Sweep {
    /// In the file's order.
    pub axes: Vec<SweptAxis>,
    /// Runs of each arm, if said here.
    pub replications: Option<u32>,
}

impl Sweep {
    /// Reads the `sweep` block. Errors name key and place, but no file.
    pub(crate) fn read(node: Option<&Node>) -> Result<Self, ScenarioError> {
        let mut sweep = Self::default();
        let Some(node) = node.filter(|node| !node.is_null()) else {
            return Ok(sweep);
        };
        let Some(map) = node.as_map() else {
            return Err(node
                .unaccepted("a mapping from axes to lists of values")
                .key("sweep"));
        };
        for entry in &map.entries {
            let key = format!("sweep.{}", quoted(&entry.key.name));
            if entry.key.name == "replications" {
                let replications: u32 = entry
                    .value
                    .read("")
                    .map_err(|error| unfiled(&error, &key))?;
                sweep.replications = Some(replications);
                continue;
            }
            let at = (entry.key.line, entry.key.column);
            let axis = axis(entry).map_err(|error| error.at(at.0, at.1).key(&key))?;
            for other in &sweep.axes {
                if within(&axis.path, &other.path) || within(&other.path, &axis.path) {
                    let message = format!("varies the same place as axis `{}`", other.axis.name);
                    let help = "keep one of the two";
                    return Err(ScenarioError::new(message)
                        .key(key)
                        .help(help)
                        .at(at.0, at.1));
                }
            }
            sweep.axes.push(axis);
        }
        let cells = sweep
            .axes
            .iter()
            .map(|axis| axis.values.len() as u128)
            .product::<u128>();
        if cells > ARMS_AT_MOST {
            return Err(node
                .error(format!("the grid has {cells} arms"))
                .key("sweep")
                .help(format!("accepted are up to {ARMS_AT_MOST}")));
        }
        Ok(sweep)
    }

    /// The axes as the user sees them.
    pub(crate) fn plain_axes(&self) -> Vec<Axis> {
        self.axes.iter().map(|axis| axis.axis.clone()).collect()
    }

    /// The arms in grid order, the last axis fastest: each as the places of its values.
    pub(crate) fn arms(&self) -> Vec<Vec<usize>> {
        let mut arms = vec![Vec::new()];
        for axis in &self.axes {
            arms = arms
                .iter()
                .flat_map(|arm| {
                    (0..axis.values.len()).map(move |value| {
                        let mut longer = arm.clone();
                        longer.push(value);
                        longer
                    })
                })
                .collect();
        }
        arms
    }

    /// An arm's labels.
    pub(crate) fn labels(&self, arm: &[usize]) -> Arm {
        let label = |(axis, value): (&SweptAxis, &usize)| {
            (axis.axis.name.clone(), axis.axis.values[*value].clone())
        };
        Arm {
            labels: self.axes.iter().zip(arm).map(label).collect(),
        }
    }

    /// The place of the arm that `reference` names; an axis it does not name takes its first value.
    pub(crate) fn reference(&self, node: Option<&Node>) -> Result<usize, ScenarioError> {
        let Some(node) = node.filter(|node| !node.is_null()) else {
            return Ok(0);
        };
        let Some(map) = node.as_map() else {
            return Err(node
                .unaccepted("a mapping from axes to one of their values")
                .key("reference"));
        };
        let axes = self.plain_axes();
        let mut chosen = vec![0; axes.len()];
        for entry in &map.entries {
            let value = label(&entry.value.value);
            let (axis, value) = check_label(&axes, &entry.key.name, &value).map_err(|error| {
                error
                    .under("reference")
                    .at(entry.value.line, entry.value.column)
            })?;
            chosen[axis] = value;
        }
        let sizes = axes.iter().map(|axis| axis.values.len());
        Ok(sizes
            .zip(chosen)
            .fold(0, |place, (size, value)| place * size + value))
    }
}

/// The path that a name stands for, in `--set` and as an axis: a path into the scenario; else one
/// into the LiteLLM config; else a key of `router_settings`.
///
/// # Errors
///
/// A path that is not well formed, or one of several parts whose first looks like a slip of a section.
pub fn resolve(name: &str) -> Result<String, ScenarioError> {
    let name = canonical(name)?;
    let first = name.split(['.', '[']).next().unwrap_or_default();
    if SCENARIO_KEYS.contains(&first) {
        return Ok(name);
    }
    if LITELLM_SECTIONS.contains(&first) {
        return Ok(format!("litellm.{name}"));
    }
    let known = SCENARIO_KEYS.into_iter().chain(LITELLM_SECTIONS);
    if let (true, Some(near)) = (name != first, did_you_mean(first, known)) {
        return Err(ScenarioError::new(format!("nothing is called `{first}`"))
            .key(&*name)
            .help(format!("did you mean `{near}`?")));
    }
    Ok(format!("litellm.router_settings.{name}"))
}

/// Whether `path` is `outer` or lies within it.
pub(crate) fn within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn axis(entry: &Entry) -> Result<SweptAxis, ScenarioError> {
    let name = entry.key.name.clone();
    let path = resolve(&name)?;
    let first = path.split(['.', '[']).next().unwrap_or_default();
    let is_seed = matches!(name.as_str(), "seed" | "seeds");
    if is_seed || !SWEPT_SECTIONS.contains(&first) {
        let help = if is_seed {
            "say `replications: n` for n seeds".to_owned()
        } else {
            format!(
                "accepted are keys of router_settings and paths into {}",
                one_of(&SWEPT_SECTIONS)
            )
        };
        return Err(ScenarioError::new("this cannot be swept").help(help));
    }
    let Some(items) = entry.value.as_seq() else {
        return Err(entry.value.unaccepted("a list of values"));
    };
    if items.is_empty() {
        return Err(entry
            .value
            .error("the axis has no values")
            .help("give at least one"));
    }
    let mut values: Vec<String> = Vec::with_capacity(items.len());
    for item in items {
        let value = label(&item.value);
        if values.contains(&value) {
            return Err(item
                .error(format!("`{value}` appears twice"))
                .help("keep one of the two"));
        }
        values.push(value);
    }
    Ok(SweptAxis {
        axis: Axis { name, values },
        path,
        places: items.iter().map(|item| (item.line, item.column)).collect(),
        values: items.iter().map(unplaced).collect(),
    })
}

/// The same value as if it stood in no file.
fn unplaced(node: &Node) -> Node {
    let mut value = node.value.clone();
    match &mut value {
        Value::Seq(items) => *items = items.iter().map(unplaced).collect(),
        Value::Map(map) => {
            for entry in &mut map.entries {
                (entry.key.line, entry.key.column) = (0, 0);
                entry.value = unplaced(&entry.value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => {}
    }
    Node::unplaced(value)
}

/// The same error without a file, under another key.
fn unfiled(error: &ScenarioError, key: &str) -> ScenarioError {
    let mut new = ScenarioError::new(error.message()).key(key);
    if let Some(help) = error.help_text() {
        new = new.help(help);
    }
    match (error.line(), error.column()) {
        (Some(line), Some(column)) => new.at(line, column),
        _ => new,
    }
}

/// The scenario's own keys.
const SCENARIO_KEYS: [&str; 16] = [
    "client",
    "expect",
    "instances",
    "kind",
    "litellm",
    "prices",
    "profile",
    "providers",
    "purpose",
    "reference",
    "replications",
    "seed",
    "slo",
    "starts_at",
    "sweep",
    "workload",
];

/// Those that an arm may change.
pub(crate) const SWEPT_SECTIONS: [&str; 8] = [
    "client",
    "instances",
    "litellm",
    "profile",
    "providers",
    "slo",
    "starts_at",
    "workload",
];

/// Sections of a LiteLLM config that a path may begin with.
const LITELLM_SECTIONS: [&str; 4] = [
    "general_settings",
    "litellm_settings",
    "model_list",
    "router_settings",
];

const ARMS_AT_MOST: u128 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    fn sweep(text: &str) -> Result<Sweep, String> {
        Sweep::read(Some(&parse(text, "s").unwrap())).map_err(|error| error.to_string())
    }

    #[test]
    fn arms_come_in_grid_order_with_the_last_axis_fastest() {
        let sweep = sweep("cooldown_time: [1, 5]\nnum_retries: [0, 2]\nreplications: 3").unwrap();

        let arms: Vec<String> = sweep
            .arms()
            .iter()
            .map(|arm| {
                let labels = sweep.labels(arm).labels;
                labels
                    .iter()
                    .map(|(_, value)| value.as_str())
                    .collect::<Vec<_>>()
                    .join("/")
            })
            .collect();

        assert_eq!(arms, ["1/0", "1/2", "5/0", "5/2"]);
        assert_eq!(sweep.replications, Some(3));
        assert_eq!(sweep.axes[0].path, "litellm.router_settings.cooldown_time");
    }

    #[test]
    fn the_reference_is_named_by_labels() {
        let sweep = sweep("cooldown_time: [1, 5]\nnum_retries: [0, 2]").unwrap();
        let place = |text| sweep.reference(Some(&parse(text, "s").unwrap())).unwrap();

        assert_eq!(place("{cooldown_time: 5, num_retries: 2}"), 3);
        assert_eq!(place("{cooldown_time: 5.0}"), 2);
        assert_eq!(sweep.reference(None).unwrap(), 0);
    }

    #[test]
    fn names_stand_for_the_nearest_place() {
        let of = |name| resolve(name).unwrap();

        assert_eq!(of("cooldown_time"), "litellm.router_settings.cooldown_time");
        assert_eq!(
            of("retry_policy.DefaultRetries"),
            "litellm.router_settings.retry_policy.DefaultRetries"
        );
        assert_eq!(
            of("router_settings.timeout"),
            "litellm.router_settings.timeout"
        );
        assert_eq!(
            of("workload.arrivals.poisson.per_second"),
            "workload.arrivals.poisson.per_second"
        );
        assert!(resolve("worklod.duration_s").is_err());
        assert!(resolve("cooldown_time[").is_err());
    }

    #[test]
    fn a_place_has_one_name_however_it_was_quoted() {
        let of = |name| resolve(name).unwrap();

        assert_eq!(of("\"num_retries\""), of("num_retries"));
        assert_eq!(
            of("cooldown time"),
            "litellm.router_settings.\"cooldown time\""
        );
    }

    #[test]
    fn two_axes_must_not_vary_one_place() {
        insta::assert_snapshot!(
            sweep("cooldown_time: [1]\nlitellm.router_settings: [{}]").unwrap_err(),
            @r#"line 2, column 1: sweep."litellm.router_settings": varies the same place as axis `cooldown_time`; keep one of the two"#
        );
        insta::assert_snapshot!(sweep("seed: [1, 2]").unwrap_err(), @"line 1, column 1: sweep.seed: this cannot be swept; say `replications: n` for n seeds");
        insta::assert_snapshot!(sweep("cooldown_time: 5").unwrap_err(), @"line 1, column 16: sweep.cooldown_time: found the number 5; accepted is a list of values");
    }
}
