//! A sheet to draw on, in pixels of the page.
//!
//! The drawing library places marks at whole units, so a unit is a quarter of a pixel here; the
//! sheet's `viewBox` undoes it. No font is asked for or embedded: text stays text, and the width
//! that it will take is only guessed where a label must not run into another.

use plotters::{
    backend::SVGBackend,
    coord::Shift,
    drawing::{DrawingArea, IntoDrawingArea},
    element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle, Text},
    style::{
        Color, FontStyle, IntoFont, RGBColor, ShapeStyle,
        text_anchor::{HPos, Pos, VPos},
    },
};

use super::ink::Ink;
use crate::error::ReportError;

/// A drawing under way.
pub struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    trouble: Option<String>,
}

/// A place: pixels from the left and from the top.
pub(crate) type Place = (f64, f64);

/// Where a text stands from its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Anchor {
    /// The place is the middle of its left edge.
    Left,
    /// The place is its middle.
    Middle,
    /// The place is the middle of its right edge.
    Right,
}

impl<'a> Canvas<'a> {
    pub(crate) fn on(svg: &'a mut String, (width, height): (u32, u32)) -> Self {
        let size = (width * UNITS, height * UNITS);
        let area = SVGBackend::with_string(svg, size).into_drawing_area();
        Self {
            area,
            trouble: None,
        }
    }

    pub(crate) fn line(&mut self, points: &[Place], ink: Ink, width: f64) {
        let points: Vec<_> = points.iter().map(|&place| units(place)).collect();
        let style = colour(ink).to_rgba().stroke_width(stroke(width));
        self.draw(&PathElement::new(points, style));
    }

    pub(crate) fn area(&mut self, points: &[Place], ink: Ink, opacity: f64) {
        let points: Vec<_> = points.iter().map(|&place| units(place)).collect();
        self.draw(&Polygon::new(points, colour(ink).mix(opacity).filled()));
    }

    pub(crate) fn rect(&mut self, from: Place, to: Place, ink: Ink, opacity: f64) {
        let style: ShapeStyle = colour(ink).mix(opacity).filled();
        self.draw(&Rectangle::new([units(from), units(to)], style));
    }

    pub(crate) fn frame(&mut self, from: Place, to: Place, ink: Ink, width: f64) {
        let (left, top, right, bottom) = (from.0, from.1, to.0, to.1);
        let corners = [
            (left, top),
            (right, top),
            (right, bottom),
            (left, bottom),
            (left, top),
        ];
        self.line(&corners, ink, width);
    }

    pub(crate) fn dot(&mut self, at: Place, radius: f64, ink: Ink) {
        let radius = stroke(radius);
        self.draw(&Circle::new(units(at), radius, colour(ink).filled()));
    }

    pub(crate) fn text(&mut self, at: Place, anchor: Anchor, size: f64, ink: Ink, text: &str) {
        self.words(at, anchor, size, ink, FontStyle::Normal, text);
    }

    pub(crate) fn bold(&mut self, at: Place, anchor: Anchor, size: f64, ink: Ink, text: &str) {
        self.words(at, anchor, size, ink, FontStyle::Bold, text);
    }

    fn words(
        &mut self,
        at: Place,
        anchor: Anchor,
        size: f64,
        ink: Ink,
        weight: FontStyle,
        text: &str,
    ) {
        let horizontal = match anchor {
            Anchor::Left => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::Right => HPos::Right,
        };
        let font = ("sans-serif", size * f64::from(UNITS) * POINTS)
            .into_font()
            .style(weight);
        let style = font
            .color(&colour(ink))
            .pos(Pos::new(horizontal, VPos::Center));
        self.draw(&Text::new(printable(text), units(at), style));
    }

    fn draw<E>(&mut self, element: &E)
    where
        for<'b> &'b E: PointCollection<'b, (i32, i32)>,
        E: Drawable<SVGBackend<'a>>,
    {
        if let Err(reason) = self.area.draw(element) {
            self.trouble.get_or_insert_with(|| reason.to_string());
        }
    }

    /// Ends the drawing; tells of the first thing that went wrong.
    pub(crate) fn finish(mut self, plot: &'static str) -> Result<(), ReportError> {
        if let Err(reason) = self.area.present() {
            self.trouble.get_or_insert_with(|| reason.to_string());
        }
        match self.trouble {
            None => Ok(()),
            Some(reason) => Err(ReportError::Draw { plot, reason }),
        }
    }
}

impl std::fmt::Debug for Canvas<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canvas")
            .field("trouble", &self.trouble)
            .finish_non_exhaustive()
    }
}

/// About how wide a text will be: the mean advance of sans-serif faces is a little over half the size.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    crate::stats::size(text.chars().count()) * size * 0.55
}

/// Without control characters, which XML does not allow.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Cuts what is longer than `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text
            .chars()
            .take(most.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "pixels of a page; the cast saturates"
)]
fn units((x, y): Place) -> (i32, i32) {
    let scaled = |pixels: f64| (pixels * f64::from(UNITS)).round() as i32;
    (scaled(x), scaled(y))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive width of a few pixels"
)]
fn stroke(pixels: f64) -> u32 {
    (pixels * f64::from(UNITS)).round() as u32
}

fn colour(ink: Ink) -> RGBColor {
    let [_, red, green, blue] = ink.forms().0.to_be_bytes();
    RGBColor(red, green, blue)
}

/// Units in a pixel.
pub(crate) const UNITS: u32 = 4;
/// The library divides font sizes by this when it writes them.
const POINTS: f64 = 1.24;
