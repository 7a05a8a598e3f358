//! What people write: configs and scenarios.

use router::{Fleet, ProfileName, Router, RouterConfig, Seed};
use scenarios::{
    LoadOptions, Scenario, Source, litellm,
    yaml::{self, Node},
};

use super::{is_blank, told_well};
use crate::{SimError, Watch, journal::Head, simulate_watched};

/// A LiteLLM config is refused, or each of its keys is told as used or as ignored, and under every
/// profile it becomes settings that survive being written down and read again.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let config = match litellm::read(text, "config.yaml") {
        Ok(config) => config,
        Err(error) => return told_well(&error, is_blank(text)),
    };
    let told = config.used.iter().map(String::as_str);
    let told: Vec<&str> = told
        .chain(config.ignored.iter().map(|key| key.path.as_str()))
        .collect();
    let tree = litellm::parse(text, "config.yaml").expect("it was read");
    all_are_told(&tree, "", &told);
    for line in config.ignored_in_lines() {
        assert!(!line.contains(char::is_control), "not one line: {line:?}");
    }
    for name in ProfileName::ALL {
        let settings = config.router_for(name.profile(), None);
        is_read_again(&settings);
        Router::new(&settings, Seed(1)).expect("what is read can be built");
    }
}

/// Each key is in an account, or what holds it, or all that it holds.
fn all_are_told(node: &Node, path: &str, told: &[&str]) {
    let within = |told: &&str| {
        let rest = path.strip_prefix(*told);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    if !path.is_empty() && told.iter().any(within) {
        return;
    }
    if let Some(map) = node.as_map() {
        for entry in &map.entries {
            all_are_told(&entry.value, &yaml::join(path, &entry.key.name), told);
        }
    } else if let Some(items) = node.as_seq() {
        for (at, item) in items.iter().enumerate() {
            all_are_told(item, &format!("{path}[{at}]"), told);
        }
    } else {
        assert!(
            node.is_null(),
            "{path} is neither used nor ignored: {told:?}"
        );
    }
}

/// Settings as a journal has them are the settings.
fn is_read_again(settings: &RouterConfig) {
    let head = Head::new(Seed(7), settings);
    let text = serde_json::to_string(&head).expect("settings can be written");
    let again: Head = serde_json::from_str(&text).expect("what is written can be read");
    assert_eq!(head, again, "{text}");
}

/// A scenario is refused, or every arm can be built, and what is small enough to be run is, twice alike.
pub fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let name = "scenario".to_owned();
    let source = Source::Text {
        name,
        text: text.to_owned(),
    };
    let scenario = match Scenario::load(&source, &LoadOptions::default()) {
        Ok(scenario) => scenario,
        Err(error) => return told_well(&error, is_blank(text)),
    };
    let arms = scenario.arms().len();
    assert!(scenario.reference() < arms, "the reference is an arm");
    for arm in [0, scenario.reference(), arms - 1] {
        let plan = scenario.plan(arm, 0);
        let instances = plan.instances;
        let fleet = Fleet::new(
            &plan.router,
            plan.seed,
            instances.count,
            instances.shared_state,
        );
        drop(fleet.expect("what loads can be built"));
        crate::simulation::providers(&plan).expect("what loads can be built");
    }
    let plan = scenario.plan(scenario.reference(), 0);
    if plan.workload.expected_arrivals() > MOST_ARRIVALS {
        return;
    }
    let run = || match simulate_watched(&plan, &mut (), &Patience) {
        Ok(end) => Some((end.end, end.requests, end.attempts)),
        Err(SimError::NeverEnds { .. } | SimError::Cancelled) => None,
        Err(error) => panic!("what loads runs: {error}"),
    };
    assert_eq!(run(), run(), "the same plan is the same run");
}

/// Patience without end: so few requests end soon.
struct Patience;

impl Watch for Patience {}

/// Runs of more are not played.
const MOST_ARRIVALS: f64 = 300.0;
