//! Panels with scales: where a value lies, which round values are labelled, and the lines to read
//! them by.

use super::{
    canvas::{Anchor, Canvas, Place, text_width},
    ink::Ink,
};
use crate::metrics::Unit;

/// Values along one side of a panel.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    from: f64,
    to: f64,
    is_log: bool,
    ticks: Vec<(f64, String)>,
}

/// A rectangle with a scale along its bottom and its left side.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
}

impl Scale {
    /// Even steps of 1, 2 or 5 × 10ⁿ, from at most `low` to at least `high`.
    pub(crate) fn linear(low: f64, high: f64, steps: u32, label: impl Fn(f64) -> String) -> Self {
        let high = if high > low {
            high
        } else {
            low + low.abs().max(1e-9)
        };
        let step = round_step((high - low) / f64::from(steps));
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let ticks = counted(first, last)
            .map(|n| (n * step, label(n * step)))
            .collect();
        Self {
            from: first * step,
            to: last * step,
            is_log: false,
            ticks,
        }
    }

    /// Powers of ten with their doubles and fives, as `digits` says, within `low` … `high`.
    pub(crate) fn log(low: f64, high: f64, digits: &[f64], label: impl Fn(f64) -> String) -> Self {
        let low = low.max(1e-9);
        let high = if high > low * 1.01 { high } else { low * 2.0 };
        let decades = counted(libm::log10(low).floor(), libm::log10(high).ceil());
        let ticks = decades
            .flat_map(|decade| {
                digits
                    .iter()
                    .map(move |digit| digit * libm::pow(10.0, decade))
            })
            .filter(|&value| value >= low * 0.999 && value <= high * 1.001)
            .map(|value| (value, label(value)))
            .collect();
        Self {
            from: low,
            to: high,
            is_log: true,
            ticks,
        }
    }

    /// From the run's beginning to `end_s`, at round times.
    pub(crate) fn time(end_s: f64) -> Self {
        let step = TIME_STEPS_S.into_iter().find(|step| end_s / step <= 8.0);
        let step = step.unwrap_or_else(|| round_step(end_s / 8.0 / 86_400.0) * 86_400.0);
        let label = |s: f64| match step {
            step if step >= 86_400.0 => format!("{} d", s / 86_400.0),
            step if step >= 3_600.0 => format!("{} h", s / 3_600.0),
            step if step >= 60.0 => format!("{} min", s / 60.0),
            _ => format!("{s} s"),
        };
        let ticks = counted(0.0, (end_s / step).floor()).map(|n| (n * step, label(n * step)));
        Self {
            from: 0.0,
            to: end_s.max(1e-9),
            is_log: false,
            ticks: ticks.collect(),
        }
    }

    /// The part of the way from one end to the other at which a value lies.
    fn share(&self, value: f64) -> f64 {
        if self.is_log {
            let log = |v: f64| libm::log10(v.max(1e-12));
            (log(value) - log(self.from)) / (log(self.to) - log(self.from))
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }
}

impl Panel {
    pub(crate) fn place(&self, x: f64, y: f64) -> Place {
        (self.x_of(x), self.y_of(y))
    }

    pub(crate) fn x_of(&self, x: f64) -> f64 {
        self.left + self.x.share(x).clamp(0.0, 1.0) * (self.right - self.left)
    }

    pub(crate) fn y_of(&self, y: f64) -> f64 {
        self.bottom - self.y.share(y).clamp(0.0, 1.0) * (self.bottom - self.top)
    }

    /// Lines and labels of both scales. Labels that would touch the one before are left out.
    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>) {
        self.draw_y(canvas);
        self.draw_x(canvas, true);
    }

    pub(crate) fn draw_y(&self, canvas: &mut Canvas<'_>) {
        let mut free_above = f64::INFINITY;
        for (value, label) in &self.y.ticks {
            let y = self.y_of(*value);
            canvas.line(&[(self.left, y), (self.right, y)], Ink::Grid, 1.0);
            if y <= free_above {
                canvas.text(
                    (self.left - 8.0, y),
                    Anchor::Right,
                    SMALL,
                    Ink::Muted,
                    label,
                );
                free_above = y - SMALL - 2.0;
            }
        }
    }

    /// Lines of the bottom scale, with or without its labels.
    pub(crate) fn draw_x(&self, canvas: &mut Canvas<'_>, with_labels: bool) {
        let mut free_from = f64::NEG_INFINITY;
        for (value, label) in &self.x.ticks {
            let x = self.x_of(*value);
            canvas.line(&[(x, self.top), (x, self.bottom)], Ink::Grid, 1.0);
            let half = text_width(label, SMALL) / 2.0;
            if with_labels && x - half >= free_from {
                let at = (x, self.bottom + 14.0);
                canvas.text(at, Anchor::Middle, SMALL, Ink::Muted, label);
                free_from = x + half + 10.0;
            }
        }
    }

    /// What the bottom scale measures, under its labels.
    pub(crate) fn name_x(&self, canvas: &mut Canvas<'_>, name: &str) {
        let at = (f64::midpoint(self.left, self.right), self.bottom + 34.0);
        canvas.text(at, Anchor::Middle, SMALL, Ink::Text, name);
    }

    /// What the left scale measures, above its top.
    pub(crate) fn name_y(&self, canvas: &mut Canvas<'_>, name: &str) {
        canvas.text(
            (self.left - 8.0, self.top - 16.0),
            Anchor::Left,
            SMALL,
            Ink::Text,
            name,
        );
    }
}

/// Swatches with their words, side by side, broken into lines at `right`; gives the y below them.
pub(crate) fn legend(
    canvas: &mut Canvas<'_>,
    from: Place,
    right: f64,
    entries: &[(Ink, String)],
) -> f64 {
    let (mut x, mut y) = from;
    for (ink, words) in entries {
        let width = 18.0 + text_width(words, SMALL) + 16.0;
        if x > from.0 && x + width > right {
            x = from.0;
            y += 18.0;
        }
        canvas.rect((x, y - 5.0), (x + 12.0, y + 5.0), *ink, 1.0);
        canvas.text((x + 18.0, y), Anchor::Left, SMALL, Ink::Text, words);
        x += width;
    }
    y + 18.0
}

/// A value at a tick, with no more decimals than it needs.
pub(crate) fn tick_label(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ratio => format!("{} %", short_number(value * 100.0)),
        Unit::Millis if value >= 1_000.0 => format!("{} s", short_number(value / 1e3)),
        Unit::Millis => format!("{} ms", short_number(value)),
        Unit::UsdPer1000Requests => format!("${}", short_number(value)),
        Unit::Count
        | Unit::Factor
        | Unit::PerMinute
        | Unit::PerCall
        | Unit::PerRequest
        | Unit::PerSecond
        | Unit::SecondsPerRequest => short_number(value),
    }
}

/// At most four decimals, without trailing zeros.
pub(crate) fn short_number(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".into()
    } else {
        text.replace('-', "−")
    }
}

/// The smallest of 1, 2, 5 × 10ⁿ that is at least `step`.
fn round_step(step: f64) -> f64 {
    let decade = libm::pow(10.0, libm::log10(step.max(1e-12)).floor());
    let digit = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|digit| digit * decade >= step * 0.999);
    digit.unwrap_or(10.0) * decade
}

/// Whole numbers from `first` to `last`, at most a hundred.
fn counted(first: f64, last: f64) -> impl Iterator<Item = f64> {
    (0..=100_u32)
        .map(move |n| first + f64::from(n))
        .take_while(move |&n| n <= last)
}

/// Size of labels.
pub(crate) const SMALL: f64 = 12.0;
const TIME_STEPS_S: [f64; 18] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0,
    14_400.0, 21_600.0, 43_200.0, 86_400.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale
            .ticks
            .iter()
            .map(|(_, label)| label.as_str())
            .collect()
    }

    #[test]
    fn linear_ticks_are_round_and_enclose_the_values() {
        let scale = Scale::linear(0.913, 0.984, 4, |v| tick_label(Unit::Ratio, v));

        assert_eq!(
            labels(&scale),
            ["90 %", "92 %", "94 %", "96 %", "98 %", "100 %"]
        );
    }

    #[test]
    fn a_single_value_still_makes_a_scale() {
        for value in [0.0, 1.0, -3.0] {
            let scale = Scale::linear(value, value, 4, short_number);
            assert!(
                scale.ticks.len() >= 2 && scale.share(value).is_finite(),
                "{scale:?}"
            );
        }
    }

    #[test]
    fn log_ticks_lie_within_the_range() {
        let scale = Scale::log(0.3, 25.0, &[1.0, 2.0, 5.0], short_number);

        assert_eq!(labels(&scale), ["0.5", "1", "2", "5", "10", "20"]);
    }

    #[test]
    fn time_is_told_in_the_unit_of_its_steps() {
        assert_eq!(
            labels(&Scale::time(300.0))[..3],
            ["0 min", "1 min", "2 min"]
        );
        assert_eq!(labels(&Scale::time(45.0))[1], "10 s");
        assert_eq!(labels(&Scale::time(7.0 * 86_400.0))[1], "1 d");
        assert!(labels(&Scale::time(1e9)).len() <= 9);
    }
}
