//! Azure OpenAI, pay as you go and provisioned.

use super::{
    Preset, Setting, Shape, assumed,
    measured::{GPT_4O, TWENTY_MS_A_TOKEN, TWENTY_MS_GROUNDS},
    prompt_cache, sourced,
};
use crate::{
    quota::{HintForm, TokenCharge, WindowKind},
    wire::Dialect,
};

pub(super) const PAYG: Preset = Preset {
    name: "azure-payg",
    aliases: &[],
    about: "Azure OpenAI, pay as you go: estimates by max_tokens, minute counter, request slices",
    parameters: &[
        assumed(
            GPT_4O.setting(),
            "2026",
            "as GPT-4o on OpenAI's own API (modelstats.ai, field notes D3)",
        ),
        assumed(TWENTY_MS_A_TOKEN, "2026", TWENTY_MS_GROUNDS),
        sourced(
            Setting::Window(WindowKind::FixedMinute),
            "2026",
            "learn.microsoft.com, Azure OpenAI quota: the counter resets each minute (field notes D1)",
        ),
        assumed(
            Setting::RequestSliceS(10.0),
            "2026",
            "learn.microsoft.com, Azure OpenAI quota: requests are checked over 1 or 10 s (field \
             notes D1); that it is the longer is an assumption",
        ),
        sourced(
            Setting::TokenCharge(TokenCharge::PromptAndMaxTokens),
            "2026",
            "learn.microsoft.com, Azure OpenAI quota: prompt and max_tokens at arrival (field notes D1)",
        ),
        sourced(
            Setting::Settles(false),
            "2026",
            "learn.microsoft.com, Azure OpenAI quota: the estimate counts until the minute's end \
             (field notes D1)",
        ),
        sourced(
            Setting::RetryAfter(HintForm::Seconds),
            "2026",
            "learn.microsoft.com, Azure OpenAI quota: `retry-after` beside `retry-after-ms` (field \
             notes D1)",
        ),
        AZURE_PROMPT_CACHE,
        AZURE_DIALECT,
    ],
};

pub(super) const PTU: Preset = Preset {
    name: "azure-ptu",
    aliases: &[],
    about: "Azure OpenAI, provisioned: a leaking bucket of tokens that may overflow, short hints",
    parameters: &[
        assumed(
            Setting::FirstToken(Shape::LogNormal {
                median_ms: 639.0,
                sigma: 0.315,
            }),
            "2026",
            "GPT-4o's body (modelstats.ai, field notes D3) without its heavy tail, which is taken to \
             come from the shared pool: ln(1,144 ÷ 639) ÷ 1.846",
        ),
        assumed(TWENTY_MS_A_TOKEN, "2026", TWENTY_MS_GROUNDS),
        sourced(
            Setting::Window(WindowKind::TokenBucket),
            "2024-05",
            "Microsoft, articles/ai-services/openai/concepts/provisioned-throughput.md: utilisation \
             drains evenly, and 429 is answered until it is below 100 %",
        ),
        sourced(
            Setting::Overdraft(true),
            "2024-05",
            "the same article: a call is taken while utilisation is below 100 %, whatever its size",
        ),
        sourced(
            Setting::TokenCharge(TokenCharge::PromptAndMaxTokens),
            "2024-05",
            "the same article: each call is judged by its prompt and its expected generation",
        ),
        assumed(
            Setting::Settles(true),
            "2024-05",
            "the same article: the estimate is corrected by the true usage; that it is so at the \
             answer's end and at once is an assumption",
        ),
        sourced(
            Setting::RetryAfter(HintForm::Seconds),
            "2024-05",
            "the same article: `retry-after-ms` and `retry-after` tell when utilisation is below \
             100 % again (a median of 43 ms was seen: hyeonsangjeon.github.io, PTU recovery, 2026)",
        ),
        AZURE_PROMPT_CACHE,
        AZURE_DIALECT,
    ],
};

const AZURE_PROMPT_CACHE: super::Parameter = assumed(
    prompt_cache(1_024, 128, 300.0, false),
    "2026",
    "learn.microsoft.com, Azure OpenAI prompt caching: from 1,024 tokens on, in steps of 128, cleared after \
     5 to 10 minutes without use; that it is the shorter is an assumption",
);

const AZURE_DIALECT: super::Parameter = sourced(
    Setting::Dialect(Dialect::Azure),
    "2025-11-17",
    "github.com/openai/openai-dotnet/issues/838: x-ratelimit-* with resets in whole seconds, beside \
     `retry-after`; `retry-after-ms` by learn.microsoft.com (field notes D1)",
);
