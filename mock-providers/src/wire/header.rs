//! Headers as data: what is left of each limit, and when to come back.

use std::{fmt::Write as _, time::Duration};

use router::{Epoch, Failure, Instant, RetryAfter};

use super::{Dialect, Scene, calendar};
use crate::quota::meter::Gauge;

/// One header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Its name, in lower case.
    pub name: &'static str,
    /// What it says.
    pub value: HeaderValue,
}

/// What a header says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderValue {
    /// A count.
    Count(u64),
    /// A moment as an HTTP date.
    HttpDate(Instant),
    /// A length of time as OpenAI writes it: `12ms`, `1s`, `6m0s`.
    Length(Duration),
    /// A moment by RFC 3339.
    Rfc3339(Instant),
    /// Whole seconds; may be zero or negative.
    Seconds(i64),
    /// These letters.
    Text(&'static str),
}

impl Header {
    const fn new(name: &'static str, value: HeaderValue) -> Self {
        Self { name, value }
    }

    /// What stands behind the colon. `epoch`: what the wall clock showed when the run began.
    #[must_use]
    pub fn text(&self, epoch: Epoch) -> String {
        match self.value {
            HeaderValue::Count(count) => count.to_string(),
            HeaderValue::HttpDate(at) => calendar::http_date(epoch, at),
            HeaderValue::Length(length) => as_length(length),
            HeaderValue::Rfc3339(at) => calendar::rfc_3339(epoch, at),
            HeaderValue::Seconds(seconds) => seconds.to_string(),
            HeaderValue::Text(text) => text.to_owned(),
        }
    }
}

/// The hint in these headers, as a client of LiteLLM's reads it: `retry-after` first, else
/// `retry-after-ms`.
#[must_use]
pub fn retry_after(headers: &[Header]) -> Option<RetryAfter> {
    let named = |name| headers.iter().find(|header| header.name == name);
    if let Some(header) = named("retry-after") {
        return Some(match header.value {
            HeaderValue::HttpDate(at) => RetryAfter::Date(at),
            HeaderValue::Seconds(seconds) => RetryAfter::Seconds(seconds),
            HeaderValue::Count(_)
            | HeaderValue::Length(_)
            | HeaderValue::Rfc3339(_)
            | HeaderValue::Text(_) => RetryAfter::Unreadable,
        });
    }
    named("retry-after-ms").map(|header| match header.value {
        HeaderValue::Count(millis) => RetryAfter::Millis(millis),
        HeaderValue::HttpDate(_)
        | HeaderValue::Length(_)
        | HeaderValue::Rfc3339(_)
        | HeaderValue::Seconds(_)
        | HeaderValue::Text(_) => RetryAfter::Unreadable,
    })
}

/// The headers of what is left, which stand on every answer.
pub(super) fn limits(scene: &Scene) -> Vec<Header> {
    let gauges = &scene.gauges;
    let mut headers = Vec::with_capacity(9);
    let mut tell = |names: [&'static str; 3], gauge: Option<Gauge>, reset: Reset| {
        let Some(gauge) = gauge else { return };
        headers.extend([
            Header::new(names[0], HeaderValue::Count(gauge.limit)),
            Header::new(names[1], HeaderValue::Count(gauge.remaining)),
            Header::new(names[2], reset.value(scene.at, gauge.resets)),
        ]);
    };
    match scene.dialect {
        Dialect::Anthropic => {
            tell(ANTHROPIC[0], gauges.requests, Reset::Moment);
            tell(ANTHROPIC[1], gauges.tokens, Reset::Moment);
            tell(ANTHROPIC[2], gauges.output, Reset::Moment);
        }
        Dialect::Azure => {
            tell(X_RATELIMIT[0], gauges.requests, Reset::Seconds);
            tell(X_RATELIMIT[1], gauges.tokens, Reset::Seconds);
        }
        Dialect::Groq => {
            tell(X_RATELIMIT[0], gauges.day, Reset::Length);
            tell(X_RATELIMIT[1], gauges.tokens, Reset::Length);
        }
        Dialect::OpenAi => {
            tell(
                X_RATELIMIT[0],
                gauges.requests.or(gauges.day),
                Reset::Length,
            );
            tell(X_RATELIMIT[1], gauges.tokens, Reset::Length);
        }
        Dialect::Bedrock | Dialect::Google | Dialect::Plain => {}
    }
    headers
}

/// The headers that tell when to come back.
pub(super) fn hint(scene: &Scene, hint: RetryAfter) -> impl Iterator<Item = Header> {
    let own = match hint {
        RetryAfter::Date(at) => Header::new("retry-after", HeaderValue::HttpDate(at)),
        RetryAfter::Millis(millis) => Header::new("retry-after-ms", HeaderValue::Count(millis)),
        RetryAfter::Seconds(seconds) => Header::new("retry-after", HeaderValue::Seconds(seconds)),
        RetryAfter::Unreadable => Header::new("retry-after", HeaderValue::Text("soon")),
    };
    let beside = match (scene.dialect, hint) {
        (Dialect::Azure, RetryAfter::Seconds(seconds)) => {
            let millis = u64::try_from(seconds)
                .unwrap_or_default()
                .saturating_mul(1_000);
            Some(Header::new("retry-after-ms", HeaderValue::Count(millis)))
        }
        _ => None,
    };
    [Some(own), beside].into_iter().flatten()
}

/// The headers that name an error.
pub(super) fn error(dialect: Dialect, failure: &Failure) -> Option<Header> {
    let kind = match (dialect, super::status(failure)) {
        (Dialect::Bedrock, 429) => "ThrottlingException",
        (Dialect::Bedrock, 400) => "ValidationException",
        (Dialect::Bedrock, 403) => "AccessDeniedException",
        (Dialect::Bedrock, 404) => "ResourceNotFoundException",
        (Dialect::Bedrock, 408) => "ModelTimeoutException",
        (Dialect::Bedrock, 503) => "ServiceUnavailableException",
        (Dialect::Bedrock, 500..) => "InternalServerException",
        _ => return None,
    };
    Some(Header::new("x-amzn-errortype", HeaderValue::Text(kind)))
}

/// In which form a header tells when a limit is free again.
#[derive(Clone, Copy)]
enum Reset {
    Length,
    Moment,
    Seconds,
}

impl Reset {
    fn value(self, at: Instant, resets: Instant) -> HeaderValue {
        let left = resets.since(at);
        match self {
            Self::Length => HeaderValue::Length(left),
            Self::Moment => HeaderValue::Rfc3339(resets),
            Self::Seconds => {
                let up = u64::from(left.subsec_nanos() > 0);
                HeaderValue::Count(left.as_secs() + up)
            }
        }
    }
}

/// A length of time to the millisecond, rounded up: `12ms`, `1s`, `6m0s`, `23h18m29.144s`.
fn as_length(length: Duration) -> String {
    let rest = u64::from(length.subsec_nanos().div_ceil(1_000_000));
    let millis = length.as_secs().saturating_mul(1_000).saturating_add(rest);
    let mut text = String::with_capacity(16);
    // Writing to a string does not fail.
    if millis < 1_000 {
        let _ = write!(text, "{millis}ms");
        return text;
    }
    let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
    let (seconds, rest) = (millis / 1_000 % 60, millis % 1_000);
    if hours > 0 {
        let _ = write!(text, "{hours}h");
    }
    if hours > 0 || minutes > 0 {
        let _ = write!(text, "{minutes}m");
    }
    let _ = write!(text, "{seconds}");
    if rest > 0 {
        let _ = write!(text, ".{rest:03}");
        text.truncate(text.trim_end_matches('0').len());
    }
    text.push('s');
    text
}

const X_RATELIMIT: [[&str; 3]; 2] = [
    [
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
    ],
    [
        "x-ratelimit-limit-tokens",
        "x-ratelimit-remaining-tokens",
        "x-ratelimit-reset-tokens",
    ],
];
const ANTHROPIC: [[&str; 3]; 3] = [
    [
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
    ],
    [
        "anthropic-ratelimit-input-tokens-limit",
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-input-tokens-reset",
    ],
    [
        "anthropic-ratelimit-output-tokens-limit",
        "anthropic-ratelimit-output-tokens-remaining",
        "anthropic-ratelimit-output-tokens-reset",
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_as_openai_writes_them() {
        for (nanos, text) in [
            (0, "0ms"),
            (12_000_000, "12ms"),
            (119_999_999, "120ms"),
            (1_000_000_000, "1s"),
            (20_500_000_000, "20.5s"),
            (360_000_000_000, "6m0s"),
            (83_909_144_000_000, "23h18m29.144s"),
        ] {
            assert_eq!(as_length(Duration::from_nanos(nanos)), text);
        }
    }
}
