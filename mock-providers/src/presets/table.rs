//! The presets: each number with its source. "Field notes" are this project's own collection of
//! public facts, with the section.

use super::{Parameter, Preset, Setting, Shape};
use crate::quota::{HintForm, TokenCharge, WindowKind};

const fn sourced(setting: Setting, source: &'static str) -> Parameter {
    Parameter { setting, source }
}

const TWENTY_MS_A_TOKEN: Setting = Setting::PerOutputToken(Shape::Constant { ms: 20.0 });
const TWENTY_MS_SOURCE: &str = "assumption: no public measurement at hand; 20 ms a token is what \
     field notes E1 calculate with";
const GPT_4O: Setting = Setting::FirstToken(Shape::ThreeQuantiles {
    p50_ms: 639.0,
    p95_ms: 1_144.0,
    p99_ms: 4_517.0,
});
const GEMINI_25_FLASH: Setting = Setting::FirstToken(Shape::ThreeQuantiles {
    p50_ms: 477.0,
    p95_ms: 776.0,
    p99_ms: 1_309.0,
});

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "anthropic",
        about: "Anthropic's API: a token bucket on input tokens, retry-after in seconds",
        parameters: &[
            sourced(
                Setting::FirstToken(Shape::LogNormal {
                    median_ms: 941.0,
                    sigma: 0.692,
                }),
                "Claude Sonnet 4.6 over 24 h, modelstats.ai, 2026: p50 941, p95 2,939, p99 4,787 ms \
                 (field notes D3); sigma is ln(p95 ÷ p50) ÷ 1.645, and gives a p99 of 4,707 ms",
            ),
            sourced(TWENTY_MS_A_TOKEN, TWENTY_MS_SOURCE),
            sourced(
                Setting::Window(WindowKind::TokenBucket),
                "docs.anthropic.com, rate limits, 2026: continuous refill (field notes D1)",
            ),
            sourced(
                Setting::TokenCharge(TokenCharge::Prompt),
                "docs.anthropic.com, rate limits, 2026: input tokens a minute (field notes D1); its \
                 separate limit on output tokens is left out",
            ),
            sourced(
                Setting::RetryAfter(HintForm::Seconds),
                "docs.anthropic.com, rate limits, 2026: `retry-after` (field notes D1)",
            ),
        ],
    },
    Preset {
        name: "azure-payg",
        about: "Azure OpenAI, pay as you go: estimates by max_tokens, minute counter, request slices",
        parameters: &[
            sourced(
                GPT_4O,
                "assumption: as GPT-4o on OpenAI's own API (modelstats.ai, 2026, field notes D3)",
            ),
            sourced(TWENTY_MS_A_TOKEN, TWENTY_MS_SOURCE),
            sourced(
                Setting::Window(WindowKind::FixedMinute),
                "learn.microsoft.com, Azure OpenAI quota, 2026: the counter resets each minute \
                 (field notes D1)",
            ),
            sourced(
                Setting::RequestSliceS(10.0),
                "learn.microsoft.com, Azure OpenAI quota, 2026: requests are checked over 1 or 10 s \
                 (field notes D1); that it is the longer is an assumption",
            ),
            sourced(
                Setting::TokenCharge(TokenCharge::PromptAndMaxTokens),
                "learn.microsoft.com, Azure OpenAI quota, 2026: prompt and max_tokens at arrival \
                 (field notes D1)",
            ),
            sourced(
                Setting::Settles(false),
                "learn.microsoft.com, Azure OpenAI quota, 2026: the estimate counts until the \
                 minute's end (field notes D1)",
            ),
            sourced(
                Setting::RetryAfter(HintForm::Seconds),
                "learn.microsoft.com, Azure OpenAI quota, 2026: `retry-after` beside \
                 `retry-after-ms` (field notes D1)",
            ),
        ],
    },
    Preset {
        name: "bedrock",
        about: "Amazon Bedrock: reserves max_tokens, settles at the end, no retry-after",
        parameters: &[
            sourced(
                Setting::FirstToken(Shape::Quantiles(&[
                    (0.0, 285.7),
                    (0.05, 311.7),
                    (0.25, 374.5),
                    (0.5, 387.7),
                    (0.75, 414.9),
                    (0.95, 542.1),
                    (0.99, 687.0),
                    (1.0, 717.3),
                ])),
                "llmperf leaderboard, raw runs of Llama 2 70B on Bedrock, 2023-12-27, 101 answers; \
                 quantiles computed from them",
            ),
            sourced(
                Setting::PerOutputToken(Shape::Quantiles(&[
                    (0.0, 42.88),
                    (0.05, 43.23),
                    (0.25, 43.6),
                    (0.5, 43.87),
                    (0.75, 44.55),
                    (0.95, 49.49),
                    (0.99, 51.33),
                    (1.0, 51.36),
                ])),
                "the same runs, 2023-12-27: (end − first token) ÷ (tokens − 1)",
            ),
            sourced(
                Setting::Window(WindowKind::FixedMinute),
                "assumption: the kind of window is not documented",
            ),
            sourced(
                Setting::TokenCharge(TokenCharge::PromptAndMaxTokens),
                "AWS agent toolkit, quota health, 2026: reserves input and max_tokens at the start \
                 (field notes D1)",
            ),
            sourced(
                Setting::UnsetMaxTokens(64_000),
                "AWS agent toolkit, quota health, 2026: an unset max_tokens reserves the model's \
                 maximum, 64 K or more (field notes D1)",
            ),
            sourced(
                Setting::Settles(true),
                "AWS agent toolkit, quota health, 2026: settles at the end (field notes D1)",
            ),
            sourced(
                Setting::RetryAfter(HintForm::None),
                "AWS documents no retry-after, 2026 (field notes D1)",
            ),
        ],
    },
    Preset {
        name: "gemini",
        about: "Google's Gemini API: limits by the minute, the hint only in the body",
        parameters: &[
            sourced(
                GEMINI_25_FLASH,
                "Gemini 2.5 Flash over 24 h, modelstats.ai, 2026 (field notes D3)",
            ),
            sourced(TWENTY_MS_A_TOKEN, TWENTY_MS_SOURCE),
            sourced(
                Setting::Window(WindowKind::FixedMinute),
                "assumption: limits a minute are documented, the kind of window is not",
            ),
            sourced(
                Setting::RetryAfter(HintForm::None),
                "developersdigest.tech, 2026: the wait stands in the body as RetryInfo (field notes \
                 D1), where LiteLLM's router does not look",
            ),
        ],
    },
    Preset {
        name: "generic",
        about: "No provider in particular: the toy of the cooldown cliff",
        parameters: &[
            sourced(
                Setting::FirstToken(Shape::LogNormal {
                    median_ms: 500.0,
                    sigma: 0.5,
                }),
                "assumption: what field notes E1 calculate with",
            ),
            sourced(TWENTY_MS_A_TOKEN, TWENTY_MS_SOURCE),
            sourced(
                Setting::Window(WindowKind::TokenBucket),
                "assumption: what field notes E1 calculate with",
            ),
        ],
    },
    Preset {
        name: "groq",
        about: "Groq: fast, a token bucket, retry-after in seconds",
        parameters: &[
            sourced(
                Setting::FirstToken(Shape::Quantiles(&[
                    (0.0, 172.0),
                    (0.05, 175.4),
                    (0.25, 186.0),
                    (0.5, 221.9),
                    (0.75, 240.7),
                    (0.95, 303.7),
                    (0.99, 350.0),
                    (1.0, 363.1),
                ])),
                "llmperf leaderboard, raw runs of Llama 2 70B on Groq, 2024-01-10, 150 answers; \
                 quantiles computed from them",
            ),
            sourced(
                Setting::PerOutputToken(Shape::Quantiles(&[
                    (0.0, 3.45),
                    (0.05, 3.64),
                    (0.25, 3.65),
                    (0.5, 3.74),
                    (0.75, 4.22),
                    (0.95, 4.54),
                    (0.99, 4.56),
                    (1.0, 4.59),
                ])),
                "the same runs, 2024-01-10: (end − first token) ÷ (tokens − 1)",
            ),
            sourced(
                Setting::Window(WindowKind::TokenBucket),
                "computed from two 429 messages in github.com/Aider-AI/aider/issues/3265 (2025): used \
                 + requested − limit, at limit ÷ 60 a second, is the wait that each tells (5.29 s, \
                 2.96 s)",
            ),
            sourced(
                Setting::RetryAfter(HintForm::Seconds),
                "console.groq.com, rate limits, 2026: `retry-after` in seconds, on 429 only",
            ),
        ],
    },
    Preset {
        name: "openai",
        about: "OpenAI's API: failed and rejected attempts count, retry-after in seconds",
        parameters: &[
            sourced(
                GPT_4O,
                "GPT-4o over 24 h, modelstats.ai, 2026 (field notes D3)",
            ),
            sourced(TWENTY_MS_A_TOKEN, TWENTY_MS_SOURCE),
            sourced(
                Setting::Window(WindowKind::TokenBucket),
                "assumption: messages such as \"try again in 41.724s\" (field notes D1, 2026) are no \
                 wall-clock minute's rest",
            ),
            sourced(
                Setting::CountRejected(true),
                "help.openai.com 5955604, 2026: unsuccessful requests count (field notes D1)",
            ),
            sourced(
                Setting::RetryAfter(HintForm::Seconds),
                "assumption: the 429 pages of 2026 tell clients to obey `retry-after` if it is there, \
                 and the client library reads it (field notes D2)",
            ),
        ],
    },
    Preset {
        name: "vertex",
        about: "Google Vertex AI: shared capacity, no hint; storms rather than quotas",
        parameters: &[
            sourced(
                GEMINI_25_FLASH,
                "assumption: as Gemini 2.5 Flash, measured without telling the platform \
                 (modelstats.ai, 2026, field notes D3)",
            ),
            sourced(TWENTY_MS_A_TOKEN, TWENTY_MS_SOURCE),
            sourced(
                Setting::RetryAfter(HintForm::None),
                "cloud.google.com, dynamic shared quota, 2026: 429 RESOURCE_EXHAUSTED with no header \
                 (field notes D1)",
            ),
        ],
    },
    Preset {
        name: "vllm",
        about: "One's own vLLM server with Llama 3.1 8B, without a queue",
        parameters: &[
            sourced(
                Setting::FirstToken(Shape::Quantiles(&[
                    (0.0, 35.7),
                    (0.05, 67.3),
                    (0.25, 86.8),
                    (0.5, 103.7),
                    (0.75, 136.9),
                    (0.95, 243.9),
                    (0.99, 319.9),
                    (1.0, 371.9),
                ])),
                "vLLM 0.19.0, Llama 3.1 8B on one RTX PRO 6000, 2026-04-25, 300 requests at 10 a \
                 second: first token − scheduled, so that waiting for a slot is left out; quantiles \
                 computed from them",
            ),
            sourced(
                Setting::PerOutputToken(Shape::Quantiles(&[
                    (0.0, 19.24),
                    (0.05, 22.36),
                    (0.25, 31.02),
                    (0.5, 33.42),
                    (0.75, 35.21),
                    (0.95, 36.86),
                    (0.99, 37.34),
                    (1.0, 37.49),
                ])),
                "the same run, 2026-04-25, at up to 128 sequences at once",
            ),
        ],
    },
];
