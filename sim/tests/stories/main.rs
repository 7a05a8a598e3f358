//! The stories of single requests, as `routelab explain` tells them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;

use router::RequestId;
use scenarios::{LoadOptions, RunPlan, Scenario, Source};
use sim::{Sought, Story, find, simulate};

fn plan(text: &str) -> RunPlan {
    let source = Source::Text {
        name: "test".to_owned(),
        text: text.to_owned(),
    };
    Scenario::load(&source, &LoadOptions::default())
        .unwrap()
        .plan(0, 0)
}

fn story(plan: &RunPlan, request: u64) -> String {
    let mut story = Story::new(plan, RequestId(request)).unwrap();
    simulate(plan, &mut story).unwrap();
    story.to_string()
}

/// One deployment whose quota is one request a minute, another that is down, and a fallback.
const SCENARIO: &str = "
purpose: A test of stories.
kind: terminating
litellm:
  model_list:
    - {model_name: chat, litellm_params: {model: openai/a, weight: 1}, model_info: {id: a}}
    - {model_name: chat, litellm_params: {model: openai/b, weight: 0}, model_info: {id: b}}
    - {model_name: spare, litellm_params: {model: openai/c}, model_info: {id: c}}
  router_settings: {num_retries: 1, fallbacks: [{chat: [spare]}]}
providers:
  a:
    latency: {first_token: {constant: {ms: 100}}}
    quota: {requests_per_minute: 1}
  b:
    latency: {first_token: {constant: {ms: 100}}}
    faults: [{outage: {}}]
  c: {latency: {first_token: {constant: {ms: 250}}}}
workload:
  arrivals: {constant: {per_second: 2}}
  lengths: {prompt: {constant: 10}, output: {constant: 20}}
  duration_s: 3
";

#[test]
fn a_story_tells_each_step_with_the_time_since_arrival() {
    let plan = plan(SCENARIO);

    insta::assert_snapshot!(story(&plan, 0), @"
        +0.000 s  arrived      for `chat`, 10 prompt tokens
        +0.000 s  picked       a, of 2 candidates  [routing_strategy: simple-shuffle]
        +0.000 s  sent         attempt 1 to a
        +0.100 s  came back    attempt 1 at a after 0.100 s: 20 tokens
        +0.100 s  answered     by a, 10 prompt and 20 answer tokens; 1 attempt, 0 fallbacks, 0.000 s waited, 0.000 s in failed attempts
        ");
    insta::assert_snapshot!(story(&plan, 1), @"
        +0.000 s  arrived      for `chat`, 10 prompt tokens
        +0.000 s  picked       a, of 2 candidates  [routing_strategy: simple-shuffle]
        +0.000 s  sent         attempt 1 to a
        +0.000 s  failed       attempt 1 at a after 0.000 s: RateLimitError (429), retry-after 59 s
        +0.000 s  cooled       a for 59.000 s: the provider said 429  [the provider's retry-after, else cooldown_time: not set]
        +0.000 s  retries      retry 1 of 1 in this group  [num_retries: 1]
        +0.000 s  passed over  a: in cooldown for another 59.000 s  [cooldown_time: not set]
        +0.000 s  picked       b, of 1 candidate
        +0.000 s  sent         attempt 2 to b
        +0.000 s  failed       attempt 2 at b after 0.000 s: ServiceUnavailableError (503)
        +0.000 s  falls back   from `chat` to `spare` (fallbacks)  [fallbacks, default_fallbacks]
        +0.000 s  picked       c, of 1 candidate
        +0.000 s  sent         attempt 3 to c
        +0.250 s  came back    attempt 3 at c after 0.250 s: 20 tokens
        +0.250 s  answered     by c, 10 prompt and 20 answer tokens; 3 attempts, 1 fallback, 0.000 s waited, 0.000 s in failed attempts
        ");
    insta::assert_snapshot!(story(&plan, 2), @"
        +0.000 s  arrived      for `chat`, 10 prompt tokens
        +0.000 s  passed over  a: in cooldown for another 58.500 s  [cooldown_time: not set]
        +0.000 s  picked       b, of 1 candidate
        +0.000 s  sent         attempt 1 to b
        +0.000 s  failed       attempt 1 at b after 0.000 s: ServiceUnavailableError (503)
        +0.000 s  retries      retry 1 of 1 in this group  [num_retries: 1]
        +0.000 s  passed over  a: in cooldown for another 58.500 s  [cooldown_time: not set]
        +0.000 s  picked       b, of 1 candidate
        +0.000 s  sent         attempt 2 to b
        +0.000 s  failed       attempt 2 at b after 0.000 s: ServiceUnavailableError (503)
        +0.000 s  falls back   from `chat` to `spare` (fallbacks)  [fallbacks, default_fallbacks]
        +0.000 s  picked       c, of 1 candidate
        +0.000 s  sent         attempt 3 to c
        +0.250 s  came back    attempt 3 at c after 0.250 s: 20 tokens
        +0.250 s  answered     by c, 10 prompt and 20 answer tokens; 3 attempts, 1 fallback, 0.000 s waited, 0.000 s in failed attempts
        ");
}

#[test]
fn a_request_that_never_arrives_has_no_story() {
    let plan = plan(SCENARIO);
    let mut story = Story::new(&plan, RequestId(1_000_000)).unwrap();

    simulate(&plan, &mut story).unwrap();

    assert_eq!(story.arrived(), None);
    assert_eq!(story.to_string(), "");
}

#[test]
fn the_first_request_of_a_fate_is_found() {
    let plan = plan(SCENARIO);
    let first = |sought| find(&plan, sought).unwrap().map(|request| request.0);

    assert_eq!(first(Sought::Retried), Some(1));
    assert_eq!(first(Sought::FellBack), Some(1));
    assert_eq!(first(Sought::Failed), None);
    assert_eq!(first(Sought::Waited), None);
}

/// `chat` is mirrored to `trial`, whose deployment is down.
const MIRRORED: &str = "
purpose: A test of stories.
kind: terminating
litellm:
  model_list:
    - {model_name: chat, litellm_params: {model: openai/a}, model_info: {id: a}}
    - {model_name: trial, litellm_params: {model: openai/b}, model_info: {id: b}}
  router_settings: {num_retries: 0}
providers:
  a: {latency: {first_token: {constant: {ms: 300}}}}
  b: {latency: {first_token: {constant: {ms: 100}}}, faults: [{outage: {}}]}
workload:
  arrivals: {constant: {per_second: 2}}
  lengths: {prompt: {constant: 10}, output: {constant: 20}}
  duration_s: 3
";

#[test]
fn a_mirrors_story_is_told_within_its_requests() {
    let mut plan = plan(MIRRORED);
    let config = Arc::make_mut(&mut plan.router);
    config.deployments[0].silent_model = Some("trial".to_owned());

    let found = find(&plan, Sought::Mirrored).unwrap();
    assert_eq!(found, Some(RequestId(0)));
    assert_eq!(find(&plan, Sought::Failed).unwrap(), None);
    insta::assert_snapshot!(story(&plan, 0), @"
        +0.000 s  arrived      for `chat`, 10 prompt tokens
        +0.000 s  picked       a, of 1 candidate
        +0.000 s  mirrored     as #0, mirror 1 to `trial`, for nobody  [litellm_params.silent_model]
        +0.000 s  sent         attempt 1 to a
        +0.000 s  arrived      [mirror 1] for `trial`, 10 prompt tokens
        +0.000 s  picked       [mirror 1] b, of 1 candidate
        +0.000 s  sent         [mirror 1] attempt 1 to b
        +0.000 s  failed       [mirror 1] attempt 1 at b after 0.000 s: ServiceUnavailableError (503)
        +0.000 s  last look    [mirror 1] could still pick b
        +0.000 s  gave up      [mirror 1] ServiceUnavailableError (503) of b; 1 attempt, 0 fallbacks, 0.000 s waited, 0.000 s in failed attempts
        +0.300 s  came back    attempt 1 at a after 0.300 s: 20 tokens
        +0.300 s  answered     by a, 10 prompt and 20 answer tokens; 1 attempt, 0 fallbacks, 0.000 s waited, 0.000 s in failed attempts
        ");
}

/// Every request is refused as a bad one, in words that nobody knows.
const UNCLASSIFIED: &str = "
purpose: A bad request where a list for long prompts exists.
kind: terminating
profile: corrected
litellm:
  model_list:
    - {model_name: small, litellm_params: {model: openai/s}, model_info: {id: s}}
    - {model_name: large, litellm_params: {model: openai/l}, model_info: {id: l}}
  router_settings: {context_window_fallbacks: [{small: [large]}]}
providers:
  s: {preset: generic, faults: [{error_rate: {share: 1, status: 400}}]}
workload:
  arrivals: {constant: {per_second: 1}}
  lengths: {prompt: {constant: 10}, output: {constant: 20}}
  duration_s: 2
";

#[test]
fn br_033_a_bad_request_tells_that_a_list_for_long_prompts_was_not_used() {
    let told = story(&plan(UNCLASSIFIED), 0);

    assert!(told.contains("BadRequestError"), "{told}");
    assert!(
        told.contains("context_window_fallbacks are not used"),
        "{told}"
    );
}

#[test]
fn a_providers_cause_reaches_the_router() {
    let full = "{error_rate: {share: 1, status: 503, cause: backpressure}}";
    let plan = plan(&UNCLASSIFIED.replace("{error_rate: {share: 1, status: 400}}", full));

    assert!(story(&plan, 0).contains("ServiceUnavailableError"));
    let told = format!("{:?}", plan.providers);
    assert!(told.contains("Backpressure"), "{told}");
}

/// One deployment hangs, and is out until a trial; whoever failed once is not sent again.
const TRIALS: &str = "
purpose: A deployment that comes back by a trial.
kind: terminating
litellm:
  litellm_settings: {num_retries_per_request: 1}
  model_list:
    - {model_name: chat, litellm_params: {model: openai/a}, model_info: {id: a}}
    - {model_name: chat, litellm_params: {model: openai/b}, model_info: {id: b}}
  router_settings: {num_retries: 1, timeout: 0.6, allowed_fails: 0, cooldown_time: 1, cooldown_one_trial: true}
providers:
  a: {latency: {first_token: {constant: {ms: 100}}}, faults: [{hang: {share: 1}}]}
  b: {latency: {first_token: {constant: {ms: 100}}}}
workload:
  arrivals: {constant: {per_second: 4}}
  lengths: {prompt: {constant: 10}, output: {constant: 20}}
  duration_s: 5
";

#[test]
fn a_story_tells_why_nobody_was_called_and_how_long_a_cooldown_lasts_that_a_trial_ends() {
    let plan = plan(TRIALS);
    let all: String = (0..20).map(|request| story(&plan, request)).collect();

    let refused = "refused      b: 1 failure remembered, nobody is called  \
                   [litellm_settings.num_retries_per_request: 1]";
    assert!(all.contains(refused), "{all}");
    let out = "a: in cooldown for another 0.600 s  [cooldown_time: 1; cooldown_one_trial: true]";
    assert!(all.contains(out), "{all}");
    let tried = "a: in cooldown, and another request tries it now";
    assert!(all.contains(tried), "{all}");
}
