//! What the numbers say, in sentences that claim no more than their intervals support.
//!
//! The order is always the same: which arm is best and by how much, whether that is statistically
//! clear, which others cannot be told from it, what it costs elsewhere, what each axis does, and
//! what should make the reader doubt all of it.

use crate::{
    along::Along,
    common_luck::common_luck,
    comparison::{Comparison, Verdict, Versus, named},
    effects::{self, Effect},
    labels::short_axis,
    metrics::{Metric, metrics},
    record::SweepRecord,
    stats::{CONFIDENCE, FEWEST_FOR_A_CLAIM, PairedDifference},
};

/// The findings of a sweep.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Findings {
    /// Which arm is best, by how much, how certain that is and what it costs. Never empty.
    pub headline: Vec<String>,
    /// Where a setting has a cliff, then what each axis does on its own, largest effect first.
    pub axes: Vec<String>,
    /// Reasons to doubt the above.
    pub warnings: Vec<String>,
}

/// The first paragraph of a report: which setting wins, by how much, with its interval.
#[must_use]
pub fn headline(sweep: &SweepRecord) -> String {
    findings(sweep).headline.join(" ")
}

/// Everything that can be said about a sweep in sentences.
#[must_use]
pub fn findings(sweep: &SweepRecord) -> Findings {
    let comparison = Comparison::new(sweep);
    let ranking = comparison.ranking();
    let headline = match ranking.as_slice() {
        _ if !sweep.answer.is_empty() => sweep.answer.clone(),
        [] => vec!["No run was finished, so there is nothing to report.".to_owned()],
        [only] => alone(&comparison, *only),
        [best, ..] => among_several(&comparison, *best, ranking.len()),
    };
    Findings {
        headline,
        axes: axis_sentences(&comparison),
        warnings: warnings(&comparison),
    }
}

/// A single arm: its numbers.
fn alone(comparison: &Comparison<'_>, arm: usize) -> Vec<String> {
    let shown = ["latency_p50_ms", "latency_p99_ms", "attempts_per_request"].map(named);
    let numbers: Vec<String> = [comparison.primary]
        .into_iter()
        .chain(shown)
        .filter_map(|metric| {
            let estimate = comparison.estimate(arm, metric)?;
            Some(format!(
                "{} {}",
                lower_first(metric.title()),
                metric.unit().show_estimate(&estimate)
            ))
        })
        .collect();
    let label = comparison.sweep.arms[arm].label();
    let runs = comparison.runs(arm).len();
    let basis = match runs {
        1 => "one run; nothing can be said about chance".to_owned(),
        runs => format!("mean ± 95 % interval over {runs} replications"),
    };
    vec![format!(
        "{}: {} ({basis}).",
        upper_first(&label),
        numbers.join(", ")
    )]
}

fn among_several(comparison: &Comparison<'_>, best: usize, arms: usize) -> Vec<String> {
    let reference = comparison.sweep.reference;
    let metric = comparison.deciding();
    let mut sentences = Vec::new();
    if metric.name() != comparison.primary.name() {
        sentences.push(all_equal_sentence(comparison, best));
    }
    if best != reference
        && metric.name() == comparison.primary.name()
        && comparison.ranks_equal(best, reference)
    {
        sentences.push(only_faster_sentence(comparison, best));
        let p99 = named("latency_p99_ms");
        sentences.extend(best_against_reference(comparison, best, p99, arms));
        sentences.extend(trade_offs(comparison, best, p99));
    } else if best == reference {
        sentences.extend(reference_is_best(comparison, metric, arms));
    } else {
        sentences.extend(best_against_reference(comparison, best, metric, arms));
        sentences.extend(trade_offs(comparison, best, metric));
    }
    sentences.extend(ties(comparison, best, metric, arms));
    sentences
}

fn all_equal_sentence(comparison: &Comparison<'_>, arm: usize) -> String {
    let primary = comparison.primary;
    let mean = comparison
        .mean(arm, primary)
        .map_or_else(|| "unknown".into(), |v| primary.unit().show(v));
    format!(
        "{} is the same for all arms to a tenth of a point ({mean}), so p99 latency decides.",
        primary.title()
    )
}

/// The best arm is no better than the reference in what counts first.
fn only_faster_sentence(comparison: &Comparison<'_>, best: usize) -> String {
    let primary = comparison.primary;
    format!(
        "{} leads by p99 latency only: its {} ({}) is that of the reference to a tenth of a point.",
        comparison.sweep.arms[best].label(),
        lower_first(primary.title()),
        show_mean(comparison, best, primary)
    )
}

fn best_against_reference(
    comparison: &Comparison<'_>,
    best: usize,
    metric: &dyn Metric,
    arms: usize,
) -> Vec<String> {
    let reference = comparison.sweep.reference;
    let name = comparison.sweep.arms[best].label();
    let against = match comparison.sweep.arms.get(reference) {
        Some(arm) => arm.label(),
        None => {
            return vec![format!(
                "{name} is the best of {arms} arms; there is no reference."
            )];
        }
    };
    let versus = comparison.all_versus(reference, metric);
    let Some(found) = versus.iter().find(|versus| versus.arm == best) else {
        return vec![format!(
            "{name} is the best of {arms} arms; the reference ({against}) has no run to compare with."
        )];
    };
    let values = [best, reference].map(|arm| show_mean(comparison, arm, metric));
    let change = change_with_interval(metric, &found.paired, values_size(comparison, best, metric));
    let name_of_metric = lower_first(metric.title());
    let sentence = match found.verdict {
        Verdict::Better => format!(
            "{name} wins: {name_of_metric} {} against {} of the reference ({against}), {change}.",
            values[0], values[1],
        ),
        Verdict::Worse | Verdict::Uncorrected | Verdict::Unclear => format!(
            "No clear winner over the reference ({against}): {name} has the best {name_of_metric}, \
             {} against {}, {change}.",
            values[0], values[1],
        ),
    };
    vec![sentence, certainty(found, versus.len())]
}

fn certainty(found: &Versus, comparisons: usize) -> String {
    let corrected = match comparisons {
        1 => String::new(),
        many => format!(" after Holm's correction for {many} comparisons with the reference"),
    };
    match (found.verdict, found.paired.p_value) {
        (_, None) => "With one run each there is no interval: chance alone may explain it.".into(),
        (Verdict::Better | Verdict::Worse, _) => {
            format!("The difference is statistically clear{corrected}.")
        }
        (Verdict::Uncorrected, _) => format!(
            "The interval excludes zero for this one comparison, but the difference is not clear{corrected}."
        ),
        (Verdict::Unclear, _) if found.paired.is_none_at_all() => {
            "Both had the same value in every run.".into()
        }
        (Verdict::Unclear, _) => "The interval contains zero: the difference may be chance.".into(),
    }
}

fn reference_is_best(comparison: &Comparison<'_>, metric: &dyn Metric, arms: usize) -> Vec<String> {
    let reference = comparison.sweep.reference;
    let name = comparison.sweep.arms[reference].label();
    let second = comparison.ranking()[1];
    let rivals = comparison.all_versus(reference, metric);
    let opening = format!(
        "The reference ({name}) is the best of {arms} arms: {} {}.",
        lower_first(metric.title()),
        show_mean(comparison, reference, metric)
    );
    let Some(rival) = rivals.iter().find(|versus| versus.arm == second) else {
        return vec![opening];
    };
    let change = change_with_interval(
        metric,
        &rival.paired,
        values_size(comparison, second, metric),
    );
    let next = format!(
        "Next is {}, {change}.",
        comparison.sweep.arms[second].label()
    );
    vec![opening, next, certainty(rival, rivals.len())]
}

/// What the winner pays, and what it wins besides, where that is clear.
fn trade_offs(comparison: &Comparison<'_>, best: usize, decided: &dyn Metric) -> Vec<String> {
    let mut costs = Vec::new();
    let mut gains = Vec::new();
    for metric in TRADE_OFFS.map(named) {
        if metric.name() == decided.name() {
            continue;
        }
        let versus = comparison.all_versus(comparison.sweep.reference, metric);
        let Some(found) = versus.iter().find(|versus| versus.arm == best) else {
            continue;
        };
        if !matters(comparison, metric, &found.paired) {
            continue;
        }
        let size = values_size(comparison, best, metric);
        let text = short_change(metric, &found.paired, size);
        match found.verdict {
            Verdict::Worse => costs.push(text),
            Verdict::Better => gains.push(text),
            Verdict::Uncorrected | Verdict::Unclear => {}
        }
    }
    let price = match costs.is_empty() {
        true => "No other headline metric gets clearly worse.".to_owned(),
        false => format!("It costs {}.", costs.join("; ")),
    };
    let bonus = (!gains.is_empty()).then(|| format!("It also gains {}.", gains.join("; ")));
    [Some(price), bonus].into_iter().flatten().collect()
}

/// Whether a difference is large enough to be worth a sentence: 1 % of the reference's value.
fn matters(comparison: &Comparison<'_>, metric: &dyn Metric, paired: &PairedDifference) -> bool {
    let base = values_size(comparison, comparison.sweep.reference, metric);
    paired.difference.mean.abs() >= 0.01 * base
}

/// How many arms are as good as the best, as far as these runs can tell.
fn ties(
    comparison: &Comparison<'_>,
    best: usize,
    metric: &dyn Metric,
    arms: usize,
) -> Option<String> {
    if arms < 3 || comparison.fewest_runs() < 2 {
        return None;
    }
    let tied = (comparison.all_versus(best, metric).iter())
        .filter(|versus| versus.verdict != Verdict::Worse)
        .map(|versus| versus.arm)
        .collect::<Vec<_>>();
    let name = lower_first(metric.title());
    Some(match tied.as_slice() {
        [] => format!("Every other arm is clearly behind it in {name}."),
        [one] => format!(
            "One of the other {} arms cannot be told from it in {name}: {}.",
            arms - 1,
            comparison.sweep.arms[*one].label()
        ),
        many => format!(
            "{} of the other {} arms cannot be told from it in {name}; between those, choose by what else matters.",
            many.len(),
            arms - 1
        ),
    })
}

fn axis_sentences(comparison: &Comparison<'_>) -> Vec<String> {
    let metric = comparison.deciding();
    let along = Along::new(comparison);
    let cliffs = along.map_or_else(Vec::new, |along| along.cliffs(comparison, metric));
    let effects = effects::effects(comparison, metric);
    let effects = effects.iter().map(|effect| axis_sentence(effect, metric));
    cliffs.into_iter().chain(effects).collect()
}

fn axis_sentence(effect: &Effect<'_>, metric: &dyn Metric) -> String {
    let (best, worst) = (effect.best, effect.worst);
    let verdict = match effect.paired.difference.interval() {
        None => " One run each gives no interval.",
        Some(_) if effect.paired.difference.excludes_zero() => "",
        Some(_) => " The interval contains zero, so its effect is not clear.",
    };
    format!(
        "{}: {} is best and {} worst, {} {} against {} averaged over the other settings, {}.{verdict}",
        short_axis(&effect.axis.name),
        best.0,
        worst.0,
        lower_first(metric.title()),
        metric.unit().show(best.1),
        metric.unit().show(worst.1),
        change_with_interval(metric, &effect.paired, best.1)
    )
}

fn warnings(comparison: &Comparison<'_>) -> Vec<String> {
    let sweep = comparison.sweep;
    let runs = comparison.fewest_runs();
    let mut warnings: Vec<String> = (sweep.doubts.iter())
        .map(|doubt| format!("{doubt}. What it was to do, such as an outage, did not happen."))
        .collect();
    if sweep.partial {
        warnings.push("The sweep was interrupted: arms or replications are missing.".to_owned());
    }
    if runs < FEWEST_FOR_A_CLAIM && runs > 0 {
        let replications = if runs == 1 {
            "replication is"
        } else {
            "replications are"
        };
        warnings.push(format!(
            "{runs} {replications} too few for a claim: use at least {FEWEST_FOR_A_CLAIM} (`--reps {FEWEST_FOR_A_CLAIM}`)."
        ));
    }
    if runs > 1
        && sweep
            .arms_with_runs()
            .all(|arm| replications_are_identical(comparison, arm))
    {
        warnings.push(
            "All replications of each arm are identical: nothing in this scenario depends on the \
             seed, so the intervals say nothing."
                .to_owned(),
        );
    }
    let unfinished: u64 = sweep
        .arms
        .iter()
        .flat_map(|arm| &arm.runs)
        .map(|run| run.unfinished)
        .sum();
    if unfinished > 0 {
        warnings.push(format!(
            "{unfinished} requests had no answer when their run was cut off; the slowest are missing from the latencies."
        ));
    }
    warnings.extend(common_luck(comparison));
    if sweep.arms_with_runs().count() > 2 {
        warnings.push(
            "The best arm was picked on the same runs that measure it, so its lead is overstated on \
             average: confirm it on another seed."
                .to_owned(),
        );
    }
    warnings
}

fn replications_are_identical(comparison: &Comparison<'_>, arm: usize) -> bool {
    let readings = |index: usize| -> Vec<Option<f64>> {
        metrics()
            .iter()
            .map(|metric| metric.value(&comparison.runs(arm)[index]))
            .collect()
    };
    (1..comparison.runs(arm).len()).all(|index| readings(index) == readings(0))
}

/// `+0.44 points (95 % interval +0.35 to +0.54, 10 paired runs)`.
pub(crate) fn change_with_interval(
    metric: &dyn Metric,
    paired: &PairedDifference,
    size: f64,
) -> String {
    let unit = metric.unit();
    let change = unit.show_change(paired.difference.mean, size);
    match paired.difference.interval() {
        None => change,
        Some((low, high)) => format!(
            "{change} ({:.0} % interval {}, {} paired runs)",
            CONFIDENCE * 100.0,
            unit.show_change_ends(low, high, size),
            paired.difference.n
        ),
    }
}

/// `first token p99 +0.13 s (+0.05 to +0.22)`, for enumerations.
fn short_change(metric: &dyn Metric, paired: &PairedDifference, size: f64) -> String {
    let unit = metric.unit();
    let name = lower_first(metric.title());
    let change = unit.show_change(paired.difference.mean, size);
    match paired.difference.interval() {
        None => format!("{name} {change}"),
        Some((low, high)) => {
            format!(
                "{name} {change} ({})",
                unit.show_change_ends(low, high, size)
            )
        }
    }
}

fn show_mean(comparison: &Comparison<'_>, arm: usize, metric: &dyn Metric) -> String {
    comparison
        .mean(arm, metric)
        .map_or_else(|| "unknown".into(), |mean| metric.unit().show(mean))
}

/// The size of an arm's value, for choosing between ms and s.
fn values_size(comparison: &Comparison<'_>, arm: usize, metric: &dyn Metric) -> f64 {
    comparison.mean(arm, metric).unwrap_or(0.0).abs()
}

/// `Latency p99` → `latency p99`, but `429s` as it is.
pub(crate) fn lower_first(text: &str) -> String {
    change_first(text, |c| c.to_lowercase().collect())
}

fn upper_first(text: &str) -> String {
    change_first(text, |c| c.to_uppercase().collect())
}

fn change_first(text: &str, change: fn(char) -> String) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| change(first) + chars.as_str())
}

/// Where a winner may pay: what users and providers feel most.
const TRADE_OFFS: [&str; 9] = [
    "call_success_ratio",
    "attempts_per_call",
    "success_ratio",
    "latency_p99_ms",
    "first_token_p99_ms",
    "attempts_per_request",
    "rate_limited_per_request",
    "wasted_wait_s_per_request",
    "cost_usd_per_1000_requests",
];
