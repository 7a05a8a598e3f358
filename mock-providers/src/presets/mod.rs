//! Named providers: the way each counts its quota, and how long its answers take.
//!
//! Every number stands beside its source and a date; where there is no public one it is marked as
//! assumed, with the grounds. No preset has a limit: limits belong to an account and not to a
//! provider, so a scenario gives `requests_per_minute` or `tokens_per_minute` itself. "Field notes"
//! are this project's own collection of public facts, with the section.

mod anthropic;
mod azure;
mod bedrock;
mod google;
mod groq;
mod measured;
mod openai;
mod own;

pub use self::measured::{Measured, measured};
use crate::{
    dist::{BodyAndTail, Constant, Distribution, Empirical, LogNormal, Quantile},
    error::SpecError,
    failure::FailureMode,
    latency::{LatencySpec, LoadCurve, LoadMeasure, LoadPoint, Slows},
    prompt_cache::PromptCacheSpec,
    quota::{HintForm, OutputCharge, QuotaSpec, TokenCharge, WindowKind},
    spec::ProviderSpec,
    wire::Dialect,
};

/// A named provider.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Preset {
    /// What it is called in a spec's `preset`.
    pub name: &'static str,
    /// Other names by which it is found.
    pub aliases: &'static [&'static str],
    /// What it stands for.
    pub about: &'static str,
    /// Its settings, each with its source.
    pub parameters: &'static [Parameter],
}

/// One setting of a preset.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// The setting and its value.
    pub setting: Setting,
    /// When the source was published or looked at: `2026`, `2026-01` or `2026-01-26`.
    pub dated: &'static str,
    /// Where the value is from; of an assumption, its grounds.
    pub source: &'static str,
    /// Whether no public source has the value.
    pub assumed: bool,
}

/// A setting with its value.
#[derive(Clone, PartialEq, Debug)]
pub enum Setting {
    /// `latency.first_token`.
    FirstToken(Shape),
    /// `latency.per_output_token`.
    PerOutputToken(Shape),
    /// A curve of `latency.load`, as (load, slow-down).
    Load(LoadMeasure, Slows, &'static [(f64, f64)]),
    /// `max_concurrent`.
    MaxConcurrent(u32),
    /// `quota.window`.
    Window(WindowKind),
    /// `quota.request_slice_s`.
    RequestSliceS(f64),
    /// `quota.token_charge`.
    TokenCharge(TokenCharge),
    /// `quota.unset_max_tokens`.
    UnsetMaxTokens(u32),
    /// `quota.settles`.
    Settles(bool),
    /// `quota.output_weight`.
    OutputWeight(u32),
    /// `quota.output_charge`.
    OutputCharge(OutputCharge),
    /// `quota.overdraft`.
    Overdraft(bool),
    /// `quota.day_starts_utc_h`.
    DayStartsUtcH(f64),
    /// `quota.count_rejected`.
    CountRejected(bool),
    /// `quota.retry_after`.
    RetryAfter(HintForm),
    /// `prompt_cache`.
    PromptCache(PromptCacheSpec),
    /// `dialect`.
    Dialect(Dialect),
    /// An entry of `faults`.
    Fault(FailureMode),
}

/// A distribution of milliseconds, as published.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// Always the same.
    Constant {
        /// Milliseconds.
        ms: f64,
    },
    /// Median and sigma of a log-normal one.
    LogNormal {
        /// Milliseconds.
        median_ms: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Measured quantiles: (share, milliseconds).
    Quantiles(&'static [(f64, f64)]),
    /// Three quantiles of a log-normal body with a heavy tail.
    ThreeQuantiles {
        /// Median in milliseconds.
        p50_ms: f64,
        /// 95th percentile in milliseconds.
        p95_ms: f64,
        /// 99th percentile in milliseconds.
        p99_ms: f64,
    },
}

/// Every preset, by name.
#[must_use]
pub const fn presets() -> &'static [Preset] {
    PRESETS
}

/// The names of all presets.
pub(crate) fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}

/// The preset of this name or alias.
pub(crate) fn find(name: &str) -> Option<&'static Preset> {
    let called = |preset: &&Preset| preset.name == name || preset.aliases.contains(&name);
    PRESETS.iter().find(called)
}

/// A parameter that a public source has.
const fn sourced(setting: Setting, dated: &'static str, source: &'static str) -> Parameter {
    Parameter {
        setting,
        dated,
        source,
        assumed: false,
    }
}

/// A parameter that no public source has.
const fn assumed(setting: Setting, dated: &'static str, source: &'static str) -> Parameter {
    Parameter {
        setting,
        dated,
        source,
        assumed: true,
    }
}

/// A prompt cache: at least so many tokens, in steps, kept so long after the last use.
const fn prompt_cache(at_least: u32, step: u32, ttl_s: f64, marked_only: bool) -> Setting {
    Setting::PromptCache(PromptCacheSpec {
        at_least_tokens: Some(at_least),
        step_tokens: Some(step),
        ttl_s: Some(ttl_s),
        marked_only: Some(marked_only),
    })
}

const PRESETS: &[Preset] = &[
    anthropic::ANTHROPIC,
    azure::PAYG,
    azure::PTU,
    bedrock::BEDROCK,
    own::FLAKY,
    google::GEMINI,
    own::GENERIC,
    groq::GROQ,
    openai::OPENAI,
    google::VERTEX_DSQ,
    own::VLLM,
];

/// The error that there is no preset of this name, with the nearest that there is.
pub(crate) fn unknown(name: &str) -> SpecError {
    let distance = |known: &str| strsim::damerau_levenshtein(&name.to_lowercase(), known);
    let each = || PRESETS.iter().map(|preset| preset.name);
    let begins = each().find(|known| name.len() > 2 && known.starts_with(name));
    let near = |known: &&str| distance(known) <= known.len() / 3;
    let nearest = each().min_by_key(|known| distance(known)).filter(near);
    SpecError::UnknownPreset {
        found: name.to_owned(),
        suggestion: begins.or(nearest),
        known: names(),
    }
}

impl Preset {
    /// The preset written out. Its quota is a way of counting, without a limit.
    #[must_use]
    pub fn spec(&self) -> ProviderSpec {
        let mut latency = LatencySpec::default();
        let mut quota = QuotaSpec::default();
        let (mut prompt_cache, mut dialect) = (None, None);
        let mut max_concurrent = None;
        let mut faults = Vec::new();
        for parameter in self.parameters {
            match parameter.setting.clone() {
                Setting::FirstToken(shape) => latency.first_token = Some(shape.distribution()),
                Setting::PerOutputToken(shape) => {
                    latency.per_output_token = Some(shape.distribution());
                }
                Setting::Load(by, slows, points) => latency
                    .load
                    .get_or_insert_default()
                    .push(curve(by, slows, points)),
                Setting::MaxConcurrent(count) => max_concurrent = Some(count),
                Setting::Window(window) => quota.window = Some(window),
                Setting::RequestSliceS(seconds) => quota.request_slice_s = Some(seconds),
                Setting::TokenCharge(charge) => quota.token_charge = Some(charge),
                Setting::UnsetMaxTokens(tokens) => quota.unset_max_tokens = Some(tokens),
                Setting::Settles(settles) => quota.settles = Some(settles),
                Setting::OutputWeight(weight) => quota.output_weight = Some(weight),
                Setting::OutputCharge(charge) => quota.output_charge = Some(charge),
                Setting::Overdraft(may_owe) => quota.overdraft = Some(may_owe),
                Setting::DayStartsUtcH(hour) => quota.day_starts_utc_h = Some(hour),
                Setting::CountRejected(counts) => quota.count_rejected = Some(counts),
                Setting::RetryAfter(form) => quota.retry_after = Some(form),
                Setting::PromptCache(cache) => prompt_cache = Some(cache),
                Setting::Dialect(whose) => dialect = Some(whose),
                Setting::Fault(mode) => faults.push(mode),
            }
        }
        ProviderSpec {
            fleet: Some(self.name.to_owned()),
            dialect,
            latency: Some(latency),
            quota: Some(quota),
            prompt_cache,
            max_concurrent,
            faults: Some(faults).filter(|faults| !faults.is_empty()),
            ..ProviderSpec::default()
        }
    }
}

impl Shape {
    fn distribution(self) -> Distribution {
        match self {
            Self::Constant { ms } => Distribution::Constant(Constant { ms }),
            Self::LogNormal { median_ms, sigma } => log_normal(median_ms, sigma),
            Self::Quantiles(points) => {
                let point = |&(share, ms): &(f64, f64)| Quantile { share, ms };
                Distribution::Empirical(Empirical {
                    quantiles: Some(points.iter().map(point).collect()),
                    ..Empirical::default()
                })
            }
            Self::ThreeQuantiles {
                p50_ms,
                p95_ms,
                p99_ms,
            } => Distribution::BodyAndTail(BodyAndTail {
                p50_ms,
                p95_ms,
                p99_ms,
            }),
        }
    }
}

fn curve(by: LoadMeasure, slows: Slows, points: &[(f64, f64)]) -> LoadCurve {
    let point = |&(at, slowdown): &(f64, f64)| LoadPoint { at, slowdown };
    LoadCurve {
        by,
        slows: Some(slows),
        points: points.iter().map(point).collect(),
    }
}

fn log_normal(median_ms: f64, sigma: f64) -> Distribution {
    let (median_ms, sigma) = (Some(median_ms), Some(sigma));
    Distribution::LogNormal(LogNormal {
        median_ms,
        sigma,
        ..LogNormal::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Provider;
    use router::{Epoch, Seed};

    /// `2026`, `2026-01` or `2026-01-26`.
    fn is_date(text: &str) -> bool {
        let parts: Vec<&str> = text.split('-').collect();
        let within = |part: usize, range: std::ops::RangeInclusive<u32>| {
            parts.get(part).is_none_or(|text| {
                text.len() == if part == 0 { 4 } else { 2 }
                    && text.parse().is_ok_and(|number| range.contains(&number))
            })
        };
        parts.len() <= 3 && within(0, 2_000..=2_099) && within(1, 1..=12) && within(2, 1..=31)
    }

    #[test]
    fn every_parameter_has_a_source_and_a_date() {
        for preset in presets() {
            assert!(!preset.parameters.is_empty(), "{}", preset.name);
            for parameter in preset.parameters {
                let (name, setting) = (preset.name, &parameter.setting);
                assert!(
                    is_date(parameter.dated),
                    "{name}: {setting:?}: {}",
                    parameter.dated
                );
                assert!(
                    parameter.source.len() > 15,
                    "{name}: {setting:?}: {}",
                    parameter.source
                );
            }
        }
        for wrong in ["", "26", "2026-13", "soon", "2026-1", "1926-01-01"] {
            assert!(!is_date(wrong), "{wrong}");
        }
    }

    #[test]
    fn there_are_the_providers_that_people_route_to() {
        for name in [
            "openai",
            "azure-payg",
            "azure-ptu",
            "anthropic",
            "bedrock",
            "vertex-dsq",
            "gemini",
            "vllm",
            "generic",
            "flaky",
        ] {
            assert_eq!(find(name).map(|preset| preset.name), Some(name));
        }
        assert_eq!(find("vertex").map(|preset| preset.name), Some("vertex-dsq"));
    }

    #[test]
    fn every_preset_is_a_provider_by_its_name_alone() {
        for preset in presets() {
            let spec = ProviderSpec::preset(preset.name).unwrap();

            Provider::new(&spec, Seed(1), 0, Epoch::default()).unwrap();
        }
    }

    #[test]
    fn no_setting_of_a_preset_is_without_effect() {
        for preset in presets() {
            let mut spec = ProviderSpec::preset(preset.name).unwrap();
            spec.quota = Some(QuotaSpec {
                requests_per_minute: Some(600),
                tokens_per_minute: Some(100_000),
                output_tokens_per_minute: Some(10_000),
                requests_per_day: Some(50_000),
                ..QuotaSpec::default()
            });

            Provider::new(&spec, Seed(1), 0, Epoch::default()).unwrap();

            let quota = spec.resolve().unwrap().quota.unwrap();
            let limits = QuotaSpec {
                requests_per_minute: None,
                tokens_per_minute: None,
                output_tokens_per_minute: None,
                requests_per_day: None,
                ..quota
            };
            assert_eq!(Some(limits), preset.spec().quota, "{}", preset.name);
        }
    }

    #[test]
    fn names_are_in_order_and_a_wrong_one_is_answered_with_the_nearest() {
        assert!(names().is_sorted());

        let error = unknown("opnai").to_string();
        assert!(error.contains("did you mean `openai`?"), "{error}");
        let error = unknown("azure").to_string();
        assert!(error.contains("did you mean `azure-payg`?"), "{error}");
        let error = unknown("zzz").to_string();
        assert!(!error.contains("did you mean"), "{error}");
        assert!(error.contains("bedrock"), "{error}");
    }
}
