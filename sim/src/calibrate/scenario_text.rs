//! The scenario file: what was found, in the words of scenario files, each number with where it comes
//! from. Names from the log are written as quoted text, so that none of them is taken for anything else.

use std::fmt::Write as _;

use mock_providers::rfc_3339;
use reports::fits::{Fitted, LatencyFit, LogNormalPart, QuotaFit, QuotaKind, TokenLengths};

use router::{Epoch, Instant};

use super::{Calibration, DeploymentFit, fault_text::faults, window::span_text};

/// The whole file.
pub(crate) fn text(found: &Calibration, source: &str) -> String {
    let traffic = &found.traffic;
    let mut text = format!(
        "# Calibrated by `routelab calibrate` from {}.\n\
         # In brackets: the 95 % interval. How well it holds on the part of the log that was held out\n\
         # stands in calibration.json and on the page beside this file.\n",
        commented(source)
    );
    for unknown in &found.unknown {
        let _ = writeln!(text, "# NOT KNOWN: {}", commented(unknown));
    }
    let _ = writeln!(
        text,
        "purpose: {}",
        quoted("How does the router do under the traffic and the providers of the log?")
    );
    text += "kind: terminating\n";
    if let Some(starts_at) = starts_at(found) {
        let _ = writeln!(
            text,
            "starts_at: {starts_at}  # where the log's window begins (UTC)"
        );
    }
    text += &litellm(found);
    text += &providers(found);
    text += "workload:\n";
    text += &arrivals(found);
    text += "  lengths:\n";
    text += &lengths("prompt", traffic.prompt.as_ref());
    text += &lengths("output", traffic.output.as_ref());
    let shares = traffic
        .models
        .iter()
        .map(|(model, share)| (model.as_str(), *share));
    let _ = writeln!(
        text,
        "  models:  # shares of {} requests\n{}",
        traffic.arrivals.n,
        share_lines(shares)
    );
    if let Some(share) = traffic.stream_share {
        let _ = writeln!(
            text,
            "  stream_share: {}  # of the answers that tell",
            number(share)
        );
    }
    if !traffic.senders.is_empty() {
        text += "  senders:  # by share; who they are stays in the log\n";
        let (last, others) = traffic.senders.split_last().expect("there are two or more");
        for sender in others {
            let _ = writeln!(
                text,
                "    {}: {{share: {}}}",
                sender.name,
                precise(sender.share)
            );
        }
        let _ = writeln!(text, "    {}: {{}}  # what the others leave", last.name);
    }
    let _ = writeln!(
        text,
        "  duration_s: {}  # {}, as long as the log",
        precise(found.window.span_s.max(1.0)),
        span_text(found.window.span_s)
    );
    text
}

fn starts_at(found: &Calibration) -> Option<String> {
    let seconds = u64::try_from(found.window.zero_ns / 1_000_000_000).ok()?;
    let epoch = Epoch::from_unix_seconds(seconds);
    found
        .window
        .is_dated
        .then(|| rfc_3339(epoch, Instant::ZERO))
}

fn litellm(found: &Calibration) -> String {
    let mut text = "litellm:\n  model_list:\n".to_owned();
    for deployment in &found.deployments {
        let _ = writeln!(
            text,
            "    - {{model_name: {}, litellm_params: {{model: {}}}, model_info: {{id: {}}}}}",
            quoted(&deployment.model),
            quoted(&deployment.litellm_model),
            quoted(&deployment.id)
        );
    }
    text +=
        "  # The log does not tell the router's settings: give yours with --config config.yaml.\n";
    let limits = found
        .deployments
        .iter()
        .filter_map(|d| d.failures.limit.map(|limit| limit.after_s));
    let limit = limits.fold(0.0, f64::max);
    if limit > 0.0 {
        let _ = writeln!(
            text,
            "  router_settings: {{timeout: {}}}  # seconds after which the log's attempts were cut off",
            number(limit)
        );
    }
    text
}

fn providers(found: &Calibration) -> String {
    let mut text = "providers:\n".to_owned();
    let usual = found.deployments.iter().find_map(|d| d.latency.as_ref());
    for deployment in &found.deployments {
        let _ = writeln!(
            text,
            "  {}:  # {} attempts, {} answers",
            quoted(&deployment.id),
            deployment.attempts,
            deployment.answers
        );
        text += &latency(deployment, usual);
        text += &quota(deployment.quota.as_ref());
        text += &faults(&deployment.failures, deployment.quota.as_ref());
    }
    text
}

fn latency(deployment: &DeploymentFit, usual: Option<&LatencyFit>) -> String {
    let Some(fit) = deployment.latency.as_ref().or(usual) else {
        return "    latency: {first_token: {constant: {ms: 0}}}  # NOT KNOWN: too few answers\n"
            .to_owned();
    };
    let origin = match &deployment.latency {
        Some(fit) => format!(
            "{} streams, {} answers in one piece, {} cut off; p50 {}, p95 {}, p99 {} ms",
            fit.used[0],
            fit.used[1],
            fit.used[2],
            seen_interval(&fit.first_quantiles[0]),
            seen_interval(&fit.first_quantiles[1]),
            seen_interval(&fit.first_quantiles[2]),
        ),
        None => "NOT KNOWN: too few answers; that of the busiest deployment".to_owned(),
    };
    let log_normal = |part: &LogNormalPart| {
        format!(
            "{{log_normal: {{median_ms: {}, sigma: {}}}}}",
            number(libm::exp(part.mu).clamp(SHORTEST_MS, LONGEST_MS)),
            sigma(part.sigma)
        )
    };
    let mut text = format!("    latency:\n      # {origin}\n");
    match &fit.first.parts[..] {
        [one] => {
            let _ = writeln!(text, "      first_token: {}", log_normal(one));
        }
        parts => {
            if let Some(two) = &fit.two {
                let _ = writeln!(
                    text,
                    "      # slow: {} of the answers; medians {} and {} ms",
                    interval(&two.slow_share),
                    interval(&two.quick_median),
                    interval(&two.slow_median)
                );
            }
            text += "      first_token:\n        mixture:\n";
            for part in parts {
                let (weight, of) = (number(part.weight), log_normal(part));
                let _ = writeln!(text, "          - {{weight: {weight}, of: {of}}}");
            }
        }
    }
    if let Some(token) = &fit.per_token {
        let told = fit
            .per_token_median
            .as_ref()
            .map_or_else(String::new, interval);
        let _ = writeln!(
            text,
            "      per_output_token: {}  # median {told} ms",
            log_normal(token)
        );
    } else if let Some(remark) = fit.remark {
        let _ = writeln!(text, "      # {remark}");
    }
    let parts = fit.first.parts.iter().chain(&fit.per_token);
    let widest = parts.map(|part| part.sigma).fold(0.0, f64::max);
    if widest > SIGMA_AT_MOST {
        let _ = writeln!(
            text,
            "      # The log spreads further, by a sigma of {}; a scenario takes no more than {SIGMA_AT_MOST}.",
            number(widest)
        );
    }
    text
}

fn quota(quota: Option<&QuotaFit>) -> String {
    match quota {
        None | Some(QuotaFit::Unsteady { .. }) => String::new(),
        Some(QuotaFit::NotSeen { requests, tokens }) => format!(
            "    # no 429 in the log: the quota is at least {requests} requests and {tokens} tokens a minute\n"
        ),
        Some(QuotaFit::Steady {
            kind,
            per_minute,
            minutes,
            is_fixed_minute,
        }) => {
            let key = match kind {
                QuotaKind::Requests => "requests_per_minute",
                QuotaKind::Tokens => "tokens_per_minute",
            };
            let limit = per_minute.value.round();
            let (window, how) = match (is_fixed_minute, kind) {
                (true, _) => (String::new(), "fixed minutes"),
                (false, QuotaKind::Requests) => {
                    let burst = per_minute
                        .high
                        .map_or(1.0, |high| (high - per_minute.value).round());
                    let burst = burst.max(1.0);
                    (
                        format!(", window: token_bucket, burst_requests: {burst}"),
                        "a refilling bucket",
                    )
                }
                (false, QuotaKind::Tokens) => {
                    (", window: token_bucket".to_owned(), "a refilling bucket")
                }
            };
            format!(
                "    quota: {{{key}: {limit}{window}}}  # {} by {minutes} minutes with 429s; {how}\n",
                interval(per_minute)
            )
        }
    }
}

fn arrivals(found: &Calibration) -> String {
    let fit = &found.traffic.arrivals;
    let mean = number(fit.per_second.value);
    let cv = match fit.is_poisson {
        true => String::new(),
        false => format!(", cv: {}", number(fit.cv.value.clamp(0.01, 100.0))),
    };
    let origin = format!(
        "{} requests, {} a second; gaps vary by {} of their mean",
        fit.n,
        interval(&fit.per_second),
        interval(&fit.cv)
    );
    let list = |values: &[f64]| {
        values
            .iter()
            .map(|v| number(*v))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let spec = match (&found.traffic.hours, &fit.curve) {
        (Some(hours), _) => format!(
            "{{daily: {{per_second: {mean}, hours: [{}]{cv}}}}}",
            list(&hours.iter().map(|hour| hour.value).collect::<Vec<_>>())
        ),
        (None, Some(curve)) => format!(
            "{{curve: {{step_s: {}, per_second: [{}]{cv}}}}}",
            number(curve.step_s),
            list(&curve.per_second)
        ),
        (None, None) if fit.is_poisson => format!("{{poisson: {{per_second: {mean}}}}}"),
        (None, None) => format!("{{gamma: {{per_second: {mean}{cv}}}}}"),
    };
    format!("  arrivals: {spec}  # {origin}\n")
}

fn lengths(key: &str, fit: Option<&TokenLengths>) -> String {
    let Some(fit) = fit else {
        return format!("    {key}: {{constant: 1}}  # NOT KNOWN: the log has too few counts\n");
    };
    if fit.is_log_normal() {
        return format!(
            "    {key}: {{log_normal: {{ln_mean: {}, ln_sigma: {}, at_most: {}}}}}  # {} counts; {}, {}\n",
            number(fit.ln_mean.value.max(0.0)),
            sigma(fit.ln_sigma.value),
            fit.longest,
            fit.n,
            interval(&fit.ln_mean),
            interval(&fit.ln_sigma)
        );
    }
    let points = fit
        .points
        .iter()
        .map(|(tokens, share)| format!("[{tokens}, {}]", precise(*share)));
    format!(
        "    {key}: {{empirical: {{points: [{}]}}}}  # quantiles of {} counts: no log-normal fits\n",
        points.collect::<Vec<_>>().join(", "),
        fit.n
    )
}

fn share_lines<'a>(shares: impl Iterator<Item = (&'a str, f64)>) -> String {
    let line = |(name, share)| format!("    {}: {}", quoted(name), precise(share));
    shares.map(line).collect::<Vec<_>>().join("\n")
}

/// Four significant digits.
pub(crate) fn number(value: f64) -> String {
    digits(value, 3.0)
}

/// How far a log-normal spreads, or the furthest that a scenario takes.
pub(crate) fn sigma(value: f64) -> String {
    number(value.min(SIGMA_AT_MOST))
}

/// Seven significant digits, for shares that are to add up.
pub(crate) fn precise(value: f64) -> String {
    digits(value, 6.0)
}

fn digits(value: f64, further: f64) -> String {
    if value.abs() < NOTHING || !value.is_finite() {
        return "0".to_owned();
    }
    let decade = libm::log10(value.abs()).floor();
    let decimals = (further - decade).clamp(0.0, 12.0);
    let places = (0_u8..=12)
        .position(|n| f64::from(n) >= decimals)
        .unwrap_or(12);
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `4.2 [4.0, 4.4]`.
pub(crate) fn interval(fitted: &Fitted) -> String {
    match (fitted.low, fitted.high) {
        (Some(low), Some(high)) => {
            format!(
                "{} [{}, {}]",
                number(fitted.value),
                number(low),
                number(high)
            )
        }
        _ => number(fitted.value),
    }
}

/// The same of something that has none only where too little was seen.
pub(crate) fn seen_interval(fitted: &Fitted) -> String {
    match (fitted.low, fitted.high) {
        (Some(_), Some(_)) => interval(fitted),
        _ => format!("{} (too few for an interval)", number(fitted.value)),
    }
}

/// Text between double quotes as YAML and JSON have it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Text that cannot end its comment.
fn commented(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Less is as good as nothing.
const NOTHING: f64 = 1e-9;
/// What a scenario accepts of a log-normal.
const SIGMA_AT_MOST: f64 = 5.0;
/// A median is above 0 and finite: from a picosecond to a thousand years.
const SHORTEST_MS: f64 = 1e-9;
const LONGEST_MS: f64 = 3e13;
