//! What class a provider's error body has. LiteLLM looks at the text before it looks at the status.
//! (semantics 13, last paragraph)

use crate::{
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
        match class_of_text(body, profile) {
            Some(class) if class == ErrorClass::from_status(status) => Self::with_status(status),
            Some(class) => Self::of(class),
            None => Self::with_status(status),
        }
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
