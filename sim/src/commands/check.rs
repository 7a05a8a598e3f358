//! `routelab check`: whether a scenario or a LiteLLM config is valid, what of it takes effect, and what
//! in it probably does something else than it looks like.

use std::{fmt::Write as _, fs, path::Path};

use router::Profile;
use scenarios::{
    Arrival, IgnoredKey, RunPlan, Scenario,
    lint::{self, Finding, Severity},
    litellm,
    prices::PriceRegistry,
};
use serde::Serialize;
use sim::{bound_text, labels_text};

use super::{Ended, settings_text::router_text};
use crate::{
    cli::{CheckArgs, CheckFormat, Denied, ScenarioArgs},
    complaint::Complaint,
    output,
};

pub(super) fn check(args: &CheckArgs) -> Result<Ended, Complaint> {
    let checked = match config_text(&args.scenario) {
        Some(text) => check_config(&args.scenario, &text)?,
        None => check_scenario(&args.scenario.load()?),
    };
    let text = match args.format {
        CheckFormat::Console => checked.text,
        CheckFormat::Json => json_text(&checked.account)?,
    };
    output::print(&text)?;
    Ok(
        if args
            .deny
            .is_some_and(|kind| is_denied(kind, &checked.findings))
        {
            Ended::ExpectationFailed
        } else {
            Ended::Done
        },
    )
}

/// What came of a check.
struct Checked {
    /// For people.
    text: String,
    /// For programs.
    account: Account,
    findings: Vec<Finding>,
}

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Account {
    /// The scenario's or the config's name.
    name: String,
    /// Whose behaviour the findings are about.
    profile: &'static str,
    used: Vec<String>,
    ignored: Vec<IgnoredRecord>,
    findings: Vec<FindingRecord>,
}

#[derive(Debug, Serialize)]
struct IgnoredRecord {
    path: String,
    line: u32,
    reason: String,
    suspicious: bool,
}

#[derive(Debug, Serialize)]
struct FindingRecord {
    id: &'static str,
    severity: String,
    file: String,
    line: u32,
    path: String,
    what: String,
    advice: String,
}

impl Account {
    fn new(
        name: &str,
        profile: &'static str,
        (used, ignored): (&[String], &[IgnoredKey]),
        findings: &[Finding],
    ) -> Self {
        let ignored = ignored.iter().cloned().map(|key| IgnoredRecord {
            path: key.path,
            line: key.line,
            reason: key.reason,
            suspicious: key.suspicious,
        });
        let findings = findings.iter().cloned().map(|finding| FindingRecord {
            id: finding.id,
            severity: finding.severity.to_string(),
            file: finding.file,
            line: finding.line,
            path: finding.path,
            what: finding.what,
            advice: finding.advice,
        });
        Self {
            name: name.to_owned(),
            profile,
            used: used.to_vec(),
            ignored: ignored.collect(),
            findings: findings.collect(),
        }
    }
}

fn json_text(account: &Account) -> Result<String, Complaint> {
    let text = serde_json::to_string_pretty(account).map_err(|error| Complaint::Usage {
        message: format!("the account is no JSON: {error}"),
        help: "use --format console".to_owned(),
    })?;
    Ok(text + "\n")
}

fn is_denied(kind: Denied, findings: &[Finding]) -> bool {
    let worst = findings.iter().map(|finding| finding.severity).min();
    let most = match kind {
        Denied::Errors => Severity::Error,
        Denied::Warnings => Severity::Warning,
        Denied::Findings => Severity::Note,
    };
    worst.is_some_and(|worst| worst <= most)
}

/// The text of the file if it is a LiteLLM config and no scenario: it has one of LiteLLM's sections
/// at its top and none of a scenario's own. What is no YAML is neither, and told as a scenario.
pub(super) fn config_text(args: &ScenarioArgs) -> Option<String> {
    let text = fs::read_to_string(Path::new(&args.scenario)).ok()?;
    let document = litellm::parse(&text, &args.scenario).ok()?;
    let has_one_of = |keys: &[&str]| keys.iter().any(|key| document.get(key).is_some());
    (has_one_of(&LITELLM_SECTIONS) && !has_one_of(&SCENARIO_BLOCKS)).then_some(text)
}

fn check_config(args: &ScenarioArgs, text: &str) -> Result<Checked, Complaint> {
    let file = &args.scenario;
    let placed = |error: scenarios::ScenarioError| error.with_text(text);
    let node = litellm::parse(text, file).map_err(placed)?;
    let config = litellm::from_node(&node, file).map_err(placed)?;
    let registry = args
        .prices
        .as_deref()
        .map(PriceRegistry::load)
        .transpose()?;
    let profile = args
        .profile
        .map_or_else(Profile::default, |name| name.profile());
    let router = config.router_for(profile, registry.as_ref());
    let findings = lint::findings(&config, &router, &node, file, None);

    let mut report = format!("{file}: a valid LiteLLM config\n");
    report += &router_text(&router);
    report += &section("keys that take effect", config.used.clone());
    report += &section("keys that are ignored", config.ignored_in_lines());
    report += &findings_text(&findings);
    let _ = writeln!(report, "\nto run it: routelab run baseline --config {file}");
    let keys = (config.used.as_slice(), config.ignored.as_slice());
    Ok(Checked {
        text: report,
        account: Account::new(file, profile.name.as_str(), keys, &findings),
        findings,
    })
}

/// Two lines for each finding: what is the case, and what to do.
fn findings_text(findings: &[Finding]) -> String {
    let lines = findings.iter().flat_map(|finding| {
        let Finding {
            id,
            severity,
            file,
            line,
            path,
            what,
            advice,
        } = finding;
        let place = match line {
            0 => file.clone(),
            line => format!("{file}:{line}"),
        };
        [
            format!("{severity:<7}  {place}  {path}  [{id}]"),
            format!("         {what}"),
            format!("         → {advice}"),
        ]
    });
    section("findings", lines.collect())
}

fn check_scenario(scenario: &Scenario) -> Checked {
    let report = scenario_text(scenario);
    let profile = scenario.plan(scenario.reference(), 0).router.profile.name;
    let keys = (scenario.used(), scenario.ignored());
    Checked {
        text: report,
        account: Account::new(scenario.name(), profile.as_str(), keys, scenario.findings()),
        findings: scenario.findings().to_vec(),
    }
}

fn scenario_text(scenario: &Scenario) -> String {
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
    report += &findings_text(scenario.findings());
    report
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
    lines.extend(senders_line(plan, count));
    lines
}

/// Who sends the first `count` requests, where the scenario says so.
fn senders_line(plan: &RunPlan, count: usize) -> Option<String> {
    let names = plan.workload.sender_names();
    let mut counts = vec![0; names.len() + 1];
    for number in 0..count as u64 {
        let sender = plan.workload.sender(plan.seed, number);
        counts[sender.unwrap_or(names.len())] += 1;
    }
    let names = names.iter().map(String::as_str).chain(["(others)"]);
    let share = |(name, requests): (&str, &usize)| {
        let percent = 100.0 * as_f64(*requests) / as_f64(count);
        (*requests > 0).then(|| format!("{name} {percent:.0} %"))
    };
    let shares: Vec<String> = names.zip(&counts).filter_map(share).collect();
    (counts.len() > 1).then(|| format!("from {}", shares.join(", ")))
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

/// A heading and its lines; nothing if there are none. Long lists are cut.
pub(super) fn section(heading: &str, lines: Vec<String>) -> String {
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
