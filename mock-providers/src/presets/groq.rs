//! Groq.

use super::{Preset, Setting, Shape, assumed, prompt_cache, sourced};
use crate::{
    quota::{HintForm, WindowKind},
    wire::Dialect,
};

pub(super) const GROQ: Preset = Preset {
    name: "groq",
    aliases: &[],
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
            "2024-01-10",
            "llmperf leaderboard, raw runs of Llama 2 70B on Groq, 150 answers; quantiles computed from \
             them",
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
            "2024-01-10",
            "the same runs: (end − first token) ÷ (tokens − 1)",
        ),
        sourced(
            Setting::Window(WindowKind::TokenBucket),
            "2025",
            "computed from two 429 messages in github.com/Aider-AI/aider/issues/3265: used + requested \
             − limit, at limit ÷ 60 a second, is the wait that each tells (5.29 s, 2.96 s)",
        ),
        sourced(
            Setting::RetryAfter(HintForm::Seconds),
            "2026",
            "console.groq.com, rate limits: `retry-after` in seconds, on 429 only",
        ),
        assumed(
            prompt_cache(1_024, 1, 7_200.0, false),
            "2026",
            "console.groq.com, prompt caching: by itself, kept for 2 hours without use; the least differs by model",
        ),
        sourced(
            Setting::Dialect(Dialect::Groq),
            "2026",
            "console.groq.com, rate limits: x-ratelimit-*-requests are those of a day",
        ),
    ],
};
