//! Times to the first token of ten models, as they were measured from outside.

use super::{Setting, Shape};
use crate::dist::{BodyAndTail, Distribution};

/// What was measured of one model over 24 hours: milliseconds to the first token.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// The model.
    pub model: &'static str,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}

/// Every model that was measured: modelstats.ai, 24 h, 2026 (field notes D3).
#[must_use]
pub const fn measured() -> &'static [Measured] {
    MEASURED
}

impl Measured {
    /// The time to the first token: a log-normal body with a heavy tail through the three quantiles.
    #[must_use]
    pub fn first_token(&self) -> Distribution {
        Distribution::BodyAndTail(BodyAndTail {
            p50_ms: self.p50_ms,
            p95_ms: self.p95_ms,
            p99_ms: self.p99_ms,
        })
    }

    pub(super) const fn setting(&self) -> Setting {
        Setting::FirstToken(Shape::ThreeQuantiles {
            p50_ms: self.p50_ms,
            p95_ms: self.p95_ms,
            p99_ms: self.p99_ms,
        })
    }
}

const fn row(model: &'static str, p50_ms: f64, p95_ms: f64, p99_ms: f64) -> Measured {
    Measured {
        model,
        p50_ms,
        p95_ms,
        p99_ms,
    }
}

pub(super) const GEMINI_25_FLASH: Measured = row("Gemini 2.5 Flash", 477.0, 776.0, 1_309.0);
pub(super) const GPT_4O: Measured = row("GPT-4o", 639.0, 1_144.0, 4_517.0);

const MEASURED: &[Measured] = &[
    row("Gemini 2.5 Flash-Lite", 311.0, 1_142.0, 3_080.0),
    GEMINI_25_FLASH,
    row("GPT-4o-mini", 536.0, 844.0, 4_461.0),
    row("Claude Haiku 4.5", 541.0, 1_591.0, 4_117.0),
    GPT_4O,
    row("GPT-4.1-mini", 661.0, 1_087.0, 2_169.0),
    row("GPT-4.1", 726.0, 1_220.0, 1_946.0),
    row("Claude Sonnet 4.6", 941.0, 2_939.0, 4_787.0),
    row("DeepSeek V3", 1_479.0, 1_926.0, 2_492.0),
    row("Claude Opus 4.6", 1_626.0, 2_420.0, 3_797.0),
];

pub(super) const TWENTY_MS_A_TOKEN: Setting = Setting::PerOutputToken(Shape::Constant { ms: 20.0 });
pub(super) const TWENTY_MS_GROUNDS: &str =
    "no public measurement at hand; 20 ms a token is what field notes E1 calculate with";
