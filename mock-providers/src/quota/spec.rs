//! A quota as it is written, and which keys of it go together.

use serde::{Deserialize, Serialize};

use super::{lowered::Lowered, slope::SlopeSpec};
use crate::{error::SpecError, place::Place};

/// A provider's own quota. It applies once a limit is given; a preset brings the rest.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuotaSpec {
    /// Requests a minute, from 1. Not given: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u64>,
    /// Tokens a minute, from 1. Not given: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
    /// Tokens of answers a minute, from 1, beside what `tokens_per_minute` counts. Not given: no such
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens_per_minute: Option<u64>,
    /// Requests a day, from 1, counted from one `day_starts_utc_h` of the wall clock to the next. Not
    /// given: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_day: Option<u64>,
    /// When the day of `requests_per_day` begins, in hours after midnight UTC, from 0 to below 24.
    /// Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day_starts_utc_h: Option<f64>,
    /// Deployments whose quotas have the same pool share one count. All of them must have the same
    /// quota. Default: each deployment has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// How a minute is counted. Default `fixed_minute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowKind>,
    /// Requests are counted over slices of this many seconds, each with its share of the minute's
    /// limit, as Azure does over 1 or 10 s. From 0.1 to 60, default 60; not with `token_bucket`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_slice_s: Option<f64>,
    /// Requests that a full bucket holds; only with `token_bucket`. Default: a minute's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_requests: Option<u64>,
    /// Tokens that a full bucket holds; only with `token_bucket`. Default: a minute's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_tokens: Option<u64>,
    /// What an attempt is charged in tokens. Default `prompt_and_answer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_charge: Option<TokenCharge>,
    /// What counts as `max_tokens` where the caller gave none; only with a charge by `max_tokens`.
    /// Default: the tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unset_max_tokens: Option<u32>,
    /// Whether a reservation is corrected to the true usage when the answer has ended; only with a
    /// charge by `max_tokens`. Default false: it stays charged for the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settles: Option<bool>,
    /// How many tokens of `tokens_per_minute` each token of an answer costs, from 1 to 100. A
    /// reservation by `max_tokens` is made without it, and what is missing is charged at the end.
    /// Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_weight: Option<u32>,
    /// What an attempt is charged of `output_tokens_per_minute`. Default `answer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_charge: Option<OutputCharge>,
    /// Whether an attempt is let in while any tokens are left, although it needs more: the next ones
    /// wait until the debt is paid. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overdraft: Option<bool>,
    /// A limit on how fast traffic may grow. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<SlopeSpec>,
    /// Times in which the provider lets less through than the limits say. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered: Option<Lowered>,
    /// Whether an attempt that is turned away counts as a request. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_rejected: Option<bool>,
    /// In which form a 429 tells when to come back. Default `seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<HintForm>,
    /// How long turning an attempt away takes, in milliseconds. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection_ms: Option<f64>,
}

/// How a minute is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WindowKind {
    /// From one full minute of the wall clock to the next.
    #[default]
    FixedMinute,
    /// The 60 s before now, in sixty parts: an attempt may count for up to a part too long.
    Sliding,
    /// A bucket that fills evenly.
    TokenBucket,
}

/// What an attempt is charged in tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TokenCharge {
    /// The prompt or the caller's `max_tokens`, whichever is more.
    LargerOfPromptAndMaxTokens,
    /// The prompt only: a limit on input tokens.
    Prompt,
    /// The prompt and the answer as it turns out.
    #[default]
    PromptAndAnswer,
    /// The prompt and the caller's `max_tokens`.
    PromptAndMaxTokens,
}

/// What an attempt is charged of the limit on tokens of answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OutputCharge {
    /// The answer as it turns out.
    #[default]
    Answer,
    /// The caller's `max_tokens` (else the answer's) at arrival; what was too much is given back at
    /// the end.
    MaxTokens,
}

/// In which form a 429 tells when to come back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HintForm {
    /// In the error's body only, as Google's `retryDelay`. LiteLLM's router does not look there.
    Body,
    /// `retry-after` as an HTTP date, rounded up to a full second of the wall clock.
    Date,
    /// `retry-after-ms` alone, rounded up to a full millisecond.
    Millis,
    /// Not at all.
    None,
    /// `retry-after` in whole seconds, rounded up; with `dialect: azure` in milliseconds beside it.
    #[default]
    Seconds,
}

impl TokenCharge {
    /// Whether it is by the caller's `max_tokens`.
    pub(super) const fn reserves(self) -> bool {
        match self {
            Self::LargerOfPromptAndMaxTokens | Self::PromptAndMaxTokens => true,
            Self::Prompt | Self::PromptAndAnswer => false,
        }
    }
}

impl QuotaSpec {
    /// These settings where they are given, `base` elsewhere. What belongs to a window kind, a token
    /// charge or a limit is taken over with it only.
    pub(crate) fn over(&self, base: &Self) -> Self {
        let window = self.window.or(base.window);
        let same_window = window == base.window;
        let requests_per_minute = self.requests_per_minute.or(base.requests_per_minute);
        let tokens_per_minute = self.tokens_per_minute.or(base.tokens_per_minute);
        let output_tokens_per_minute = self
            .output_tokens_per_minute
            .or(base.output_tokens_per_minute);
        let requests_per_day = self.requests_per_day.or(base.requests_per_day);
        let (requests, tokens) = (requests_per_minute.is_some(), tokens_per_minute.is_some());
        let (output, day) = (
            output_tokens_per_minute.is_some(),
            requests_per_day.is_some(),
        );
        let same_charge = tokens
            && self
                .token_charge
                .is_none_or(|own| Some(own) == base.token_charge);
        let base = Self {
            day_starts_utc_h: base.day_starts_utc_h.filter(|_| day),
            request_slice_s: base.request_slice_s.filter(|_| requests && same_window),
            burst_requests: base.burst_requests.filter(|_| requests && same_window),
            burst_tokens: base.burst_tokens.filter(|_| tokens && same_window),
            token_charge: base.token_charge.filter(|_| tokens),
            unset_max_tokens: base.unset_max_tokens.filter(|_| same_charge),
            settles: base.settles.filter(|_| same_charge),
            output_weight: base.output_weight.filter(|_| tokens),
            output_charge: base.output_charge.filter(|_| output),
            overdraft: base.overdraft.filter(|_| tokens),
            ..base.clone()
        };
        Self {
            requests_per_minute,
            tokens_per_minute,
            output_tokens_per_minute,
            requests_per_day,
            window,
            pool: self.pool.clone().or(base.pool),
            day_starts_utc_h: self.day_starts_utc_h.or(base.day_starts_utc_h),
            request_slice_s: self.request_slice_s.or(base.request_slice_s),
            burst_requests: self.burst_requests.or(base.burst_requests),
            burst_tokens: self.burst_tokens.or(base.burst_tokens),
            token_charge: self.token_charge.or(base.token_charge),
            unset_max_tokens: self.unset_max_tokens.or(base.unset_max_tokens),
            settles: self.settles.or(base.settles),
            output_weight: self.output_weight.or(base.output_weight),
            output_charge: self.output_charge.or(base.output_charge),
            overdraft: self.overdraft.or(base.overdraft),
            slope: self.slope.or(base.slope),
            lowered: self.lowered.or(base.lowered),
            count_rejected: self.count_rejected.or(base.count_rejected),
            retry_after: self.retry_after.or(base.retry_after),
            rejection_ms: self.rejection_ms.or(base.rejection_ms),
        }
    }

    /// Whether a limit is given.
    pub(crate) const fn limits_anything(&self) -> bool {
        self.requests_per_minute.is_some()
            || self.tokens_per_minute.is_some()
            || self.output_tokens_per_minute.is_some()
            || self.requests_per_day.is_some()
            || self.slope.is_some()
    }

    /// Refuses keys that would be without effect.
    pub(super) fn check_keys(&self, place: &Place) -> Result<(), SpecError> {
        let bucket = self.window == Some(WindowKind::TokenBucket);
        let reserves = self.token_charge.is_some_and(TokenCharge::reserves);
        let requests = self.requests_per_minute.is_some();
        let tokens = self.tokens_per_minute.is_some();
        let output = self.output_tokens_per_minute.is_some();
        let reservation = if tokens {
            NEEDS_RESERVATION
        } else {
            NEEDS_TOKENS
        };
        let rules = [
            (
                self.request_slice_s.is_some() && (bucket || !requests),
                "request_slice_s",
                NEEDS_SLICE,
            ),
            (
                self.burst_requests.is_some() && !(bucket && requests),
                "burst_requests",
                NEEDS_BURST,
            ),
            (
                self.burst_tokens.is_some() && !(bucket && tokens),
                "burst_tokens",
                NEEDS_BURST,
            ),
            (
                self.token_charge.is_some() && !tokens,
                "token_charge",
                NEEDS_TOKENS,
            ),
            (
                self.output_weight.is_some() && !tokens,
                "output_weight",
                NEEDS_TOKENS,
            ),
            (
                self.overdraft.is_some() && !tokens,
                "overdraft",
                NEEDS_TOKENS,
            ),
            (
                self.unset_max_tokens.is_some() && !reserves,
                "unset_max_tokens",
                reservation,
            ),
            (self.settles.is_some() && !reserves, "settles", reservation),
            (
                self.output_charge.is_some() && !output,
                "output_charge",
                NEEDS_OUTPUT,
            ),
            (
                self.day_starts_utc_h.is_some() && self.requests_per_day.is_none(),
                "day_starts_utc_h",
                NEEDS_DAY,
            ),
        ];
        match rules.iter().find(|rule| rule.0) {
            Some((_, key, accepted)) => Err(place.bad_keys(format_args!("`{key}`"), accepted)),
            None => Ok(()),
        }
    }
}

const NEEDS_SLICE: &str = "it beside requests_per_minute in a fixed_minute or sliding window";
const NEEDS_BURST: &str = "it beside `window: token_bucket` and its limit";
const NEEDS_TOKENS: &str = "it beside tokens_per_minute";
const NEEDS_OUTPUT: &str = "it beside output_tokens_per_minute";
const NEEDS_DAY: &str = "it beside requests_per_day";
const NEEDS_RESERVATION: &str = "it beside a `token_charge` by max_tokens";

#[cfg(test)]
mod tests;
