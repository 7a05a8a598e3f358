//! Google's Gemini API and Vertex AI.

use super::{
    Preset, Setting, assumed,
    measured::{GEMINI_25_FLASH, TWENTY_MS_A_TOKEN, TWENTY_MS_GROUNDS},
    prompt_cache, sourced,
};
use crate::{
    failure::{FailureMode, Hint, SharedCapacity},
    quota::{HintForm, WindowKind},
    wire::Dialect,
};

pub(super) const GEMINI: Preset = Preset {
    name: "gemini",
    aliases: &[],
    about: "Google's Gemini API: limits by the minute and the day, the hint only in the body",
    parameters: &[
        sourced(
            GEMINI_25_FLASH.setting(),
            "2026",
            "Gemini 2.5 Flash over 24 h, modelstats.ai (field notes D3)",
        ),
        assumed(TWENTY_MS_A_TOKEN, "2026", TWENTY_MS_GROUNDS),
        assumed(
            Setting::Window(WindowKind::FixedMinute),
            "2026",
            "limits a minute are documented, the kind of window is not",
        ),
        sourced(
            Setting::DayStartsUtcH(8.0),
            "2026",
            "ai.google.dev, rate limits: requests a day reset at midnight Pacific time, which is 8:00 \
             UTC in winter",
        ),
        sourced(
            Setting::RetryAfter(HintForm::Body),
            "2026-09-03",
            "github.com/dcdpr/jp/pull/1061: no Retry-After header, the wait stands in the body as \
             RetryInfo.retryDelay (field notes D1), where LiteLLM's router does not look",
        ),
        assumed(
            prompt_cache(1_024, 1, 300.0, false),
            "2025-05",
            "developers.googleblog.com, implicit caching: by itself from 1,024 tokens on for Gemini 2.5 Flash; no \
             lifetime is documented but a few minutes are told",
        ),
        sourced(
            Setting::Dialect(Dialect::Google),
            "2026-08-01",
            "github.com/diegosouzapw/OmniRoute/issues/9504: a whole 429 with RESOURCE_EXHAUSTED and \
             RetryInfo",
        ),
    ],
};

pub(super) const VERTEX_DSQ: Preset = Preset {
    name: "vertex-dsq",
    aliases: &["vertex"],
    about: "Google Vertex AI, dynamic shared quota: 429 by the demand of all, and no hint",
    parameters: &[
        assumed(
            GEMINI_25_FLASH.setting(),
            "2026",
            "as Gemini 2.5 Flash, measured without telling the platform (modelstats.ai, field notes \
             D3)",
        ),
        assumed(TWENTY_MS_A_TOKEN, "2026", TWENTY_MS_GROUNDS),
        sourced(
            Setting::RetryAfter(HintForm::None),
            "2025-08-18",
            "cloud.google.com, error code 429: RESOURCE_EXHAUSTED where shared resources are not \
             available, with no header (field notes D1)",
        ),
        assumed(
            Setting::Fault(FailureMode::SharedCapacity(SharedCapacity {
                demand_median: 0.6,
                demand_sigma: 0.3,
                varies_over_s: 300.0,
                hint: Hint::None,
                from_s: None,
                to_s: None,
                status: None,
                class: None,
                cause: None,
                after_ms: None,
            })),
            "2025",
            "no public number of how often; with these 0.2 % of attempts are turned away in a few \
             spells a day, as in discuss.ai.google.dev/t/115831: a few times per hour under steady load",
        ),
        assumed(
            prompt_cache(1_024, 1, 300.0, false),
            "2025-05",
            "developers.googleblog.com, implicit caching: by itself from 1,024 tokens on for Gemini 2.5 Flash; no \
             lifetime is documented but a few minutes are told",
        ),
        sourced(
            Setting::Dialect(Dialect::Google),
            "2025-12-09",
            "github.com/google-gemini/gemini-cli/issues/14831: a whole 429 of Vertex AI, without \
             RetryInfo",
        ),
    ],
};
