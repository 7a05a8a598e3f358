//! When something is on: always, from one moment to another, again and again, or at random.
//!
//! A schedule is a row of spans that depends on its settings and the seed alone. It is unrolled
//! only as far as it is asked, with each random span keyed by its number, so that the spans that
//! calls meet and the spans that a picture shows are the same.

use router::{Instant, KeyedRng, Purpose, Seed, nanos_from_secs};
use serde::{Deserialize, Serialize};

use crate::{error::SpecError, place::Place, sampler::Sampler};

/// On and off by the clock.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Every {
    /// From the beginning of one span to the beginning of the next, in seconds, 0.001 or more.
    pub period_s: f64,
    /// How long each span lasts, in seconds: above 0, `period_s` at most.
    pub on_s: f64,
    /// When the first span begins, in seconds after `from_s`. Default 0.
    #[serde(default)]
    pub first_s: f64,
}

/// On and off at random: a gap, a span, a gap and so on, all log-normal and independent.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Random {
    /// Mean time without, in seconds, 0.001 or more. The schedule starts with a gap.
    pub gap_mean_s: f64,
    /// Coefficient of variation of gaps, from 0 to 100. Status pages of two large providers give
    /// 2.17 and 1.85 (field notes D5).
    pub gap_cv: f64,
    /// Mean length of a span, in seconds, 0.001 or more.
    pub duration_mean_s: f64,
    /// Coefficient of variation of spans, from 0 to 100. The same pages give log-normal lengths of
    /// sigma 1.165 and 1.39, which is 1.70 and 2.43.
    pub duration_cv: f64,
}

/// A span of time, from its beginning up to but without its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

/// The schedule keys of a fault, as written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    pub(crate) from_s: Option<f64>,
    pub(crate) to_s: Option<f64>,
    pub(crate) every: Option<Every>,
    pub(crate) random: Option<Random>,
}

impl Timing {
    pub(crate) fn schedule(self, place: &Place, keys: Keys) -> Result<Schedule, SpecError> {
        let rhythm = match (self.every, self.random) {
            (None, None) => Rhythm::Steady,
            (Some(every), None) => every.rhythm(&place.key("every"))?,
            (None, Some(random)) => random.rhythm(&place.key("random"), keys)?,
            (Some(_), Some(_)) => {
                return Err(place.bad_keys("both `every` and `random`", "one of the two at most"));
            }
        };
        Ok(Schedule::new(self.bounds(place)?, rhythm))
    }

    /// From when until when the schedule holds at all.
    pub(crate) fn bounds(self, place: &Place) -> Result<Span, SpecError> {
        let from_s = place.not_negative("from_s", self.from_s.unwrap_or(0.0))?;
        let Some(to_s) = self.to_s else {
            return Ok(Span {
                from: Instant::from_secs_f64(from_s),
                to: Instant::NEVER,
            });
        };
        let fits = to_s.is_finite() && to_s > from_s;
        place.number("to_s", to_s, fits, "a finite number above from_s")?;
        Ok(Span {
            from: Instant::from_secs_f64(from_s),
            to: Instant::from_secs_f64(to_s),
        })
    }
}

impl Every {
    fn rhythm(self, place: &Place) -> Result<Rhythm, SpecError> {
        let period = place.period("period_s", self.period_s)?;
        place.positive("on_s", self.on_s)?;
        place.number("on_s", self.on_s, self.on_s <= period, "period_s at most")?;
        let first_ns = nanos_from_secs(place.not_negative("first_s", self.first_s)?);
        Ok(Rhythm::every(
            nanos_from_secs(period),
            nanos_from_secs(self.on_s),
            first_ns,
        ))
    }
}

impl Random {
    fn rhythm(self, place: &Place, keys: Keys) -> Result<Rhythm, SpecError> {
        let gap_s = place.period("gap_mean_s", self.gap_mean_s)?;
        let gap_cv = place.variation("gap_cv", self.gap_cv)?;
        let duration_s = place.period("duration_mean_s", self.duration_mean_s)?;
        let duration_cv = place.variation("duration_cv", self.duration_cv)?;
        let gap_s = Sampler::log_normal(gap_s, gap_cv);
        Ok(Rhythm::Random {
            gap_s,
            on_s: Sampler::log_normal(duration_s, duration_cv),
            keys,
        })
    }
}

/// What the random spans of a schedule are keyed by, besides their own number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub(crate) seed: Seed,
    pub(crate) purpose: Purpose,
    /// Which provider of the plan, and which of its faults of this kind.
    pub(crate) number: u64,
}

/// How spans follow each other.
#[derive(Clone, Debug)]
pub(crate) enum Rhythm {
    Steady,
    Every {
        period_ns: u64,
        on_ns: u64,
        first_ns: u64,
    },
    Random {
        gap_s: Sampler,
        on_s: Sampler,
        keys: Keys,
    },
}

impl Rhythm {
    /// A span of `on_ns` each `period_ns`; both at least 1 ns, whatever was rounded away.
    pub(crate) fn every(period_ns: u64, on_ns: u64, first_ns: u64) -> Self {
        let period_ns = period_ns.max(1);
        Self::Every {
            period_ns,
            on_ns: on_ns.clamp(1, period_ns),
            first_ns,
        }
    }
}

/// A row of spans, and where in it the present is.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    bounds: Span,
    rhythm: Rhythm,
    number: u64,
    span: Span,
}

impl Schedule {
    pub(crate) fn new(bounds: Span, rhythm: Rhythm) -> Self {
        let before = Span {
            from: bounds.from,
            to: bounds.from,
        };
        let span = rhythm.next(0, before, bounds.from);
        Self {
            bounds,
            rhythm,
            number: 0,
            span,
        }
    }

    /// Whether it is on at `at`, which never runs back.
    pub(crate) fn is_on(&mut self, at: Instant) -> bool {
        while self.span.to <= at && self.span.to < self.bounds.to {
            self.step();
        }
        self.is_within(at) && self.span.from <= at && at < self.span.to
    }

    /// Whether `at` lies between the first and the last moment that the schedule may be on.
    pub(crate) fn is_within(&self, at: Instant) -> bool {
        self.bounds.from <= at && at < self.bounds.to
    }

    /// Its spans before `until`, cut there, [`MOST_SPANS`] at most. None for one that is always on.
    pub(crate) fn spans(&self, until: Instant) -> Vec<Span> {
        let end = self.bounds.to.min(until);
        let always = Span {
            from: Instant::ZERO,
            to: Instant::NEVER,
        };
        if matches!(self.rhythm, Rhythm::Steady) && self.bounds == always {
            return Vec::new();
        }
        let mut row = Self::new(self.bounds, self.rhythm.clone());
        let mut spans = Vec::new();
        while row.span.from < end && spans.len() < MOST_SPANS {
            if row.span.from < row.span.to {
                spans.push(Span {
                    from: row.span.from,
                    to: row.span.to.min(end),
                });
            }
            if row.span.to == Instant::NEVER {
                break;
            }
            row.step();
        }
        spans
    }

    fn step(&mut self) {
        self.number += 1;
        self.span = self.rhythm.next(self.number, self.span, self.bounds.from);
    }
}

impl Rhythm {
    /// The span after `before`, which is number `number`.
    fn next(&self, number: u64, before: Span, origin: Instant) -> Span {
        let plus = |at: Instant, ns: u64| Instant::from_nanos(at.as_nanos().saturating_add(ns));
        match self {
            Self::Steady => Span {
                from: origin,
                to: Instant::NEVER,
            },
            Self::Every {
                period_ns,
                on_ns,
                first_ns,
            } => {
                let offset = first_ns.saturating_add(period_ns.saturating_mul(number));
                let from = plus(origin, offset);
                Span {
                    from,
                    to: plus(from, *on_ns),
                }
            }
            Self::Random { gap_s, on_s, keys } => {
                let mut draws = KeyedRng::new(keys.seed, keys.purpose, number, keys.number);
                let from = plus(before.to, nanos_from_secs(gap_s.draw(&mut draws)));
                Span {
                    from,
                    to: plus(from, nanos_from_secs(on_s.draw(&mut draws))),
                }
            }
        }
    }
}

/// A picture needs no more, and a schedule of milliseconds over days would have many millions.
pub(crate) const MOST_SPANS: usize = 10_000;
