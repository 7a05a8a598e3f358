//! Axes, arms, plans, and what the command line changes.

use std::{fs, sync::Arc, time::Duration};

use router::{ProfileName, Seed};
use scenarios::{Kind, LoadOptions, Scenario, Source};

use super::{GOOD, folder, load, load_with, sets, with};

const GRID: &str = "\
sweep:
  cooldown_time: [1, 5]
  workload.arrivals.poisson.per_second: [10, 20]
  replications: 3
reference: {cooldown_time: 5}
";

fn grid() -> Scenario {
    load(&format!("{GOOD}{GRID}")).unwrap()
}

#[test]
fn plans_come_arm_by_arm_with_equal_seeds_across_arms() {
    let scenario = grid();
    let plans = scenario.plans();

    let order: Vec<(usize, u32)> = plans
        .iter()
        .map(|plan| (plan.arm, plan.replication))
        .collect();
    assert_eq!(order[..4], [(0, 0), (0, 1), (0, 2), (1, 0)]);
    assert_eq!(order.len(), 12);
    for plan in &plans {
        assert_eq!(
            plan.seed,
            Seed(scenario.seed()).replication(plan.replication)
        );
    }
    assert_eq!(scenario.reference(), 2);
    assert_eq!(scenario.kind(), Kind::Terminating);
}

#[test]
fn an_axis_changes_what_it_names_and_shares_the_rest() {
    let scenario = grid();
    let cooldown = |arm| scenario.plan(arm, 0).router.settings.cooldown_time;

    assert_eq!(cooldown(1), Some(Duration::from_secs(1)));
    assert_eq!(cooldown(2), Some(Duration::from_secs(5)));
    let (first, third) = (scenario.plan(0, 0), scenario.plan(2, 0));
    assert!(Arc::ptr_eq(&first.workload, &third.workload));
    assert!(Arc::ptr_eq(&first.providers, &third.providers));
    assert!(!Arc::ptr_eq(&first.workload, &scenario.plan(1, 0).workload));
}

#[test]
fn arms_that_leave_the_workload_alone_see_the_same_requests_to_the_byte() {
    let scenario = grid();
    let arrivals = |arm, replication| {
        let plan = scenario.plan(arm, replication);
        plan.workload.arrivals(plan.seed).collect::<Vec<_>>()
    };

    assert_eq!(arrivals(0, 1), arrivals(2, 1));
    assert_ne!(arrivals(0, 1), arrivals(0, 2));
}

#[test]
fn set_takes_the_same_paths_as_axes() {
    let options = sets(&[
        ("cooldown_time", "30"),
        ("router_settings.num_retries", "1"),
        ("litellm.model_list[0].litellm_params.rpm", "90"),
        ("workload.duration_s", "5"),
        ("seed", "99"),
    ]);
    let scenario = load_with(GOOD, &options).unwrap();

    let plan = scenario.plan(0, 0);
    assert_eq!(
        plan.router.settings.cooldown_time,
        Some(Duration::from_secs(30))
    );
    assert_eq!(plan.router.settings.num_retries, Some(1));
    assert_eq!(plan.router.deployments[0].rpm, Some(90));
    assert_eq!(plan.workload.duration(), Duration::from_secs(5));
    assert_eq!(scenario.seed(), 99);
}

#[test]
fn the_command_line_wins_over_the_file() {
    let options = LoadOptions {
        seed: Some(7),
        replications: Some(2),
        profile: Some(ProfileName::Litellm192),
        ..LoadOptions::default()
    };
    let text = format!("{GOOD}seed: 5\nreplications: 4\nprofile: litellm-1.110\n");
    let scenario = load_with(&text, &options).unwrap();

    assert_eq!((scenario.seed(), scenario.replications()), (7, 2));
    assert_eq!(
        scenario.plan(0, 0).router.profile.name,
        ProfileName::Litellm192
    );
}

#[test]
fn a_profile_and_a_wall_clock_reach_the_router() {
    let text = format!("{GOOD}profile: litellm-1.92\nstarts_at: 2024-01-01T00:00:50Z\n");
    let router = load(&text).unwrap().plan(0, 0).router;

    assert_eq!(router.profile.name, ProfileName::Litellm192);
    assert_eq!(router.epoch.unix_seconds(), 1_704_067_250);
}

#[test]
fn every_profile_can_be_an_axis() {
    let names = ProfileName::ALL.map(ProfileName::as_str).join(", ");
    let text = format!("{GOOD}sweep: {{profile: [{names}]}}\n");
    let scenario = load(&text).unwrap();

    for (arm, name) in (0..).zip(ProfileName::ALL) {
        assert_eq!(scenario.plan(arm, 0).router.profile, name.profile());
    }
}

#[test]
fn a_litellm_config_may_stand_in_a_file_of_its_own() {
    let folder = folder("own-config");
    let config = "model_list: [{model_name: m, litellm_params: {model: groq/x, api_key: k}}]\n";
    fs::write(folder.join("config.yaml"), config).unwrap();
    let text = "purpose: p\nkind: steady\nlitellm: config.yaml\nworkload: {arrivals: {poisson: \
                {per_second: 1}}, lengths: sharegpt-8k, duration_s: 1}\nsweep: {num_retries: [0, 1]}\n";
    fs::write(folder.join("s.yaml"), text).unwrap();

    let source = Source::File(folder.join("s.yaml"));
    let scenario = Scenario::load(&source, &LoadOptions::default()).unwrap();

    assert_eq!(scenario.name(), "s");
    assert_eq!(scenario.plan(0, 0).providers[0].name, "groq");
    assert_eq!(scenario.plan(1, 0).router.settings.num_retries, Some(1));
    assert_eq!(scenario.notes().len(), 1);
    assert_eq!(
        scenario.ignored()[0].path,
        "model_list[0].litellm_params.api_key"
    );
    assert_eq!(scenario.text(), text);
}

#[test]
fn a_config_of_the_command_line_replaces_that_of_the_scenario() {
    let folder = folder("other-config");
    let path = folder.join("mine.yaml");
    fs::write(
        &path,
        "model_list: [{model_name: mine, litellm_params: {model: gpt-4o}}]\n",
    )
    .unwrap();
    let text = with("providers:\n  east: {preset: azure-payg}\n", "");
    let options = LoadOptions {
        config: Some(path),
        ..LoadOptions::default()
    };

    let scenario = load_with(&text, &options).unwrap();

    assert_eq!(scenario.plan(0, 0).workload.models(), ["mine"]);
    assert_eq!(scenario.plan(0, 0).providers[0].name, "openai");
}

#[test]
fn expectations_are_kept_for_the_judge() {
    let text = format!(
        "{GOOD}{GRID}expect:\n  - {{metric: success_ratio, at_least: 0.99, where: \
         {{cooldown_time: 5}}}}\n"
    );
    let scenario = load(&text).unwrap();

    let [expectation] = scenario.expect() else {
        panic!("one expectation")
    };
    assert_eq!(expectation.metric, "success_ratio");
    assert_eq!(expectation.at_least, Some(0.99));
    assert_eq!(
        expectation.filter,
        [("cooldown_time".to_owned(), "5".to_owned())]
    );
}

#[test]
fn anchors_serve_providers_that_are_alike() {
    let text = with(
        "  east: {preset: azure-payg}\n",
        "  east: &slow {preset: vllm, faults: [{brownout: {slowdown: 3}}]}\n  west: *slow\n",
    );
    let plan = load(&text).unwrap().plan(0, 0);

    assert_eq!(plan.providers[0].spec, plan.providers[1].spec);
    assert_eq!(plan.providers[1].name, "west");
}

/// A folder of this test's own with a small price registry in it.
fn folder_with_prices() -> std::path::PathBuf {
    let folder = folder("prices");
    let registry = r#"{"gpt-4o": {"litellm_provider": "openai", "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1e-05, "max_input_tokens": 128000}}"#;
    fs::write(folder.join("prices.json"), registry).unwrap();
    folder
}

#[test]
fn prices_are_read_from_beside_the_file_or_from_the_command_line() {
    let folder = folder_with_prices();
    let file = folder.join("s.yaml");
    fs::write(&file, format!("{GOOD}prices: prices.json\n")).unwrap();
    let options = LoadOptions {
        prices: Some(folder.join("prices.json")),
        ..LoadOptions::default()
    };

    let by_key = Scenario::load(&Source::File(file), &LoadOptions::default()).unwrap();
    let by_option = load_with(GOOD, &options).unwrap();
    let without = load(GOOD).unwrap();

    for scenario in [&by_key, &by_option] {
        let west = &scenario.plan(0, 0).router.deployments[1];
        assert_eq!(west.prices.input, Some(2.5e-6));
        assert_eq!(west.max_input_tokens, Some(128_000));
        let told = "prices: known for 1 of 2 deployments; not for east";
        assert!(
            scenario.notes().iter().any(|note| note == told),
            "{:?}",
            scenario.notes()
        );
    }
    assert_eq!(without.plan(0, 0).router.deployments[1].prices.input, None);
}
