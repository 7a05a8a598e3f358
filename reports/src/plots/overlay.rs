//! What was seen and what a fit says of it, as lines over each other.

use super::{
    Drawing, HALF,
    axes::{Panel, Scale, legend, short_number},
    canvas::{Canvas, Place},
    in_pixels,
    ink::Ink,
};
use crate::error::ReportError;

/// A picture of lines that should lie on each other.
#[derive(Clone, PartialEq, Debug)]
pub struct Overlay {
    /// Its heading.
    pub title: String,
    /// What to see in it.
    pub caption: String,
    /// What lies along the bottom.
    pub across: Across,
    /// What the left side counts.
    pub up: Up,
    /// The line of what was seen.
    pub seen: Vec<(f64, f64)>,
    /// The line of what the fit says; may be empty.
    pub fitted: Vec<(f64, f64)>,
}

/// What lies along the bottom of an [`Overlay`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Across {
    /// Milliseconds, each decade as wide as the next.
    Millis,
    /// Tokens, in the same way.
    Tokens,
    /// Seconds of a run.
    Seconds,
    /// Gaps between requests, as parts of the mean gap, in the way of milliseconds.
    Gaps,
}

/// What the left side of an [`Overlay`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Up {
    /// Shares from 0 to 1.
    Share,
    /// Requests a second.
    PerSecond,
}

/// Draws it; `None` where nothing was seen.
///
/// # Errors
///
/// If the plotting library refuses.
pub fn overlay(of: &Overlay) -> Result<Option<Drawing>, ReportError> {
    let all = || of.seen.iter().chain(&of.fitted);
    let ends = |axis: fn(&Place) -> f64| {
        all()
            .map(axis)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| {
                (ends.0.min(value), ends.1.max(value))
            })
    };
    let ((left, right), (_, most)) = (ends(|p| p.0), ends(|p| p.1));
    if of.seen.len() < 2 || right <= left {
        return Ok(None);
    }
    let size = (HALF, 380);
    let mut svg = String::new();
    let mut canvas = Canvas::on(&mut svg, size);
    let mut entries = vec![(Ink::Other, "in the log".to_owned())];
    if !of.fitted.is_empty() {
        entries.push((Ink::Best, "fitted".to_owned()));
    }
    let top = legend(&mut canvas, (16.0, 14.0), f64::from(HALF) - 8.0, &entries) + 26.0;
    let digits = [1.0, 2.0, 5.0];
    let panel = Panel {
        left: 64.0,
        top,
        right: f64::from(HALF) - 20.0,
        bottom: 330.0,
        x: match of.across {
            Across::Millis => Scale::log(left, right, &digits, |ms| match ms >= 1_000.0 {
                true => format!("{} s", short_number(ms / 1_000.0)),
                false => format!("{} ms", short_number(ms)),
            }),
            Across::Tokens | Across::Gaps => Scale::log(left, right, &digits, short_number),
            Across::Seconds => Scale::time(right),
        },
        y: match of.up {
            Up::Share => Scale::linear(0.0, 1.0, 4, |share| {
                format!("{} %", short_number(100.0 * share))
            }),
            Up::PerSecond => Scale::linear(0.0, most, 4, short_number),
        },
    };
    panel.draw(&mut canvas);
    panel.name_x(
        &mut canvas,
        match of.across {
            Across::Millis => "time of an answer",
            Across::Tokens => "tokens",
            Across::Seconds => "time since the run's zero",
            Across::Gaps => "gap between requests, in mean gaps",
        },
    );
    panel.name_y(
        &mut canvas,
        match of.up {
            Up::Share => "at or below",
            Up::PerSecond => "requests a second",
        },
    );
    let places = |points: &[(f64, f64)]| -> Vec<Place> {
        points.iter().map(|(x, y)| panel.place(*x, *y)).collect()
    };
    canvas.line(&places(&of.seen), Ink::Other, 3.0);
    if of.fitted.len() > 1 {
        canvas.line(&places(&of.fitted), Ink::Best, 1.75);
    }
    canvas.finish("overlay")?;
    Ok(Some(Drawing {
        name: "overlay",
        svg: in_pixels(&svg, size, &of.title, &of.caption),
        title: of.title.clone(),
        caption: of.caption.clone(),
        width: size.0,
    }))
}
