//! Configs that people published, read as they are, against the index that comes with them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use scenarios::{
    litellm::{self, LitellmConfig},
    yaml::Node,
};

use crate::account::assert_whole;

/// What the index says of a config, and its text.
struct Published {
    file: String,
    text: String,
    shape: String,
    deployments: usize,
    groups: usize,
}

/// The configs, or `None` on a machine that does not have them.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn published() -> Option<Vec<Published>> {
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/configs");
    let Ok(index) = fs::read_to_string(shared.join("INDEX.csv")) else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "{} is missing", shared.display());
        eprintln!("skipped: {} is missing", shared.display());
        return None;
    };
    let mut reader = csv::Reader::from_reader(index.as_bytes());
    let rows = reader.deserialize::<BTreeMap<String, String>>().map(|row| {
        let row = row.unwrap();
        Published {
            text: fs::read_to_string(shared.join(&row["file"])).unwrap(),
            file: row["file"].clone(),
            shape: row["shape"].clone(),
            deployments: row["deployments"].parse().unwrap(),
            groups: row["groups"].parse().unwrap(),
        }
    });
    Some(rows.collect())
}

fn read(config: &Published) -> Result<(Node, LitellmConfig), scenarios::ScenarioError> {
    let tree = litellm::parse(&config.text, &config.file)?;
    let read = litellm::from_node(&tree, &config.file)?;
    Ok((tree, read))
}

#[test]
fn every_published_config_gives_the_deployments_of_the_index() {
    let Some(configs) = published() else { return };
    assert!(configs.len() >= 35, "only {} configs", configs.len());

    for config in configs.iter().filter(|config| config.shape == "config") {
        let (_, read) = read(config).unwrap_or_else(|error| panic!("{error}"));

        let names: BTreeSet<&str> = read
            .router
            .deployments
            .iter()
            .map(|one| one.model_name.as_str())
            .collect();
        assert_eq!(
            read.router.deployments.len(),
            config.deployments,
            "{}",
            config.file
        );
        assert_eq!(names.len(), config.groups, "{}", config.file);
    }
}

#[test]
fn published_configs_that_cannot_be_run_say_why() {
    let Some(configs) = published() else { return };

    let mut told = String::new();
    for config in &configs {
        if let Err(error) = litellm::read(&config.text, "config.yaml") {
            let (owner, _) = config.file.split_once("__").unwrap();
            told.push_str(&format!("{owner}: {error}\n"));
        }
    }

    insta::assert_snapshot!(told, @"
    brama-ai: config.yaml:1:1: found a template (`{{ … }}`), which is no YAML yet; render it first, as `helm template` does, and give the result
    nilayparikh: config.yaml:22:1: model_list: it is missing; files named under `include` are not read: put their entries here
    ");
}

#[test]
fn a_config_map_gives_the_config_inside_with_the_lines_of_the_file() {
    let Some(configs) = published() else { return };
    let wrapped = configs
        .iter()
        .find(|config| config.shape.starts_with("k8s"))
        .unwrap();

    let read = litellm::read(&wrapped.text, "configmap.yaml").unwrap();

    assert_eq!(read.router.deployments.len(), 4);
    let lines: Vec<&str> = wrapped.text.lines().collect();
    for key in &read.ignored {
        let name = key
            .path
            .rsplit(['.', ']'])
            .next()
            .unwrap()
            .trim_matches('"');
        let line = lines[usize::try_from(key.line).unwrap() - 1];
        assert!(line.contains(name), "{key} stands on: {line}");
    }
    let kinds = read
        .ignored
        .iter()
        .filter(|key| key.reason.contains("ConfigMap"));
    assert_eq!(kinds.count(), 3);
}

#[test]
fn every_key_of_every_published_config_is_used_or_ignored_exactly_once() {
    let Some(configs) = published() else { return };

    let mut checked = 0;
    for config in &configs {
        let Ok((tree, read)) = read(config) else {
            continue;
        };
        checked += assert_whole(&tree, &read, &config.file);
    }
    assert!(checked > 1_000, "only {checked} keys");
}

#[test]
fn what_is_ignored_in_a_published_config_is_told_in_few_lines() {
    let Some(configs) = published() else { return };
    let config = configs
        .iter()
        .find(|config| {
            config
                .file
                .starts_with("aws-samples__genai-gateway--config_default-config-base")
        })
        .unwrap();

    let (_, read) = read(config).unwrap();

    insta::assert_snapshot!(read.ignored_in_lines().join("\n"), @"
    check this: router_settings.enable_pre_call_check (line 397): unknown to LiteLLM 1.110 as far as routelab knows; did you mean `enable_pre_call_checks`?
    router_settings.redis_password (line 396): says how the store is reached; here that takes no time and never fails
    environment_variables (line 402): sets environment variables; none is asked
    litellm_settings.debug (line 408): no routing key as far as routelab knows; LiteLLM keeps it as a global setting
    litellm_settings.detailed_debug (line 409): observability only
    litellm_settings.cache_params.type (line 411): one store in the router's memory stands for every kind of store
    litellm_settings.cache_params.host (line 412): not modelled: where answers and counts are kept, and for how long
    litellm_settings.cache_params.port (line 413): not modelled: where answers and counts are kept, and for how long
    litellm_settings.cache_params.password (line 414): names a secret; no request is sent
    litellm_settings.max_budget (line 416): not modelled: budgets of callers, keys and tags
    litellm_settings.budget_duration (line 417): not modelled: budgets of callers, keys and tags
    litellm_settings.max_internal_user_budget (line 419): a setting of the proxy; routing does not read it
    litellm_settings.internal_user_budget_duration (line 420): a setting of the proxy; routing does not read it
    litellm_settings.success_callback (line 422): observability only
    litellm_settings.failure_callback (line 423): observability only
    litellm_settings.service_callback (line 424): observability only
    litellm_settings.s3_callback_params (line 425): observability only
    ");
}

#[test]
fn suspicious_keys_of_the_published_configs_are_few_and_deserve_it() {
    let Some(configs) = published() else { return };

    let mut told = BTreeSet::new();
    for config in &configs {
        let Ok((_, read)) = read(config) else {
            continue;
        };
        for key in read.ignored.iter().filter(|key| key.suspicious) {
            told.insert(format!("{}: {}", key.path, key.reason));
        }
    }

    insta::assert_snapshot!(told.into_iter().collect::<Vec<_>>().join("\n"), @"
    litellm_settings.retry_after: LiteLLM reads `retry_after` under router_settings, not here
    router_settings.enable_pre_call_check: unknown to LiteLLM 1.110 as far as routelab knows; did you mean `enable_pre_call_checks`?
    ");
}
