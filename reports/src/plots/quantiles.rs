//! Quantiles of what was held out against those of the fit (Wilk and Gnanadesikan, "Probability plotting
//! methods for the analysis of data", Biometrika 55, 1968): on the diagonal where the fit holds, with the
//! band within which chance alone keeps 95 of 100 samples.

use super::{
    Drawing, HALF,
    axes::{Panel, Scale, legend, short_number},
    canvas::{Canvas, Place},
    in_pixels,
    ink::Ink,
    overlay::Across,
};
use crate::error::ReportError;

/// A picture of quantiles against each other.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantiles {
    /// Its heading.
    pub title: String,
    /// What to see in it.
    pub caption: String,
    /// What is measured.
    pub of: Across,
    /// The pairs, in rising order.
    pub pairs: Vec<QuantilePair>,
}

/// One quantile as fitted and as seen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QuantilePair {
    /// What the fit says.
    pub fitted: f64,
    /// What was seen.
    pub seen: f64,
    /// From where to where it would be by chance alone.
    pub by_chance: (f64, f64),
}

/// Draws it; `None` where there is nothing to compare.
///
/// # Errors
///
/// If the plotting library refuses.
pub fn quantiles(of: &Quantiles) -> Result<Option<Drawing>, ReportError> {
    let values = of.pairs.iter().flat_map(|pair| [pair.fitted, pair.seen]);
    let values: Vec<f64> = values.filter(|v| v.is_finite() && *v > 0.0).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    if of.pairs.len() < 3 || high <= low {
        return Ok(None);
    }
    let size = (HALF, 380);
    let mut svg = String::new();
    let mut canvas = Canvas::on(&mut svg, size);
    let entries = [
        (Ink::Other, "held out".to_owned()),
        (Ink::Best, "as fitted".to_owned()),
        (Ink::Grid, "by chance, 95 of 100".to_owned()),
    ];
    let top = legend(&mut canvas, (16.0, 14.0), f64::from(HALF) - 8.0, &entries) + 26.0;
    let scale = || scale(of.of, low, high);
    let panel = Panel {
        left: 64.0,
        top,
        right: f64::from(HALF) - 20.0,
        bottom: 330.0,
        x: scale(),
        y: scale(),
    };
    let place = |x: f64, y: f64| panel.place(x.clamp(low, high), y.clamp(low, high));
    let (up, down) = (of.pairs.iter(), of.pairs.iter().rev());
    let band: Vec<Place> = up
        .map(|pair| place(pair.fitted, pair.by_chance.1))
        .chain(down.map(|pair| place(pair.fitted, pair.by_chance.0)))
        .collect();
    canvas.area(&band, Ink::Grid, 1.0);
    panel.draw(&mut canvas);
    panel.name_x(&mut canvas, "as fitted");
    panel.name_y(
        &mut canvas,
        match of.of {
            Across::Millis => "times that were held out",
            Across::Tokens => "tokens that were held out",
            Across::Gaps => "gaps that were held out, in mean gaps",
            Across::Seconds => "held out",
        },
    );
    canvas.line(&[place(low, low), place(high, high)], Ink::Best, 1.75);
    for pair in &of.pairs {
        canvas.dot(place(pair.fitted, pair.seen), 3.0, Ink::Other);
    }
    canvas.finish("quantiles")?;
    Ok(Some(Drawing {
        name: "quantiles",
        svg: in_pixels(&svg, size, &of.title, &of.caption),
        title: of.title.clone(),
        caption: of.caption.clone(),
        width: size.0,
    }))
}

fn scale(of: Across, low: f64, high: f64) -> Scale {
    let digits: &[f64] = match high / low < 50.0 {
        true => &[1.0, 2.0, 5.0],
        false => &[1.0],
    };
    match of {
        Across::Millis => Scale::log(low, high, digits, |ms| match ms >= 1_000.0 {
            true => format!("{} s", short_number(ms / 1_000.0)),
            false => format!("{} ms", short_number(ms)),
        }),
        Across::Tokens | Across::Gaps | Across::Seconds => {
            Scale::log(low, high, digits, short_number)
        }
    }
}
