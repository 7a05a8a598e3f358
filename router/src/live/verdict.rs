//! What came over HTTP, as the outcome of an attempt: by the same rules as everywhere in the core,
//! which are those of LiteLLM's client. (`error_body.rs`, semantics 13; asked of both versions over
//! HTTP, see `mock-providers/README.md`)

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    error_body::ErrorBody,
    outcome::{ErrorClass, Failure, RetryAfter, Usage},
    profile::Profile,
    time::{Epoch, Instant, nanos_from_secs},
};

/// A failure, and the provider's own words for it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Told {
    pub(super) failure: Failure,
    pub(super) message: String,
}

impl Told {
    /// A connection that fails before there is an answer, and an answer that is none.
    pub(super) fn broken(message: impl Into<String>) -> Self {
        Self {
            failure: Failure::of(ErrorClass::InternalServer),
            message: message.into(),
        }
    }

    /// A request that its upstream has no words for: a 400 of LiteLLM's own, which nobody was asked for.
    pub(super) fn not_spoken(message: String) -> Self {
        Self {
            failure: Failure::with_status(400),
            message,
        }
    }

    /// An answer with an error's status.
    pub(super) fn of_status(
        status: u16,
        headers: &HeaderMap,
        body: &[u8],
        profile: &Profile,
        epoch: Epoch,
    ) -> Self {
        let text = String::from_utf8_lossy(body);
        let parsed: Value = serde_json::from_str(&text).unwrap_or_default();
        let error = &parsed["error"];
        let code = code_of(error);
        let message = error["message"].as_str().or_else(|| error.as_str());
        let message = message.unwrap_or(&text);
        let body = ErrorBody {
            code: code.as_deref(),
            kind: error["type"].as_str(),
            message,
        };
        let mut failure = Failure::with_body(status, &body, profile);
        failure.retry_after = retry_after(headers, epoch);
        if let Some(wait) = retry_delay(error) {
            failure = failure.wait_in_body(wait);
        }
        Self {
            failure,
            message: message.to_owned(),
        }
    }

    /// An error object where an answer should stand, with status 200: what LiteLLM sees of it
    /// without a status is its `code`, if that is a number.
    pub(super) fn of_object(error: &Value, profile: &Profile) -> Self {
        let message = error["message"].as_str().or_else(|| error.as_str());
        let message = message.unwrap_or_default();
        let code = code_of(error);
        let status = code.as_deref().and_then(|code| code.parse().ok());
        let failure = match status {
            Some(status @ 400..=599) => {
                let body = ErrorBody {
                    code: code.as_deref(),
                    kind: error["type"].as_str(),
                    message,
                };
                Failure::with_body(status, &body, profile)
            }
            Some(_) | None => Failure {
                status: None,
                ..Failure::of(ErrorClass::Api)
            },
        };
        Self {
            failure,
            message: message.to_owned(),
        }
    }
}

impl Told {
    /// An error object in the place of a frame. LiteLLM knows it by its words alone; where errors
    /// keep their class, its type says what the words do not.
    pub(super) fn of_event(error: &Value, profile: &Profile) -> Self {
        let message = error["message"].as_str().or_else(|| error.as_str());
        let message = message.unwrap_or_default();
        let mut failure = Failure::of_event(message, profile);
        if profile.stream_errors_keep_class && failure.class == ErrorClass::ApiConnection {
            let named = [error["type"].as_str(), error["code"].as_str()];
            let class = named.into_iter().flatten().find_map(class_of_name);
            failure = class.map_or(failure, Failure::of);
        }
        Self {
            failure,
            message: message.to_owned(),
        }
    }
}

/// The class of an error's `type` or `code`, in OpenAI's and Anthropic's words.
fn class_of_name(name: &str) -> Option<ErrorClass> {
    Some(match name {
        "server_error" | "api_error" | "internal_server_error" => ErrorClass::InternalServer,
        "rate_limit_error" | "rate_limit_exceeded" => ErrorClass::RateLimit,
        "overloaded_error" => ErrorClass::ServiceUnavailable,
        "timeout_error" => ErrorClass::Timeout,
        "invalid_api_key" | "authentication_error" => ErrorClass::Authentication,
        "context_length_exceeded" => ErrorClass::ContextWindowExceeded,
        "content_policy_violation" | "content_filter" => ErrorClass::ContentPolicyViolation,
        "model_not_found" | "not_found_error" => ErrorClass::NotFound,
        "invalid_request_error" => ErrorClass::BadRequest,
        _ => return None,
    })
}

fn code_of(error: &Value) -> Option<String> {
    let code = &error["code"];
    let text = code.as_str().map(str::to_owned);
    text.or_else(|| code.as_u64().map(|code| code.to_string()))
}

/// Google's `retryDelay`, as `"52s"`.
fn retry_delay(error: &Value) -> Option<Duration> {
    let details = error["details"].as_array()?;
    let delay = details
        .iter()
        .find_map(|detail| detail["retryDelay"].as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Some(Duration::from_nanos(nanos_from_secs(seconds)))
}

/// The hint in the headers: `retry-after`, else `retry-after-ms`.
fn retry_after(headers: &HeaderMap, epoch: Epoch) -> Option<RetryAfter> {
    let text = |value: &reqwest::header::HeaderValue| {
        let text = value.to_str().unwrap_or_default();
        text.trim().to_owned()
    };
    if let Some(value) = headers.get(RETRY_AFTER) {
        let text = text(value);
        return Some(match (text.parse(), httpdate::parse_http_date(&text)) {
            (Ok(seconds), _) => RetryAfter::Seconds(seconds),
            (Err(_), Ok(date)) => {
                let began = Duration::from_secs(epoch.unix_seconds());
                let since_1970 = date.duration_since(std::time::UNIX_EPOCH);
                RetryAfter::Date(
                    Instant::ZERO + since_1970.unwrap_or_default().saturating_sub(began),
                )
            }
            (Err(_), Err(_)) => RetryAfter::Unreadable,
        });
    }
    let millis = headers.get("retry-after-ms").map(text)?;
    let millis = millis.parse::<u64>();
    Some(millis.map_or(RetryAfter::Unreadable, RetryAfter::Millis))
}

/// `usage` of an answer.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
pub(super) struct UsageBody {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

impl UsageBody {
    /// Whatever the provider leaves out is what is estimated.
    pub(super) fn or(self, estimate: Usage) -> Usage {
        let count = |found: Option<u64>, estimate: u32| {
            found.map_or(estimate, |n| u32::try_from(n).unwrap_or(u32::MAX))
        };
        let cached = self.prompt_tokens_details.and_then(|d| d.cached_tokens);
        Usage {
            prompt_tokens: count(self.prompt_tokens, estimate.prompt_tokens),
            completion_tokens: count(self.completion_tokens, estimate.completion_tokens),
            cached_tokens: count(cached, 0),
            batch: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Failure {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let epoch = Epoch::from_unix_seconds(784_111_777);
        Told::of_status(status, &map, body.as_bytes(), &Profile::default(), epoch).failure
    }

    #[test]
    fn a_hint_is_read_in_each_of_its_forms() {
        let hint = |name, value| told(429, &[(name, value)], "").retry_after;

        assert_eq!(hint("retry-after", "7"), Some(RetryAfter::Seconds(7)));
        assert_eq!(hint("retry-after", "-7"), Some(RetryAfter::Seconds(-7)));
        assert_eq!(hint("retry-after", "1.5"), Some(RetryAfter::Unreadable));
        assert_eq!(
            hint("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"),
            Some(RetryAfter::Date(Instant::from_secs_f64(30.0)))
        );
        assert_eq!(hint("retry-after-ms", "250"), Some(RetryAfter::Millis(250)));
        assert_eq!(hint("x-other", "250"), None);
        let both = told(429, &[("retry-after", "1"), ("retry-after-ms", "250")], "");
        assert_eq!(both.retry_after, Some(RetryAfter::Seconds(1)));
    }

    #[test]
    fn googles_hint_stands_in_the_body() {
        let body =
            r#"{"error": {"code": 429, "message": "no", "details": [{"retryDelay": "52s"}]}}"#;

        assert_eq!(
            told(429, &[], body).wait_in_body,
            Some(Duration::from_secs(52))
        );
    }

    #[test]
    fn words_win_over_the_status_and_a_body_that_is_no_json_is_words() {
        let too_long = r#"{"error": {"message": "This model's maximum context length is 4."}}"#;

        assert_eq!(
            told(503, &[], too_long).class,
            ErrorClass::ContextWindowExceeded
        );
        assert_eq!(
            told(500, &[], "Rate limit reached").class,
            ErrorClass::RateLimit
        );
        assert_eq!(told(529, &[], "<html>").class, ErrorClass::Api);
    }

    #[test]
    fn an_error_object_in_a_200_has_the_status_of_its_code_or_none() {
        let of = |error: &str| {
            let error = serde_json::from_str(error).unwrap();
            let failure = Told::of_object(&error, &Profile::default()).failure;
            (failure.class, failure.status)
        };

        assert_eq!(of(r#"{"message": "no"}"#), (ErrorClass::Api, None));
        assert_eq!(of(r#"{"code": 429}"#), (ErrorClass::RateLimit, Some(429)));
        assert_eq!(
            of(r#"{"code": "500"}"#),
            (ErrorClass::InternalServer, Some(500))
        );
        assert_eq!(of(r#""no""#), (ErrorClass::Api, None));
    }
}
