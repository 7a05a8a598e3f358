//! Anthropic's API.

use super::{
    Preset, Setting, Shape, assumed,
    measured::{TWENTY_MS_A_TOKEN, TWENTY_MS_GROUNDS},
    prompt_cache, sourced,
};
use crate::{
    quota::{HintForm, OutputCharge, TokenCharge, WindowKind},
    wire::Dialect,
};

pub(super) const ANTHROPIC: Preset = Preset {
    name: "anthropic",
    aliases: &[],
    about: "Anthropic's API: token buckets on input and on output, retry-after in seconds",
    parameters: &[
        sourced(
            Setting::FirstToken(Shape::LogNormal {
                median_ms: 941.0,
                sigma: 0.692,
            }),
            "2026",
            "Claude Sonnet 4.6 over 24 h, modelstats.ai: p50 941, p95 2,939, p99 4,787 ms (field \
             notes D3); sigma is ln(p95 ÷ p50) ÷ 1.645, and gives a p99 of 4,707 ms",
        ),
        assumed(TWENTY_MS_A_TOKEN, "2026", TWENTY_MS_GROUNDS),
        sourced(
            Setting::Window(WindowKind::TokenBucket),
            "2026",
            "docs.anthropic.com, rate limits: continuous refill (field notes D1)",
        ),
        sourced(
            Setting::TokenCharge(TokenCharge::Prompt),
            "2026",
            "docs.anthropic.com, rate limits: input tokens a minute (field notes D1)",
        ),
        assumed(
            Setting::OutputCharge(OutputCharge::Answer),
            "2026",
            "that output is charged by max_tokens at arrival stands in older text only (field notes \
             D1); docs.anthropic.com has output tokens a minute",
        ),
        sourced(
            Setting::RetryAfter(HintForm::Seconds),
            "2024-07-08",
            "github.com/anthropics/anthropic-sdk-typescript/pull/358: `retry-after` is always sent; \
             docs.anthropic.com, rate limits (field notes D1)",
        ),
        sourced(
            prompt_cache(1_024, 1, 300.0, true),
            "2026",
            "platform.claude.com, prompt caching: with `cache_control` only, from 1,024 tokens on for most models, for \
             5 minutes that each use renews",
        ),
        sourced(
            Setting::Dialect(Dialect::Anthropic),
            "2026",
            "docs.anthropic.com, rate limits and errors: anthropic-ratelimit-* with RFC 3339 resets \
             (field notes D1); seen in anthropic-sdk-typescript/issues/357",
        ),
    ],
};
