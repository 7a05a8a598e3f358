//! A scenario and others that must run alike: other names change nothing but names (invariant 24), an
//! outage to come changes nothing before it (invariant 21), and all durations times two change nothing
//! but times (invariant 25).
//!
//! The last holds for scenarios whose every length of time is a setting. LiteLLM has lengths of its own:
//! minutes of usage, 60 s of counted failures, whole seconds of hints, a backoff from half a second.
//! So what counts by them is taken out of the scenario first, both twins stay within one minute, and a
//! run in which somebody waited is not compared.

use router::{Instant, Observer};
use serde_json::{Value, json};

use super::shrink::plan_of;
use crate::{
    invariants::{Heard, Timeless, Violation},
    simulate,
};

/// What a scenario of the swarm and its twins do otherwise.
#[must_use]
pub(crate) fn twins(tree: &Value) -> Vec<Violation> {
    let Some(own) = run(tree, Heard::default()) else {
        return Vec::new();
    };
    let mut found: Vec<Violation> = Vec::new();
    if let Some(renamed) = run(&renamed(tree), Heard::default()) {
        found.extend(difference(
            24,
            "with other names",
            &own.whole,
            &renamed.whole,
        ));
    }
    let (late, from) = outage_to_come(tree);
    if let Some(late) = run(&late, Heard::default()) {
        let before = |heard: &Heard| -> Vec<(Instant, String)> {
            let all = heard.whole.iter();
            all.take_while(|(at, _)| *at < from).cloned().collect()
        };
        found.extend(difference(
            21,
            "before an outage",
            &before(&own),
            &before(&late),
        ));
    }
    found.extend(scaled(tree));
    found
}

fn run<T: Observer>(tree: &Value, mut observer: T) -> Option<T> {
    let plan = plan_of(tree).ok()?;
    simulate(&plan, &mut observer).ok()?;
    Some(observer)
}

fn difference(
    invariant: u8,
    twin: &str,
    own: &[(Instant, String)],
    other: &[(Instant, String)],
) -> Option<Violation> {
    let place = own.iter().zip(other).position(|(own, other)| own != other);
    let place = place.or_else(|| (own.len() != other.len()).then(|| own.len().min(other.len())))?;
    let at = own
        .get(place)
        .or_else(|| other.get(place))
        .map(|(at, _)| *at);
    let said = |of: &[(Instant, String)]| {
        of.get(place)
            .map_or_else(|| "nothing".to_owned(), |(_, said)| said.clone())
    };
    Some(Violation {
        invariant,
        at: at.unwrap_or_default(),
        request: None,
        what: format!(
            "{twin} it goes another way: {} and not {}",
            said(other),
            said(own)
        ),
    })
}

/// The same with every `d0`, `d1`, … called otherwise, and so that their order by name turns round.
fn renamed(tree: &Value) -> Value {
    match tree {
        Value::String(text) => Value::String(other_name(text)),
        Value::Array(items) => Value::Array(items.iter().map(renamed).collect()),
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| (other_name(key), renamed(value)));
            Value::Object(entries.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => tree.clone(),
    }
}

fn other_name(text: &str) -> String {
    let number = text
        .strip_prefix('d')
        .and_then(|rest| rest.parse::<u32>().ok());
    number.map_or_else(
        || text.to_owned(),
        |n| format!("node-{}", 99_u32.saturating_sub(n)),
    )
}

/// The same with an outage of every provider in the second half, and when that begins.
fn outage_to_come(tree: &Value) -> (Value, Instant) {
    let mut late = tree.clone();
    let half_s = late["workload"]["duration_s"].as_u64().unwrap_or(0) / 2;
    if let Some(providers) = late["providers"].as_object_mut() {
        for provider in providers.values_mut() {
            let outage = json!({"outage": {"from_s": half_s}});
            match provider["faults"].as_array_mut() {
                Some(faults) => faults.push(outage),
                None => provider["faults"] = json!([outage]),
            }
        }
    }
    (late, Instant::from_nanos(half_s * 1_000_000_000))
}

fn scaled(tree: &Value) -> Option<Violation> {
    let mut once = tree.clone();
    keep_what_scales(&mut once);
    let mut twice = once.clone();
    double(&mut twice);
    let once = run(&once, Timeless::default())?;
    let twice = run(&twice, Timeless::default())?;
    let last = twice.events.last().map_or(0.0, |(at, _)| at.as_secs_f64());
    if once.waited || twice.waited || last > 59.0 {
        return None;
    }
    let words = |heard: &Timeless| -> Vec<(Instant, String)> {
        let all = heard.events.iter();
        all.map(|(_, words)| (Instant::ZERO, words.clone()))
            .collect()
    };
    let order = difference(25, "at half the speed", &words(&once), &words(&twice));
    let drift = || {
        let mut both = once.events.iter().zip(&twice.events);
        let apart =
            |at: Instant, twin: Instant| (twin.as_secs_f64() - 2.0 * at.as_secs_f64()).abs();
        let (at, said) = both.find_map(|((at, said), (twin, _))| {
            (apart(*at, *twin) > 1e-4).then_some((*at, said))
        })?;
        Some(Violation {
            invariant: 25,
            at,
            request: None,
            what: format!("at half the speed this does not take twice the time: {said}"),
        })
    };
    order.or_else(drift)
}

/// Takes out what counts by a length of time that is no setting.
fn keep_what_scales(tree: &mut Value) {
    for key in ["client", "instances", "actions", "starts_at"] {
        tree[key] = Value::Null;
    }
    tree["workload"]["senders"] = Value::Null;
    tree["workload"]["duration_s"] = json!(5);
    tree["workload"]["arrivals"] = json!({"poisson": {"per_second": 8}});
    tree["litellm"]["litellm_settings"] = json!({});
    for deployment in items(&mut tree["litellm"]["model_list"]) {
        forget(
            &mut deployment["litellm_params"],
            &["rpm", "tpm", "max_budget", "budget_duration"],
        );
        forget(&mut deployment["model_info"], &["rpm", "tpm"]);
    }
    let settings = &mut tree["litellm"]["router_settings"];
    forget(
        settings,
        &[
            "cache_responses",
            "provider_budget_config",
            "optional_pre_call_checks",
            "retry_policy",
            "model_group_retry_policy",
            "routing_groups",
            "routing_strategy_args",
            "default_priority",
            "cooldown_spread",
        ],
    );
    let by_minute = settings["routing_strategy"].as_str();
    let by_minute = by_minute.is_some_and(|name| name != "least-busy" && name != "simple-shuffle");
    if by_minute {
        settings["routing_strategy"] = json!("least-busy");
    }
    // The router's own default is not one that can be doubled.
    if settings["cooldown_time"]
        .as_f64()
        .is_none_or(|time| time <= 0.0)
    {
        settings["cooldown_time"] = json!(1);
    }
    if settings["timeout"].is_null() {
        settings["timeout"] = json!(4);
    }
    if let Some(providers) = tree["providers"].as_object_mut() {
        for provider in providers.values_mut() {
            forget(provider, &["quota", "prompt_cache"]);
            // Hints are whole seconds, and random spells have a mean of their own.
            let plain = |fault: &Value| {
                [
                    "error_rate",
                    "outage",
                    "hang",
                    "mid_stream",
                    "broken",
                    "content",
                ]
                .iter()
                .any(|kind| fault.get(kind).is_some())
            };
            if let Some(faults) = provider["faults"].as_array_mut() {
                faults.retain(plain);
            }
        }
    }
}

fn items(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

fn forget(value: &mut Value, keys: &[&str]) {
    if let Some(map) = value.as_object_mut() {
        map.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

/// Doubles every length of time, and halves every rate.
fn double(tree: &mut Value) {
    match tree {
        Value::Object(map) => {
            for (key, value) in map {
                let number = value.as_f64();
                let span = SPANS.contains(&key.as_str())
                    || key.ends_with("_s")
                    || key.ends_with("_ms")
                    || key == "ms";
                match number {
                    Some(number) if key == "per_second" => *value = json!(number / 2.0),
                    Some(number) if span => *value = json!(number * 2.0),
                    Some(_) => {}
                    None => double(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(double),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Lengths of time in LiteLLM's config, in seconds.
const SPANS: [&str; 10] = [
    "timeout",
    "stream_timeout",
    "cooldown_time",
    "cooldown_probe_after",
    "first_token_timeout",
    "stream_idle_timeout",
    "stream_total_timeout",
    "request_timeout",
    "deployment_affinity_ttl_seconds",
    "retry_after",
];

#[cfg(test)]
mod tests {
    use router::Seed;

    use super::*;
    use crate::swarm::{Draws, scenario};

    fn said(words: &[(f64, &str)]) -> Vec<(Instant, String)> {
        let said = words.iter();
        said.map(|&(at, words)| (Instant::from_secs_f64(at), words.to_owned()))
            .collect()
    }

    #[test]
    fn the_first_difference_between_two_runs_is_told_whichever_it_is() {
        let own = said(&[(1.0, "a"), (2.0, "b")]);
        let second =
            |other: &[(f64, &str)]| difference(24, "here", &own, &said(other)).map(|one| one.at);

        assert_eq!(second(&[(1.0, "a"), (2.0, "b")]), None);
        assert_eq!(
            second(&[(1.0, "a"), (2.0, "c")]),
            Some(Instant::from_secs_f64(2.0))
        );
        assert_eq!(
            second(&[(1.5, "a"), (2.0, "b")]),
            Some(Instant::from_secs_f64(1.0))
        );
        assert_eq!(second(&[(1.0, "a")]), Some(Instant::from_secs_f64(2.0)));
    }

    #[test]
    fn a_length_of_time_that_is_left_alone_is_found_out() {
        let mut tree = scenario(&mut Draws::of_list(Vec::new()));
        keep_what_scales(&mut tree);
        let mut twice = tree.clone();
        double(&mut twice);
        // The provider answers as fast as before.
        twice["providers"] = tree["providers"].clone();

        let words = |tree: &Value| run(tree, Timeless::default()).unwrap().events;
        let apart = |(own, twin): (&(Instant, String), &(Instant, String))| {
            (twin.0.as_secs_f64() - 2.0 * own.0.as_secs_f64()).abs() > 1e-4
        };
        assert!(words(&tree).iter().zip(&words(&twice)).any(apart));
        assert_eq!(scaled(&tree), None);
    }

    #[test]
    fn most_scenarios_have_twins_that_are_compared() {
        let compared = |run_number: u64| {
            let mut tree = scenario(&mut Draws::of_run(Seed(1), run_number));
            keep_what_scales(&mut tree);
            run(&tree, Timeless::default()).is_some_and(|heard| !heard.waited)
        };
        let count = (0..20).filter(|&number| compared(number)).count();

        assert!(count >= 10, "{count} of 20");
    }
}
