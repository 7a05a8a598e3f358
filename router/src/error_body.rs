//! What class a provider's error body has. LiteLLM looks at the text before it looks at the status.
//! (semantics 13, last paragraph)

use crate::{
    blame::Cause,
    outcome::{ErrorClass, Failure},
    profile::Profile,
};

/// The error object of an OpenAI-shaped answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ErrorBody<'a> {
    /// `error.code`.
    pub code: Option<&'a str>,
    /// `error.type`.
    pub kind: Option<&'a str>,
    /// `error.message`.
    pub message: &'a str,
}

impl Failure {
    /// A failure before the first token: `status` with this body. What the text says wins over the
    /// status, and then the exception carries its class's own.
    #[must_use]
    pub fn with_body(status: u16, body: &ErrorBody<'_>, profile: &Profile) -> Self {
        let failure = match class_of_text(body, profile) {
            Some(class) if class == ErrorClass::from_status(status) => Self::with_status(status),
            Some(class) => Self::of(class),
            None => Self::with_status(status),
        };
        failure.because(cause_of(status, body))
    }
}

/// What is behind an error, by its code and type and by phrases of providers. Only the profile
/// `corrected` asks for it. (BR-005, BR-009, BR-010)
fn cause_of(status: u16, body: &ErrorBody<'_>) -> Cause {
    let message = body.message.to_lowercase();
    let has = |names: &[&str], phrases: &[&str]| {
        let named = |name: Option<&str>| name.is_some_and(|name| names.contains(&name));
        named(body.code) || named(body.kind) || phrases.iter().any(|p| message.contains(p))
    };
    if status == 402 || has(&NO_CREDIT_CODES, &NO_CREDIT) {
        Cause::CreditExhausted
    } else if status == 404 && has(&NO_OBJECT_CODES, &NO_OBJECT) {
        Cause::ObjectNotFound
    } else if matches!(status, 429 | 500..) && has(&BUSY_CODES, &BUSY) {
        Cause::Backpressure
    } else {
        Cause::Unsaid
    }
}

fn class_of_text(body: &ErrorBody<'_>, profile: &Profile) -> Option<ErrorClass> {
    let message = body.message.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    let invalid = body.kind == Some("invalid_request_error");
    if says(&RATE_LIMIT) {
        return Some(ErrorClass::RateLimit);
    }
    if says(&CONTEXT_WINDOW) {
        return Some(ErrorClass::ContextWindowExceeded);
    }
    if invalid && body.code == Some("model_not_found") {
        return Some(ErrorClass::NotFound);
    }
    let by_code = invalid && body.code == Some("content_policy_violation");
    if says(&CONTENT_POLICY) || (by_code && profile.content_policy_by_code) {
        return Some(ErrorClass::ContentPolicyViolation);
    }
    if invalid {
        return Some(ErrorClass::BadRequest);
    }
    says(&["request too large"]).then_some(ErrorClass::RateLimit)
}

/// Phrases of the conformance vectors and of OpenAI's own errors, in lower case.
const CONTEXT_WINDOW: [&str; 2] = ["maximum context length is", "exceed context limit"];
const CONTENT_POLICY: [&str; 1] = ["violating our usage policy"];
/// OpenAI's codes for an account that may spend no more.
const NO_CREDIT_CODES: [&str; 3] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "usage_limit_reached",
];
/// Anthropic's words for the same, which come with status 400.
const NO_CREDIT: [&str; 2] = [
    "credit balance is too low",
    "reached your specified api usage limits",
];
/// Codes for an object that is not kept here.
const NO_OBJECT_CODES: [&str; 2] = ["previous_response_not_found", "response_not_found"];
/// OpenAI's words for the same.
const NO_OBJECT: [&str; 3] = [
    "response with id",
    "no such file object",
    "no thread found with id",
];
/// Anthropic's type for an overload (529).
const BUSY_CODES: [&str; 1] = ["overloaded_error"];
/// What self-hosted servers say.
const BUSY: [&str; 2] = ["queue full", "queue is full"];
const RATE_LIMIT: [&str; 2] = ["rate limit reached", "rate limit exceeded"];

#[cfg(test)]
mod tests {
    use super::*;

    fn class(kind: &str, code: &str, message: &str, profile: &Profile) -> ErrorClass {
        let body = ErrorBody {
            code: Some(code),
            kind: Some(kind),
            message,
        };
        Failure::with_body(400, &body, profile).class
    }

    #[test]
    fn the_text_of_an_error_wins_over_its_status_and_a_code_alone_says_nothing() {
        let new = Profile::litellm_1_110();
        let too_long = "This model's maximum context length is 4097 tokens.";

        assert_eq!(
            class("scripted", "", too_long, &new),
            ErrorClass::ContextWindowExceeded
        );
        assert_eq!(
            class("scripted", "context_length_exceeded", "no", &new),
            ErrorClass::BadRequest
        );
        assert_eq!(
            class("scripted", "", "violating our usage policy", &new),
            ErrorClass::ContentPolicyViolation
        );
    }

    #[test]
    fn a_policy_code_of_an_invalid_request_is_a_policy_violation_in_1_92_only() {
        let class = |profile: &Profile| {
            class(
                "invalid_request_error",
                "content_policy_violation",
                "no",
                profile,
            )
        };

        assert_eq!(
            class(&Profile::litellm_1_92()),
            ErrorClass::ContentPolicyViolation
        );
        assert_eq!(class(&Profile::litellm_1_110()), ErrorClass::BadRequest);
    }

    #[test]
    fn an_empty_account_a_missing_object_and_a_full_queue_are_told_by_code_type_or_words() {
        let cause = |status, code, kind, message| {
            let body = ErrorBody {
                code,
                kind,
                message,
            };
            Failure::with_body(status, &body, &Profile::default()).cause
        };

        let quota = cause(429, Some("insufficient_quota"), None, "no");
        assert_eq!(quota, Cause::CreditExhausted);
        let low = "Your credit balance is too low to access the API.";
        let kind = Some("invalid_request_error");
        assert_eq!(cause(400, None, kind, low), Cause::CreditExhausted);
        assert_eq!(cause(402, None, None, "no"), Cause::CreditExhausted);
        let gone = "Response with id 'resp_1' not found.";
        assert_eq!(cause(404, None, kind, gone), Cause::ObjectNotFound);
        assert_eq!(
            cause(404, Some("model_not_found"), kind, "no"),
            Cause::Unsaid
        );
        assert_eq!(
            cause(529, None, Some("overloaded_error"), "no"),
            Cause::Backpressure
        );
        assert_eq!(cause(503, None, None, "Queue full"), Cause::Backpressure);
        assert_eq!(cause(503, None, None, "no"), Cause::Unsaid);
    }

    #[test]
    fn an_unknown_model_is_not_found_whatever_the_status() {
        let body = ErrorBody {
            code: Some("model_not_found"),
            kind: Some("invalid_request_error"),
            message: "no",
        };
        let failure = Failure::with_body(400, &body, &Profile::default());

        assert_eq!(
            (failure.class, failure.status),
            (ErrorClass::NotFound, Some(404))
        );
    }
}
