//! How the spans of a schedule follow each other, and where in them the present is.

use router::{Instant, KeyedRng, nanos_from_secs};

use super::{Keys, MOST_SPANS, Span};
use crate::sampler::Sampler;

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
        /// The share of spans that take place; the others pass unseen.
        keep: f64,
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

    /// The span after `before`, which is number `number`, and whether it takes place.
    fn next(&self, number: u64, before: Span, origin: Instant) -> (Span, bool) {
        let plus = |at: Instant, ns: u64| Instant::from_nanos(at.as_nanos().saturating_add(ns));
        match self {
            Self::Steady => {
                let to = Instant::NEVER;
                (Span { from: origin, to }, true)
            }
            Self::Every {
                period_ns,
                on_ns,
                first_ns,
            } => {
                let offset = first_ns.saturating_add(period_ns.saturating_mul(number));
                let from = plus(origin, offset);
                let to = plus(from, *on_ns);
                (Span { from, to }, true)
            }
            Self::Random {
                gap_s,
                on_s,
                keys,
                keep,
            } => {
                let mut draws = KeyedRng::new(keys.seed, keys.purpose, number, keys.number);
                let from = plus(before.to, nanos_from_secs(gap_s.draw(&mut draws)));
                let to = plus(from, nanos_from_secs(on_s.draw(&mut draws)));
                (Span { from, to }, *keep >= 1.0 || draws.unit() < *keep)
            }
        }
    }
}

/// A row of spans, and where in it the present is.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    bounds: Span,
    rhythm: Rhythm,
    next: u64,
    span: Span,
}

impl Row {
    pub(crate) fn new(bounds: Span, rhythm: Rhythm) -> Self {
        let before = Span {
            from: bounds.from,
            to: bounds.from,
        };
        let mut row = Self {
            bounds,
            rhythm,
            next: 0,
            span: before,
        };
        row.step();
        row
    }

    /// Whether it is on at `at`, which never runs back.
    pub(crate) fn is_on(&mut self, at: Instant) -> bool {
        while self.span.to <= at && self.span.to < self.bounds.to {
            self.step();
        }
        self.bounds.holds(at) && self.span.holds(at)
    }

    /// The number of the span that it is in or comes to, by which what belongs to it is keyed.
    pub(crate) const fn number(&self) -> u64 {
        self.next - 1
    }

    /// Its spans before `until`, cut there, [`MOST_SPANS`] at most.
    pub(crate) fn spans(&self, until: Instant) -> Vec<Span> {
        let numbered = self.numbered_spans(until).into_iter();
        numbered.map(|(_, span)| span).collect()
    }

    /// [`spans`](Self::spans) with their numbers.
    pub(crate) fn numbered_spans(&self, until: Instant) -> Vec<(u64, Span)> {
        let end = self.bounds.to.min(until);
        let mut row = Self::new(self.bounds, self.rhythm.clone());
        let mut spans = Vec::new();
        while row.span.from < end && spans.len() < MOST_SPANS {
            if row.span.from < row.span.to {
                let span = Span {
                    from: row.span.from,
                    to: row.span.to.min(end),
                };
                spans.push((row.number(), span));
            }
            if row.span.to == Instant::NEVER {
                break;
            }
            row.step();
        }
        spans
    }

    /// Whether it is on without a beginning or an end.
    pub(super) fn is_always_on(&self) -> bool {
        let always = Span {
            from: Instant::ZERO,
            to: Instant::NEVER,
        };
        matches!(self.rhythm, Rhythm::Steady) && self.bounds == always
    }

    /// On to the next span that takes place, or beyond the end.
    fn step(&mut self) {
        loop {
            let (span, kept) = self.rhythm.next(self.next, self.span, self.bounds.from);
            self.next += 1;
            self.span = span;
            if kept || span.from >= self.bounds.to {
                return;
            }
        }
    }
}
