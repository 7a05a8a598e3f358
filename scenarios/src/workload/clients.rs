//! Traffic as a superposition of callers, each a renewal process with its own rate, regularity and
//! lengths by window (ServeGen's model: Xiang et al., "ServeGen", arXiv 2505.09999).
//!
//! A caller's gaps are drawn as multiples of their mean and mapped through its rate curve; the
//! distribution of a gap is that of the window in which the previous arrival fell.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

use router::{Instant, KeyedRng, Seed};

use super::{
    ARRIVAL,
    dist::Gap,
    lengths::Lengths,
    rate::{Rate, RateCursor},
};

/// One caller.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Client {
    /// Arrivals a second, one step for each window.
    pub rate: Rate,
    /// How regular arrivals are, by window.
    pub gaps: Arc<[Gap]>,
    /// Lengths by beginning of their window in seconds; the first begins at 0.
    pub lengths: Arc<[ClientWindow]>,
}

/// Lengths from a moment on.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ClientWindow {
    /// Beginning, in seconds of the trace slice.
    pub from_s: f64,
    /// Lengths from then on.
    pub lengths: Arc<Lengths>,
}

/// Merges the callers' arrivals in order of time; equal times by the callers' places.
#[derive(Clone, Debug)]
pub(crate) struct ClientsCursor<'a> {
    clients: &'a [Client],
    clocks: Vec<ClientClock<'a>>,
    next: BinaryHeap<Reverse<(Instant, u32)>>,
}

#[derive(Clone, Debug)]
struct ClientClock<'a> {
    cursor: RateCursor<'a>,
    number: u64,
    expected: f64,
}

impl<'a> ClientsCursor<'a> {
    pub(crate) fn new(clients: &'a [Client], seed: Seed) -> Self {
        let clocks = clients
            .iter()
            .map(|client| ClientClock {
                cursor: client.rate.cursor(seed),
                number: 0,
                expected: 0.0,
            })
            .collect();
        let mut merged = Self {
            clients,
            clocks,
            next: BinaryHeap::with_capacity(clients.len()),
        };
        for place in 0..u32::try_from(clients.len()).expect("clients are files of one folder") {
            if let Some(at) = merged.advance(place, seed) {
                merged.next.push(Reverse((at, place)));
            }
        }
        merged
    }

    /// The next arrival and the lengths it draws from.
    pub(crate) fn next(&mut self, seed: Seed) -> Option<(Instant, &'a Lengths)> {
        let Reverse((at, place)) = self.next.pop()?;
        if let Some(later) = self.advance(place, seed) {
            self.next.push(Reverse((later, place)));
        }
        let windows = &self.clients[place as usize].lengths;
        let seconds = at.as_secs_f64();
        let window = windows
            .partition_point(|window| window.from_s <= seconds)
            .max(1)
            - 1;
        Some((at, &windows[window].lengths))
    }

    fn advance(&mut self, place: u32, seed: Seed) -> Option<Instant> {
        let clock = &mut self.clocks[place as usize];
        let gaps = &self.clients[place as usize].gaps;
        let step = usize::try_from(clock.cursor.step()).expect("a step of a list in memory");
        let mut rng = KeyedRng::new(seed, ARRIVAL, clock.number, u64::from(place) + 1);
        clock.expected += gaps[step].sample(&mut rng);
        clock.number += 1;
        clock.cursor.due(clock.expected).map(Instant::from_secs_f64)
    }
}
