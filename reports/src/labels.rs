//! What an arm is called in a sentence, a legend and a table.

use crate::record::{ArmRecord, SweepRecord};

impl ArmRecord {
    /// Its settings in a few words: `least-busy · cooldown_time 30`. Words speak for themselves;
    /// numbers and switches are given the last part of their axis' name.
    #[must_use]
    pub fn label(&self) -> String {
        if self.labels.is_empty() {
            return "this configuration".into();
        }
        let part = |(axis, value): &(String, String)| match needs_its_axis(value) {
            true => format!("{} {value}", short_axis(axis)),
            false => value.clone(),
        };
        self.labels.iter().map(part).collect::<Vec<_>>().join(" · ")
    }

    /// Its value on an axis.
    #[must_use]
    pub fn value_on(&self, axis: &str) -> Option<&str> {
        self.labels
            .iter()
            .find(|(name, _)| name == axis)
            .map(|(_, value)| value.as_str())
    }
}

impl SweepRecord {
    /// Arms that have at least one run.
    pub(crate) fn arms_with_runs(&self) -> impl Iterator<Item = usize> {
        (0..self.arms.len()).filter(|&arm| !self.arms[arm].runs.is_empty())
    }
}

/// `router_settings.cooldown_time` → `cooldown_time`.
pub(crate) fn short_axis(axis: &str) -> &str {
    axis.rsplit('.').next().unwrap_or(axis)
}

fn needs_its_axis(value: &str) -> bool {
    value.parse::<f64>().is_ok()
        || matches!(
            value,
            "true" | "false" | "null" | "none" | "on" | "off" | "yes" | "no" | ""
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(labels: &[(&str, &str)]) -> ArmRecord {
        let labels = labels
            .iter()
            .map(|&(a, v)| (a.to_owned(), v.to_owned()))
            .collect();
        ArmRecord {
            labels,
            runs: Vec::new(),
        }
    }

    #[test]
    fn numbers_and_switches_are_named_and_words_are_not() {
        let labels = [
            ("routing_strategy", "least-busy"),
            ("router_settings.cooldown_time", "30"),
            ("disable_cooldowns", "false"),
        ];

        let label = arm(&labels).label();
        assert_eq!(
            label,
            "least-busy · cooldown_time 30 · disable_cooldowns false"
        );
    }

    #[test]
    fn a_sweep_without_axes_has_one_nameless_arm() {
        assert_eq!(arm(&[]).label(), "this configuration");
    }
}
