//! How many tokens a prompt has and how many the model would answer with.
//!
//! The router sees the first and never the second. Each is a function of one uniform number of the
//! arrival's own, so a change of one distribution does not move the other, and larger luck is a
//! longer text in every arm.

use std::sync::Arc;

use router::{KeyedRng, Purpose, Seed};

use super::log_normal::LogNormal;

/// Lengths of prompt and answer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Lengths {
    /// Always the same tokens of prompt and answer.
    Constant(u32, u32),
    /// Drawn apart from each other.
    Apart {
        /// Tokens of the prompt.
        prompt: Length,
        /// Tokens of the answer.
        output: Length,
    },
    /// Drawn together from rows of a file, which keeps their correlation.
    Pairs(Arc<[(u32, u32)]>),
}

/// One length.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Length {
    /// Its distribution.
    pub shape: LengthShape,
    /// Draws below are raised to this.
    pub at_least: u32,
    /// Draws above are cut to this.
    pub at_most: u32,
}

/// A distribution of token counts.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum LengthShape {
    /// Always the same.
    Constant(f64),
    /// Its logarithm is normal.
    LogNormal(LogNormal),
    /// Points of a distribution function, straight lines between them.
    Cdf(Arc<[(f64, f64)]>),
    /// Values with their cumulative probability, which ends at 1.
    Weighted(Arc<[(u32, f64)]>),
    /// Any of the list, all equally likely.
    List(Arc<[u32]>),
}

impl Lengths {
    /// Of prompt and answer, drawn apart from each other.
    pub(crate) fn apart(prompt: Length, output: Length) -> Self {
        let constant = |length: &Length| matches!(length.shape, LengthShape::Constant(_));
        match constant(&prompt) && constant(&output) {
            true => Self::Constant(prompt.quantile(0.0), output.quantile(0.0)),
            false => Self::Apart { prompt, output },
        }
    }

    /// Prompt and output tokens of arrival `number`.
    #[inline]
    pub(crate) fn draw(&self, seed: Seed, number: u64) -> (u32, u32) {
        match *self {
            Self::Constant(prompt, output) => (prompt, output),
            Self::Apart { .. } | Self::Pairs(_) => self.drawn(seed, number),
        }
    }

    fn drawn(&self, seed: Seed, number: u64) -> (u32, u32) {
        let mut rng = KeyedRng::new(seed, LENGTHS, number, 0);
        match self {
            Self::Constant(prompt, output) => (*prompt, *output),
            Self::Apart { prompt, output } => {
                (prompt.quantile(rng.unit()), output.quantile(rng.unit()))
            }
            Self::Pairs(rows) => rows[rng.below(rows.len())],
        }
    }
}

impl Length {
    /// This shape within what a token count may be.
    pub(crate) const fn of(shape: LengthShape) -> Self {
        Self {
            shape,
            at_least: 1,
            at_most: TOKENS_AT_MOST,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float-to-integer cast saturates, and the bounds follow"
    )]
    fn quantile(&self, u: f64) -> u32 {
        let tokens = match &self.shape {
            LengthShape::Constant(tokens) => (*tokens + 0.5) as u32,
            LengthShape::LogNormal(shape) => (shape.quantile(u) + 0.5) as u32,
            LengthShape::Cdf(points) => (inverse_cdf(points, u) + 0.5) as u32,
            LengthShape::Weighted(values) => {
                let at = values.partition_point(|&(_, up_to)| up_to <= u);
                values[at.min(values.len() - 1)].0
            }
            LengthShape::List(values) => {
                let at = (u * f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX))) as usize;
                values[at.min(values.len() - 1)]
            }
        };
        tokens.clamp(self.at_least, self.at_most)
    }
}

/// The value at probability `u`: straight lines between the points, and from 0 to the first.
fn inverse_cdf(points: &[(f64, f64)], u: f64) -> f64 {
    let at = points
        .partition_point(|&(_, up_to)| up_to <= u)
        .min(points.len() - 1);
    let (value, up_to) = points[at];
    let (before, below) = if at == 0 { (0.0, 0.0) } else { points[at - 1] };
    if up_to > below {
        before + (value - before) * ((u - below) / (up_to - below))
    } else {
        value
    }
}

/// Ready-made lengths: name, what they resemble, prompt and output as mean and deviation of the
/// natural logarithm.
pub(crate) struct LengthsPreset {
    /// As written in a file.
    pub name: &'static str,
    /// What it resembles.
    pub about: &'static str,
    /// Prompt: mean and deviation of ln.
    prompt: (f64, f64),
    /// Output: mean and deviation of ln.
    output: (f64, f64),
    /// No draw is longer than the source's longest: prompt, output.
    longest: (u32, u32),
}

/// Ready-made lengths for `workload.lengths`: name, and what they resemble.
pub fn lengths_presets() -> impl Iterator<Item = (&'static str, &'static str)> {
    LENGTHS_PRESETS
        .iter()
        .map(|preset| (preset.name, preset.about))
}

impl LengthsPreset {
    /// The preset of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        LENGTHS_PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Its distributions.
    pub(crate) fn lengths(&self) -> Lengths {
        let length = |(ln_mean, ln_sigma): (f64, f64), at_most: u32| {
            let shape = LengthShape::LogNormal(LogNormal::new(ln_mean, ln_sigma));
            Length {
                at_most,
                ..Length::of(shape)
            }
        };
        Lengths::apart(
            length(self.prompt, self.longest.0),
            length(self.output, self.longest.1),
        )
    }
}

/// Means and deviations of ln are those of every row of the named data.
pub(crate) const LENGTHS_PRESETS: &[LengthsPreset] = &[
    LengthsPreset {
        name: "arxiv-summarization",
        about: "long papers in, abstracts out; 28,257 rows of Sarathi-Serve's arXiv lengths",
        prompt: (7.717, 0.755),
        output: (5.187, 0.796),
        longest: (4_054, 4_056),
    },
    LengthsPreset {
        name: "azure-conv-2023",
        about: "chat; the Azure LLM inference trace 2023, conversation, 19,366 rows (CC-BY-4.0)",
        prompt: (6.633, 0.985),
        output: (5.019, 0.859),
        longest: (14_050, 1_000),
    },
    LengthsPreset {
        name: "mooncake-conversation",
        about: "chat over long documents; the Mooncake conversation trace, 12,031 rows",
        prompt: (8.737, 1.199),
        output: (5.336, 1.358),
        longest: (126_195, 2_000),
    },
    LengthsPreset {
        name: "sharegpt-8k",
        about: "shared chats of up to 8 thousand tokens; 30,731 rows of Sarathi-Serve's lengths",
        prompt: (7.007, 1.626),
        output: (5.769, 1.001),
        longest: (8_141, 1_024),
    },
];

/// More tokens than any context window of today; keeps sums of tokens far from overflow.
pub(crate) const TOKENS_AT_MOST: u32 = 100_000_000;

/// One uniform number for the prompt, then one for the answer.
const LENGTHS: Purpose = Purpose::named("scenarios.lengths");

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(shape: LengthShape) -> Vec<f64> {
        let constant = LengthShape::Constant(7.0);
        let lengths = Lengths::apart(Length::of(shape), Length::of(constant));
        (0..100_000)
            .map(|n| f64::from(lengths.draw(Seed(4), n).0))
            .collect()
    }

    #[test]
    fn a_log_normal_length_has_the_logarithm_asked_for() {
        let values = draws(LengthShape::LogNormal(LogNormal::new(6.633, 0.985)));

        let logs: Vec<f64> = values.iter().map(|&v| libm::log(v)).collect();
        let mean = logs.iter().sum::<f64>() / 1e5;
        let sigma = (logs.iter().map(|l| libm::pow(l - mean, 2.0)).sum::<f64>() / 1e5).sqrt();
        assert!((mean - 6.633).abs() < 0.015, "{mean}");
        assert!((sigma - 0.985).abs() < 0.01, "{sigma}");
    }

    #[test]
    fn an_empirical_length_follows_its_distribution_function() {
        let points: Arc<[_]> = [(64.0, 0.25), (128.0, 0.5), (256.0, 1.0)].into();
        let values = draws(LengthShape::Cdf(points));

        let share = |limit: f64| values.iter().filter(|&&v| v <= limit).count() as f64 / 1e5;
        assert!((share(64.0) - 0.25).abs() < 0.01, "{}", share(64.0));
        assert!((share(128.0) - 0.5).abs() < 0.01, "{}", share(128.0));
        assert!((share(192.0) - 0.75).abs() < 0.01, "{}", share(192.0));
    }

    #[test]
    fn weighted_values_come_as_often_as_their_weight() {
        let values = draws(LengthShape::Weighted([(10, 0.9), (500, 1.0)].into()));

        let tens = values.iter().filter(|&&v| v < 11.0).count() as f64 / 1e5;
        assert!((tens - 0.9).abs() < 0.005, "{tens}");
    }

    #[test]
    fn a_draw_is_never_without_tokens_and_never_above_its_bound() {
        let length = Length {
            at_most: 50,
            ..Length::of(LengthShape::Constant(80.0))
        };
        let nothing = Length::of(LengthShape::Constant(0.0));
        let lengths = Lengths::apart(length, nothing);

        assert_eq!(lengths.draw(Seed(1), 0), (50, 1));
    }
}
