//! A metric along a setting that is a number: where it falls off, if it does.
//!
//! The mean over all other settings, which `effects` has, hides a cliff that only some of them have.
//! Here each value of the other axis has a line of its own.

use crate::{
    advice::{change_with_interval, lower_first},
    comparison::{Comparison, Verdict, verdict},
    labels::short_axis,
    metrics::{Better, Metric, Unit},
    record::AxisRecord,
    stats::{self, PairedDifference},
};

/// The arms of a sweep over one numeric axis and at most one other.
pub(crate) struct Along<'a> {
    /// The axis with numbers.
    pub(crate) axis: &'a AxisRecord,
    /// A line for each value of the other axis; only one if there is none.
    pub(crate) lines: Vec<Line<'a>>,
}

/// The arms that differ in the numeric axis alone.
pub(crate) struct Line<'a> {
    /// What they have in common: axis and value; `None` if there is no other axis.
    pub(crate) of: Option<(&'a str, &'a str)>,
    /// Value on the numeric axis and arm, in the order of values.
    pub(crate) points: Vec<(f64, usize)>,
}

/// Where a line falls off.
struct Cliff<'a> {
    line: &'a Line<'a>,
    /// The best value.
    best: f64,
    /// The first value from which on all are clearly worse than the best, with its arm.
    from: (f64, usize),
    /// That arm minus the best.
    paired: PairedDifference,
    /// The last value, with its arm.
    last: (f64, usize),
    /// How much worse that is, in the metric's unit.
    deepest: f64,
}

impl<'a> Along<'a> {
    /// `None` unless one axis has [`FEWEST`] numbers or more and there is at most one other axis, of few values.
    pub(crate) fn new(comparison: &Comparison<'a>) -> Option<Self> {
        let sweep = comparison.sweep;
        let axes: Vec<&AxisRecord> = (sweep.axes.iter())
            .filter(|axis| axis.values.len() > 1)
            .collect();
        // Of several the one with most values; of as many the first.
        let fits = |axis: &&&AxisRecord| axis.values.len() >= FEWEST && numbers(axis).is_some();
        let numeric = axes.iter().filter(fits).rev();
        let axis = *numeric.max_by_key(|axis| axis.values.len())?;
        let others: Vec<&AxisRecord> = (axes.iter().copied())
            .filter(|other| other.name != axis.name)
            .collect();
        let of: Vec<Option<(&str, &str)>> = match others.as_slice() {
            [] => vec![None],
            [other] if other.values.len() <= MOST_LINES => (other.values.iter())
                .map(|value| Some((other.name.as_str(), value.as_str())))
                .collect(),
            _ => return None,
        };
        let lines = of.into_iter().map(|of| Line::new(comparison, axis, of));
        let lines = lines.collect();
        Some(Self { axis, lines })
    }

    /// Where each line falls off, as sentences; nothing where none does. A line does if, in one direction
    /// from its best value, all values from some value on are clearly worse (Holm's correction over all
    /// values of all lines) and the last is worse by [`DEEP`] or more.
    pub(crate) fn cliffs(&self, comparison: &Comparison<'_>, metric: &dyn Metric) -> Vec<String> {
        let deciding = |arm: usize| comparison.mean(arm, metric);
        let rank = |mean: f64| match metric.better() {
            Better::Lower => -mean,
            Better::Higher | Better::Neither => mean,
        };
        let mut pairs: Vec<(usize, usize, PairedDifference)> = Vec::new();
        let mut bests = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            // Of several that are as good the lowest.
            let known = line.points.iter().enumerate().rev();
            let known = known.filter_map(|(place, (_, arm))| Some((place, rank(deciding(*arm)?))));
            let best = known.max_by(|a, b| a.1.total_cmp(&b.1));
            let best = best.map(|(place, _)| place);
            bests.push(best);
            let Some(best) = best else { continue };
            for place in (0..line.points.len()).filter(|place| *place != best) {
                let (arm, of_best) = (line.points[place].1, line.points[best].1);
                if let Some(paired) = comparison.paired(arm, of_best, metric) {
                    pairs.push((at, place, paired));
                }
            }
        }
        let p_values: Vec<f64> = (pairs.iter())
            .map(|(.., paired)| paired.p_value.unwrap_or(1.0))
            .collect();
        let adjusted = stats::holm(&p_values);
        let worse = |line: usize, place: usize| {
            let found =
                (pairs.iter().zip(&adjusted)).find(|((at, of, _), _)| (*at, *of) == (line, place));
            found.and_then(|((.., paired), adjusted)| {
                let found = verdict(paired, *adjusted, metric.better());
                (found == Verdict::Worse).then_some(*paired)
            })
        };
        let mut told = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            let Some(best) = bests[at] else { continue };
            let up: Vec<usize> = (best + 1..line.points.len()).collect();
            let down: Vec<usize> = (0..best).rev().collect();
            for side in [up, down] {
                if let Some(cliff) = cliff(line, best, &side, |place| worse(at, place))
                    && cliff.deepest >= deep(metric, deciding(line.points[best].1))
                {
                    told.push(self.sentence(&cliff, comparison, metric));
                }
            }
        }
        told
    }

    fn sentence(
        &self,
        cliff: &Cliff<'_>,
        comparison: &Comparison<'_>,
        metric: &dyn Metric,
    ) -> String {
        let unit = metric.unit();
        let name = lower_first(metric.title());
        let axis = short_axis(&self.axis.name);
        let at = cliff
            .line
            .named()
            .map_or_else(String::new, |named| format!(" at {named}"));
        let mean = |arm: usize| comparison.mean(arm, metric).unwrap_or(f64::NAN);
        let change = change_with_interval(metric, &cliff.paired, mean(cliff.from.1));
        let mut text = format!(
            "{axis} has a cliff{at}: {name} is best at {} and clearly worse from {} on, where it is {}, {change}",
            number(cliff.best),
            number(cliff.from.0),
            unit.show(mean(cliff.from.1)),
        );
        if cliff.last.1 != cliff.from.1 {
            text += &format!(
                "; at {} it is {}",
                number(cliff.last.0),
                unit.show(mean(cliff.last.1))
            );
        }
        text + "."
    }
}

impl<'a> Line<'a> {
    fn new(comparison: &Comparison<'_>, axis: &AxisRecord, of: Option<(&'a str, &'a str)>) -> Self {
        let sweep = comparison.sweep;
        let is_of = |arm: usize| {
            of.is_none_or(|(name, value)| sweep.arms[arm].value_on(name) == Some(value))
        };
        let arms = sweep.arms_with_runs().filter(|arm| is_of(*arm));
        let mut points: Vec<(f64, usize)> = arms
            .filter_map(|arm| Some((sweep.arms[arm].value_on(&axis.name)?.parse().ok()?, arm)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { of, points }
    }

    /// `allowed_fails 2`.
    pub(crate) fn named(&self) -> Option<String> {
        self.of
            .map(|(axis, value)| format!("{} {value}", short_axis(axis)))
    }
}

/// Along one side of the best value: from where on all are worse.
fn cliff<'a>(
    line: &'a Line<'a>,
    best: usize,
    side: &[usize],
    worse: impl Fn(usize) -> Option<PairedDifference>,
) -> Option<Cliff<'a>> {
    let falling = side
        .iter()
        .rev()
        .map_while(|&place| Some((place, worse(place)?)));
    let falling: Vec<(usize, PairedDifference)> = falling.collect();
    let ((last, deepest), (from, paired)) = (falling.first()?, falling.last()?);
    Some(Cliff {
        line,
        best: line.points[best].0,
        from: line.points[*from],
        paired: *paired,
        last: line.points[*last],
        deepest: deepest.difference.mean.abs(),
    })
}

/// What is deep: [`DEEP`] of a whole, or that part of the best value.
fn deep(metric: &dyn Metric, best: Option<f64>) -> f64 {
    match metric.unit() {
        Unit::Ratio => DEEP,
        Unit::Count
        | Unit::Factor
        | Unit::Millis
        | Unit::PerCall
        | Unit::PerMinute
        | Unit::PerRequest
        | Unit::PerSecond
        | Unit::SecondsPerRequest
        | Unit::UsdPer1000Requests => DEEP * best.unwrap_or(0.0).abs(),
    }
}

fn numbers(axis: &AxisRecord) -> Option<Vec<f64>> {
    let parsed = axis.values.iter().map(|value| value.parse::<f64>().ok());
    let numbers: Vec<f64> = parsed.collect::<Option<_>>()?;
    numbers
        .iter()
        .all(|number| number.is_finite())
        .then_some(numbers)
}

/// A setting's value as it was written, as far as that can be told.
fn number(value: f64) -> String {
    format!("{value}")
}

/// Values that make a line.
const FEWEST: usize = 4;
/// Lines that can be told apart.
pub(crate) const MOST_LINES: usize = 4;
/// A fall that is a cliff: five points of a share, else 5 % of the best value.
const DEEP: f64 = 0.05;
