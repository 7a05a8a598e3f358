//! What is wanted, in words that a person writes: `maximize goodput; p99 <= 8s; cost <= +2%`.
//!
//! The first part is the metric to raise or lower; each further part is a bound that must hold. A
//! bound with a sign and `%` is relative to the present settings.

use reports::{Better, Metric, Unit, metric, metrics};

/// An objective with its constraints.
#[derive(Clone, Debug)]
pub struct Objective {
    /// What is to be raised or lowered.
    pub metric: &'static dyn Metric,
    /// Which.
    pub direction: Direction,
    /// What must hold.
    pub bounds: Vec<Bound>,
}

/// Which way is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// More is better.
    Maximize,
    /// Less is better.
    Minimize,
}

/// A constraint.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// On what.
    pub metric: &'static dyn Metric,
    /// On which side of the limit it must lie.
    pub relation: Relation,
    /// The limit in the metric's unit, or as a change of the present settings' value (0.02 is +2 %).
    pub limit: Limit,
}

/// A side of a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// `<=`.
    AtMost,
    /// `>=`.
    AtLeast,
}

/// Where a bound lies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// In the metric's unit.
    Absolute(f64),
    /// A fraction of the present settings' value more or less.
    Relative(f64),
}

/// Why an objective cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}; for example: maximize goodput; p99 <= 8s; cost <= +2%")]
pub struct ObjectiveError {
    message: String,
}

impl Objective {
    /// Reads an objective.
    ///
    /// # Errors
    ///
    /// With the part that makes no sense.
    pub fn read(text: &str) -> Result<Self, ObjectiveError> {
        let mut parts = text
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let first = parts.next().ok_or_else(|| wrong("nothing is asked for"))?;
        let (verb, name) = first.split_once(char::is_whitespace).ok_or_else(|| {
            wrong(format!(
                "`{first}` does not say what is wanted of which metric"
            ))
        })?;
        let direction = match verb {
            "maximize" | "maximise" => Direction::Maximize,
            "minimize" | "minimise" => Direction::Minimize,
            other => return Err(wrong(format!("`{other}` is neither maximize nor minimize"))),
        };
        let metric = named(name)?;
        let contrary = match metric.better() {
            Better::Higher => direction == Direction::Minimize,
            Better::Lower => direction == Direction::Maximize,
            Better::Neither => false,
        };
        if contrary {
            return Err(wrong(format!(
                "`{first}` asks for the worse side of {}",
                metric.name()
            )));
        }
        Ok(Self {
            metric,
            direction,
            bounds: parts.map(Bound::read).collect::<Result<_, _>>()?,
        })
    }

    /// Every metric that it looks at, the objective's own first.
    pub fn metrics(&self) -> impl Iterator<Item = &'static dyn Metric> {
        std::iter::once(self.metric).chain(self.bounds.iter().map(|bound| bound.metric))
    }

    /// How good a candidate is in each replication: 0 is as good as the present settings, and more is
    /// better. 0.01 is 1 % of what the score is measured in. Values come as [`Objective::metrics`] lists them,
    /// `present` are those of the present settings, replication by replication. A broken bound costs
    /// [`PENALTY`] times the fraction by which it is broken, so that no gain pays for it.
    ///
    /// A value that is missing (no request succeeded, so there is no latency) is the worst:
    /// [`WORST`], which keeps means finite.
    #[must_use]
    pub fn scores(&self, values: &[Vec<Option<f64>>], present: &[Vec<Option<f64>>]) -> Vec<f64> {
        let scale = self.scale(present);
        let pairs = values.iter().zip(present);
        pairs
            .map(|(values, present)| self.score(values, present, scale))
            .collect()
    }

    /// What the score is measured in. For a share that is to be raised it is what is left to gain
    /// under the present settings: from 99.9 % to 99.95 % is half of it. Elsewhere it is the present
    /// value.
    fn scale(&self, present: &[Vec<Option<f64>>]) -> f64 {
        let known: Vec<f64> = present.iter().filter_map(|row| *row.first()?).collect();
        let mean = reports::stats::mean_interval(&known).map_or(0.0, |estimate| estimate.mean);
        match self.counts_what_is_left() {
            true => (1.0 - mean).max(LEAST_LEFT),
            false if mean == 0.0 => 1.0,
            false => mean.abs(),
        }
    }

    /// Whether the score counts what is left to gain, and not what there is.
    #[must_use]
    pub fn counts_what_is_left(&self) -> bool {
        self.direction == Direction::Maximize && self.metric.unit() == Unit::Ratio
    }

    fn score(&self, values: &[Option<f64>], present: &[Option<f64>], scale: f64) -> f64 {
        let Some(&Some(value)) = values.first() else {
            return WORST;
        };
        let change = value - present.first().copied().flatten().unwrap_or(0.0);
        let gain = match self.direction {
            Direction::Maximize => change / scale,
            Direction::Minimize => -change / scale,
        };
        let broken: f64 = (self.bounds.iter().zip(values.iter().zip(present).skip(1)))
            .map(|(bound, (value, present))| bound.broken_by(*value, *present))
            .sum();
        (gain - PENALTY * broken).max(WORST)
    }
}

/// Weight of a broken bound against the objective's relative gain.
pub const PENALTY: f64 = 100.0;

/// The least that is taken to be left to gain: a tenth of a point.
const LEAST_LEFT: f64 = 1e-3;

/// The score of settings under which nothing is answered.
pub const WORST: f64 = -1e9;

impl Bound {
    /// Reads bounds with `;` between them: `success >= 99.5%; p99 <= 8s`.
    ///
    /// # Errors
    ///
    /// With the part that makes no sense, or if there is none.
    pub fn read_all(text: &str) -> Result<Vec<Self>, ObjectiveError> {
        let parts = text.split(';').map(str::trim);
        let bounds: Vec<Self> = parts
            .filter(|part| !part.is_empty())
            .map(Self::read)
            .collect::<Result<_, _>>()?;
        match bounds.is_empty() {
            true => Err(wrong("nothing is asked for")),
            false => Ok(bounds),
        }
    }

    fn read(text: &str) -> Result<Self, ObjectiveError> {
        let (relation, (name, limit)) = if let Some(parts) = text.split_once("<=") {
            (Relation::AtMost, parts)
        } else if let Some(parts) = text.split_once(">=") {
            (Relation::AtLeast, parts)
        } else {
            return Err(wrong(format!("`{text}` has neither <= nor >=")));
        };
        let metric = named(name.trim())?;
        let typed = limit.trim();
        let limit = typed;
        let limit = read_limit(metric.unit(), limit).ok_or_else(|| {
            wrong(format!(
                "`{limit}` is no limit of {} ({})",
                metric.name(),
                metric.unit().symbol()
            ))
        })?;
        if let (Unit::Ratio, Limit::Absolute(share)) = (metric.unit(), limit)
            && share > 1.0
        {
            let typed = typed.trim_end_matches('%');
            return Err(wrong(format!(
                "`{typed}` is more than the whole of {}; did you mean `{typed}%`?",
                metric.name()
            )));
        }
        Ok(Self {
            metric,
            relation,
            limit,
        })
    }

    /// The limit in the metric's unit; `None` where it is relative to a value that is not known.
    #[must_use]
    pub fn limit_at(&self, present: Option<f64>) -> Option<f64> {
        match self.limit {
            Limit::Absolute(limit) => Some(limit),
            Limit::Relative(change) => present.map(|value| value * (1.0 + change)),
        }
    }

    /// Whether a value lies on the right side of the limit.
    #[must_use]
    pub fn holds(&self, value: f64, limit: f64) -> bool {
        match self.relation {
            Relation::AtMost => value <= limit,
            Relation::AtLeast => value >= limit,
        }
    }

    /// By which fraction of the limit a value breaks it; 0 where it holds.
    fn broken_by(&self, value: Option<f64>, present: Option<f64>) -> f64 {
        let Some(limit) = self.limit_at(present) else {
            // Nobody knows the limit, so nobody can break it.
            return 0.0;
        };
        let Some(value) = value else { return 1.0 };
        if self.holds(value, limit) {
            return 0.0;
        }
        (value - limit).abs() / limit.abs().max(f64::MIN_POSITIVE.sqrt())
    }
}

fn read_limit(unit: Unit, text: &str) -> Option<Limit> {
    let number = |text: &str| {
        let number: Option<f64> = text.trim().replace('_', "").parse().ok();
        number.filter(|n| n.is_finite())
    };
    if let Some(percent) = text.strip_suffix('%') {
        if percent.starts_with(['+', '-']) {
            return number(percent).map(|p| Limit::Relative(p / 100.0));
        }
        let percent = number(percent).filter(|_| unit == Unit::Ratio)?;
        return Some(Limit::Absolute(percent / 100.0));
    }
    if unit == Unit::Millis {
        if let Some(ms) = text.strip_suffix("ms") {
            return number(ms).map(Limit::Absolute);
        }
        if let Some(seconds) = text.strip_suffix('s') {
            return number(seconds).map(|s| Limit::Absolute(s * 1_000.0));
        }
    }
    number(text.strip_prefix('$').unwrap_or(text)).map(Limit::Absolute)
}

fn named(name: &str) -> Result<&'static dyn Metric, ObjectiveError> {
    let full = SHORT
        .iter()
        .find(|(short, _)| *short == name)
        .map_or(name, |(_, full)| *full);
    metric(full).ok_or_else(|| {
        let near = metrics()
            .iter()
            .map(|metric| metric.name())
            .chain(SHORT.iter().map(|(short, _)| *short))
            .min_by_key(|known| strsim::damerau_levenshtein(name, known));
        wrong(format!(
            "there is no metric `{name}`; did you mean `{}`?",
            near.unwrap_or_default()
        ))
    })
}

fn wrong(message: impl Into<String>) -> ObjectiveError {
    ObjectiveError {
        message: message.into(),
    }
}

/// What people call metrics.
const SHORT: [(&str, &str); 10] = [
    ("attempts", "attempts_per_request"),
    ("cost", "cost_usd_per_1000_requests"),
    ("goodput", "goodput_ratio"),
    ("p50", "latency_p50_ms"),
    ("p90", "latency_p90_ms"),
    ("p95", "latency_p95_ms"),
    ("p99", "latency_p99_ms"),
    ("success", "success_ratio"),
    ("ttft", "first_token_p50_ms"),
    ("ttft_p99", "first_token_p99_ms"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_is_read_as_a_person_writes_it() {
        let read = Objective::read("maximize goodput; p99 <= 8s; cost <= +2%; success >= 99.5%");
        let objective = read.unwrap();

        assert_eq!(objective.metric.name(), "goodput_ratio");
        assert_eq!(objective.direction, Direction::Maximize);
        let limits: Vec<_> = objective.bounds.iter().map(|bound| bound.limit).collect();
        assert_eq!(
            limits,
            [
                Limit::Absolute(8_000.0),
                Limit::Relative(0.02),
                Limit::Absolute(0.995)
            ]
        );
    }

    #[test]
    fn what_makes_no_sense_is_told_with_what_was_probably_meant() {
        let told = |text| Objective::read(text).unwrap_err().to_string();

        assert!(told("").starts_with("nothing is asked for"));
        assert!(told("raise goodput").starts_with("`raise` is neither"));
        assert!(told("maximize godput").contains("did you mean `goodput`?"));
        assert!(told("maximize p99").contains("asks for the worse side"));
        assert!(told("maximize goodput; p99 = 3").contains("neither <= nor >="));
        assert!(told("maximize goodput; p99 <= soon").contains("`soon` is no limit"));
        assert!(told("maximize goodput; success >= 99.9").contains("did you mean `99.9%`?"));
        assert!(told("maximize goodput; p99 <= 5%").contains("`5%` is no limit"));
    }

    fn score(objective: &Objective, values: [f64; 2], present: [f64; 2]) -> f64 {
        let row = |values: [f64; 2]| vec![values.map(Some).to_vec()];
        objective.scores(&row(values), &row(present))[0]
    }

    #[test]
    fn no_gain_pays_for_a_broken_bound() {
        let objective = Objective::read("maximize goodput; cost <= +2%").unwrap();
        let of = |goodput, cost| score(&objective, [goodput, cost], [0.9, 1.0]);

        assert!(of(0.95, 1.01) > of(0.92, 0.5));
        assert!(of(0.90, 1.0) > of(1.0, 1.05));
    }

    #[test]
    fn a_share_is_scored_by_what_is_left_to_gain_and_all_else_by_its_present_value() {
        let share = Objective::read("maximize goodput; cost <= +2%").unwrap();
        let time = Objective::read("minimize p99; cost <= +2%").unwrap();

        assert!((score(&share, [0.9995, 1.0], [0.999, 1.0]) - 0.5).abs() < 1e-9);
        assert!((score(&time, [4.0, 1.0], [5.0, 1.0]) - 0.2).abs() < 1e-9);
        assert!(score(&share, [0.999, 1.0], [0.999, 1.0]).abs() < 1e-9);
    }

    #[test]
    fn what_has_no_value_is_the_worst_and_an_unknown_price_breaks_nothing() {
        let objective = Objective::read("minimize p99; cost <= +2%").unwrap();
        let present = vec![vec![Some(5.0), None]];

        let nothing = objective.scores(&[vec![None, Some(1.0)]], &present);
        let unknown = objective.scores(&[vec![Some(4.0), None]], &present);

        assert!(nothing[0] <= WORST);
        assert!((unknown[0] - 0.2).abs() < 1e-12);
    }
}
