//! How an attempt ended, in LiteLLM's words for errors.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{blame::Cause, time::Instant};

/// How one attempt ended.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// The answer arrived whole.
    Success {
        /// Tokens that the provider reports and bills.
        usage: Usage,
        /// From sending to the first token; `None` where the answer came in one piece.
        first_token_after: Option<Duration>,
    },
    /// The attempt failed, before or after its first token.
    Failure(Failure),
}

/// Tokens of one answer, as the provider reports them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub prompt_tokens: u32,
    /// Tokens of the answer.
    pub completion_tokens: u32,
    /// Tokens of the request that the provider read from its own prompt cache; part of
    /// `prompt_tokens`.
    pub cached_tokens: u32,
    /// Whether it is billed as part of a batch job.
    pub batch: bool,
}

impl Usage {
    /// Tokens of an answer, none of them from the provider's prompt cache.
    #[must_use]
    pub const fn new(prompt_tokens: u32, completion_tokens: u32) -> Self {
        Self {
            prompt_tokens,
            completion_tokens,
            cached_tokens: 0,
            batch: false,
        }
    }

    /// Both together.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.prompt_tokens as u64 + self.completion_tokens as u64
    }
}

/// A failed attempt, as the router sees it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The exception that LiteLLM raises for it.
    pub class: ErrorClass,
    /// HTTP status; `None` if the exception carries none.
    pub status: Option<u16>,
    /// The `retry-after` header, if there was one.
    pub retry_after: Option<RetryAfter>,
    /// A wait time that the body of the error tells. LiteLLM does not look for one.
    #[serde(default)]
    pub wait_in_body: Option<Duration>,
    /// What is behind it, where class and status do not say.
    #[serde(default)]
    pub cause: Cause,
    /// How far the answer had come. Where tokens were delivered, [`Failure::reached`] says content
    /// whatever stands here.
    #[serde(default)]
    pub reached: Reached,
    /// Tokens of text that had already been passed on when the stream broke: 0 for a failure before
    /// the first token, and for one after content that is no text.
    pub tokens_delivered: u32,
    /// From sending to the first token, if one arrived.
    pub first_token_after: Option<Duration>,
}

impl Failure {
    /// A failure before the first token, with the class that LiteLLM gives to `status`.
    #[must_use]
    pub const fn with_status(status: u16) -> Self {
        Self {
            class: ErrorClass::from_status(status),
            status: Some(status),
            retry_after: None,
            wait_in_body: None,
            reached: Reached::Nothing,
            cause: Cause::Unsaid,
            tokens_delivered: 0,
            first_token_after: None,
        }
    }

    /// A failure of `class` before the first token, with the status that its exception carries.
    #[must_use]
    pub const fn of(class: ErrorClass) -> Self {
        Self {
            class,
            status: class.status(),
            retry_after: None,
            wait_in_body: None,
            reached: Reached::Nothing,
            cause: Cause::Unsaid,
            tokens_delivered: 0,
            first_token_after: None,
        }
    }

    /// The same failure with a `retry-after` header.
    #[must_use]
    pub const fn retry_after(mut self, hint: RetryAfter) -> Self {
        self.retry_after = Some(hint);
        self
    }

    /// The same failure of an answer that had come this far.
    #[must_use]
    pub const fn after(mut self, reached: Reached) -> Self {
        self.reached = reached;
        self
    }

    /// How far the answer had come.
    #[must_use]
    pub const fn reached(&self) -> Reached {
        if self.tokens_delivered > 0 {
            Reached::Content
        } else {
            self.reached
        }
    }

    /// Whether content had been delivered before it.
    #[must_use]
    pub const fn is_mid_stream(&self) -> bool {
        matches!(self.reached(), Reached::Content)
    }
}

/// How far a streamed answer had come when it failed. An answer in one piece never comes far: it
/// fails before it is delivered.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// No answer had begun: an error status, a connection that failed, silence.
    #[default]
    Nothing,
    /// It had begun with status 200; keep-alive frames at most had come.
    Headers,
    /// Frames had come that open an answer and say nothing, such as one with the role alone.
    Opening,
    /// Content had come: text, a piece of a tool call, or of reasoning.
    Content,
}

/// What a `retry-after` header said. The forms matter: LiteLLM reads whole seconds and dates only.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum RetryAfter {
    /// An HTTP date, as a moment of the run.
    Date(Instant),
    /// `retry-after-ms` alone, which LiteLLM's router does not read.
    Millis(u64),
    /// Whole seconds; may be zero or negative.
    Seconds(i64),
    /// Text that is neither (`1.5`, `soon`).
    Unreadable,
}

impl RetryAfter {
    /// Whole seconds from `now`, as LiteLLM parses the header: a date is truncated to whole
    /// seconds, everything it cannot read is `None`. (semantics 4.5 and 5.4)
    #[must_use]
    #[expect(
        clippy::cast_possible_wrap,
        reason = "u64 nanoseconds are below 2^63 seconds"
    )]
    pub const fn whole_seconds(self, now: Instant) -> Option<i64> {
        match self {
            Self::Date(at) if at.as_nanos() >= now.as_nanos() => {
                Some(((at.as_nanos() - now.as_nanos()) / 1_000_000_000) as i64)
            }
            Self::Date(at) => {
                Some(-(((now.as_nanos() - at.as_nanos()) / 1_000_000_000) as i64) - 1)
            }
            Self::Seconds(seconds) => Some(seconds),
            Self::Millis(_) | Self::Unreadable => None,
        }
    }
}

/// The exception of LiteLLM's that a failure becomes. Names are LiteLLM's, without the word
/// "Error" at the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// A client error that no rule maps; the router never cools for it.
    ApiConnection,
    /// Every status without a class of its own (402, 403, 409, 413, 529 …).
    Api,
    /// 401.
    Authentication,
    /// 502.
    BadGateway,
    /// 400 and 422.
    BadRequest,
    /// 400 for the content; a kind of bad request.
    ContentPolicyViolation,
    /// 400 for the length of the prompt; a kind of bad request.
    ContextWindowExceeded,
    /// 500, and refused or reset connections.
    InternalServer,
    /// 404.
    NotFound,
    /// 429.
    RateLimit,
    /// 503.
    ServiceUnavailable,
    /// 408, 504 and the client's own timeout.
    Timeout,
}

impl ErrorClass {
    /// Every class, in the order of its declaration.
    pub const ALL: [Self; 12] = [
        Self::ApiConnection,
        Self::Api,
        Self::Authentication,
        Self::BadGateway,
        Self::BadRequest,
        Self::ContentPolicyViolation,
        Self::ContextWindowExceeded,
        Self::InternalServer,
        Self::NotFound,
        Self::RateLimit,
        Self::ServiceUnavailable,
        Self::Timeout,
    ];

    /// The class of a plain error body with this status. (semantics 4.2, table)
    #[must_use]
    pub const fn from_status(status: u16) -> Self {
        match status {
            400 | 422 => Self::BadRequest,
            401 => Self::Authentication,
            404 => Self::NotFound,
            408 | 504 => Self::Timeout,
            429 => Self::RateLimit,
            500 => Self::InternalServer,
            502 => Self::BadGateway,
            503 => Self::ServiceUnavailable,
            _ => Self::Api,
        }
    }

    /// The status that the exception carries when the provider gave none of its own.
    #[must_use]
    pub const fn status(self) -> Option<u16> {
        Some(match self {
            Self::ApiConnection | Self::Api | Self::InternalServer => 500,
            Self::Authentication => 401,
            Self::BadGateway => 502,
            Self::BadRequest | Self::ContentPolicyViolation | Self::ContextWindowExceeded => 400,
            Self::NotFound => 404,
            Self::RateLimit => 429,
            Self::ServiceUnavailable => 503,
            Self::Timeout => 408,
        })
    }

    /// LiteLLM's exception name.
    #[must_use]
    pub const fn exception(self) -> &'static str {
        match self {
            Self::ApiConnection => "APIConnectionError",
            Self::Api => "APIError",
            Self::Authentication => "AuthenticationError",
            Self::BadGateway => "BadGatewayError",
            Self::BadRequest => "BadRequestError",
            Self::ContentPolicyViolation => "ContentPolicyViolationError",
            Self::ContextWindowExceeded => "ContextWindowExceededError",
            Self::InternalServer => "InternalServerError",
            Self::NotFound => "NotFoundError",
            Self::RateLimit => "RateLimitError",
            Self::ServiceUnavailable => "ServiceUnavailableError",
            Self::Timeout => "Timeout",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_become_the_exceptions_that_litellm_raises() {
        let cases = [
            (400, "BadRequestError"),
            (401, "AuthenticationError"),
            (402, "APIError"),
            (403, "APIError"),
            (404, "NotFoundError"),
            (408, "Timeout"),
            (409, "APIError"),
            (413, "APIError"),
            (422, "BadRequestError"),
            (429, "RateLimitError"),
            (500, "InternalServerError"),
            (502, "BadGatewayError"),
            (503, "ServiceUnavailableError"),
            (504, "Timeout"),
            (529, "APIError"),
        ];
        for (status, exception) in cases {
            assert_eq!(
                ErrorClass::from_status(status).exception(),
                exception,
                "status {status}"
            );
        }
    }

    #[test]
    fn a_date_is_read_as_whole_seconds_and_a_past_one_is_negative() {
        let now = Instant::from_secs_f64(10.0);

        assert_eq!(
            RetryAfter::Date(Instant::from_secs_f64(13.9)).whole_seconds(now),
            Some(3)
        );
        assert_eq!(
            RetryAfter::Date(Instant::from_secs_f64(8.0)).whole_seconds(now),
            Some(-3)
        );
        assert_eq!(RetryAfter::Seconds(-1).whole_seconds(now), Some(-1));
        assert_eq!(RetryAfter::Millis(1_500).whole_seconds(now), None);
        assert_eq!(RetryAfter::Unreadable.whole_seconds(now), None);
    }
}
