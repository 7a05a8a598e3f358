//! Pictures of a sweep, as SVG whose text is text.
//!
//! A plot is a file here and a line in `ALL`; the page and the report's folder take whatever applies
//! to a sweep. Plots say what they show in a caption, with the numbers that matter, because a picture alone is not read.

mod arms;
mod axes;
mod blame;
mod canvas;
mod capacity;
mod curve;
mod deployments;
mod frontier;
mod heatmap;
mod ink;
mod latency;
mod overlay;
mod quantiles;
mod recovery;
mod request;
mod timeline;

pub use canvas::Canvas;
pub(crate) use ink::dark_rules;
pub use overlay::{Across, Overlay, Up, overlay};
pub use quantiles::{QuantilePair, Quantiles, quantiles};
pub use request::{RequestSpan, RequestSpanKind, RequestTimeline, request_timeline};

use canvas::UNITS;
use ink::Ink;

use crate::{comparison::Comparison, error::ReportError, record::SweepRecord};

/// A kind of picture.
pub trait Plot: Sync + std::fmt::Debug {
    /// Its name: of its file, and in messages.
    fn name(&self) -> &'static str;
    /// Its heading.
    fn title(&self, sweep: &SweepRecord) -> String;
    /// What to see in it, in a sentence or two.
    fn caption(&self, sweep: &SweepRecord) -> String;
    /// Width and height in pixels; `None` if it has nothing to show for this sweep.
    fn size(&self, sweep: &SweepRecord) -> Option<(u32, u32)>;
    /// Draws it on a sheet of that size.
    fn draw(&self, sweep: &SweepRecord, canvas: &mut Canvas<'_>);
}

/// Every plot, in the order of the page.
#[must_use]
pub const fn plots() -> &'static [&'static dyn Plot] {
    ALL
}

const ALL: &[&dyn Plot] = &[
    &capacity::Capacity,
    &recovery::Recovery,
    &recovery::Ramp,
    &curve::Curve,
    &heatmap::Heatmap,
    &arms::Arms,
    &frontier::Frontier::LATENCY,
    &frontier::Frontier::LOAD,
    &latency::Latency,
    &blame::Blames,
    &deployments::Deployments,
    &timeline::Timeline::BEST,
    &timeline::Timeline::REFERENCE,
];

/// A finished picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawing {
    /// The plot's name.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// What to see in it.
    pub caption: String,
    /// Its width in pixels.
    pub width: u32,
    /// An `<svg>` element for a page, without colours of its own for the dark.
    pub svg: String,
}

impl Drawing {
    /// The picture as a file of its own, which minds the reader's preference for light or dark.
    #[must_use]
    pub fn standalone(&self) -> String {
        let (tag, rest) = self.svg.split_once('>').unwrap_or((&self.svg, ""));
        let paper = Ink::Paper.forms().0;
        format!(
            "{tag}><style>{TEXT_RULE}@media(prefers-color-scheme:dark){{{}}}</style>\
             <rect width=\"100%\" height=\"100%\" fill=\"#{paper:06X}\"/>{rest}",
            dark_rules()
        )
    }
}

/// Every plot that has something to show.
///
/// # Errors
///
/// If the sweep has no run, its reference does not exist, or the plotting library refuses.
pub fn draw_all(sweep: &SweepRecord) -> Result<Vec<Drawing>, ReportError> {
    if sweep.arms_with_runs().next().is_none() {
        return Err(ReportError::NothingToReport);
    }
    if sweep.reference >= sweep.arms.len() {
        let (reference, arms) = (sweep.reference, sweep.arms.len());
        return Err(ReportError::NoSuchReference { reference, arms });
    }
    ALL.iter()
        .filter_map(|plot| draw(*plot, sweep).transpose())
        .collect()
}

fn draw(plot: &dyn Plot, sweep: &SweepRecord) -> Result<Option<Drawing>, ReportError> {
    let Some(size) = plot.size(sweep) else {
        return Ok(None);
    };
    let mut svg = String::new();
    let mut canvas = Canvas::on(&mut svg, size);
    plot.draw(sweep, &mut canvas);
    canvas.finish(plot.name())?;
    let (title, caption) = (plot.title(sweep), plot.caption(sweep));
    Ok(Some(Drawing {
        name: plot.name(),
        svg: in_pixels(&svg, size, &title, &caption),
        title,
        caption,
        width: size.0,
    }))
}

/// The element with its size in pixels, and a name and a description for those who do not see it.
fn in_pixels(svg: &str, (width, height): (u32, u32), title: &str, caption: &str) -> String {
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><desc>{}</desc>{body}",
        width * UNITS,
        height * UNITS,
        crate::html::escaped(title),
        crate::html::escaped(caption)
    )
}

/// Arms that a comparing plot shows by name: best, reference and worst, each once.
fn named_arms(comparison: &Comparison<'_>) -> Vec<(usize, Ink, String)> {
    let ranking = comparison.ranking();
    let reference = Some(comparison.sweep.reference).filter(|arm| ranking.contains(arm));
    let best = ranking.first().copied();
    let worst = ranking.last().copied();
    let mut named: Vec<(usize, Ink, String)> = Vec::new();
    for (arm, ink, role) in [
        (best, Ink::Best, "best"),
        (reference, Ink::Reference, "reference"),
        (worst, Ink::Worst, "worst"),
    ] {
        let Some(arm) = arm else { continue };
        match named.iter_mut().find(|(known, ..)| *known == arm) {
            None if ranking.len() == 1 => named.push((arm, ink, String::new())),
            None => named.push((arm, ink, role.to_owned())),
            Some((_, _, roles)) if ranking.len() > 1 => {
                roles.push_str(" and ");
                roles.push_str(role);
            }
            Some(_) => {}
        }
    }
    for (arm, _, role) in &mut named {
        let label = comparison.sweep.arms[*arm].label();
        *role = if role.is_empty() {
            label
        } else {
            format!("{role}: {label}")
        };
    }
    named
}

/// A plot that shares its row with another.
const HALF: u32 = 560;
/// A plot with a row of its own.
const WIDE: u32 = 1_120;
/// How text in a drawing is set.
pub(crate) const TEXT_RULE: &str =
    "svg text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}";
