//! What is said of broken input: one message a kind, as the user reads it.

use std::fs;

use scenarios::{LoadOptions, Scenario, Source};

use super::{GOOD, folder, load, load_with, sets, with};

/// The message about the good scenario with one piece replaced.
fn says(from: &str, to: &str) -> String {
    load(&with(from, to)).unwrap_err().to_string()
}

/// The message about the good scenario with lines added.
fn adding(lines: &str) -> String {
    load(&format!("{GOOD}{lines}\n")).unwrap_err().to_string()
}

fn setting(path: &str, value: &str) -> String {
    load_with(GOOD, &sets(&[(path, value)]))
        .unwrap_err()
        .to_string()
}

/// The message about a trace of this text.
fn trace(name: &str, text: &str, more: &str) -> String {
    let folder = folder("broken-traces");
    fs::write(folder.join(name), text).unwrap();
    let scenario = with(
        "  arrivals: {poisson: {per_second: 10}}\n  lengths: azure-conv-2023\n  duration_s: 60\n",
        &format!("  trace: {{file: {name}{more}}}\n"),
    );
    fs::write(folder.join("s.yaml"), scenario).unwrap();
    let source = Source::File(folder.join("s.yaml"));
    let message = Scenario::load(&source, &LoadOptions::default())
        .unwrap_err()
        .to_string();
    let folder = format!("{}/", folder.display());
    message.replace(&folder, "")
}

#[test]
fn the_file_itself() {
    insta::assert_snapshot!(load("").unwrap_err(), @"s.yaml: the scenario is empty; `routelab list` shows scenarios to start from");
    insta::assert_snapshot!(load("just text").unwrap_err(), @r#"s.yaml:1:1: found the text "just text"; accepted is a mapping with `purpose`, `kind`, …"#);
    insta::assert_snapshot!(load("purpose: [").unwrap_err(), @"s.yaml:1:10: not YAML: unclosed bracket '['");
    insta::assert_snapshot!(load("purpose: a\npurpose: b\n").unwrap_err(), @"s.yaml:2:1: key `purpose` appears twice; keep one of the two");
    insta::assert_snapshot!(says("purpose: Does it hold?\n", ""), @"s.yaml:1:1: key `purpose` is missing; say in a sentence what the scenario is to find out");
    insta::assert_snapshot!(says("Does it hold?", "\"\""), @"s.yaml:1:10: purpose: the purpose is empty; say in a sentence what the scenario is to find out");
    insta::assert_snapshot!(says("kind: terminating\n", ""), @"s.yaml:1:1: key `kind` is missing; accepted is `terminating` (a passing event such as an outage: every request counts) or `steady` (a lasting state: the start-up is cut off)");
    insta::assert_snapshot!(says("terminating", "stedy"), @"s.yaml:2:7: kind: unknown value `stedy`; did you mean `steady`?");
    insta::assert_snapshot!(adding("sweeep: {}"), @"s.yaml:14:1: sweeep: unknown key; did you mean `sweep`?");
    insta::assert_snapshot!(adding("profile: litellm-1.93"), @"s.yaml:14:10: profile: unknown value `litellm-1.93`; did you mean `litellm-1.92`?");
    insta::assert_snapshot!(adding("starts_at: yesterday"), @r#"s.yaml:14:12: starts_at: found the text "yesterday"; accepted is a date and time since 1970, e.g. 2024-01-01T00:00:50Z"#);
    insta::assert_snapshot!(adding("actions: [{at_s: 90, do: clear_cooldowns}]"), @"s.yaml:14:18: actions[0].at_s: found the number 90; accepted is a moment while requests come, from 0 to 60 s");
    insta::assert_snapshot!(adding("actions: [{at_s: 9, do: clear_cooldowns, deployment: nobody}]"), @"s.yaml:14:54: actions[0].deployment: no deployment has the id `nobody`; accepted is east or west");
    insta::assert_snapshot!(adding("actions: [{at_s: 9, do: clear}]"), @"s.yaml:14:25: actions[0].do: unknown value `clear`; accepted is clear_cooldowns");
    insta::assert_snapshot!(adding("instances: {count: 0}"), @"s.yaml:14:20: instances.count: found the number 0; accepted is a whole number from 1 to 1000");
    insta::assert_snapshot!(adding("instances: {count: 2000}"), @"s.yaml:14:20: instances.count: found the number 2000; accepted is a whole number from 1 to 1000");
    insta::assert_snapshot!(adding("instances: {count: -1}"), @"s.yaml:14:20: instances.count: found the number -1; accepted is a whole number from 1 to 1000");
    insta::assert_snapshot!(adding("instances: {count: 1.5}"), @"s.yaml:14:20: instances.count: found the number 1.5; accepted is a whole number from 1 to 1000");
    insta::assert_snapshot!(adding("instances: {count: two}"), @r#"s.yaml:14:20: instances.count: found the text "two"; accepted is a whole number from 1 to 1000"#);
    insta::assert_snapshot!(adding("instances: {number: 2}"), @"s.yaml:14:13: instances.number: unknown key; accepted is count or shared_state");
    insta::assert_snapshot!(adding("instances: 3"), @"s.yaml:14:12: instances: found the number 3; accepted is a mapping");
    insta::assert_snapshot!(adding("seed: -1"), @"s.yaml:14:7: seed: found the number -1; accepted is a whole number of at least 0");
    insta::assert_snapshot!(adding("replications: 0"), @"s.yaml:14:15: replications: found the number 0; accepted is from 1 to 100000");
    insta::assert_snapshot!(adding("replications: 2\nsweep: {replications: 3}"), @"s.yaml:15:23: sweep.replications: said at the top of the file as well; keep one of the two");
    let missing = Source::File("no/such/scenario.yaml".into());
    let error = Scenario::load(&missing, &LoadOptions::default()).unwrap_err();
    insta::assert_snapshot!(error, @"no/such/scenario.yaml: cannot be read: entity not found");
}

#[test]
fn the_config() {
    insta::assert_snapshot!(with_config("{}"), @"s.yaml:3:10: litellm.model_list: it is missing; accepted is a list of at least one deployment");
    insta::assert_snapshot!(with_config("{model_list: []}"), @"s.yaml:3:11: litellm.model_list: it holds no deployment; accepted is a list of at least one deployment");
    insta::assert_snapshot!(with_config("missing.yaml"), @"s.yaml:3:10: litellm: there is no file `missing.yaml`; looked for beside the scenario file and in the current folder");
    insta::assert_snapshot!(says("num_retries: 2", "num_retries: many"), @r#"s.yaml:7:34: litellm.router_settings.num_retries: found the text "many"; accepted is a whole number from 0 to 10,000"#);
    insta::assert_snapshot!(says("num_retries: 2", "routing_strategy: least-bussy"), @"s.yaml:7:39: litellm.router_settings.routing_strategy: unknown strategy `least-bussy`; did you mean `least-busy`?");
}

fn with_config(config: &str) -> String {
    let from = GOOD.find("litellm:").unwrap();
    let to = GOOD.find("providers:").unwrap();
    let text = format!("{}litellm: {config}\n{}", &GOOD[..from], &GOOD[to..]);
    load(&text).unwrap_err().to_string()
}

#[test]
fn providers() {
    insta::assert_snapshot!(says("east: {preset", "eats: {preset"), @"s.yaml:9:3: providers.eats: no deployment matches; did you mean `east`?");
    insta::assert_snapshot!(says("azure-payg", "azure-pay"), @"s.yaml:9:18: providers.east: preset is `azure-pay` (did you mean `azure-payg`?); accepted is one of anthropic, azure-payg, azure-ptu, bedrock, flaky, gemini, generic, groq, openai, vertex-dsq, vllm");
    insta::assert_snapshot!(says("{preset: azure-payg}", "{}"), @"s.yaml:9:9: providers.east: latency.first_token is missing; accepted is a distribution, or one of the presets anthropic, azure-payg, azure-ptu, bedrock, flaky, gemini, generic, groq, openai, vertex-dsq, vllm");
    insta::assert_snapshot!(says("{preset: azure-payg}", "{preset: openai, fault: []}"), @"s.yaml:9:26: providers.east.fault: unknown key; did you mean `faults`?");
    insta::assert_snapshot!(
        says("{preset: azure-payg}", "{preset: openai, faults: [{outage: {from_s: 9, to_s: 3}}]}"),
        @"s.yaml:9:62: providers.east: faults[0].outage.to_s is 3; accepted is a finite number above from_s"
    );
    insta::assert_snapshot!(
        says("{preset: azure-payg}", "{preset: openai, faults: [{error_rate: {share: 1.5}}]}"),
        @"s.yaml:9:56: providers.east: faults[0].error_rate.share is 1.5; accepted is a share from 0 to 1"
    );
    insta::assert_snapshot!(says("  east: {preset: azure-payg}", "  - east"), @"s.yaml:9:3: providers: found a list; accepted is a mapping from deployments to what their upstreams do");
}

#[test]
fn arrivals() {
    let poisson = "{poisson: {per_second: 10}}";
    insta::assert_snapshot!(says(poisson, "{poisson: {per_second: -3}}"), @"s.yaml:11:36: workload.arrivals.poisson.per_second: found the number -3; accepted is a rate above 0 and up to 10 million requests a second");
    insta::assert_snapshot!(says(poisson, "{poisson: {per_second: 0}}"), @"s.yaml:11:36: workload.arrivals.poisson.per_second: found the number 0; accepted is a rate above 0 and up to 10 million requests a second");
    insta::assert_snapshot!(says(poisson, "{poisson: {per_second: .nan}}"), @"s.yaml:11:36: workload.arrivals.poisson.per_second: found the number NaN; accepted is a finite number");
    insta::assert_snapshot!(says(poisson, "{poisson: {per_second: 1e300}}"), @"s.yaml:11:36: workload.arrivals.poisson.per_second: found the number 1e300; accepted is a rate above 0 and up to 10 million requests a second");
    insta::assert_snapshot!(says(poisson, "{poisson: {per_secnd: 10}}"), @"s.yaml:11:24: workload.arrivals.poisson.per_secnd: unknown key; did you mean `per_second`?");
    insta::assert_snapshot!(says(poisson, "{poison: {per_second: 10}}"), @"s.yaml:11:14: workload.arrivals: unknown value `poison`; did you mean `poisson`?");
    insta::assert_snapshot!(says(poisson, "{gamma: {per_second: 10, cv: -1}}"), @"s.yaml:11:42: workload.arrivals.gamma.cv: found the number -1; accepted is 0, or from 0.01 to 100");
    insta::assert_snapshot!(
        says(poisson, "{pulse: {per_second: 10, factor: 2, from_s: 20, to_s: 10}}"),
        @"s.yaml:11:67: workload.arrivals.pulse.to_s: found the number 10; accepted is a time after `from_s`, which is 20"
    );
    insta::assert_snapshot!(says(poisson, "{daily: {per_second: 10, hours: [1, 2]}}"), @"s.yaml:11:45: workload.arrivals.daily.hours: found 2 factors; accepted is one for each of the 24 hours of a day");
    insta::assert_snapshot!(
        says(poisson, "{daily: {per_second: 10, hours: servegen-m-larg}}"),
        @"s.yaml:11:45: workload.arrivals.daily.hours: no measured day is called `servegen-m-larg`; did you mean `servegen-m-large`?"
    );
    insta::assert_snapshot!(says("duration_s: 60", "duration_s: 0"), @"s.yaml:13:15: workload.duration_s: found the number 0; accepted is a number of seconds above 0 and up to a hundred years");
    insta::assert_snapshot!(says("  duration_s: 60\n", ""), @"s.yaml:11:3: workload: key `duration_s` is missing; accepted is a number of seconds");
    insta::assert_snapshot!(
        says("10}}\n  lengths: azure-conv-2023\n  duration_s: 60", "1e7}}\n  lengths: \
             azure-conv-2023\n  duration_s: 31536000"),
        @"s.yaml:11:3: workload: this would be 3.2e14 requests a run; accepted are up to 1e10: lower the rate or the time"
    );
    insta::assert_snapshot!(says("  arrivals: {poisson: {per_second: 10}}\n", ""), @"s.yaml:11:3: workload: found neither `arrivals` nor `trace`; accepted is, e.g., `arrivals: {poisson: {per_second: 10}}`, or `trace: {file: …}`");
    insta::assert_snapshot!(says("  lengths", "  trace: {file: x.csv}\n  lengths"), @"s.yaml:11:13: workload.arrivals: found both `arrivals` and `trace`; a workload is either generated or recorded: keep one of the two");
}

#[test]
fn lengths_models_and_shares() {
    let preset = "azure-conv-2023";
    insta::assert_snapshot!(says("  lengths: azure-conv-2023\n", ""), @"s.yaml:11:3: workload: key `lengths` is missing; accepted is one of the presets arxiv-summarization, azure-conv-2023, mooncake-conversation, sharegpt-8k; or {prompt: …, output: …}; or {file: …}");
    insta::assert_snapshot!(says(preset, "azure-conv-2024"), @"s.yaml:12:12: workload.lengths: no preset of lengths is called `azure-conv-2024`; did you mean `azure-conv-2023`?");
    insta::assert_snapshot!(says(preset, "{prompt: {constant: 5}}"), @"s.yaml:12:12: workload.lengths: `prompt` and `output` are both needed; accepted is, e.g., {prompt: {constant: 500}, output: {constant: 100}}");
    insta::assert_snapshot!(
        says(preset, "{prompt: {constant: 0}, output: {constant: 5}}"),
        @"s.yaml:12:32: workload.lengths.prompt.constant: found the number 0; accepted is from 1 to 100000000 tokens"
    );
    insta::assert_snapshot!(
        says(preset, "{prompt: {log_normal: {p50: 900, p95: 100}}, output: {constant: 5}}"),
        @"s.yaml:12:50: workload.lengths.prompt.log_normal.p95: found the number 100; accepted is a number of tokens not below `p50`, which is 900"
    );
    insta::assert_snapshot!(
        says(preset, "{prompt: {log_normal: {ln_mean: 5, p95: 9}}, output: {constant: 5}}"),
        @"s.yaml:12:34: workload.lengths.prompt.log_normal: found neither of the two ways to say it; accepted is `ln_mean` with `ln_sigma`, or `p50` with `p95`, not both"
    );
    insta::assert_snapshot!(
        says(preset, "{prompt: {empirical: {points: [[9, 0.5]]}}, output: {constant: 5}}"),
        @"s.yaml:12:42: workload.lengths.prompt.empirical.points: the last share is 0.5; accepted is 1: the last point holds every length"
    );
    insta::assert_snapshot!(says(preset, "{file: nowhere.csv}"), @"s.yaml:12:19: workload.lengths.file: there is no file `nowhere.csv`; looked for beside the scenario file and in the current folder");
    insta::assert_snapshot!(says("  lengths", "  models: chatt\n  lengths"), @"s.yaml:12:11: workload.models.chatt: no model group is called `chatt`; did you mean `chat`?");
    insta::assert_snapshot!(says("  lengths", "  models: {chat: 0}\n  lengths"), @"s.yaml:12:18: workload.models.chat: found the number 0; accepted is a share above 0; only ratios count");
    insta::assert_snapshot!(says("  lengths", "  stream_share: 50\n  lengths"), @"s.yaml:12:17: workload.stream_share: found the number 50; accepted is a share from 0 to 1");
    insta::assert_snapshot!(says("  lengths", "  max_tokens: 0\n  lengths"), @"s.yaml:12:15: workload.max_tokens: found the number 0; accepted is from 1 to 100000000 tokens");
    insta::assert_snapshot!(adding("slo: {latency_s: 0}"), @"s.yaml:14:18: slo.latency_s: found the number 0; accepted is a time above 0, in seconds");
    insta::assert_snapshot!(adding("slo: {latency: 5}"), @"s.yaml:14:7: slo.latency: unknown key; accepted is latency_s or first_token_s");
}

#[test]
fn traces() {
    const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";
    let azure = |rows: &str| format!("{AZURE}{rows}");
    insta::assert_snapshot!(trace("blank.csv", "", ""), @"blank.csv: workload.trace: the trace is empty");
    insta::assert_snapshot!(trace("letters.csv", "to,whom,it,may\n1,2,3,4\n", ""), @"letters.csv:1:1: workload.trace: a trace of no known format begins `to,whom,it,may`; known are azure, burstgpt, mooncake, sharegpt, servegen-aggregate (all by their header) and servegen-clients (a folder); name the columns of any other CSV in `workload.trace.columns`");
    insta::assert_snapshot!(trace("empty.csv", AZURE, ""), @"empty.csv: workload.trace: the trace has no rows");
    insta::assert_snapshot!(
        trace("list.csv", "num_prefill_tokens,num_decode_tokens\n1,2\n", ""),
        @"list.csv:1:1: workload.trace: a trace of no known format begins `num_prefill_tokens,num_decode_tokens`; this is a list of lengths without times: give it as `workload.lengths.file` and say `workload.arrivals`"
    );
    let unsorted = "2023-11-16 18:00:01,5,5\r\n2023-11-16 18:00:00,5,5\r\n";
    insta::assert_snapshot!(trace("unsorted.csv", &azure(unsorted), ""), @"unsorted.csv:3:1: workload.trace: the trace's times run back here; say `unsorted: sort` to sort the rows by time, or `unsorted: drop` to leave out those that come late");
    let zeros = "2023-11-16 18:00:01,0,5\r\n2023-11-16 18:00:02,5,0\r\nyesterday,5,5\r\n";
    insta::assert_snapshot!(trace("zeros.csv", &azure(zeros), ""), @"zeros.csv: workload.trace: no row of the trace can be used: 1 whose time cannot be read, first in line 4; 1 without answer tokens, first in line 3; 1 without prompt tokens, first in line 2");
    let odd = "2023-11-16 18:00:01,5,5\n2023-11-16 18:00:01,NaN,5\n2023-11-16 18:00:01,5,-5\n\
               2023-11-16 18:00:01,5\n2023-11-16 18:00:02,99999999999,5\n";
    insta::assert_snapshot!(trace("odd.csv", &azure(odd), ""), @"odd.csv: workload.trace: 80.0 % of the trace's rows cannot be used, more than the 10.0 % allowed: 1 malformed, first in line 5; 1 with negative tokens, first in line 4; 1 whose tokens are no whole number, first in line 3; 1 with more than 100 million tokens, first in line 6; raise `max_dropped_share` if that is as it should be");
    let good = "2023-11-16 18:00:01,5,5\n2023-11-16 18:00:02,5,5\n";
    insta::assert_snapshot!(trace("a.csv", &azure(good), ", from_s: 60"), @"s.yaml:11:10: workload.trace: no request of the trace, which is 1 s long, is chosen");
    insta::assert_snapshot!(trace("a.csv", &azure(good), ", from_s: 2, to_s: 1"), @"s.yaml:11:41: workload.trace.to_s: found the number 1; accepted is a time after `from_s`, which is 2");
    insta::assert_snapshot!(trace("a.csv", &azure(good), ", rate_multiplier: 0"), @"s.yaml:11:41: workload.trace.rate_multiplier: found the number 0; accepted is a factor above 0 and up to 1000000");
    insta::assert_snapshot!(trace("a.csv", &azure(good), ", format: mooncake"), @"a.csv: workload.trace: no row of the trace can be used: 3 malformed, first in line 1");
    insta::assert_snapshot!(trace("a.csv", &azure(good), ", format: burstgpt"), @"a.csv:1:1: workload.trace: the trace has no column `Request tokens`; its columns are TIMESTAMP, ContextTokens, GeneratedTokens");
    insta::assert_snapshot!(trace("a.csv", &azure(good), ", format: parquet"), @"s.yaml:11:32: workload.trace.format: unknown value `parquet`; accepted is azure, burstgpt, columns, mooncake, servegen-aggregate, servegen-clients or sharegpt");
    insta::assert_snapshot!(trace("a.csv", &azure(good), ", format: columns"), @"a.csv: workload.trace: `format: columns` needs `columns`; give `columns: {time: …, time_unit: s, prompt_tokens: …, output_tokens: …}`");
    let columns = ", columns: {time: When, time_unit: s, prompt_tokens: In, output_tokens: Out}";
    insta::assert_snapshot!(trace("a.csv", &azure(good), columns), @"a.csv:1:1: workload.trace: the trace has no column `When`; its columns are TIMESTAMP, ContextTokens, GeneratedTokens");
    insta::assert_snapshot!(trace("rates.csv", "t_s,rate_rps\n0,1\n600,-2\n", ""), @"rates.csv:3:1: workload.trace: a window's time or rate is no number of 0 or more");
    insta::assert_snapshot!(trace("rates.csv", "t_s,rate_rps\n0,1\n600,2\n", ""), @"s.yaml:11:3: workload: key `lengths` is missing; accepted is one of the presets arxiv-summarization, azure-conv-2023, mooncake-conversation, sharegpt-8k; or {prompt: …, output: …}; or {file: …}");
}

#[test]
fn traces_beside_what_they_bring_themselves() {
    let both = "  trace: {file: x.csv}\n  duration_s: 60\n";
    let text = with(
        "  arrivals: {poisson: {per_second: 10}}\n  lengths: azure-conv-2023\n  duration_s: 60\n",
        both,
    );
    insta::assert_snapshot!(load(&text).unwrap_err(), @"s.yaml:12:15: workload.duration_s: found beside `trace`; a trace has its own length: cut it by `trace.from_s` and `trace.to_s`");
    let text = text.replace("  duration_s: 60\n", "");
    insta::assert_snapshot!(load(&text).unwrap_err(), @"s.yaml:11:17: workload.trace.file: there is no file `x.csv`; looked for beside the scenario file and in the current folder");
}

#[test]
fn sweeps() {
    insta::assert_snapshot!(adding("sweep: {cooldown_time: []}"), @"s.yaml:14:24: sweep.cooldown_time: the axis has no values; give at least one");
    insta::assert_snapshot!(adding("sweep: {cooldown_time: 5}"), @"s.yaml:14:24: sweep.cooldown_time: found the number 5; accepted is a list of values");
    insta::assert_snapshot!(adding("sweep: {cooldown_time: [5, 5.0]}"), @"s.yaml:14:28: sweep.cooldown_time: `5` appears twice; keep one of the two");
    insta::assert_snapshot!(adding("sweep: {cooldown_tim: [5, 6]}"), @"s.yaml:14:24: sweep.cooldown_tim: value `5`: this is not acted on: unknown to LiteLLM 1.110 as far as routelab knows; did you mean `cooldown_time`?");
    insta::assert_snapshot!(adding("sweep: {\"cooldown_time[\": [5, 6]}"), @r#"s.yaml:14:9: sweep."cooldown_time[": this is no path: `[` is not closed; a path looks like `router_settings.cooldown_time` or `model_list[0].model_name`"#);
    insta::assert_snapshot!(adding("sweep: {cooldown time: [5, 6]}"), @r#"s.yaml:14:25: sweep."cooldown time": value `5`: this is not acted on: unknown to LiteLLM 1.110 as far as routelab knows; did you mean `cooldown_time`?"#);
    insta::assert_snapshot!(adding("sweep: {\"cooldown\\ttime\": [5, 6]}"), @r#"s.yaml:14:28: sweep."cooldown\ttime": value `5`: this is not acted on: unknown to LiteLLM 1.110 as far as routelab knows; did you mean `cooldown_time`?"#);
    insta::assert_snapshot!(adding("sweep: {cooldown_time: [1, -2]}"), @"s.yaml:14:28: sweep.cooldown_time: value `-2`: found the number -2; accepted is a number of seconds from 0 to 1,000,000,000");
    insta::assert_snapshot!(adding("sweep: {routing_strategy: [simple-shuffle, random]}"), @"s.yaml:14:44: sweep.routing_strategy: value `random`: unknown strategy `random`; accepted is simple-shuffle, least-busy, latency-based-routing, cost-based-routing, usage-based-routing or usage-based-routing-v2");
    insta::assert_snapshot!(adding("sweep: {workload.duration_s: [60, soon]}"), @r#"s.yaml:14:35: sweep."workload.duration_s": value `soon`: found the text "soon"; accepted is a number"#);
    insta::assert_snapshot!(adding("sweep: {worklaod.duration_s: [60]}"), @r#"s.yaml:14:9: sweep."worklaod.duration_s": nothing is called `worklaod`; did you mean `workload`?"#);
    insta::assert_snapshot!(adding("sweep: {providers.east.preset: [openai, opnai]}"), @r#"s.yaml:14:41: sweep."providers.east.preset": value `opnai`: preset is `opnai` (did you mean `openai`?); accepted is one of anthropic, azure-payg, azure-ptu, bedrock, flaky, gemini, generic, groq, openai, vertex-dsq, vllm"#);
    insta::assert_snapshot!(adding("sweep: {workload.arrivals.poison.per_second: [1]}"), @r#"s.yaml:14:47: sweep."workload.arrivals.poison.per_second": value `1`: found a mapping of 2 keys; accepted is one key: bursts, constant, curve, daily, gamma, poisson or pulse"#);
    insta::assert_snapshot!(adding("sweep: {seeds: [1, 2]}"), @"s.yaml:14:9: sweep.seeds: this cannot be swept; say `replications: n` for n seeds");
    insta::assert_snapshot!(adding("sweep: {purpose: [a, b]}"), @"s.yaml:14:9: sweep.purpose: this cannot be swept; accepted are keys of router_settings and paths into client, instances, litellm, profile, providers, slo, starts_at or workload");
    let many: Vec<String> = (0..400).map(|n| n.to_string()).collect();
    let many = many.join(", ");
    let grid = format!("sweep: {{cooldown_time: [{many}], num_retries: [{many}]}}");
    insta::assert_snapshot!(adding(&grid), @"s.yaml:14:8: sweep: the grid has 160000 arms; accepted are up to 100000");
    insta::assert_snapshot!(adding("sweep: {cooldown_time: [1, 5]}\nreference: {cooldown_tim: 5}"), @"s.yaml:15:27: reference.cooldown_tim: no axis of `sweep` is called so; did you mean `cooldown_time`?");
    insta::assert_snapshot!(adding("sweep: {cooldown_time: [1, 5]}\nreference: {cooldown_time: 6}"), @"s.yaml:15:28: reference.cooldown_time: `6` is no value of this axis; accepted is 1 or 5");
}

#[test]
fn expectations() {
    insta::assert_snapshot!(adding("expect: [{metric: success_ratio}]"), @"s.yaml:14:10: expect[0]: nothing is said of `success_ratio`; accepted is `at_least`, `at_most` or both");
    insta::assert_snapshot!(adding("expect: [{metric: m, at_least: 2, at_most: 1}]"), @"s.yaml:14:32: expect[0].at_least: at_least 2 is above at_most 1");
    insta::assert_snapshot!(adding("expect: [{metric: m, at_last: 2}]"), @"s.yaml:14:22: expect[0].at_last: unknown key; did you mean `at_least`?");
    insta::assert_snapshot!(adding("expect: [{metric: m, at_least: 2, where: {num_retries: 2}}]"), @"s.yaml:14:56: expect[0].where.num_retries: no axis of `sweep` is called so; this scenario has no axes");
}

#[test]
fn the_command_line() {
    insta::assert_snapshot!(setting("workload.arrivals.poisson.per_second", "-1"), @"s.yaml: workload.arrivals.poisson.per_second: found the number -1; accepted is a rate above 0 and up to 10 million requests a second");
    insta::assert_snapshot!(setting("cooldown_tim", "5"), @"--set: litellm.router_settings.cooldown_tim: this is not acted on: unknown to LiteLLM 1.110 as far as routelab knows; did you mean `cooldown_time`?");
    insta::assert_snapshot!(setting("worklod.duration_s", "5"), @"--set: worklod.duration_s: nothing is called `worklod`; did you mean `workload`?");
    insta::assert_snapshot!(setting("litellm.model_list[7].model_name", "x"), @"--set: litellm.model_list[7].model_name: no item [7] in a list of 2; items count from 0");
    insta::assert_snapshot!(setting("cooldown time", "5"), @r#"--set: litellm.router_settings."cooldown time": this is not acted on: unknown to LiteLLM 1.110 as far as routelab knows; did you mean `cooldown_time`?"#);
    insta::assert_snapshot!(setting("workload..duration_s", "5"), @"--set: workload..duration_s: this is no path: a name is missing; a path looks like `router_settings.cooldown_time` or `model_list[0].model_name`");
    insta::assert_snapshot!(setting("workload.duration_s", "[1"), @"--set: workload.duration_s: the value `[1` is not YAML: unclosed bracket '['");
    let options = LoadOptions {
        config: Some("nowhere.yaml".into()),
        ..LoadOptions::default()
    };
    insta::assert_snapshot!(load_with(GOOD, &options).unwrap_err(), @"nowhere.yaml: cannot be read: entity not found");
    let options = LoadOptions {
        replications: Some(0),
        ..LoadOptions::default()
    };
    insta::assert_snapshot!(load_with(GOOD, &options).unwrap_err(), @"s.yaml: --reps: found the number 0; accepted is from 1 to 100000");
}
