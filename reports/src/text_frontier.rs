//! A trade-off for a terminal: one metric upwards, another across, a character for each candidate.

use crate::{
    metrics::{Better, Metric},
    stats::size,
};

/// A candidate of a trade-off.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Candidate {
    /// Its mean of the metric that goes across.
    pub across: f64,
    /// Its mean of the one that goes upwards.
    pub up: f64,
    /// The letter that it has, whoever else lies there; without one it is a dot.
    pub letter: Option<char>,
}

/// The candidates as a picture, with what stands at its ends; empty where there is no trade-off to see: with fewer
/// than three, or where all have the same in one of the two.
#[must_use]
pub fn text_frontier(across: &dyn Metric, up: &dyn Metric, of: &[Candidate]) -> String {
    let (x, y) = (ends(of, |one| one.across), ends(of, |one| one.up));
    if of.len() < 3 || x.0 >= x.1 || y.0 >= y.1 {
        return String::new();
    }
    let mut field = vec![[' '; WIDTH]; HEIGHT];
    let is_beaten = |one: &Candidate| {
        of.iter().any(|other| {
            let no_worse =
                !is_worse(across, other.across, one.across) && !is_worse(up, other.up, one.up);
            no_worse && (other.across, other.up) != (one.across, one.up)
        })
    };
    let strength = |one: &Candidate| (one.letter.is_some(), !is_beaten(one));
    let mut weakest_first: Vec<&Candidate> = of.iter().collect();
    weakest_first.sort_by_key(|one| strength(one));
    for one in weakest_first {
        let dot = if is_beaten(one) { '○' } else { '●' };
        let row = HEIGHT - 1 - place(one.up, y, HEIGHT);
        field[row][place(one.across, x, WIDTH)] = one.letter.unwrap_or(dot);
    }
    let (top, bottom) = (up.unit().show(y.1), up.unit().show(y.0));
    let margin = top.chars().count().max(bottom.chars().count());
    let mut text = String::new();
    for (at, row) in field.iter().enumerate() {
        let label = match at {
            0 => &top,
            at if at + 1 == HEIGHT => &bottom,
            _ => "",
        };
        let row: String = row.iter().collect();
        text += &format!("  {label:>margin$} │{}\n", row.trim_end());
    }
    let (left, right) = (across.unit().show(x.0), across.unit().show(x.1));
    let between = WIDTH.saturating_sub(left.chars().count());
    text += &format!("  {:margin$} └{}\n", "", "─".repeat(WIDTH));
    text += &format!("  {:margin$}  {left}{right:>between$}\n", "");
    text
}

fn ends(of: &[Candidate], value: fn(&Candidate) -> f64) -> (f64, f64) {
    let values = of.iter().map(value);
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| {
        (ends.0.min(value), ends.1.max(value))
    })
}

fn is_worse(metric: &dyn Metric, one: f64, other: f64) -> bool {
    match metric.better() {
        Better::Higher => one < other,
        Better::Lower | Better::Neither => one > other,
    }
}

/// The cell of a value between two ends, of so many.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a small picture; the cast saturates"
)]
fn place(value: f64, (low, high): (f64, f64), cells: usize) -> usize {
    let share = (value - low) / (high - low);
    ((share * size(cells - 1)).round() as usize).min(cells - 1)
}

const WIDTH: usize = 56;
const HEIGHT: usize = 11;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::metric;

    fn drawn(of: &[(f64, f64, Option<char>)]) -> String {
        let candidate =
            |&(across, up, letter): &(f64, f64, Option<char>)| Candidate { across, up, letter };
        let of: Vec<Candidate> = of.iter().map(candidate).collect();
        let (across, up) = (
            metric("attempts_per_request").unwrap(),
            metric("success_ratio").unwrap(),
        );
        text_frontier(across, up, &of)
    }

    #[test]
    fn letters_lie_above_dots_and_who_is_beaten_in_both_is_hollow() {
        insta::assert_snapshot!(drawn(&[
            (1.138, 0.9608, Some('P')),
            (1.009, 0.9896, Some('A')),
            (1.009, 0.9895, None),
            (1.002, 0.9790, None),
            (1.060, 0.9780, None),
        ]));
    }

    #[test]
    fn without_a_trade_off_there_is_no_picture() {
        assert_eq!(drawn(&[(1.0, 0.9, None), (1.1, 0.95, None)]), "");
        let same = [(1.0, 0.9, None), (1.0, 0.95, None), (1.0, 0.97, None)];
        assert_eq!(drawn(&same), "");
    }
}
