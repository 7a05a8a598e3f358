//! What `router_settings` and `litellm_settings` come to.

use std::{collections::BTreeMap, time::Duration};

use router::{
    RouterSettings, StrategySpec, UsageWindow,
    config::{AllowedFailsPolicy, Budget, OptionalPreCallChecks, RetryPolicy},
    strategy::{LowestLatencyArgs, Unmeasured, UsageArgs},
};

use crate::{ignored, read_with, secs};

fn settings(sections: &str) -> RouterSettings {
    read_with(sections).router.settings
}

#[test]
fn a_config_without_settings_leaves_every_setting_at_its_default() {
    let read = read_with("");

    assert_eq!(read.router.settings, RouterSettings::default());
    assert!(read.ignored.is_empty());
}

#[test]
fn all_router_settings_are_read() {
    let found = settings(
        "router_settings:
  routing_strategy: latency-based-routing
  routing_strategy_args: {ttl: 60, lowest_latency_buffer: 0.2, max_latency_list_size: 5, ttft_percentile: 0.9, unmeasured_latency: 2}
  num_retries: 3
  retry_after: 2
  retry_policy: {TimeoutErrorRetries: 1, DefaultRetries: '4'}
  model_group_retry_policy: {m: {RateLimitErrorRetries: 0}}
  allowed_fails: 2
  allowed_fails_policy: {InternalServerErrorAllowedFails: 6}
  cooldown_time: 30
  disable_cooldowns: on
  timeout: 60
  stream_timeout: 5
  fallbacks: [{m: [n, o]}, {n: [o]}]
  default_fallbacks: [p]
  context_window_fallbacks: [{m: [long]}]
  content_policy_fallbacks: [{m: [safe]}]
  max_fallbacks: 2
  default_max_parallel_requests: 10
  enable_weighted_failover: true
  model_group_alias: {a: m, b: {model: n, hidden: true}}
",
    );

    let group = |name: &str, targets: &[&str]| {
        (
            name.to_owned(),
            targets
                .iter()
                .map(|&target| target.to_owned())
                .collect::<Vec<_>>(),
        )
    };
    let expected = RouterSettings {
        routing_strategy: StrategySpec::LowestLatency(LowestLatencyArgs {
            ttl: Duration::from_secs(60),
            lowest_latency_buffer: 0.2,
            max_latency_list_size: 5,
            ttft_percentile: Some(0.9),
            unmeasured: Some(Unmeasured {
                latency: Duration::from_secs(2),
                decay: Duration::from_secs(10),
            }),
        }),
        num_retries: Some(3),
        global_num_retries: None,
        retry_after: Duration::from_secs(2),
        retry_policy: Some(RetryPolicy {
            timeout: Some(1),
            default: Some(4),
            ..RetryPolicy::default()
        }),
        model_group_retry_policy: BTreeMap::from([(
            "m".to_owned(),
            RetryPolicy {
                rate_limit: Some(0),
                ..RetryPolicy::default()
            },
        )]),
        allowed_fails: Some(2),
        global_allowed_fails: None,
        allowed_fails_policy: Some(AllowedFailsPolicy {
            internal_server: Some(6),
            ..AllowedFailsPolicy::default()
        }),
        cooldown_time: secs(30),
        disable_cooldowns: true,
        timeout: secs(60),
        stream_timeout: secs(5),
        fallbacks: Some(vec![group("m", &["n", "o"]), group("n", &["o"])]),
        default_fallbacks: vec!["p".to_owned()],
        context_window_fallbacks: Some(vec![group("m", &["long"])]),
        content_policy_fallbacks: Some(vec![group("m", &["safe"])]),
        max_fallbacks: Some(2),
        default_max_parallel_requests: Some(10),
        enable_weighted_failover: true,
        model_group_alias: BTreeMap::from([
            ("a".to_owned(), "m".to_owned()),
            ("b".to_owned(), "n".to_owned()),
        ]),
        ..RouterSettings::default()
    };
    assert_eq!(found, expected);
}

#[test]
fn the_three_limits_on_a_stream_are_read_for_the_router_and_for_a_deployment() {
    let limits = "first_token_timeout: 5, stream_idle_timeout: 3, stream_total_timeout: 60";
    let read = crate::read(&format!(
        "model_list: [{{model_name: m, litellm_params: {{model: openai/x, {limits}}}}}]
router_settings: {{{limits}}}
"
    ));

    let expected = router::StreamLimits {
        first_token: secs(5),
        idle: secs(3),
        total: secs(60),
    };
    assert_eq!(read.router.settings.stream_limits, expected);
    assert_eq!(read.router.deployments[0].stream_limits, expected);
    assert!(read.ignored.is_empty());
}

#[test]
fn the_usage_window_is_a_minute_a_sliding_one_or_slices() {
    let window =
        |text: &str| settings(&format!("router_settings: {{usage_window: {text}}}")).usage_window;

    assert_eq!(window("minute"), UsageWindow::Minute);
    assert_eq!(window("sliding"), UsageWindow::Sliding);
    assert_eq!(window("10"), UsageWindow::Slices(Duration::from_secs(10)));
}

#[test]
fn a_redis_is_there_if_its_url_or_its_host_and_port_are_given_wherever_they_stand() {
    let shared = |given: &str| settings(&format!("router_settings: {{{given}}}")).shared_store;

    assert!(shared("redis_url: os.environ/REDIS_URL"));
    assert!(shared(
        "redis_host: r, redis_port: 6379, redis_password: os.environ/P"
    ));
    for none in [
        "redis_host: r",
        "redis_port: 6379",
        "redis_url: null",
        "redis_db: 1",
    ] {
        assert!(!shared(none), "{none}");
    }
    let alone = read_with("router_settings: {redis_host: r}");
    assert_eq!(alone.ignored.len(), 1);
}

#[test]
fn a_cooldown_time_of_zero_is_the_default() {
    assert_eq!(
        settings("router_settings: {cooldown_time: 0}").cooldown_time,
        None
    );
    assert_eq!(
        settings("router_settings: {cooldown_time: 0.5}").cooldown_time,
        Some(Duration::from_millis(500))
    );
}

#[test]
fn litellm_settings_are_defaults_that_router_settings_beat() {
    let sections = "litellm_settings:\n  num_retries: 4\n  allowed_fails: 1\n  \
                    fallbacks: [{m: [a]}]\n  context_window_fallbacks: [{m: [b]}]\n  \
                    default_fallbacks: [c]\n";

    let alone = read_with(sections).router.settings;
    let both = read_with(&format!(
        "{sections}router_settings: {{fallbacks: [{{m: [z]}}]}}\n"
    ));

    assert_eq!(
        (alone.num_retries, alone.global_num_retries),
        (None, Some(4))
    );
    assert_eq!(alone.global_allowed_fails, Some(1));
    assert_eq!(
        alone.fallbacks.unwrap(),
        [("m".to_owned(), vec!["a".to_owned()])]
    );
    assert_eq!(alone.default_fallbacks, ["c"]);
    let found = &both.router.settings;
    assert_eq!(
        found.fallbacks.as_ref().unwrap(),
        &[("m".to_owned(), vec!["z".to_owned()])]
    );
    assert!(found.context_window_fallbacks.is_some());
    let reason = &ignored(&both, "litellm_settings.fallbacks").reason;
    assert_eq!(reason, "router_settings.fallbacks is used in its place");
}

#[test]
fn an_explicit_request_timeout_beats_the_routers_and_6000_is_none() {
    let alone = settings("litellm_settings: {request_timeout: 40}");
    let mark = settings("litellm_settings: {request_timeout: 6000}");
    let both = read_with("router_settings: {timeout: 60}\nlitellm_settings: {request_timeout: 40}");

    assert_eq!((alone.request_timeout, alone.timeout), (secs(40), None));
    assert_eq!(mark.request_timeout, None);
    let found = &both.router.settings;
    assert_eq!((found.request_timeout, found.timeout), (secs(40), secs(60)));
    assert!(
        ignored(&both, "router_settings.timeout")
            .reason
            .contains("request_timeout")
    );
    assert!(
        !both
            .used
            .iter()
            .any(|path| path == "router_settings.timeout")
    );
}

#[test]
fn empty_lists_of_fallbacks_are_none() {
    let found = settings("router_settings: {fallbacks: [], context_window_fallbacks: null}");

    assert_eq!(
        (found.fallbacks, found.context_window_fallbacks),
        (None, None)
    );
}

#[test]
fn only_the_first_key_of_a_context_window_fallback_counts() {
    let read = read_with("router_settings: {context_window_fallbacks: [{m: [a], n: [b]}]}");

    let found = read
        .router
        .settings
        .context_window_fallbacks
        .clone()
        .unwrap();
    assert_eq!(found, [("m".to_owned(), vec!["a".to_owned()])]);
    assert!(
        ignored(&read, "router_settings.context_window_fallbacks[0].n")
            .reason
            .contains("first")
    );
}

#[test]
fn arguments_of_a_strategy_that_takes_none_are_told() {
    let read = read_with("router_settings: {routing_strategy_args: {ttl: 9}}");

    assert_eq!(
        read.router.settings.routing_strategy,
        StrategySpec::SimpleShuffle
    );
    let reason = &ignored(&read, "router_settings.routing_strategy_args").reason;
    assert_eq!(reason, "simple-shuffle takes no arguments");
}

#[test]
fn a_config_changed_by_an_override_is_read_as_changed() {
    let text = "model_list: [{model_name: m, litellm_params: {model: openai/x, rpm: 1}}]\n\
                router_settings: {cooldown_time: 5}\n";
    let mut tree = scenarios::litellm::parse(text, "config.yaml").unwrap();

    tree.set_path("router_settings.cooldown_time", "60")
        .unwrap();
    tree.set_path("model_list[0].litellm_params.rpm", "600")
        .unwrap();
    let read = scenarios::litellm::from_node(&tree, "config.yaml").unwrap();
    tree.set_path("router_settings.cooldown_time", "soon")
        .unwrap();
    let error = scenarios::litellm::from_node(&tree, "config.yaml").unwrap_err();

    assert_eq!(read.router.settings.cooldown_time, secs(60));
    assert_eq!(read.router.deployments[0].rpm, Some(600));
    let expected = "config.yaml: router_settings.cooldown_time: found the text \"soon\"; \
                    accepted is a number of seconds from 0 to 1,000,000,000";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn routing_groups_have_strategies_and_arguments_of_their_own() {
    let found = settings(
        "router_settings:
  routing_strategy: usage-based-routing-v2
  routing_strategy_args: {ttl: 30}
  routing_groups:
  - {group_name: fast, models: [m, n], routing_strategy: latency-based-routing,
     routing_strategy_args: {lowest_latency_buffer: 0.5}}
  - {group_name: tiers, models: [m, o], routing_strategy: priority, model_priorities: {m: 1, o: 2}}
",
    );

    let ttl = Duration::from_secs(30);
    assert_eq!(
        found.routing_strategy,
        StrategySpec::UsageBasedV2(UsageArgs { ttl })
    );
    let [fast, tiers] = found.routing_groups.as_slice() else {
        panic!("two groups in {:?}", found.routing_groups);
    };
    assert_eq!(
        (fast.group_name.as_str(), fast.models.as_slice()),
        ("fast", &["m".to_owned(), "n".to_owned()][..])
    );
    let args = LowestLatencyArgs {
        lowest_latency_buffer: 0.5,
        ..LowestLatencyArgs::default()
    };
    assert_eq!(fast.routing_strategy, StrategySpec::LowestLatency(args));
    assert_eq!(tiers.routing_strategy, StrategySpec::Priority);
    assert_eq!(
        tiers.model_priorities,
        BTreeMap::from([("m".to_owned(), 1), ("o".to_owned(), 2)])
    );
}

#[test]
fn checks_are_switched_on_by_name_and_the_others_are_told() {
    let read = read_with(
        "router_settings:
  enable_pre_call_checks: true
  optional_pre_call_checks: [session_affinity, prompt_caching, router_budget_limiting, sesion_affinity, enforce_model_rate_limits]
  model_group_affinity_config: {m: [deployment_affinity], n: []}
  deployment_affinity_ttl_seconds: 60
  session_affinity_repin_on_failover: true
",
    );

    let found = &read.router.settings;
    assert!(found.enable_pre_call_checks);
    let on = OptionalPreCallChecks {
        session_affinity: true,
        prompt_caching: true,
        enforce_model_rate_limits: true,
        ..OptionalPreCallChecks::default()
    };
    assert_eq!(found.optional_pre_call_checks, on);
    let of_m = found.model_group_affinity_config["m"];
    assert!(of_m.deployment_affinity && !of_m.session_affinity);
    assert_eq!(
        found.model_group_affinity_config["n"],
        OptionalPreCallChecks::default()
    );
    assert_eq!(found.deployment_affinity_ttl, secs(60));
    assert!(found.session_affinity_repin_on_failover);
    let told: Vec<String> = read.ignored.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    router_settings.optional_pre_call_checks[2] (line 4): budgets are held as soon as one is configured, with or without it
    check this: router_settings.optional_pre_call_checks[3] (line 4): unknown to LiteLLM 1.110 as far as routelab knows; did you mean `session_affinity`?
    ");
}

#[test]
fn tags_budgets_queue_and_alerts_are_read() {
    let read = read_with(
        "router_settings:
  enable_tag_filtering: true
  tag_filtering_match_any: false
  tag_routing_prefix: 'route:'
  provider_budget_config:
    openai: {budget_limit: 100, time_period: 1d}
    azure: {time_period: 1mo}
    groq: {budget_limit: 0, time_period: 1d}
    mistral: {budget_limit: 5}
  default_priority: 3
  polling_interval: 0.1
  alerting_config: {webhook_url: https://example.com/hook}
",
    );

    let found = &read.router.settings;
    assert!(found.enable_tag_filtering);
    assert_eq!(found.tag_filtering_match_any, Some(false));
    assert_eq!(found.tag_routing_prefix.as_deref(), Some("route:"));
    let budget = |limit, days: u64| Budget {
        limit,
        period: secs(days * 86_400),
    };
    let expected = BTreeMap::from([
        ("openai".to_owned(), budget(Some(100.0), 1)),
        ("azure".to_owned(), budget(None, 30)),
    ]);
    assert_eq!(found.provider_budget_config, expected);
    assert_eq!(found.default_priority, Some(3));
    assert_eq!(found.polling_interval, Some(Duration::from_millis(100)));
    let alerting = found.alerting.as_ref().unwrap();
    assert_eq!(alerting.threshold, Duration::from_secs(300));
    assert_eq!(read.ignored.len(), 2, "{:?}", read.ignored);
}

#[test]
fn answers_are_cached_if_the_router_or_the_proxy_says_so() {
    let cached = |sections: &str| {
        let found = settings(sections);
        (found.cache_responses, found.cache_ttl)
    };
    let params = "litellm_settings: {cache: true, cache_params: {type: local, ttl: 60";

    assert_eq!(
        cached("router_settings: {cache_responses: true}"),
        (true, None)
    );
    assert_eq!(cached("litellm_settings: {cache: true}"), (true, None));
    assert_eq!(cached(&format!("{params}}}}}")), (true, secs(60)));
    assert_eq!(
        cached(&format!("{params}, mode: default_off}}}}")),
        (false, secs(60))
    );
    let embeddings = format!("{params}, supported_call_types: [aembedding]}}}}");
    assert_eq!(cached(&embeddings), (false, secs(60)));
    let off = "router_settings: {cache_responses: false}\nlitellm_settings: {cache: true}";
    assert_eq!(cached(off), (false, None));
    assert_eq!(
        cached("litellm_settings: {cache_params: {ttl: 60}}"),
        (false, None)
    );
    let shared = settings("router_settings: {caching_groups: [[m, n], [o]]}");
    assert_eq!(shared.caching_groups, [vec!["m", "n"], vec!["o"]]);
}

#[test]
fn a_fallback_target_may_be_a_mapping_of_which_only_the_name_counts() {
    let read = read_with("router_settings: {fallbacks: [{m: [{model: n, temperature: 0}, o]}]}");

    let found = read.router.settings.fallbacks.clone().unwrap();
    assert_eq!(found[0].1, ["n", "o"]);
    let told = ignored(&read, "router_settings.fallbacks[0].m[0].temperature");
    assert_eq!(told.reason, "changes the request, not where it goes");
}
