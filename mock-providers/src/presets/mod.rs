//! Named providers: the way each counts its quota, and how long its answers take.
//!
//! Every number stands beside its source with a year, or beside the word "assumption" where there
//! is no public one. No preset has a limit: limits belong to an account and not to a provider, so a
//! scenario gives `requests_per_minute` or `tokens_per_minute` itself. "Field notes" are this
//! project's own collection of public facts, with the section.

mod table;

use self::table::PRESETS;
use crate::{
    dist::{Component, Constant, Distribution, Empirical, LogNormal, Quantile},
    error::SpecError,
    latency::LatencySpec,
    quota::{HintForm, QuotaSpec, TokenCharge, WindowKind},
    spec::ProviderSpec,
};

/// A named provider.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Preset {
    /// What it is called in a spec's `preset`.
    pub name: &'static str,
    /// What it stands for.
    pub about: &'static str,
    /// Its settings, each with its source.
    pub parameters: &'static [Parameter],
}

/// One setting of a preset.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameter {
    /// The setting and its value.
    pub setting: Setting,
    /// Where the value is from, with a year; or that it is an assumption, and on what grounds.
    pub source: &'static str,
}

/// A setting with its value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Setting {
    /// `latency.first_token`.
    FirstToken(Shape),
    /// `latency.per_output_token`.
    PerOutputToken(Shape),
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
    /// `quota.count_rejected`.
    CountRejected(bool),
    /// `quota.retry_after`.
    RetryAfter(HintForm),
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

/// The preset of this name.
pub(crate) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The error that there is no preset of this name, with the nearest that there is.
pub(crate) fn unknown(name: &str) -> SpecError {
    let distance = |known: &str| strsim::damerau_levenshtein(&name.to_lowercase(), known);
    let nearest = PRESETS
        .iter()
        .map(|preset| preset.name)
        .min_by_key(|known| distance(known));
    let near = |known: &&str| {
        distance(known) <= known.len() / 3 || (name.len() > 2 && known.starts_with(name))
    };
    SpecError::UnknownPreset {
        found: name.to_owned(),
        suggestion: nearest.filter(near),
        known: names(),
    }
}

impl Preset {
    /// The preset written out. Its quota is a way of counting, without a limit.
    #[must_use]
    pub fn spec(&self) -> ProviderSpec {
        let mut latency = LatencySpec::default();
        let mut quota = QuotaSpec::default();
        for parameter in self.parameters {
            match parameter.setting {
                Setting::FirstToken(shape) => latency.first_token = Some(shape.distribution()),
                Setting::PerOutputToken(shape) => {
                    latency.per_output_token = Some(shape.distribution());
                }
                Setting::Window(window) => quota.window = Some(window),
                Setting::RequestSliceS(seconds) => quota.request_slice_s = Some(seconds),
                Setting::TokenCharge(charge) => quota.token_charge = Some(charge),
                Setting::UnsetMaxTokens(tokens) => quota.unset_max_tokens = Some(tokens),
                Setting::Settles(settles) => quota.settles = Some(settles),
                Setting::CountRejected(counts) => quota.count_rejected = Some(counts),
                Setting::RetryAfter(form) => quota.retry_after = Some(form),
            }
        }
        ProviderSpec {
            latency: Some(latency),
            quota: Some(quota),
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
            } => body_and_tail(p50_ms, p95_ms, p99_ms),
        }
    }
}

/// A log-normal body with 2 % from a heavy part, so placed that 1 % of all lies above the 99th
/// percentile. That the tail has this form, and its sigma of 0.3, is an assumption: three quantiles
/// say no more than that one log-normal does not fit (field notes D3).
fn body_and_tail(p50_ms: f64, p95_ms: f64, p99_ms: f64) -> Distribution {
    const TAIL: f64 = 0.02;
    const TAIL_SIGMA: f64 = 0.3;
    // 0.98 · Φ(z) is 0.50 at the median, and 1 − 0.98 · (1 − Φ(z)) − 0.02 is 0.95 at the p95.
    const Z_P50: f64 = 0.025_58;
    const Z_P95: f64 = 1.871_9;
    let sigma = (libm::log(p95_ms) - libm::log(p50_ms)) / (Z_P95 - Z_P50);
    let body_median_ms = p50_ms * libm::exp(-Z_P50 * sigma);
    let body_above = share_above((libm::log(p99_ms) - libm::log(body_median_ms)) / sigma);
    let tail_above = (0.01 - (1.0 - TAIL) * body_above) / TAIL;
    let tail_median_ms = p99_ms * libm::exp(-TAIL_SIGMA * z_with_share_above(tail_above));
    Distribution::Mixture(vec![
        Component {
            weight: 1.0 - TAIL,
            of: log_normal(body_median_ms, sigma),
        },
        Component {
            weight: TAIL,
            of: log_normal(tail_median_ms, TAIL_SIGMA),
        },
    ])
}

/// The share of a standard normal distribution above `z`.
fn share_above(z: f64) -> f64 {
    libm::erfc(z / std::f64::consts::SQRT_2) / 2.0
}

/// Where `share` of a standard normal distribution lies above, found by halving.
fn z_with_share_above(share: f64) -> f64 {
    let (mut low, mut high) = (-4.0, 4.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if share_above(middle) > share {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
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

    #[test]
    fn every_parameter_has_a_source_with_a_year_or_is_called_an_assumption() {
        for preset in presets() {
            assert!(!preset.parameters.is_empty(), "{}", preset.name);
            for parameter in preset.parameters {
                let source = parameter.source;
                let dated = source
                    .split(|c: char| !c.is_ascii_digit())
                    .any(|word| word.len() == 4 && word.starts_with("20"));
                assert!(
                    dated || source.contains("assumption"),
                    "{}: {:?} has the source {source:?}",
                    preset.name,
                    parameter.setting,
                );
            }
        }
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
                ..QuotaSpec::default()
            });

            Provider::new(&spec, Seed(1), 0, Epoch::default()).unwrap();

            let quota = spec.resolve().unwrap().quota.unwrap();
            let limits = QuotaSpec {
                requests_per_minute: None,
                tokens_per_minute: None,
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
