//! What class a provider's error body has. LiteLLM looks at the text before it looks at the status.
//! (semantics 13, last paragraph)

use crate::{
    blame::Cause,
    config::is_bad_request,
    hint,
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
    /// status. Rate limits, timeouts and server errors found so carry their class's own status; a
    /// bad request of any kind keeps the one that came, whatever it is.
    #[must_use]
    pub fn with_body(status: u16, body: &ErrorBody<'_>, profile: &Profile) -> Self {
        let whole;
        let text = if profile.error_text_is_whole_body {
            let parts = [body.code, body.kind, Some(body.message)];
            whole = parts.map(Option::unwrap_or_default).join("\n");
            whole.as_str()
        } else {
            body.message
        };
        let numbered = profile.error_text_is_whole_body && has_word(text, "429");
        let by_code = body.code.and_then(|code| class_of_code(code, profile));
        let class = match status == 429 || numbered {
            _ if by_code.is_some() => by_code,
            true if !says(text, &CLIENT_TIMEOUT) => Some(ErrorClass::RateLimit),
            _ => class_of_text(text, profile),
        };
        let failure = match class {
            None => Self::with_status(status),
            Some(class) if class == ErrorClass::NotFound || is_bad_request(class) => Self {
                status: Some(status),
                ..Self::of(class)
            },
            Some(class) => Self::of(class),
        };
        let failure = failure.because(cause_of(status, body));
        match hint::in_words(body.message) {
            Some(wait) => failure.wait_in_body(wait),
            None => failure,
        }
    }

    /// An error that the provider tells inside a stream, in place of a frame. It has no status, and
    /// only its message says something; what it does not tell is a connection error. (asked of both
    /// versions)
    #[must_use]
    pub fn of_event(message: &str, profile: &Profile) -> Self {
        let class = match has_word(message, "429") {
            true if !says(message, &CLIENT_TIMEOUT) => Some(ErrorClass::RateLimit),
            _ => class_of_text(message, profile).filter(|&class| class != ErrorClass::Api),
        };
        Self {
            status: None,
            ..Self::of(class.unwrap_or(ErrorClass::ApiConnection))
        }
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

/// The kind that a code names, whatever the words are. (BR-033)
fn class_of_code(code: &str, profile: &Profile) -> Option<ErrorClass> {
    if !profile.corrections.codes_tell_the_kind {
        return None;
    }
    match code {
        "context_length_exceeded" => Some(ErrorClass::ContextWindowExceeded),
        "content_policy_violation" | "content_filter" => Some(ErrorClass::ContentPolicyViolation),
        _ => None,
    }
}

fn says(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// The first rule that applies. (asked of both versions with some 900 bodies each)
fn class_of_text(text: &str, profile: &Profile) -> Option<ErrorClass> {
    let lower = text.to_lowercase();
    let says = |phrases: &[&str]| says(text, phrases);
    let means = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    if says(&CLIENT_TIMEOUT) {
        return Some(ErrorClass::Timeout);
    }
    if speaks_of_a_rate_limit(&lower) {
        return Some(ErrorClass::RateLimit);
    }
    let newer = !profile.error_text_is_whole_body && means(&["prompt is too long"]);
    if means(&CONTEXT_WINDOW) || newer {
        return Some(ErrorClass::ContextWindowExceeded);
    }
    let invalid = says(&["invalid_request_error"]);
    if invalid && says(&["model_not_found"]) {
        return Some(ErrorClass::NotFound);
    }
    if says(&["A timeout occurred"]) {
        return Some(ErrorClass::Timeout);
    }
    if means(&CONTENT_POLICY) || (invalid && says(&["content_policy_violation"])) {
        return Some(ErrorClass::ContentPolicyViolation);
    }
    if invalid && !says(&["Incorrect API key provided"]) {
        return Some(ErrorClass::BadRequest);
    }
    if says(&SERVER_ERROR) {
        return Some(ErrorClass::InternalServer);
    }
    if means(&["request too large"]) {
        return Some(ErrorClass::RateLimit);
    }
    says(&["Mistral API raised a streaming error"]).then_some(ErrorClass::Api)
}

/// "rate" and "limit", with nothing but blanks, `_` or `-` between them.
fn speaks_of_a_rate_limit(lower: &str) -> bool {
    let between = |c: char| c.is_whitespace() || c == '_' || c == '-';
    let followed = |(at, _)| {
        let rest: &str = &lower[at + "rate".len()..];
        rest.trim_start_matches(between).starts_with("limit")
    };
    lower.match_indices("rate").any(followed)
}

/// Whether the word stands in the text, not as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|found| found == word)
}

const CLIENT_TIMEOUT: [&str; 4] = [
    "Request timed out",
    "Request Timeout Error",
    "Timed out generating response",
    "The read operation timed out",
];
/// In lower case.
const CONTEXT_WINDOW: [&str; 9] = [
    "exceed context limit",
    "exceeds the available context size",
    "exceeds the maximum number of tokens allowed",
    "input tokens exceed the configured limit",
    "is longer than the model's context length",
    "`inputs` tokens + `max_new_tokens` must be",
    "model's maximum context limit",
    "string too long. expected a string with maximum length",
    "this model's maximum context length is",
];
/// In lower case.
const CONTENT_POLICY: [&str; 1] =
    ["invalid prompt: your prompt was flagged as potentially violating our usage policy"];
const SERVER_ERROR: [&str; 2] = [
    "Web server is returning an unknown error",
    "The server had an error processing your request.",
];
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Status, type, code, message.
    type Case = (u16, &'static str, &'static str, &'static str);

    fn seen(case: Case, profile: &Profile) -> (ErrorClass, Option<u16>) {
        let (status, kind, code, message) = case;
        let body = ErrorBody {
            code: Some(code),
            kind: Some(kind),
            message,
        };
        let failure = Failure::with_body(status, &body, profile);
        (failure.class, failure.status)
    }

    const INVALID: &str = "invalid_request_error";

    #[test]
    fn the_text_of_an_error_wins_over_its_status_in_both() {
        let cases: [(Case, ErrorClass, u16); 9] = [
            ((400, "x", "", "Rate-limited"), ErrorClass::RateLimit, 429),
            (
                (500, "x", "", "Request too large"),
                ErrorClass::RateLimit,
                429,
            ),
            (
                (429, "x", "", "Request timed out."),
                ErrorClass::Timeout,
                408,
            ),
            (
                (429, "x", "", "This model's maximum context length is 4."),
                ErrorClass::RateLimit,
                429,
            ),
            (
                (503, "x", "", "This model's maximum context length is 4."),
                ErrorClass::ContextWindowExceeded,
                503,
            ),
            (
                (400, INVALID, "", "A timeout occurred"),
                ErrorClass::Timeout,
                408,
            ),
            (
                (
                    401,
                    "x",
                    "",
                    "The server had an error processing your request.",
                ),
                ErrorClass::InternalServer,
                500,
            ),
            (
                (
                    400,
                    INVALID,
                    "invalid_prompt",
                    "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
                ),
                ErrorClass::ContentPolicyViolation,
                400,
            ),
            (
                (400, "x", "", "violating our usage policy"),
                ErrorClass::BadRequest,
                400,
            ),
        ];
        for (case, class, status) in cases {
            for profile in [Profile::litellm_1_92(), Profile::litellm_1_110()] {
                assert_eq!(seen(case, &profile), (class, Some(status)), "{case:?}");
            }
        }
    }

    #[test]
    fn type_and_code_say_something_in_1_92_only() {
        let cases: [(Case, ErrorClass, u16); 6] = [
            (
                (400, INVALID, "content_policy_violation", "no"),
                ErrorClass::ContentPolicyViolation,
                400,
            ),
            (
                (500, INVALID, "model_not_found", "no"),
                ErrorClass::NotFound,
                500,
            ),
            ((500, INVALID, "", "no"), ErrorClass::BadRequest, 500),
            (
                (503, "rate_limit_error", "", "no"),
                ErrorClass::RateLimit,
                429,
            ),
            ((500, "x", "429", "no"), ErrorClass::RateLimit, 429),
            (
                (400, INVALID, "context_length_exceeded", "no"),
                ErrorClass::BadRequest,
                400,
            ),
        ];
        for (case, class, status) in cases {
            let by_status = (ErrorClass::from_status(case.0), Some(case.0));
            assert_eq!(
                seen(case, &Profile::litellm_1_92()),
                (class, Some(status)),
                "{case:?}"
            );
            assert_eq!(seen(case, &Profile::litellm_1_110()), by_status, "{case:?}");
        }
    }

    #[test]
    fn a_prompt_that_is_too_long_is_told_by_these_words_in_1_110_only() {
        let case = (400, "x", "", "prompt is too long: 5 tokens");

        assert_eq!(
            seen(case, &Profile::litellm_1_92()).0,
            ErrorClass::BadRequest
        );
        let newer = seen(case, &Profile::litellm_1_110()).0;
        assert_eq!(newer, ErrorClass::ContextWindowExceeded);
    }

    #[test]
    fn a_wrong_key_is_no_bad_request() {
        let case = (
            401,
            INVALID,
            "invalid_api_key",
            "Incorrect API key provided: sk-1",
        );

        let class = seen(case, &Profile::litellm_1_92()).0;
        assert_eq!(class, ErrorClass::Authentication);
    }

    #[test]
    fn a_code_tells_the_kind_in_corrected_only() {
        let case = (
            400,
            INVALID,
            "context_length_exceeded",
            "words that nobody knows",
        );

        for profile in [Profile::litellm_1_92(), Profile::litellm_1_110()] {
            assert_eq!(seen(case, &profile).0, ErrorClass::BadRequest);
        }
        let class = seen(case, &Profile::corrected()).0;
        assert_eq!(class, ErrorClass::ContextWindowExceeded);
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
}
