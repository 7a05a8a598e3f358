//! `routelab check`: whether a scenario or a LiteLLM config is valid, and what of it takes effect.

use std::{fmt::Write as _, fs, path::Path};

use router::{RouterConfig, RouterSettings};
use scenarios::{Arrival, RunPlan, Scenario, litellm};
use sim::{bound_text, check_metrics, labels_text};

use super::Ended;
use crate::{
    cli::{CheckArgs, ScenarioArgs},
    complaint::Complaint,
    output,
};

pub(super) fn check(args: &CheckArgs) -> Result<Ended, Complaint> {
    let text = match config_text(&args.scenario) {
        Some(text) => config_report(&args.scenario.scenario, &text)?,
        None => scenario_report(&args.scenario.load()?)?,
    };
    output::print(&text)?;
    Ok(Ended::Done)
}

/// The text of the file if it is a LiteLLM config and no scenario: it has one of LiteLLM's sections
/// at its top and none of a scenario's own. What is no YAML is neither, and told as a scenario.
pub(super) fn config_text(args: &ScenarioArgs) -> Option<String> {
    let text = fs::read_to_string(Path::new(&args.scenario)).ok()?;
    let document = litellm::parse(&text, &args.scenario).ok()?;
    let has_one_of = |keys: &[&str]| keys.iter().any(|key| document.get(key).is_some());
    (has_one_of(&LITELLM_SECTIONS) && !has_one_of(&SCENARIO_BLOCKS)).then_some(text)
}

fn config_report(file: &str, text: &str) -> Result<String, Complaint> {
    let config = litellm::read(text, file)?;
    let mut report = format!("{file}: a valid LiteLLM config\n");
    report += &router_text(&config.router);
    report += &section("keys that take effect", config.used.clone());
    report += &section("keys that are ignored", config.ignored_in_lines());
    let _ = writeln!(report, "\nto run it: routelab run baseline --config {file}");
    Ok(report)
}

fn scenario_report(scenario: &Scenario) -> Result<String, Complaint> {
    check_metrics(scenario.expect())?;
    let arms = scenario.arms();
    let mut report = format!("{}: a valid scenario\n", scenario.name());
    let _ = writeln!(report, "  {}", scenario.purpose());
    let _ = writeln!(
        report,
        "\n{} {} of {} {}, seed {}",
        arms.len(),
        if arms.len() == 1 { "arm" } else { "arms" },
        scenario.replications(),
        if scenario.replications() == 1 {
            "replication"
        } else {
            "replications"
        },
        scenario.seed(),
    );
    let reference = scenario.reference();
    let plan = scenario.plan(reference, 0);
    report += &router_text(&plan.router);
    let rows = plan.router.deployments.iter().zip(plan.providers.iter());
    let lines = rows.map(|(deployment, provider)| format!("{}: {}", deployment.id, provider.name));
    report += &section("providers", lines.collect());
    report += &section("workload", traffic_lines(&plan));
    report += &section("notes", scenario.notes().to_vec());
    let axes = scenario
        .axes()
        .iter()
        .map(|axis| format!("{}: {}", axis.name, axis.values.join(", ")));
    report += &section("axes", axes.collect());
    if arms.len() > 1 {
        let lines = (0..).zip(arms).map(|(number, arm)| {
            let mark = if number == reference {
                "  (reference)"
            } else {
                ""
            };
            format!("{number:>4}  {}{mark}", labels_text(&arm.labels))
        });
        report += &section("arms", lines.collect());
    }
    let expected = scenario.expect().iter().map(|expectation| {
        let filter = labels_text(&expectation.filter);
        let arms = if filter.is_empty() {
            String::new()
        } else {
            format!(" at {filter}")
        };
        format!("{} {}{arms}", expectation.metric, bound_text(expectation))
    });
    report += &section("expectations", expected.collect());
    report += &section(
        "keys that are ignored",
        scenario.ignored_in_lines().to_vec(),
    );
    Ok(report)
}

/// The deployments and settings that a router is built from.
fn router_text(config: &RouterConfig) -> String {
    let rows: Vec<[String; 4]> = config
        .deployments
        .iter()
        .map(|deployment| {
            let weight = deployment.weight.map(|weight| format!("weight {weight}"));
            let rpm = deployment.rpm.map(|rpm| format!("rpm {rpm}"));
            let tpm = deployment.tpm.map(|tpm| format!("tpm {tpm}"));
            let order = deployment.order.map(|order| format!("order {order}"));
            let slots = deployment
                .max_parallel_requests
                .map(|slots| format!("slots {slots}"));
            let shares: Vec<String> = [weight, rpm, tpm, order, slots]
                .into_iter()
                .flatten()
                .collect();
            [
                deployment.model_name.clone(),
                deployment.id.clone(),
                deployment.model.clone(),
                shares.join(", "),
            ]
        })
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let (group, id, model) = (width(0), width(1), width(2));
    let lines = rows.iter().map(|row| {
        let line = format!(
            "{:group$}  {:id$}  {:model$}  {}",
            row[0], row[1], row[2], row[3]
        );
        line.trim_end().to_owned()
    });
    section("deployments", lines.collect())
        + &section(
            &format!("router ({})", config.profile.name.as_str()),
            settings_lines(&config.settings),
        )
}

/// What the first replication's callers ask.
fn traffic_lines(plan: &RunPlan) -> Vec<String> {
    let arrivals: Vec<Arrival> = plan
        .workload
        .arrivals(plan.seed)
        .take(ARRIVALS_AT_MOST)
        .collect();
    let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) else {
        return vec!["no request arrives".to_owned()];
    };
    let duration = plan.workload.duration().as_secs_f64();
    let count = arrivals.len();
    let mut lines = vec![if count < ARRIVALS_AT_MOST {
        let rate = as_f64(count) / duration;
        format!("{count} requests in {duration:.0} s, {rate:.2} a second")
    } else {
        let rate = as_f64(count) / last.at.since(first.at).as_secs_f64();
        format!("{duration:.0} s; in the first {count} requests {rate:.2} a second")
    }];
    let gaps = arrivals
        .windows(2)
        .map(|pair| pair[1].at.since(pair[0].at).as_secs_f64());
    lines.push(format!(
        "gaps between arrivals vary by {:.2} (deviation ÷ mean; 1 is Poisson)",
        variation(gaps),
    ));
    lines.push(tokens_line("prompt", &arrivals, |arrival| {
        arrival.prompt_tokens
    }));
    lines.push(tokens_line("answer", &arrivals, |arrival| {
        arrival.output_tokens
    }));
    let streamed = arrivals.iter().filter(|arrival| arrival.stream).count();
    lines.push(format!(
        "{:.0} % streamed",
        100.0 * as_f64(streamed) / as_f64(count)
    ));
    lines.push(format!("for {}", plan.workload.models().join(", ")));
    lines
}

fn tokens_line(what: &str, arrivals: &[Arrival], of: fn(&Arrival) -> u32) -> String {
    let mut tokens: Vec<u32> = arrivals.iter().map(of).collect();
    tokens.sort_unstable();
    let mean = tokens.iter().map(|&tokens| f64::from(tokens)).sum::<f64>() / as_f64(tokens.len());
    let (half, most) = (tokens[tokens.len() / 2], tokens[tokens.len() * 99 / 100]);
    format!("{what} tokens: mean {mean:.0}, half at most {half}, 99 % at most {most}")
}

/// Standard deviation ÷ mean.
fn variation(values: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        let off = value - mean;
        mean += off / count;
        squares += off * (value - mean);
    }
    (squares / count).sqrt() / mean
}

#[expect(clippy::cast_precision_loss, reason = "a few million at most")]
const fn as_f64(count: usize) -> f64 {
    count as f64
}

/// Each setting that decides something, with LiteLLM's default where the file gives none.
fn settings_lines(settings: &RouterSettings) -> Vec<String> {
    let seconds = |span: std::time::Duration| format!("{} s", span.as_secs_f64());
    let count = |number: Option<u32>, default: &str| {
        number.map_or_else(|| default.to_owned(), |number| number.to_string())
    };
    let mut lines = vec![
        format!("routing_strategy: {}", settings.routing_strategy.name()),
        format!(
            "num_retries: {}",
            count(settings.num_retries, "2 (default)")
        ),
        format!(
            "cooldown_time: {}",
            if settings.disable_cooldowns {
                "none (disable_cooldowns)".to_owned()
            } else {
                settings
                    .cooldown_time
                    .map_or_else(|| "5 s (default)".to_owned(), seconds)
            },
        ),
        format!(
            "allowed_fails: {}",
            count(
                settings.allowed_fails,
                "not given (over half of at least 5 a minute cool)"
            ),
        ),
        format!(
            "timeout: {}",
            settings
                .timeout
                .map_or_else(|| "600 s (default)".to_owned(), seconds)
        ),
    ];
    let given = [
        ("stream_timeout", settings.stream_timeout.map(seconds)),
        (
            "retry_policy",
            settings.retry_policy.as_ref().map(|_| "given".to_owned()),
        ),
        (
            "allowed_fails_policy",
            settings
                .allowed_fails_policy
                .as_ref()
                .map(|_| "given".to_owned()),
        ),
        ("fallbacks", settings.fallbacks.as_ref().map(fallbacks_text)),
        (
            "context_window_fallbacks",
            settings
                .context_window_fallbacks
                .as_ref()
                .map(fallbacks_text),
        ),
        (
            "content_policy_fallbacks",
            settings
                .content_policy_fallbacks
                .as_ref()
                .map(fallbacks_text),
        ),
        (
            "default_fallbacks",
            (!settings.default_fallbacks.is_empty()).then(|| settings.default_fallbacks.join(", ")),
        ),
        (
            "max_fallbacks",
            settings.max_fallbacks.map(|most| most.to_string()),
        ),
        (
            "default_max_parallel_requests",
            settings
                .default_max_parallel_requests
                .map(|slots| slots.to_string()),
        ),
        (
            "enable_weighted_failover",
            settings.enable_weighted_failover.then(|| "true".to_owned()),
        ),
    ];
    lines.extend(
        given
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}: {}", value?))),
    );
    lines
}

fn fallbacks_text(fallbacks: &router::config::Fallbacks) -> String {
    let chain = |(from, to): &(String, Vec<String>)| format!("{from} → {}", to.join(", "));
    fallbacks.iter().map(chain).collect::<Vec<_>>().join("; ")
}

/// A heading and its lines; nothing if there are none. Long lists are cut.
fn section(heading: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{heading}\n");
    for line in lines.iter().take(LINES_AT_MOST) {
        let _ = writeln!(text, "  {line}");
    }
    if lines.len() > LINES_AT_MOST {
        let _ = writeln!(text, "  … and {} more", lines.len() - LINES_AT_MOST);
    }
    text
}

/// Top-level keys of a LiteLLM config.
const LITELLM_SECTIONS: [&str; 5] = [
    "model_list",
    "router_settings",
    "litellm_settings",
    "general_settings",
    "include",
];
/// Top-level keys that every scenario has and no LiteLLM config.
const SCENARIO_BLOCKS: [&str; 3] = ["purpose", "workload", "litellm"];
const LINES_AT_MOST: usize = 100;
/// Requests that are looked at to describe the traffic.
const ARRIVALS_AT_MOST: usize = 1_000_000;
