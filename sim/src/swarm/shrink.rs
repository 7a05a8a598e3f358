//! From a scenario that breaks an invariant to a small one that breaks the same: deployments, faults,
//! settings, senders and time are taken away one by one for as long as the fault stays.

use scenarios::{LoadOptions, RunPlan, Scenario, ScenarioError, Source};
use serde_json::{Value, json};

use super::{check::check_tree, tree::text};
use crate::{Watch, invariants::Checked};

/// The plan that a tree says.
///
/// # Errors
///
/// As [`Scenario::load`].
pub fn plan_of(tree: &Value) -> Result<RunPlan, ScenarioError> {
    let source = Source::Text {
        name: "swarm".to_owned(),
        text: text(tree),
    };
    let scenario = Scenario::load(&source, &LoadOptions::default())?;
    Ok(scenario.plan(scenario.reference(), 0))
}

/// Cuts a scenario down to one that still breaks the invariant of this number, by at most `tries` runs.
/// Gives the smallest that was found.
#[must_use]
pub fn shrink(tree: &Value, invariant: u8, tries: u32, watch: &impl Watch) -> Value {
    // A scenario that is refused breaks nothing, but where that is the fault.
    let breaks = |tree: &Value| broken(&check_tree(tree)) == Some(invariant);
    shrink_by(tree, tries, watch, breaks)
}

/// The invariant that is broken first.
#[must_use]
pub fn broken(checked: &Checked) -> Option<u8> {
    checked.violations.first().map(|one| one.invariant)
}

fn shrink_by(
    tree: &Value,
    mut tries: u32,
    watch: &impl Watch,
    breaks: impl Fn(&Value) -> bool,
) -> Value {
    let mut best = tree.clone();
    let mut number = 0;
    let mut since_a_cut = 0;
    loop {
        let cuts = cuts(&best);
        if cuts.is_empty() || since_a_cut >= cuts.len() || tries == 0 || watch.is_cancelled() {
            return best;
        }
        // After a cut it goes on where it was: what was tried before is tried last.
        number %= cuts.len();
        let smaller = cuts[number].made(&best);
        tries -= 1;
        if smaller != best && breaks(&smaller) {
            best = smaller;
            since_a_cut = 0;
        } else {
            number += 1;
            since_a_cut += 1;
        }
    }
}

/// Something to take away.
#[derive(Clone, Debug)]
enum Cut {
    /// A deployment with its provider.
    Deployment(usize),
    /// What stands there.
    Drop(Vec<Step>),
    /// A number that becomes this one.
    Number(Vec<Step>, Value),
}

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
}

impl Cut {
    fn made(&self, tree: &Value) -> Value {
        let mut smaller = tree.clone();
        match self {
            Self::Deployment(number) => drop_deployment(&mut smaller, *number),
            Self::Drop(path) => drop_at(&mut smaller, path),
            Self::Number(path, number) => {
                if let Some(place) = at(&mut smaller, path) {
                    *place = number.clone();
                }
            }
        }
        smaller
    }
}

/// All cuts of a tree, the largest first.
fn cuts(tree: &Value) -> Vec<Cut> {
    let entries = tree["litellm"]["model_list"].as_array().map_or(0, Vec::len);
    let deployments = (0..entries).filter(|_| entries > 1).map(Cut::Deployment);
    let (mut drops, mut numbers) = (Vec::new(), Vec::new());
    walk(tree, &mut Vec::new(), &mut drops, &mut numbers);
    drops.sort_by_key(|cut| {
        if let Cut::Drop(path) = cut {
            path.len()
        } else {
            0
        }
    });
    deployments.chain(drops).chain(numbers).collect()
}

fn walk(value: &Value, path: &mut Vec<Step>, drops: &mut Vec<Cut>, numbers: &mut Vec<Cut>) {
    let mut go = |step: Step, value: &Value| {
        path.push(step);
        drops.push(Cut::Drop(path.clone()));
        walk(value, path, drops, numbers);
        path.pop();
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                go(Step::Key(key.clone()), value);
            }
        }
        Value::Array(items) => {
            for (number, value) in items.iter().enumerate() {
                go(Step::Item(number), value);
            }
        }
        Value::Number(number) => {
            let simpler = simpler(number);
            numbers.extend(simpler.into_iter().map(|n| Cut::Number(path.clone(), n)));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Simpler numbers, the simplest first.
fn simpler(number: &serde_json::Number) -> Vec<Value> {
    if let Some(whole) = number.as_u64() {
        let mut all = vec![0, 1, whole / 2, whole.saturating_sub(1)];
        all.retain(|&n| n < whole);
        all.dedup();
        return all.into_iter().map(|n| json!(n)).collect();
    }
    let Some(x) = number.as_f64() else {
        return Vec::new();
    };
    let mut all = vec![
        1.0,
        (x / 2.0 * 8.0).round() / 8.0,
        x.round(),
        (x * 8.0).round() / 8.0,
    ];
    all.retain(|&n| n > 0.0 && n < x);
    all.into_iter().map(|n| json!(n)).collect()
}

fn drop_deployment(tree: &mut Value, number: usize) {
    let list = &mut tree["litellm"]["model_list"];
    let id = list[number]["model_info"]["id"].as_str().map(str::to_owned);
    if let Some(list) = list.as_array_mut()
        && number < list.len()
    {
        list.remove(number);
    }
    if let (Some(id), Some(providers)) = (id, tree["providers"].as_object_mut()) {
        providers.remove(&id);
    }
}

fn drop_at(tree: &mut Value, path: &[Step]) {
    let Some((last, above)) = path.split_last() else {
        return;
    };
    let place = at(tree, above);
    match (place, last) {
        (Some(Value::Object(map)), Step::Key(key)) => {
            map.remove(key);
        }
        (Some(Value::Array(items)), Step::Item(number)) if *number < items.len() => {
            items.remove(*number);
        }
        _ => {}
    }
}

fn at<'a>(tree: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    let mut place = tree;
    for step in path {
        place = match step {
            Step::Key(key) => place.get_mut(key)?,
            Step::Item(number) => place.get_mut(*number)?,
        };
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_taken_away_and_what_does_stays() {
        let tree = json!({
            "litellm": {"model_list": [
                {"model_info": {"id": "d0"}, "litellm_params": {"rpm": 9}},
                {"model_info": {"id": "d1"}, "litellm_params": {"rpm": 40, "tpm": 3}},
            ]},
            "providers": {"d0": {"latency": 1}, "d1": {"latency": 2}},
            "workload": {"duration_s": 80, "rate": 1.7},
        });
        // The fault: some deployment has an rpm of 5 or more, and there are 10 s of traffic.
        let breaks = |tree: &Value| {
            let list = tree["litellm"]["model_list"].as_array();
            let rpm = |d: &Value| d["litellm_params"]["rpm"].as_u64() >= Some(5);
            list.is_some_and(|list| list.iter().any(rpm))
                && tree["workload"]["duration_s"].as_u64() >= Some(10)
        };

        let small = shrink_by(&tree, 1_000, &(), breaks);

        let expected = json!({
            "litellm": {"model_list": [{"litellm_params": {"rpm": 5}}]},
            "workload": {"duration_s": 10},
        });
        assert_eq!(small, expected);
    }
}
