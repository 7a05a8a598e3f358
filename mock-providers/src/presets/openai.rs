//! OpenAI's API.

use super::{
    Preset, Setting, assumed,
    measured::{GPT_4O, TWENTY_MS_A_TOKEN, TWENTY_MS_GROUNDS},
    prompt_cache, sourced,
};
use crate::{
    quota::{HintForm, TokenCharge, WindowKind},
    wire::Dialect,
};

pub(super) const OPENAI: Preset = Preset {
    name: "openai",
    aliases: &[],
    about: "OpenAI's API: failed and rejected attempts count, retry-after in seconds",
    parameters: &[
        sourced(
            GPT_4O.setting(),
            "2026",
            "GPT-4o over 24 h, modelstats.ai (field notes D3)",
        ),
        assumed(TWENTY_MS_A_TOKEN, "2026", TWENTY_MS_GROUNDS),
        sourced(
            Setting::Window(WindowKind::TokenBucket),
            "2023-12-03",
            "community.openai.com/t/541210: after one request at 500 a minute the limit is whole again \
             in 120 ms, which is 60 s ÷ 500: it refills evenly",
        ),
        sourced(
            Setting::TokenCharge(TokenCharge::LargerOfPromptAndMaxTokens),
            "2026-02",
            "developers.openai.com, rate limits: the larger of max_tokens and the estimated tokens of \
             the request counts",
        ),
        sourced(
            Setting::CountRejected(true),
            "2026",
            "help.openai.com 5955604: unsuccessful requests count (field notes D1)",
        ),
        assumed(
            Setting::RetryAfter(HintForm::Seconds),
            "2026",
            "the 429 pages tell clients to obey `retry-after` if it is there, and the client library \
             reads it (field notes D2)",
        ),
        assumed(
            prompt_cache(1_024, 128, 300.0, false),
            "2026",
            "developers.openai.com, prompt caching: by itself from 1,024 tokens on; steps of 128 and a lifetime of 5 \
             to 10 minutes without use as Azure documents for the same models, of which the shorter is taken",
        ),
        sourced(
            Setting::Dialect(Dialect::OpenAi),
            "2026-06-26",
            "developers.openai.com, rate limits: x-ratelimit-* with resets such as 6m0s (field notes D1)",
        ),
    ],
};
