//! What was seen, as Prometheus reads it (text format 0.0.4).

use std::fmt::Write as _;

use axum::{body::Body, http::header, response::Response};

use super::{
    Upstream,
    desk::Desk,
    seen::{Ledger, Sums},
};

pub(super) fn page(desk: &Desk) -> Response {
    let mut response = Response::new(Body::from(
        desk.ledger(|ledger, upstreams| text(ledger, upstreams)),
    ));
    let kind = header::HeaderValue::from_static("text/plain; version=0.0.4");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn text(ledger: &Ledger, upstreams: &[Upstream]) -> String {
    let named = |place: usize| escaped(&upstreams[place].name);
    let mut text = "# HELP mock_requests_total Requests by what they got.\n\
                    # TYPE mock_requests_total counter\n"
        .to_owned();
    for (counted, count) in &ledger.counts {
        let status = counted
            .status
            .map_or_else(|| "none".to_owned(), |s| s.to_string());
        let _ = writeln!(
            text,
            "mock_requests_total{{provider=\"{}\",api=\"{}\",status=\"{status}\",manner=\"{}\"}} {count}",
            named(counted.provider),
            counted.api,
            counted.manner
        );
    }
    for (name, kind, help, value) in SUMS {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (provider, sums) in &ledger.sums {
            let (provider, value) = (named(*provider), value(sums));
            let _ = writeln!(text, "{name}{{provider=\"{provider}\"}} {value}");
        }
    }
    text
}

/// A value between quotation marks.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', r"\\").replace('"', r#"\""#);
    text.replace('\n', r"\n")
}

/// Name, kind, help and value of a sum.
type Metric = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Sums) -> String,
);

const SUMS: [Metric; 6] = [
    (
        "mock_prompt_tokens_total",
        "counter",
        "Tokens of prompts that were answered with 200.",
        |sums| sums.prompt_tokens.to_string(),
    ),
    (
        "mock_completion_tokens_total",
        "counter",
        "Tokens of answers with 200.",
        |sums| sums.completion_tokens.to_string(),
    ),
    (
        "mock_requests_in_flight",
        "gauge",
        "Requests under way.",
        |sums| sums.under_way.to_string(),
    ),
    (
        "mock_requests_abandoned_total",
        "counter",
        "Requests whose client left before their end.",
        |sums| sums.abandoned.to_string(),
    ),
    (
        "mock_request_duration_seconds_sum",
        "counter",
        "Time of requests that ended.",
        |sums| sums.duration_s.to_string(),
    ),
    (
        "mock_request_duration_seconds_count",
        "counter",
        "Requests that ended.",
        |sums| sums.ended.to_string(),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("a\"b\\c\nd"), r#"a\"b\\c\nd"#);
    }
}
