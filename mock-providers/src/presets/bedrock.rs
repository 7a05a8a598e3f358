//! Amazon Bedrock.

use super::{Preset, Setting, Shape, assumed, prompt_cache, sourced};
use crate::{
    quota::{HintForm, TokenCharge, WindowKind},
    wire::Dialect,
};

pub(super) const BEDROCK: Preset = Preset {
    name: "bedrock",
    aliases: &[],
    about: "Amazon Bedrock: reserves max_tokens, settles at the end with output five-fold, no retry-after",
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
            "2023-12-27",
            "llmperf leaderboard, raw runs of Llama 2 70B on Bedrock, 101 answers; quantiles computed \
             from them",
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
            "2023-12-27",
            "the same runs: (end − first token) ÷ (tokens − 1)",
        ),
        assumed(
            Setting::Window(WindowKind::FixedMinute),
            "2026",
            "the kind of window is not documented",
        ),
        sourced(
            Setting::TokenCharge(TokenCharge::PromptAndMaxTokens),
            "2026",
            "AWS agent toolkit, quota health: reserves input and max_tokens at the start (field notes \
             D1)",
        ),
        sourced(
            Setting::UnsetMaxTokens(64_000),
            "2026",
            "AWS agent toolkit, quota health: an unset max_tokens reserves the model's maximum, 64 K \
             or more (field notes D1)",
        ),
        sourced(
            Setting::Settles(true),
            "2026",
            "AWS agent toolkit, quota health: settles at the end (field notes D1)",
        ),
        sourced(
            Setting::OutputWeight(5),
            "2025-05-27",
            "community.aws, Claude 4 burndown rates, and the Bedrock user guide, how tokens are \
             counted: a token of output costs five for Claude 4 (field notes D1); other models cost one",
        ),
        sourced(
            Setting::RetryAfter(HintForm::None),
            "2026",
            "AWS documents no retry-after (field notes D1)",
        ),
        sourced(
            prompt_cache(1_024, 1, 300.0, true),
            "2026",
            "docs.aws.amazon.com, Bedrock prompt caching: with cache checkpoints only, from 1,024 tokens on for most \
             Claude models, for 5 minutes that each use renews",
        ),
        sourced(
            Setting::Dialect(Dialect::Bedrock),
            "2026",
            "AWS: ThrottlingException with 429 (field notes D1)",
        ),
    ],
};
