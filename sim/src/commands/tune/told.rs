//! The answer in sentences and tables.

use std::fmt::Write as _;

use reports::{FrontierCandidate, Metric, stats, text_frontier};
use serde_json::json;
use sim::tune::{Candidate, Found, Objective, Relation, Space};

use super::{Values, label, proof::Proof};

/// Everything that the answer is made of.
pub(super) struct Answer<'a> {
    pub(super) objective: &'a Objective,
    pub(super) space: &'a Space,
    pub(super) found: &'a Found,
    pub(super) proof: &'a Proof,
    /// What is told of a bound that was left out.
    pub(super) left_out: Option<String>,
    /// Providers of the scenarios that hit no deployment of the config, as told.
    pub(super) doubts: Vec<String>,
    /// The scenarios, as told.
    pub(super) scenarios: Vec<String>,
}

impl Answer<'_> {
    /// All of it, for the terminal.
    pub(super) fn text(&self) -> String {
        let doubts = self.doubts.iter().map(|doubt| {
            format!("WARNING: {doubt}. What it was to do, such as an outage, did not happen.\n")
        });
        doubts.collect::<String>()
            + &self.finding().join("\n")
            + "\n"
            + &self.present()
            + &self.knobs()
            + &self.table()
    }

    /// All of it, for programs.
    pub(super) fn json(&self) -> String {
        let changes = |candidate: &Candidate| {
            let changes = self.space.changes(candidate).into_iter();
            let changes = changes.map(|(path, value)| json!({"path": path, "value": value}));
            changes.collect::<Vec<_>>()
        };
        let candidates = self.proof.candidates.iter().zip(&self.proof.values);
        let candidates = candidates.map(|(candidate, values)| {
            let metrics = self.objective.metrics().enumerate().map(|(at, metric)| {
                let estimate = stats::mean_interval(&column(values, at));
                json!({
                    "name": metric.name(),
                    "mean": estimate.map(|e| e.mean),
                    "half_width": estimate.and_then(|e| e.half_width),
                })
            });
            json!({"changes": changes(candidate), "metrics": metrics.collect::<Vec<_>>()})
        });
        let document = json!({
            "advice": self.advice(),
            "finding": self.finding(),
            "warnings": self.doubts,
            "limits_hold": !self.breaks_a_limit(),
            "changes": changes(&self.proof.advised()),
            "probability": self.proof.chance,
            "candidates": candidates.collect::<Vec<_>>(),
        });
        format!("{document:#}\n")
    }

    /// What the knobs are set to now.
    fn present(&self) -> String {
        let knobs = self.space.knobs.iter();
        let knobs = knobs.map(|knob| format!("{} {}", knob.path, knob.levels[knob.present]));
        format!("Present: {}.\n", knobs.collect::<Vec<_>>().join(", "))
    }

    /// The finding, sentence by sentence.
    pub(super) fn finding(&self) -> Vec<String> {
        let mut told = vec![self.advice()];
        if let Some(check) = &self.proof.check {
            told.push(change_of(
                self.objective.metric,
                &check.best,
                &check.present,
            ));
        }
        told.extend(self.bounds());
        told.extend(self.left_out.clone());
        told.push(format!(
            "Probability that none of the {} candidates in the proof is better by more than 1 % of {}: \
             {:.0} % (bootstrap over {} fresh replications).",
            self.proof.candidates.len(),
            self.whole(),
            100.0 * self.proof.chance,
            self.proof.values[0].len(),
        ));
        told.push(format!(
            "Searched {} of {} candidates in {} runs of {}.",
            self.found.tried,
            self.space
                .size()
                .map_or_else(|| "countless".to_owned(), |n| n.to_string()),
            self.found.runs,
            self.scenarios.join(" and "),
        ));
        told
    }

    /// What the score is measured in.
    fn whole(&self) -> &'static str {
        match self.objective.counts_what_is_left() {
            true => "what is left to gain",
            false => "the present value",
        }
    }

    fn advice(&self) -> String {
        let changes = self.space.changes(&self.proof.advised());
        let metric = self.objective.metric.title().to_lowercase();
        if !changes.is_empty() {
            let changes: Vec<String> = changes
                .iter()
                .map(|(path, value)| format!("{path}: {value}"))
                .collect();
            return format!("Use {}.", changes.join(", "));
        }
        match &self.proof.check {
            None => format!(
                "Keep the present settings: no candidate was better at {metric} on fresh seeds."
            ),
            Some(check) => format!(
                "Keep the present settings: {} looked best, but {}.",
                label(&self.space.changes(&self.proof.candidates[self.proof.best])),
                match check.is_shown() {
                    true => "what it gains is too little to matter",
                    false => "further seeds do not show a gain",
                }
            ),
        }
    }

    /// Whether a bound is known not to hold under what is advised.
    pub(super) fn breaks_a_limit(&self) -> bool {
        let (present, advised) = self.present_and_advised();
        let broken = |(at, bound): (usize, &sim::tune::Bound)| {
            let value = mean(advised, at + 1);
            let limit = bound.limit_at(mean(present, at + 1));
            value
                .zip(limit)
                .is_some_and(|(value, limit)| !bound.holds(value, limit))
        };
        self.objective.bounds.iter().enumerate().any(broken)
    }

    /// Values of the present settings and of those that are advised.
    fn present_and_advised(&self) -> (&Values, &Values) {
        match &self.proof.check {
            Some(check) if check.is_worth_it() => (&check.present, &check.best),
            Some(check) => (&check.present, &check.present),
            None => (&self.proof.values[0], &self.proof.values[0]),
        }
    }

    /// Whether each bound holds under what is advised.
    fn bounds(&self) -> Vec<String> {
        let (present, advised) = self.present_and_advised();
        let of_bound = |(at, bound): (usize, &sim::tune::Bound)| {
            let (present, value) = (mean(present, at + 1), mean(advised, at + 1));
            let limit = bound.limit_at(present);
            let unit = bound.metric.unit();
            let shown =
                |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |v| unit.show(v));
            let holds = match (value, limit) {
                (Some(value), Some(limit)) => match bound.holds(value, limit) {
                    true => "holds",
                    false => "DOES NOT HOLD",
                },
                _ => "cannot be judged",
            };
            let side = match bound.relation {
                Relation::AtMost => "at most",
                Relation::AtLeast => "at least",
            };
            format!(
                "{} {side} {} {holds}: {} (present {}).",
                bound.metric.title(),
                shown(limit),
                shown(value),
                shown(present),
            )
        };
        self.objective
            .bounds
            .iter()
            .enumerate()
            .map(of_bound)
            .collect()
    }

    /// Which settings matter.
    fn knobs(&self) -> String {
        let mut text = format!(
            "\nWhich settings matter (elementary effects on {}; 0.01 is 1 % of {}):\n",
            self.objective.metric.title().to_lowercase(),
            self.whole(),
        );
        let width = self.space.knobs.iter().map(|knob| knob.path.len()).max();
        let width = width.unwrap_or(0);
        for effect in &self.found.effects {
            let knob = &self.space.knobs[effect.knob];
            let fixed = match self.found.free.contains(&effect.knob) {
                true => "",
                false => "  left as it is",
            };
            let _ = writeln!(
                text,
                "  {:<width$}  mean {:.4}  spread {:.4}{fixed}",
                knob.path, effect.mu_star, effect.sigma
            );
        }
        text
    }

    /// What more of the objective costs: of the first limit's metric, or without a limit of p99 latency.
    pub(super) fn picture(&self) -> String {
        let up = self.objective.metric;
        let bound = self.objective.bounds.first().map(|bound| bound.metric);
        let latency = || reports::metric("latency_p99_ms");
        let Some(across) = bound.or_else(latency) else {
            return String::new();
        };
        let advised = self.proof.advised();
        let candidates = self.proof.candidates.iter().zip(&self.proof.values);
        let dots = candidates
            .enumerate()
            .filter_map(|(at, (candidate, values))| {
                Some(FrontierCandidate {
                    up: mean(values, 0)?,
                    across: match bound {
                        Some(_) => mean(values, 1)?,
                        None => self.proof.mean(at, across)?,
                    },
                    letter: match (at, *candidate == advised) {
                        (_, true) => Some('A'),
                        (0, false) => Some('P'),
                        (_, false) => None,
                    },
                })
            });
        let picture = text_frontier(across, up, &dots.collect::<Vec<_>>());
        match picture.is_empty() {
            true => picture,
            false => format!(
                "\n{} (up) against {} (across): A is advised, P the present settings, ● nobody beats in both\n{picture}",
                up.title(),
                across.title().to_lowercase(),
            ),
        }
    }

    /// Everybody in the proof.
    fn table(&self) -> String {
        let metrics: Vec<_> = self.objective.metrics().collect();
        let titles = metrics.iter().map(|metric| metric.title().to_owned());
        let head = titles.chain(["settings".to_owned()]);
        let mut rows: Vec<Vec<String>> = vec![head.collect()];
        for (candidate, values) in self.proof.candidates.iter().zip(&self.proof.values) {
            let value = |(at, metric): (usize, &&'static dyn Metric)| {
                let estimate = stats::mean_interval(&column(values, at));
                estimate.map_or_else(|| "unknown".to_owned(), |e| metric.unit().show_estimate(&e))
            };
            let label = label(&self.space.changes(candidate));
            let cells = metrics.iter().enumerate().map(value);
            rows.push(cells.chain([label]).collect());
        }
        let mut text =
            "\nThe present settings, the finalists and what no other candidate beats in every \
                        metric, on fresh seeds (mean ± half of the 95 % interval):\n"
                .to_owned();
        for line in reports::aligned(&rows) {
            let _ = writeln!(text, "  {line}");
        }
        text
    }
}

/// The objective's own metric under the choice and the present settings, with the paired interval.
fn change_of(metric: &dyn Metric, best: &Values, present: &Values) -> String {
    let (new, old) = (column(best, 0), column(present, 0));
    let unit = metric.unit();
    let about = stats::mean_interval(&old).map_or(0.0, |estimate| estimate.mean);
    let Some(paired) = stats::paired_difference(&new, &old) else {
        return format!("{}: unknown.", metric.title());
    };
    let change = unit.show_change(paired.difference.mean, about);
    let interval = paired.difference.interval();
    let interval = interval.map_or(String::new(), |(low, high)| {
        let interval = unit.show_change_interval(low, high, about);
        format!(" (95 % interval {interval})")
    });
    format!(
        "{}: {} instead of {}, {change}{interval} on {} seeds that took no part in the choice.",
        metric.title(),
        unit.show(about + paired.difference.mean),
        unit.show(about),
        new.len(),
    )
}

fn column(values: &Values, at: usize) -> Vec<f64> {
    values.iter().filter_map(|row| row[at]).collect()
}

fn mean(values: &Values, at: usize) -> Option<f64> {
    stats::mean_interval(&column(values, at)).map(|estimate| estimate.mean)
}
