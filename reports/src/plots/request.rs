//! Where one request's time went: its attempts and waits on one line of time, each with how it ended.

use super::{
    Drawing, WIDE,
    axes::{Panel, SMALL, Scale, legend, short_number},
    canvas::{Anchor, Canvas, shortened},
    in_pixels,
    ink::Ink,
};
use crate::error::ReportError;

/// A request's attempts and waits.
#[derive(Clone, PartialEq, Debug)]
pub struct RequestTimeline {
    /// Its heading.
    pub title: String,
    /// What to see in it.
    pub caption: String,
    /// From arrival to the end, in seconds.
    pub took_s: f64,
    /// Attempts and waits, in the order in which they are drawn.
    pub spans: Vec<RequestSpan>,
}

/// One of them; times are seconds since the arrival.
#[derive(Clone, PartialEq, Debug)]
pub struct RequestSpan {
    /// What it was: `attempt 1 at east`.
    pub what: String,
    /// What it is drawn as.
    pub kind: RequestSpanKind,
    /// Its beginning.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// When its first token came, where that is known.
    pub first_token_s: Option<f64>,
    /// How it ended, and by which setting; may be empty.
    pub ended: String,
}

/// What a span was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestSpanKind {
    /// An attempt that answered.
    Answering,
    /// An attempt that failed.
    Failing,
    /// A wait.
    Waiting,
}

/// Draws it; `None` for a request that took no time.
///
/// # Errors
///
/// If the plotting library refuses.
pub fn request_timeline(of: &RequestTimeline) -> Result<Option<Drawing>, ReportError> {
    if of.took_s <= 0.0 || of.spans.is_empty() {
        return Ok(None);
    }
    let shown = &of.spans[..of.spans.len().min(MOST_SPANS)];
    let lanes = u32::try_from(shown.len()).unwrap_or(u32::MAX);
    let size = (WIDE, TOP_PX + lanes * LANE_PX + 50);
    let mut svg = String::new();
    let mut canvas = Canvas::on(&mut svg, size);
    let bottom = f64::from(TOP_PX + lanes * LANE_PX);
    let panel = Panel {
        left: 230.0,
        top: f64::from(TOP_PX),
        right: f64::from(WIDE) - 330.0,
        bottom,
        x: Scale::linear(0.0, of.took_s, 6, |s| format!("{} s", short_number(s))),
        y: Scale::linear(0.0, 1.0, 1, |_| String::new()),
    };
    let entries = [
        (Ink::Best, "answer".to_owned()),
        (Ink::Sent, "until the first token".into()),
        (Ink::Worst, "attempt that failed".into()),
        (Ink::Cooled, "waiting".into()),
    ];
    legend(&mut canvas, (panel.left, 14.0), panel.right, &entries);
    panel.draw_x(&mut canvas, true);
    panel.name_x(&mut canvas, "since the request arrived");
    for (lane, span) in (0_u32..).zip(shown) {
        let y = f64::from(TOP_PX + lane * LANE_PX) + f64::from(LANE_PX) / 2.0;
        let mut part = |from_s: f64, to_s: f64, ink: Ink| {
            let (from, to) = (panel.x_of(from_s), panel.x_of(to_s));
            canvas.rect((from, y - 7.0), (to.max(from + 2.0), y + 7.0), ink, 1.0);
        };
        match (span.kind, span.first_token_s) {
            (RequestSpanKind::Waiting, _) => part(span.from_s, span.to_s, Ink::Cooled),
            (RequestSpanKind::Failing, _) => part(span.from_s, span.to_s, Ink::Worst),
            (RequestSpanKind::Answering, Some(first)) => {
                part(span.from_s, first, Ink::Sent);
                part(first, span.to_s, Ink::Best);
            }
            (RequestSpanKind::Answering, None) => part(span.from_s, span.to_s, Ink::Best),
        }
        let what = shortened(&span.what, 34);
        canvas.text(
            (panel.left - 12.0, y),
            Anchor::Right,
            SMALL,
            Ink::Text,
            &what,
        );
        let length = format!("{} s", short_number(span.to_s - span.from_s));
        let told = match span.ended.is_empty() {
            true => length,
            false => shortened(&format!("{length}: {}", span.ended), 48),
        };
        canvas.text(
            (panel.right + 12.0, y),
            Anchor::Left,
            SMALL,
            Ink::Muted,
            &told,
        );
    }
    canvas.finish("request")?;
    Ok(Some(Drawing {
        name: "request",
        svg: in_pixels(&svg, size, &of.title, &of.caption),
        title: of.title.clone(),
        caption: of.caption.clone(),
        width: size.0,
    }))
}

/// Spans that are drawn; the table has them all.
const MOST_SPANS: usize = 40;
const TOP_PX: u32 = 40;
const LANE_PX: u32 = 26;
