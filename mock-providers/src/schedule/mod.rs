//! When something is on: always, from one moment to another, again and again, or at random.
//!
//! A schedule is a row of spans that depends on its settings and the seed alone. It is unrolled
//! only as far as it is asked, with each random span keyed by its number, so that the spans that
//! calls meet and the spans that a picture shows are the same.

mod keys;
mod row;

use router::{Instant, nanos_from_secs};
use serde::{Deserialize, Serialize};

pub(crate) use self::{
    keys::{Keys, Origin, number_of},
    row::{Rhythm, Row},
};
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
    /// The share of these spans that strike every deployment of the provider's `fleet` at the same
    /// time, from 0 to 1; the others strike this deployment alone. How often one is struck stays the
    /// same. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<f64>,
}

/// A span of time, from its beginning up to but without its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

impl Span {
    fn holds(self, at: Instant) -> bool {
        self.from <= at && at < self.to
    }
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
        let bounds = self.bounds(place)?;
        match (self.every, self.random) {
            (None, None) => Ok(Schedule::new(bounds, Rhythm::Steady)),
            (Some(every), None) => Ok(Schedule::new(bounds, every.rhythm(&place.key("every"))?)),
            (None, Some(random)) => random.schedule(bounds, &place.key("random"), keys),
            (Some(_), Some(_)) => {
                Err(place.bad_keys("both `every` and `random`", "one of the two at most"))
            }
        }
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
    fn schedule(self, bounds: Span, place: &Place, keys: Keys) -> Result<Schedule, SpecError> {
        let shared = place.share("shared", self.shared.unwrap_or_default())?;
        let fleet = match keys.of_fleet() {
            Some(keys) if shared > 0.0 => Some(Row::new(bounds, self.rhythm(place, keys, shared)?)),
            None if shared > 0.0 => return Err(place.bad_keys("`shared`", NEEDS_FLEET)),
            Some(_) | None => None,
        };
        let own = if shared < 1.0 {
            Some(Row::new(bounds, self.rhythm(place, keys, 1.0 - shared)?))
        } else {
            None
        };
        Ok(Schedule { bounds, own, fleet })
    }

    fn rhythm(self, place: &Place, keys: Keys, keep: f64) -> Result<Rhythm, SpecError> {
        let gap_s = place.period("gap_mean_s", self.gap_mean_s)?;
        let gap_cv = place.variation("gap_cv", self.gap_cv)?;
        let duration_s = place.period("duration_mean_s", self.duration_mean_s)?;
        let duration_cv = place.variation("duration_cv", self.duration_cv)?;
        Ok(Rhythm::Random {
            gap_s: Sampler::log_normal(gap_s, gap_cv),
            on_s: Sampler::log_normal(duration_s, duration_cv),
            keys,
            keep,
        })
    }
}

/// The spans in which something is on, and where in them the present is.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    bounds: Span,
    own: Option<Row>,
    /// Those that strike the whole fleet.
    fleet: Option<Row>,
}

impl Schedule {
    pub(crate) fn new(bounds: Span, rhythm: Rhythm) -> Self {
        Self {
            bounds,
            own: Some(Row::new(bounds, rhythm)),
            fleet: None,
        }
    }

    /// Whether it is on at `at`, which never runs back.
    pub(crate) fn is_on(&mut self, at: Instant) -> bool {
        let own = self.own.as_mut().is_some_and(|row| row.is_on(at));
        let fleet = self.fleet.as_mut().is_some_and(|row| row.is_on(at));
        own || fleet
    }

    /// The first and the last moment between which the schedule may be on.
    pub(crate) const fn bounds(&self) -> Span {
        self.bounds
    }

    /// Whether `at` lies between the first and the last moment that the schedule may be on.
    pub(crate) fn is_within(&self, at: Instant) -> bool {
        self.bounds.holds(at)
    }

    /// Its spans before `until`, cut there, [`MOST_SPANS`] at most. None for one that is always on.
    pub(crate) fn spans(&self, until: Instant) -> Vec<Span> {
        let rows = [&self.own, &self.fleet].into_iter().flatten();
        let mut spans: Vec<Span> = rows
            .filter(|row| !row.is_always_on())
            .flat_map(|row| row.spans(until))
            .collect();
        if self.fleet.is_some() {
            spans.sort_by_key(|span| (span.from, span.to));
            spans.dedup_by(|next, kept| {
                let touches = next.from <= kept.to;
                if touches {
                    kept.to = kept.to.max(next.to);
                }
                touches
            });
            spans.truncate(MOST_SPANS);
        }
        spans
    }
}

/// A picture needs no more, and a schedule of milliseconds over days would have many millions.
pub(crate) const MOST_SPANS: usize = 10_000;
const NEEDS_FLEET: &str = "it beside `fleet` or `preset`";

#[cfg(test)]
mod tests {
    use router::{Purpose, Seed};

    use super::*;

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    fn keys(number: u64) -> Keys {
        Keys {
            seed: Seed(2),
            purpose: Purpose::named("test.schedule"),
            number: number << 32,
            fleet: Some(7),
        }
    }

    fn schedule(timing: Timing) -> Schedule {
        timing.schedule(&Place::default(), keys(0)).unwrap()
    }

    fn span(from: f64, to: f64) -> Span {
        Span {
            from: at(from),
            to: at(to),
        }
    }

    const RANDOM: Random = Random {
        gap_mean_s: 30.0,
        gap_cv: 2.0,
        duration_mean_s: 10.0,
        duration_cv: 1.5,
        shared: None,
    };

    #[test]
    fn periodic_spans_are_counted_from_the_beginning_and_cut_at_the_end() {
        let every = Every {
            period_s: 10.0,
            on_s: 4.0,
            first_s: 3.0,
        };
        let timing = Timing {
            from_s: Some(100.0),
            to_s: Some(115.0),
            every: Some(every),
            random: None,
        };
        let mut schedule = schedule(timing);

        assert_eq!(
            schedule.spans(at(1_000.0)),
            [span(103.0, 107.0), span(113.0, 115.0)]
        );
        assert_eq!(schedule.spans(at(105.0)), [span(103.0, 105.0)]);
        let moments = [102.9, 103.0, 106.9, 107.0, 113.0, 114.9, 115.0, 123.5];
        let on = moments.map(|s| schedule.is_on(at(s)));
        assert_eq!(on, [false, true, true, false, true, true, false, false]);
    }

    #[test]
    fn a_steady_schedule_is_drawn_only_if_it_has_a_beginning_or_an_end() {
        let bounded = Timing {
            from_s: Some(5.0),
            ..Timing::default()
        };

        assert_eq!(schedule(Timing::default()).spans(at(60.0)), []);
        assert!(schedule(Timing::default()).is_on(at(0.0)));
        assert_eq!(schedule(bounded).spans(at(60.0)), [span(5.0, 60.0)]);
    }

    #[test]
    fn random_spans_follow_each_other_with_the_means_that_were_given() {
        let random = schedule(Timing {
            random: Some(RANDOM),
            ..Timing::default()
        });

        let spans = random.spans(at(400_000.0));

        let count = f64::from(u32::try_from(spans.len()).unwrap());
        let on: f64 = spans
            .iter()
            .map(|span| span.to.since(span.from).as_secs_f64())
            .sum();
        let off: f64 = spans
            .iter()
            .scan(Instant::ZERO, |before, span| {
                assert!(span.from >= *before, "spans overlap");
                Some(
                    span.from
                        .since(std::mem::replace(before, span.to))
                        .as_secs_f64(),
                )
            })
            .sum();
        // Five standard errors of the mean of some 10,000: cv · 5 ÷ 100.
        assert!(
            (on / count / 10.0 - 1.0).abs() < 0.075,
            "mean duration {}",
            on / count
        );
        assert!(
            (off / count / 30.0 - 1.0).abs() < 0.1,
            "mean gap {}",
            off / count
        );
    }

    #[test]
    fn two_providers_with_one_spec_have_different_random_spans() {
        let timing = Timing {
            random: Some(RANDOM),
            ..Timing::default()
        };
        let other = timing.schedule(&Place::default(), keys(1)).unwrap();

        assert_ne!(schedule(timing).spans(at(600.0)), other.spans(at(600.0)));
    }

    #[test]
    fn the_end_of_time_is_reached_and_not_passed() {
        let mut random = schedule(Timing {
            from_s: Some(1e18),
            random: Some(RANDOM),
            ..Timing::default()
        });

        assert!(!random.is_on(Instant::NEVER));
        assert_eq!(random.spans(Instant::NEVER), []);
    }

    #[test]
    fn a_picture_gets_ten_thousand_spans_at_most() {
        let every = Some(Every {
            period_s: 0.001,
            on_s: 0.0005,
            first_s: 0.0,
        });

        let spans = schedule(Timing {
            every,
            ..Timing::default()
        })
        .spans(Instant::NEVER);

        assert_eq!(spans.len(), MOST_SPANS);
    }

    /// The share of time that is on, of one alone and of two at once.
    fn overlap(shared: f64) -> (f64, f64) {
        let timing = Timing {
            random: Some(Random {
                shared: Some(shared),
                ..RANDOM
            }),
            ..Timing::default()
        };
        let mut pair =
            [1, 2].map(|number| timing.schedule(&Place::default(), keys(number)).unwrap());
        let (mut one, mut both) = (0_u32, 0_u32);
        for second in 0..400_000_u32 {
            let on = pair.each_mut().map(|s| s.is_on(at(f64::from(second))));
            one += u32::from(on[0]);
            both += u32::from(on[0] && on[1]);
        }
        (f64::from(one) / 400_000.0, f64::from(both) / 400_000.0)
    }

    #[test]
    fn shared_spans_strike_a_fleet_together_and_each_as_often_as_before() {
        // A quarter of the time is on; two that are independent share a sixteenth.
        let (one, both) = overlap(0.0);
        assert!(
            (one - 0.25).abs() < 0.02 && (both - 0.0625).abs() < 0.012,
            "{one}, {both}"
        );

        let (one, both) = overlap(1.0);
        assert!(
            (one - 0.25).abs() < 0.02 && (one - both).abs() < 1e-9,
            "{one}, {both}"
        );

        // Half of the spans are shared; own and shared ones may overlap.
        let (one, both) = overlap(0.5);
        assert!((one - 0.234).abs() < 0.02, "{one}");
        assert!((0.11..0.18).contains(&both), "{both}");
    }

    #[test]
    fn the_spans_of_a_fleet_are_drawn_once_where_they_overlap_with_own_ones() {
        let timing = Timing {
            random: Some(Random {
                shared: Some(0.5),
                ..RANDOM
            }),
            ..Timing::default()
        };
        let mut row = schedule(timing);
        let spans = row.spans(at(4_000.0));

        assert!(spans.is_sorted_by(|one, next| one.to < next.from));
        for second in 0..4_000_u32 {
            let now = at(f64::from(second));
            assert_eq!(
                row.is_on(now),
                spans.iter().any(|span| span.holds(now)),
                "{now}"
            );
        }
    }
}
