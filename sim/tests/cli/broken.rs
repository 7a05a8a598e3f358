//! What is told of inputs that are broken, always with exit code 2 and nothing on standard output.

use crate::{Folder, TINY, told};

/// What is told of a scenario.
fn told_of(name: &str, scenario: &str) -> String {
    let folder = Folder::new(name).with("broken.yaml", scenario);
    told(&folder, &["run", "broken.yaml"])
}

#[test]
fn an_unknown_key_is_shown_in_its_line_with_what_was_probably_meant() {
    let text = TINY.replace("duration_s: 30", "duratoin_s: 30");
    insta::assert_snapshot!(told_of("unknown-key", &text), @"
     × workload.duratoin_s: unknown key
       ╭─[broken.yaml:18:3]
    17 │   lengths: {prompt: {constant: 100}, output: {constant: 50}}
    18 │   duratoin_s: 30
       ·   ─────┬─────
       ·        ╰── here
    19 │ slo: {latency_s: 1}
       ╰────
     help: did you mean `duration_s`?
    ");
}

#[test]
fn an_unknown_setting_of_the_router_is_shown_in_its_line() {
    let text = TINY.replace(
        "router_settings: {cooldown_time: 5}",
        "router_settings: {cooldown_tme: 5}",
    );
    let text = text.replace("  cooldown_time: [1, 5]\n", "  cooldown_tme: [1, 5]\n");
    insta::assert_snapshot!(told_of("unknown-setting", &text), @"
     × sweep.cooldown_tme: value `1`: this is not acted on: unknown to LiteLLM 1.110 as far as
     │ routelab knows; did you mean `cooldown_time`?
       ╭─[broken.yaml:22:18]
    21 │   num_retries: [0, 2]
    22 │   cooldown_tme: [1, 5]
       ·                  ┬
       ·                  ╰── here
       ╰────
    ");
}

#[test]
fn bad_yaml_is_shown_in_its_line() {
    let text = TINY.replace("{poisson: {per_second: 20}}", "{poisson: {per_second: 20}");
    insta::assert_snapshot!(told_of("bad-yaml", &text), @"
     × not YAML: while parsing a flow mapping, did not find expected ',' or '}'
       ╭─[broken.yaml:17:3]
    16 │   arrivals: {poisson: {per_second: 20}
    17 │   lengths: {prompt: {constant: 100}, output: {constant: 50}}
       ·   ────┬───
       ·       ╰── here
    18 │   duration_s: 30
       ╰────
    ");
}

#[test]
fn a_negative_rate_is_shown_with_what_is_accepted() {
    let text = TINY.replace("per_second: 20", "per_second: -20");
    insta::assert_snapshot!(told_of("negative-rate", &text), @"
     × workload.arrivals.poisson.per_second: found the number -20
       ╭─[broken.yaml:16:36]
    15 │ workload:
    16 │   arrivals: {poisson: {per_second: -20}}
       ·                                    ─┬─
       ·                                     ╰── here
    17 │   lengths: {prompt: {constant: 100}, output: {constant: 50}}
       ╰────
     help: accepted is a rate above 0 and up to 10 million requests a second
    ");
}

#[test]
fn a_missing_block_is_named() {
    let text = TINY.replace("kind: steady\n", "");
    insta::assert_snapshot!(told_of("missing-kind", &text), @"
     × key `kind` is missing
      ╭─[broken.yaml:2:1]
    1 │ 
    2 │ purpose: Does a retry hide a deployment that fails now and then?
      · ────┬───
      ·     ╰── here
    3 │ replications: 2
      ╰────
     help: accepted is `terminating` (a passing event such as an outage: every request counts) or
           `steady` (a lasting state: the start-up is cut off)
    ");
}

#[test]
fn an_empty_axis_is_shown() {
    let text = TINY.replace("num_retries: [0, 2]", "num_retries: []");
    insta::assert_snapshot!(told_of("empty-axis", &text), @"
     × sweep.num_retries: the axis has no values
       ╭─[broken.yaml:21:16]
    20 │ sweep:
    21 │   num_retries: []
       ·                ┬
       ·                ╰── here
    22 │   cooldown_time: [1, 5]
       ╰────
     help: give at least one
    ");
}

#[test]
fn an_unknown_metric_is_told_before_anything_runs() {
    let text = format!("{TINY}expect: [{{metric: latency_p98_ms, at_most: 1}}]\n");
    insta::assert_snapshot!(told_of("unknown-metric", &text), @"
     × expect[0].metric: there is no metric `latency_p98_ms`
       ╭─[broken.yaml:23:19]
    22 │   cooldown_time: [1, 5]
    23 │ expect: [{metric: latency_p98_ms, at_most: 1}]
       ·                   ───────┬──────
       ·                          ╰── here
       ╰────
     help: did you mean `latency_p90_ms`?
    ");
}

#[test]
fn a_timeout_of_centuries_is_shown() {
    let text = TINY.replace(
        "router_settings: {cooldown_time: 5}",
        "router_settings: {timeout: 1e12}",
    );
    insta::assert_snapshot!(told_of("centuries", &text), @"
     × litellm.router_settings.timeout: found the number 1000000000000
       ╭─[broken.yaml:9:30]
     8 │     - {model_name: chat, litellm_params: {model: openai/b}, model_info: {id: bad}}
     9 │   router_settings: {timeout: 1e12}
       ·                              ──┬─
       ·                                ╰── here
    10 │ providers:
       ╰────
     help: accepted is a number of seconds from 0 to 1,000,000,000
    ");
}

#[test]
fn a_scenario_that_is_not_there_is_told() {
    let folder = Folder::new("not-there");
    insta::assert_snapshot!(told(&folder, &["run", "nowhere.yaml"]), @"  × nowhere.yaml: cannot be read: entity not found");
    insta::assert_snapshot!(told(&folder, &["run", "baselin"]), @"
    × no scenario of the library is called `baselin`
    help: did you mean `baseline`?
    ");
    insta::assert_snapshot!(told(&folder, &["check", "baselin"]), @"
    × no scenario of the library is called `baselin`
    help: did you mean `baseline`?
    ");
}

#[test]
fn a_config_that_is_not_there_or_empty_is_told() {
    let folder = Folder::new("config-broken").with("empty.yaml", "model_list: []\n");
    insta::assert_snapshot!(told(&folder, &["run", "baseline", "--config", "nowhere.yaml"]), @"  × nowhere.yaml: cannot be read: entity not found");
    insta::assert_snapshot!(told(&folder, &["run", "baseline", "--config", "empty.yaml"]), @"
    × empty.yaml:1: model_list: it holds no deployment
    help: accepted is a list of at least one deployment
    ");
    insta::assert_snapshot!(told(&folder, &["check", "empty.yaml"]), @"
     × model_list: it holds no deployment
      ╭─[empty.yaml:1:1]
    1 │ model_list: []
      · ─────┬─────
      ·      ╰── here
      ╰────
     help: accepted is a list of at least one deployment
    ");
}

#[test]
fn a_config_without_a_model_list_is_known_by_any_of_its_sections() {
    let folder = Folder::new("config-sections")
        .with("router.yaml", "router_settings: {num_retries: 1}\n")
        .with("include.yaml", "include: [other.yaml]\n")
        .with(
            "typo.yaml",
            "modle_list: []\ngeneral_settings: {}\nlitellm_settings: {}\n",
        );
    insta::assert_snapshot!(told(&folder, &["check", "router.yaml"]), @"
     × model_list: it is missing
      ╭─[router.yaml:1:1]
    1 │ router_settings: {num_retries: 1}
      · ────────┬───────
      ·         ╰── here
      ╰────
     help: accepted is a list of at least one deployment
    ");
    insta::assert_snapshot!(told(&folder, &["check", "include.yaml"]), @"
     × model_list: it is missing
      ╭─[include.yaml:1:1]
    1 │ include: [other.yaml]
      · ────┬───
      ·     ╰── here
      ╰────
     help: files named under `include` are not read: put their entries here
    ");
    insta::assert_snapshot!(told(&folder, &["check", "typo.yaml"]), @"
     × model_list: it is missing
      ╭─[typo.yaml:1:1]
    1 │ modle_list: []
      · ─────┬─────
      ·      ╰── here
    2 │ general_settings: {}
      ╰────
     help: did you mean it by `modle_list`?
    ");
    assert_eq!(
        told(&folder, &["run", "router.yaml"]),
        told(&folder, &["check", "router.yaml"]),
    );
}

#[test]
fn a_change_that_changes_nothing_is_told() {
    let folder = Folder::new("set").with("tiny.yaml", TINY);
    insta::assert_snapshot!(told(&folder, &["run", "tiny.yaml", "--set", "cooldown_tim=5"]), @"
    × --set: litellm.router_settings.cooldown_tim: this is not acted on: unknown to LiteLLM 1.110 as
    │ far as routelab knows; did you mean `cooldown_time`?
    ");
    insta::assert_snapshot!(told(&folder, &["run", "tiny.yaml", "--set", "workload.duration_s=soon"]), @r#"
    × tiny.yaml: workload.duration_s: found the text "soon"
    help: accepted is a number
    "#);
    insta::assert_snapshot!(told(&folder, &["run", "tiny.yaml", "--set", "cooldown_time"]), @"
    error: invalid value 'cooldown_time' for '--set <PATH=VALUE>': expected a name, `=` and a value

    For more information, try '--help'.
    ");
}

#[test]
fn what_is_typed_wrong_is_told() {
    let folder = Folder::new("typed").with("tiny.yaml", TINY);
    insta::assert_snapshot!(told(&folder, &["rum"]), @"
    error: unrecognized subcommand 'rum'

      tip: a similar subcommand exists: 'run'

    Usage: routelab [COMMAND]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(told(&folder, &["run", "tiny.yaml", "--reps", "0"]), @"
    error: invalid value '0' for '--reps <N>': 0 is not in 1..=4294967295

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(told(&folder, &["run", "tiny.yaml", "--profile", "litellm-2"]), @"
    error: invalid value 'litellm-2' for '--profile <PROFILE>': known are litellm-1.92, litellm-1.110, corrected

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(told(&folder, &["run", "tiny.yaml", "--jobs", "0"]), @"
    error: invalid value '0' for '--jobs <N>': number would be zero for non-zero type

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(told(&folder, &["sweep", "tiny.yaml"]), @"
    error: the following required arguments were not provided:
      --axis <NAME=V1,V2>

    Usage: routelab sweep --axis <NAME=V1,V2> <SCENARIO>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(told(&folder, &["sweep", "tiny.yaml", "--axis", "num_retries"]), @"
    error: invalid value 'num_retries' for '--axis <NAME=V1,V2>': expected a name, `=` and a value

    For more information, try '--help'.
    ");
}

#[test]
fn a_comparison_of_one_thing_is_told() {
    let folder = Folder::new("compare-one").with("tiny.yaml", TINY);
    insta::assert_snapshot!(told(&folder, &["compare", "tiny.yaml"]), @"
    error: the following required arguments were not provided:
      <--arm <PATH=VALUE,…>|--against <FILE>>

    Usage: routelab compare <--arm <PATH=VALUE,…>|--against <FILE>> <SCENARIO>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(told(&folder, &["compare", "tiny.yaml", "--arm", "as-is"]), @"
    × a comparison needs at least two arms
    help: for example: --arm as-is --arm cooldown_time=1,num_retries=2
    ");
    insta::assert_snapshot!(
        told(&folder, &["compare", "tiny.yaml", "--arm", "as-is", "--arm", "as-is"]),
        @"
        × the arm `as-is` is given twice
        help: give each arm once; the first is the reference
        "
    );
    insta::assert_snapshot!(
        told(&folder, &["compare", "tiny.yaml", "--arm", "as-is", "--arm", "cooldown_time"]),
        @"
        × the arm `cooldown_time` holds `cooldown_time`, which changes nothing
        help: write path=value, with commas between several, or `as-is`
        "
    );
}

#[test]
fn a_report_that_cannot_be_written_is_told_before_anything_runs() {
    let folder = Folder::new("not-writable")
        .with("tiny.yaml", TINY)
        .with("file", "in the way");
    let arm = "cooldown_time=1";

    insta::assert_snapshot!(told(&folder, &["run", "tiny.yaml", "--out", "file/report"]), @"  × cannot write file/report: Not a directory (os error 20)");
    insta::assert_snapshot!(
        told(&folder, &["compare", "tiny.yaml", "--arm", "as-is", "--arm", arm, "--out", "file"]),
        @"  × cannot write file: not a directory"
    );

    assert_eq!(folder.read("file"), "in the way");
    assert_eq!(folder.path("").read_dir().unwrap().count(), 2);
}
