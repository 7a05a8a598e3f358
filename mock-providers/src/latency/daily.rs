//! The hours of the day: a provider is slower when most of its customers are at work.

use router::{Epoch, Instant};
use serde::{Deserialize, Serialize};

use crate::{error::SpecError, place::Place};

/// How slow it is by the hour of the wall clock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DailySpec {
    /// The hours of a working day of one's own: in rising order, with straight lines between, and
    /// from the last over midnight to the first.
    Points(Vec<HourPoint>),
    /// A working day of the United States: twice as slow from 8 to 14 h Eastern time as at night.
    UsDay,
}

/// One hour of the day.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HourPoint {
    /// Hours after midnight UTC, from 0 to below 24.
    pub hour_utc: f64,
    /// How many times as long an answer takes at this hour, above 0.
    pub slowdown: f64,
}

/// The day at work.
#[derive(Clone, Debug)]
pub(super) struct Daily {
    points: Vec<HourPoint>,
    /// Nanoseconds of the wall clock's day when the run began.
    began_ns: u64,
}

impl Daily {
    pub(super) fn new(spec: &DailySpec, epoch: Epoch, place: &Place) -> Result<Self, SpecError> {
        let points = match spec {
            DailySpec::Points(points) => points.clone(),
            DailySpec::UsDay => US_DAY.to_vec(),
        };
        if points.is_empty() {
            return Err(place.bad_keys("no point", "one point or more"));
        }
        let mut before = -1.0;
        for (index, point) in points.iter().enumerate() {
            let place = place.key("points").item(index);
            let fits = (0.0..24.0).contains(&point.hour_utc) && point.hour_utc > before;
            let accepted = "a number from 0 to below 24, more than the hour before";
            place.number("hour_utc", point.hour_utc, fits, accepted)?;
            place.positive("slowdown", point.slowdown)?;
            before = point.hour_utc;
        }
        Ok(Self {
            points,
            began_ns: epoch.unix_seconds() % 86_400 * 1_000_000_000,
        })
    }

    /// How many times as long an answer takes that begins at `at`.
    #[expect(
        clippy::cast_precision_loss,
        reason = "an hour of a day is a share of it"
    )]
    #[inline(never)]
    pub(super) fn slowdown(&self, at: Instant) -> f64 {
        let in_day = (at.as_nanos() % DAY_NS + self.began_ns) % DAY_NS;
        let hour = in_day as f64 / HOUR_NS;
        let next = self.points.partition_point(|point| point.hour_utc <= hour);
        let last = self.points.len() - 1;
        let before = match next {
            0 => shifted(self.points[last], -24.0),
            next => self.points[next - 1],
        };
        let after = match self.points.get(next) {
            Some(point) => *point,
            None => shifted(self.points[0], 24.0),
        };
        let passed = (hour - before.hour_utc) / (after.hour_utc - before.hour_utc);
        before.slowdown + (after.slowdown - before.slowdown) * passed
    }
}

const fn shifted(point: HourPoint, by_h: f64) -> HourPoint {
    HourPoint {
        hour_utc: point.hour_utc + by_h,
        ..point
    }
}

const fn hour(hour_utc: f64, slowdown: f64) -> HourPoint {
    HourPoint { hour_utc, slowdown }
}

/// tianpan.co, 2026 (field notes D3): the 95th percentile about doubles from 8 to 14 h Eastern time,
/// and off-peak is 30 to 40 % faster than the day's median, which is 1 here. Eastern standard time is
/// five hours behind; where the rise and the fall begin is an assumption.
const US_DAY: [HourPoint; 4] = [
    hour(1.0, 0.65),
    hour(9.0, 0.65),
    hour(13.0, 1.3),
    hour(19.0, 1.3),
];
const DAY_NS: u64 = 86_400_000_000_000;
const HOUR_NS: f64 = 3.6e12;

#[cfg(test)]
mod tests {
    use super::*;

    fn at_hour(daily: &Daily, hour: f64) -> f64 {
        daily.slowdown(Instant::from_secs_f64(hour * 3_600.0))
    }

    #[test]
    fn a_us_day_is_twice_as_slow_at_its_peak_as_at_night_and_near_one_on_the_whole() {
        let daily = Daily::new(&DailySpec::UsDay, Epoch::default(), &Place::default()).unwrap();

        for (hour, slowdown) in [
            (0.0, 0.758),
            (5.0, 0.65),
            (11.0, 0.975),
            (16.0, 1.3),
            (22.0, 0.975),
        ] {
            assert!(
                (at_hour(&daily, hour) - slowdown).abs() < 0.001,
                "hour {hour}"
            );
            assert!(
                (at_hour(&daily, hour + 48.0) - slowdown).abs() < 0.001,
                "hour {hour}"
            );
        }
        let mean = (0..2_400_u32)
            .map(|n| at_hour(&daily, f64::from(n) / 100.0))
            .sum::<f64>()
            / 2_400.0;
        assert!((0.93..1.0).contains(&mean), "{mean}");
    }

    #[test]
    fn a_run_that_begins_at_noon_is_at_noon() {
        let points = DailySpec::Points(vec![hour(0.0, 1.0), hour(12.0, 3.0)]);
        let noon = Epoch::from_unix_seconds(86_400 * 20_000 + 43_200);
        let daily = Daily::new(&points, noon, &Place::default()).unwrap();

        assert!((at_hour(&daily, 0.0) - 3.0).abs() < 1e-9);
        assert!((at_hour(&daily, 6.0) - 2.0).abs() < 1e-9);
        assert!((at_hour(&daily, 18.0) - 2.0).abs() < 1e-9);
    }
}
