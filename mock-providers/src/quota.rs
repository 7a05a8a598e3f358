//! The provider's own quota: which attempts it turns away with 429, and what it tells them.
//!
//! An attempt is let in when its request and its tokens both fit, and is charged at arrival. What
//! the tokens of an answer will be is known to the model from the start, so a charge by true usage
//! is booked at arrival too; only a reservation by `max_tokens` can be wrong, and `settles` says
//! whether what was too much is given back at the end of the answer (Bedrock) or stays charged for
//! the window (Azure). An attempt that fails is charged its prompt and what it delivered.
//!
//! A hint says when the quota really frees: a lone caller who obeys it is let in.

use std::time::Duration;

use router::{Epoch, Failure, Instant, RetryAfter, nanos};
use serde::{Deserialize, Serialize};

use crate::{
    error::SpecError,
    latency::span,
    meter::Meter,
    place::Place,
    provider::ProviderCall,
    window::{Bucket, Fixed, Sliding, Window},
};

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
    /// What counts as `max_tokens` where the caller gave none; only with `prompt_and_max_tokens`.
    /// Default: the tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unset_max_tokens: Option<u32>,
    /// Whether a reservation is corrected to the true usage when the answer has ended; only with
    /// `prompt_and_max_tokens`. Default false: it stays charged for the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settles: Option<bool>,
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
    /// The prompt only: a limit on input tokens.
    Prompt,
    /// The prompt and the answer as it turns out.
    #[default]
    PromptAndAnswer,
    /// The prompt and the caller's `max_tokens`.
    PromptAndMaxTokens,
}

/// In which form a 429 tells when to come back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HintForm {
    /// `retry-after` as an HTTP date, rounded up to a full second of the wall clock.
    Date,
    /// `retry-after-ms` alone, rounded up to a full millisecond.
    Millis,
    /// Not at all.
    None,
    /// `retry-after` in whole seconds, rounded up.
    #[default]
    Seconds,
}

impl QuotaSpec {
    /// These settings where they are given, `base` elsewhere. What belongs to a window kind, a token
    /// charge or a limit is taken over with it only.
    pub(crate) fn over(&self, base: &Self) -> Self {
        let window = self.window.or(base.window);
        let same_window = window == base.window;
        let requests_per_minute = self.requests_per_minute.or(base.requests_per_minute);
        let tokens_per_minute = self.tokens_per_minute.or(base.tokens_per_minute);
        let (requests, tokens) = (requests_per_minute.is_some(), tokens_per_minute.is_some());
        let same_charge = tokens
            && self
                .token_charge
                .is_none_or(|own| Some(own) == base.token_charge);
        let base = Self {
            request_slice_s: base.request_slice_s.filter(|_| requests && same_window),
            burst_requests: base.burst_requests.filter(|_| requests && same_window),
            burst_tokens: base.burst_tokens.filter(|_| tokens && same_window),
            token_charge: base.token_charge.filter(|_| tokens),
            unset_max_tokens: base.unset_max_tokens.filter(|_| same_charge),
            settles: base.settles.filter(|_| same_charge),
            ..base.clone()
        };
        Self {
            requests_per_minute,
            tokens_per_minute,
            window,
            request_slice_s: self.request_slice_s.or(base.request_slice_s),
            burst_requests: self.burst_requests.or(base.burst_requests),
            burst_tokens: self.burst_tokens.or(base.burst_tokens),
            token_charge: self.token_charge.or(base.token_charge),
            unset_max_tokens: self.unset_max_tokens.or(base.unset_max_tokens),
            settles: self.settles.or(base.settles),
            count_rejected: self.count_rejected.or(base.count_rejected),
            retry_after: self.retry_after.or(base.retry_after),
            rejection_ms: self.rejection_ms.or(base.rejection_ms),
        }
    }

    /// Whether a limit is given.
    pub(crate) fn limits_anything(&self) -> bool {
        self.requests_per_minute.is_some() || self.tokens_per_minute.is_some()
    }

    /// Refuses keys that would be without effect.
    fn check_keys(&self, place: &Place) -> Result<(), SpecError> {
        let bucket = self.window == Some(WindowKind::TokenBucket);
        let reserves = self.token_charge == Some(TokenCharge::PromptAndMaxTokens);
        let requests = self.requests_per_minute.is_some();
        let tokens = self.tokens_per_minute.is_some();
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
                self.unset_max_tokens.is_some() && !reserves,
                "unset_max_tokens",
                NEEDS_RESERVATION,
            ),
            (
                self.settles.is_some() && !reserves,
                "settles",
                NEEDS_RESERVATION,
            ),
        ];
        match rules.iter().find(|rule| rule.0) {
            Some((_, key, accepted)) => Err(place.bad_keys(format_args!("`{key}`"), accepted)),
            None => Ok(()),
        }
    }
}

/// A running quota.
#[derive(Clone, Debug)]
pub(crate) struct Quota {
    requests: Option<Meter>,
    tokens: Option<Meter>,
    charge: TokenCharge,
    unset_max_tokens: Option<u32>,
    settles: bool,
    count_rejected: bool,
    retry_after: HintForm,
    rejection: Duration,
}

impl Quota {
    pub(crate) fn new(spec: &QuotaSpec, epoch: Epoch, place: &Place) -> Result<Self, SpecError> {
        if !spec.limits_anything() {
            return Err(place.bad_keys("no limit", NEEDS_LIMIT));
        }
        spec.check_keys(place)?;
        let settles = spec.settles.unwrap_or_default();
        Ok(Self {
            requests: requests_meter(spec, epoch, place)?,
            tokens: tokens_meter(spec, epoch, place)?
                .map(|meter| if settles { meter.holding() } else { meter }),
            charge: spec.token_charge.unwrap_or_default(),
            unset_max_tokens: spec.unset_max_tokens,
            settles,
            count_rejected: spec.count_rejected.unwrap_or_default(),
            retry_after: spec.retry_after.unwrap_or_default(),
            rejection: span(
                place.not_negative("rejection_ms", spec.rejection_ms.unwrap_or_default())?,
            ),
        })
    }

    /// Whether the attempt is turned away; if not, it must be [charged](Self::charge).
    pub(crate) fn refusal(&mut self, at: Instant, call: &ProviderCall) -> Option<Failure> {
        let tokens = self.reservation(call);
        if let Some(meter) = &mut self.requests {
            meter.advance(at);
        }
        if let Some(meter) = &mut self.tokens {
            meter.advance(at);
        }
        let fits =
            |meter: &Option<Meter>, amount| meter.as_ref().is_none_or(|meter| meter.fits(amount));
        if fits(&self.requests, 1) && fits(&self.tokens, tokens) {
            return None;
        }
        if self.count_rejected
            && let Some(meter) = &mut self.requests
        {
            meter.take(1);
        }
        let frees = |meter: &Option<Meter>, amount| {
            meter
                .as_ref()
                .map_or(Some(at), |meter| meter.frees(at, amount))
        };
        let free = frees(&self.requests, 1)
            .zip(frees(&self.tokens, tokens))
            .map(|(requests, tokens)| requests.max(tokens));
        let hint = free.and_then(|free| hint(self.retry_after, at, free));
        Some(Failure {
            retry_after: hint,
            ..Failure::with_status(429)
        })
    }

    /// How long turning an attempt away takes.
    pub(crate) const fn rejection(&self) -> Duration {
        self.rejection
    }

    /// Charges an attempt that was let in, delivers `delivered` tokens and ends at `end`.
    pub(crate) fn charge(&mut self, call: &ProviderCall, delivered: u32, end: Instant) {
        if let Some(meter) = &mut self.requests {
            meter.take(1);
        }
        let reserved = self.reservation(call);
        if let Some(meter) = &mut self.tokens {
            let used = u64::from(call.prompt_tokens) + u64::from(delivered);
            match self.charge {
                TokenCharge::Prompt => meter.take(u64::from(call.prompt_tokens)),
                TokenCharge::PromptAndAnswer => meter.take(used),
                TokenCharge::PromptAndMaxTokens if self.settles => {
                    meter.take(used);
                    meter.hold(reserved.saturating_sub(used), end);
                }
                TokenCharge::PromptAndMaxTokens => meter.take(reserved),
            }
        }
    }

    /// Tokens that must fit for the attempt to be let in.
    fn reservation(&self, call: &ProviderCall) -> u64 {
        let answer = match self.charge {
            TokenCharge::Prompt => 0,
            TokenCharge::PromptAndAnswer => call.answer_tokens(),
            TokenCharge::PromptAndMaxTokens => call
                .max_tokens
                .or(self.unset_max_tokens)
                .unwrap_or(call.output_tokens),
        };
        u64::from(call.prompt_tokens) + u64::from(answer)
    }
}

fn requests_meter(
    spec: &QuotaSpec,
    epoch: Epoch,
    place: &Place,
) -> Result<Option<Meter>, SpecError> {
    let Some(per_minute) = spec.requests_per_minute else {
        return Ok(None);
    };
    place.count("requests_per_minute", per_minute)?;
    let burst = place.count("burst_requests", spec.burst_requests.unwrap_or(per_minute))?;
    let slice_s = spec.request_slice_s.unwrap_or(60.0);
    let fits = (0.1..=60.0).contains(&slice_s);
    place.number("request_slice_s", slice_s, fits, "a number from 0.1 to 60")?;
    let slice_ns = nanos(span(slice_s * 1_000.0));
    let in_slice = u64::try_from(u128::from(per_minute) * u128::from(slice_ns) / MINUTE_NS)
        .expect("a slice is a minute at most");
    let whole = "long enough for one request at requests_per_minute";
    place.number("request_slice_s", slice_s, in_slice > 0, whole)?;
    let length_ns = slice_ns;
    Ok(Some(meter(
        spec,
        Limit {
            in_window: in_slice,
            length_ns,
            per_minute,
            burst,
        },
        epoch,
    )))
}

fn tokens_meter(spec: &QuotaSpec, epoch: Epoch, place: &Place) -> Result<Option<Meter>, SpecError> {
    let Some(per_minute) = spec.tokens_per_minute else {
        return Ok(None);
    };
    place.count("tokens_per_minute", per_minute)?;
    let burst = place.count("burst_tokens", spec.burst_tokens.unwrap_or(per_minute))?;
    let length_ns = nanos(Duration::from_secs(60));
    Ok(Some(meter(
        spec,
        Limit {
            in_window: per_minute,
            length_ns,
            per_minute,
            burst,
        },
        epoch,
    )))
}

/// One limit in the terms of every kind of window.
struct Limit {
    in_window: u64,
    length_ns: u64,
    per_minute: u64,
    burst: u64,
}

fn meter(spec: &QuotaSpec, limit: Limit, epoch: Epoch) -> Meter {
    let Limit {
        in_window,
        length_ns,
        per_minute,
        burst,
    } = limit;
    Meter::new(match spec.window.unwrap_or_default() {
        WindowKind::FixedMinute => Window::Fixed(Fixed::new(in_window, length_ns, epoch)),
        WindowKind::Sliding => Window::Sliding(Sliding::new(in_window, length_ns)),
        WindowKind::TokenBucket => Window::Bucket(Bucket::new(per_minute, burst)),
    })
}

/// What the 429 says, seen from `at`, if the quota frees at `free`.
fn hint(form: HintForm, at: Instant, free: Instant) -> Option<RetryAfter> {
    let wait_ns = free.as_nanos() - at.as_nanos();
    match form {
        HintForm::Date => {
            // The run began at a full second of the wall clock, so their seconds are the same.
            let second = free.as_nanos().div_ceil(1_000_000_000);
            Some(RetryAfter::Date(Instant::from_nanos(
                second.saturating_mul(1_000_000_000),
            )))
        }
        HintForm::Millis => Some(RetryAfter::Millis(wait_ns.div_ceil(1_000_000))),
        HintForm::None => None,
        HintForm::Seconds => {
            let seconds = i64::try_from(wait_ns.div_ceil(1_000_000_000));
            Some(RetryAfter::Seconds(
                seconds.expect("2^64 ns are fewer than 2^63 s"),
            ))
        }
    }
}

const MINUTE_NS: u128 = 60_000_000_000;
const NEEDS_LIMIT: &str = "requests_per_minute, tokens_per_minute or both";
const NEEDS_SLICE: &str = "it beside requests_per_minute in a fixed_minute or sliding window";
const NEEDS_BURST: &str = "it beside `window: token_bucket` and its limit";
const NEEDS_TOKENS: &str = "it beside tokens_per_minute";
const NEEDS_RESERVATION: &str = "it beside `token_charge: prompt_and_max_tokens`";
