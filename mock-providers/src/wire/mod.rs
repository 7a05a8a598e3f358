//! What a reply looks like on the wire: status, headers and error body, as data. A server prints
//! them; the simulator, which hands the router an outcome, never makes them.
//!
//! The one thing of it that a router reads is the hint in `retry-after`: [`retry_after`] reads it
//! back from the headers, and it is the one of the reply's failure.

mod body;
mod calendar;
mod header;

use router::{ErrorClass, Failure, Instant, Outcome, Reached, RetryAfter};
use serde::{Deserialize, Serialize};

pub use self::{
    calendar::rfc_3339,
    header::{Header, HeaderValue, retry_after},
};
use crate::{
    quota::{Gauges, HintForm, Quota},
    reply::{ProviderCall, Reply},
};

/// Whose headers and error bodies a provider sends. It matters on the wire only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Dialect {
    /// `anthropic-ratelimit-*` with moments, errors as Anthropic words them.
    Anthropic,
    /// `x-ratelimit-*`, and `retry-after-ms` beside `retry-after`.
    Azure,
    /// `x-amzn-errortype` and no word of limits.
    Bedrock,
    /// No header of limits; the wait stands in the error as `RetryInfo.retryDelay`.
    Google,
    /// `x-ratelimit-*` where requests are those of a day.
    Groq,
    /// `x-ratelimit-*` with lengths of time such as `6m0s`.
    OpenAi,
    /// OpenAI's error bodies and no header of limits, as most servers of one's own.
    #[default]
    Plain,
}

impl Dialect {
    /// Whether its error bodies have OpenAI's shape.
    const fn errs_as_open_ai(self) -> bool {
        match self {
            Self::Azure | Self::Groq | Self::OpenAi | Self::Plain => true,
            Self::Anthropic | Self::Bedrock | Self::Google => false,
        }
    }
}

/// How a reply comes about, beside what the router makes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// A whole answer.
    Answer,
    /// An error with a status.
    Error,
    /// A 429 or 529, and what it is for.
    Limited(Cause),
    /// The exchange itself breaks.
    Broken(Break),
}

/// What a provider that turns an attempt away is short of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// The provider has lowered the limits for a while.
    Lowered,
    /// Tokens of answers a minute.
    OutputTokens,
    /// Requests a minute.
    Requests,
    /// Requests a day.
    RequestsOfDay,
    /// Capacity that all customers share: nobody's own limit.
    SharedCapacity,
    /// Traffic grew too fast.
    Slope,
    /// Tokens a minute.
    Tokens,
}

/// How an exchange breaks. `n` is the tokens that the reply's failure says were delivered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Break {
    /// After `n` tokens the connection ends; without a stream, in the middle of the body.
    Cut,
    /// An empty body.
    Empty,
    /// An error object stands where an answer should, or after `n` tokens a frame.
    ErrorObject,
    /// JSON that ends in the middle, or after `n` tokens such a frame.
    Malformed,
    /// The stream is whole, but its end marker `[DONE]` is missing.
    NoDone,
    /// The stream ends after `n` tokens without the frame that tells the reason.
    NoEnd,
    /// A page of a gateway in the place of JSON.
    NotJson,
    /// The connection is refused.
    Refused,
    /// The connection is reset before there is an answer.
    Reset,
    /// Taken, and then nothing more: no headers, or no further token after `n`.
    Silence,
    /// The certificate is not to be trusted.
    Tls,
}

/// A reply as it is printed.
#[derive(Clone, PartialEq, Debug)]
pub struct WireReply {
    /// HTTP status; `None` where there is no HTTP answer at all.
    pub status: Option<u16>,
    /// Headers that say something about limits and errors.
    pub headers: Vec<Header>,
    /// What stands in the place of an answer; `None` where there is an answer, or nothing.
    pub body: Option<String>,
}

/// What a reply is printed from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    dialect: Dialect,
    form: HintForm,
    gauges: Gauges,
    at: Instant,
    /// When the quota frees for this attempt, if it does not fit now and ever will.
    frees: Option<Instant>,
}

impl Scene {
    pub(crate) fn new(
        dialect: Dialect,
        at: Instant,
        quota: Option<&Quota>,
        call: &ProviderCall,
    ) -> Self {
        Self {
            dialect,
            form: quota.map(Quota::hint_form).unwrap_or_default(),
            gauges: quota.map(|quota| quota.gauges(at)).unwrap_or_default(),
            at,
            frees: quota.and_then(|quota| quota.frees(at, call)),
        }
    }

    /// The reply as it is printed.
    pub(crate) fn wire(&self, reply: &Reply) -> WireReply {
        let mut headers = header::limits(self);
        let failure = match reply.outcome {
            Outcome::Success { .. } => None,
            Outcome::Failure(failure) => Some(failure),
        };
        let hint = failure.and_then(|failure| failure.retry_after);
        headers.extend(hint.into_iter().flat_map(|hint| header::hint(self, hint)));
        let (status, body) = match (reply.manner, failure) {
            (Manner::Broken(how), failure) => self.broken(how, failure),
            (Manner::Answer, _) | (_, None) => (Some(200), None),
            (Manner::Error | Manner::Limited(_), Some(failure)) => {
                headers.extend(header::error(self.dialect, &failure));
                let body = body::error(self, reply.manner, &failure);
                (Some(status(&failure)), Some(body))
            }
        };
        if status.is_none() {
            headers.clear();
        }
        WireReply {
            status,
            headers,
            body,
        }
    }

    /// Status of a broken exchange, and what stands in the place of an answer or of a frame.
    fn broken(&self, how: Break, failure: Option<Failure>) -> (Option<u16>, Option<String>) {
        let begun = failure.is_some_and(|failure| failure.reached() != Reached::Nothing);
        match how {
            Break::Refused | Break::Reset | Break::Tls => (None, None),
            Break::Silence => (begun.then_some(200), None),
            Break::Cut | Break::NoDone | Break::NoEnd => (Some(200), None),
            Break::Empty => (Some(200), Some(String::new())),
            Break::NotJson => (Some(200), Some(PAGE.to_owned())),
            Break::Malformed => (Some(200), Some(HALF_JSON.to_owned())),
            Break::ErrorObject => {
                let failure = failure.unwrap_or(Failure::of(ErrorClass::Api));
                let body = if begun {
                    body::error(self, Manner::Error, &failure)
                } else {
                    body::error_in_200(self, &failure)
                };
                (Some(200), Some(body))
            }
        }
    }
}

const PAGE: &str = "<html><body>Service temporarily unavailable</body></html>";
const HALF_JSON: &str = r#"{"id": "c", "obj"#;

/// The status that a failure is sent with.
fn status(failure: &Failure) -> u16 {
    let class = || failure.class.status();
    failure.status.or_else(class).unwrap_or(500)
}

/// When the quota that a hint speaks of frees, seen from `at`.
fn waits_s(hint: RetryAfter, at: Instant) -> Option<i64> {
    match hint {
        RetryAfter::Millis(millis) => i64::try_from(millis.div_ceil(1_000)).ok(),
        RetryAfter::Date(_) | RetryAfter::Seconds(_) | RetryAfter::Unreadable => {
            hint.whole_seconds(at)
        }
    }
}
