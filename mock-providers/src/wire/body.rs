//! Error bodies in each provider's own shape, with the words by which LiteLLM tells one error from
//! another.

use router::{ErrorClass, Failure};

use super::{Cause, Dialect, Manner, Scene, status, waits_s};
use crate::quota::HintForm;

/// The body of an error.
pub(super) fn error(scene: &Scene, manner: Manner, failure: &Failure) -> String {
    let message = message(scene, manner, failure);
    match scene.dialect {
        Dialect::Anthropic => anthropic(failure, &message),
        Dialect::Bedrock => format!(r#"{{"message":"{message}"}}"#),
        Dialect::Google => google(scene, failure, &message),
        Dialect::Azure | Dialect::Groq | Dialect::OpenAi | Dialect::Plain => {
            open_ai(failure, &message)
        }
    }
}

/// An error object where an answer should stand: what LiteLLM sees of it without a status is its
/// `code`, if that is a number.
pub(super) fn error_in_200(scene: &Scene, failure: &Failure) -> String {
    let Some(status) = failure.status.filter(|_| scene.dialect.errs_as_open_ai()) else {
        return error(scene, Manner::Error, failure);
    };
    let message = message(scene, Manner::Error, failure);
    let (kind, _) = open_ai_type(failure.class);
    open_ai_as(kind, &status.to_string(), &message)
}

/// What the error says. No message holds a quotation mark, so none needs escaping.
fn message(scene: &Scene, manner: Manner, failure: &Failure) -> String {
    let cause = match manner {
        Manner::Limited(cause) => Some(cause),
        Manner::Answer | Manner::Error | Manner::Broken(_) => None,
    };
    match (cause, failure.class) {
        (Some(Cause::SharedCapacity), _) if scene.dialect == Dialect::Google => {
            "Resource exhausted. Please try again later.".to_owned()
        }
        (Some(Cause::SharedCapacity), _) if scene.dialect == Dialect::Azure => {
            "The system is currently experiencing high demand and cannot process your request."
                .to_owned()
        }
        // Anthropic tells an overload apart by its status, 529.
        (Some(Cause::SharedCapacity), ErrorClass::RateLimit)
            if scene.dialect == Dialect::Anthropic =>
        {
            "This request would exceed your organization's rate limit.".to_owned()
        }
        (Some(Cause::SharedCapacity), _) => "Overloaded".to_owned(),
        (Some(cause), _) => format!(
            "Rate limit reached for {}.{}",
            words(cause),
            again(scene, failure)
        ),
        (None, ErrorClass::ContextWindowExceeded) if scene.dialect == Dialect::Anthropic => {
            "prompt is too long: more tokens than the model's maximum".to_owned()
        }
        (None, ErrorClass::ContentPolicyViolation) if scene.dialect == Dialect::Anthropic => {
            "Output blocked by content filtering policy".to_owned()
        }
        (None, ErrorClass::ContextWindowExceeded) => {
            "This model's maximum context length is exceeded by your messages.".to_owned()
        }
        (None, ErrorClass::ContentPolicyViolation) => {
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy."
                .to_owned()
        }
        (None, ErrorClass::Authentication) => "Incorrect API key provided.".to_owned(),
        (None, ErrorClass::NotFound) => "The model does not exist.".to_owned(),
        (None, ErrorClass::RateLimit) => "Rate limit reached.".to_owned(),
        (
            None,
            ErrorClass::ApiConnection
            | ErrorClass::Api
            | ErrorClass::BadGateway
            | ErrorClass::BadRequest
            | ErrorClass::InternalServer
            | ErrorClass::ServiceUnavailable
            | ErrorClass::Timeout,
        ) => format!("The server had an error ({}).", status(failure)),
    }
}

const fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::Lowered => "the present limit of this deployment",
        Cause::OutputTokens => "output tokens per minute",
        Cause::Requests => "requests per minute",
        Cause::RequestsOfDay => "requests per day",
        Cause::SharedCapacity => "shared capacity",
        Cause::Slope => "the growth of traffic",
        Cause::Tokens => "tokens per minute",
    }
}

fn again(scene: &Scene, failure: &Failure) -> String {
    let waits = failure.retry_after.and_then(|hint| waits_s(hint, scene.at));
    waits.map_or_else(String::new, |seconds| {
        format!(" Please try again in {seconds}s.")
    })
}

fn open_ai(failure: &Failure, message: &str) -> String {
    let (kind, code) = open_ai_type(failure.class);
    open_ai_as(kind, code, message)
}

fn open_ai_as(kind: &str, code: &str, message: &str) -> String {
    format!(r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":{code}}}}}"#)
}

/// Type and code of an error, the latter as JSON.
const fn open_ai_type(class: ErrorClass) -> (&'static str, &'static str) {
    match class {
        ErrorClass::Authentication => ("invalid_request_error", r#""invalid_api_key""#),
        ErrorClass::ContentPolicyViolation => {
            ("invalid_request_error", r#""content_policy_violation""#)
        }
        ErrorClass::ContextWindowExceeded => {
            ("invalid_request_error", r#""context_length_exceeded""#)
        }
        ErrorClass::NotFound => ("invalid_request_error", r#""model_not_found""#),
        ErrorClass::RateLimit => ("requests", r#""rate_limit_exceeded""#),
        ErrorClass::BadRequest => ("invalid_request_error", "null"),
        ErrorClass::ApiConnection
        | ErrorClass::Api
        | ErrorClass::BadGateway
        | ErrorClass::InternalServer
        | ErrorClass::ServiceUnavailable
        | ErrorClass::Timeout => ("server_error", "null"),
    }
}

fn anthropic(failure: &Failure, message: &str) -> String {
    let kind = match status(failure) {
        400 | 422 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
}

fn google(scene: &Scene, failure: &Failure, message: &str) -> String {
    let status = status(failure);
    let name = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "INTERNAL",
    };
    let delay = scene.body_hint().filter(|_| status == 429);
    let details = delay.map_or_else(String::new, |seconds| {
        format!(
            r#","details":[{{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"{seconds}s"}}]"#
        )
    });
    format!(r#"{{"error":{{"code":{status},"message":"{message}","status":"{name}"{details}}}}}"#)
}

impl Scene {
    /// Seconds to wait, where the hint stands in the body.
    fn body_hint(&self) -> Option<u64> {
        let frees = self.frees.filter(|_| self.form == HintForm::Body)?;
        u64::try_from(frees.since(self.at).as_nanos().div_ceil(1_000_000_000)).ok()
    }
}
