//! Who asks what, when: a workload is data, its arrivals are an iterator over keyed draws.
//!
//! Nothing here depends on the router or on providers, so every arm of a sweep that leaves the
//! workload alone sees the very same arrivals. An arrival's time, its lengths, its model and
//! whether it streams each have a randomness of their own, keyed by the arrival's number, and so has
//! who sent it.

pub mod arrivals;
mod clients;
pub(crate) mod dist;
pub mod length_file;
pub(crate) mod lengths;
pub(crate) mod log_normal;
pub(crate) mod rate;
pub mod senders;
mod times;
pub mod trace;
pub mod trace_stats;

use std::{sync::Arc, time::Duration};

use router::{Instant, KeyedRng, Purpose, Seed};

pub(crate) use self::clients::{Client, ClientWindow};
pub use self::lengths::lengths_presets;
use self::{
    clients::ClientsCursor,
    dist::Gap,
    lengths::Lengths,
    rate::{Rate, RateCursor},
    senders::{Provenance, Senders},
    trace::TraceRow,
};

/// One request as a caller makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When.
    pub at: Instant,
    /// The model asked for: place in [`Workload::models`].
    pub model: u16,
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens that the model would answer with if nothing cut it short. The router never sees it.
    pub output_tokens: u32,
    /// The caller's limit on the answer.
    pub max_tokens: Option<u32>,
    /// Whether the answer is to be streamed.
    pub stream: bool,
}

/// The requests of a run, as data.
#[derive(Clone, PartialEq, Debug)]
pub struct Workload {
    pub(crate) models: Vec<String>,
    /// Cumulative shares of the models; the last is 1.
    pub(crate) mix: Vec<f64>,
    pub(crate) duration: Duration,
    pub(crate) stream_share: f64,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) senders: Option<Box<Senders>>,
    pub(crate) traffic: Traffic,
}

/// Where arrivals come from.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Traffic {
    /// One renewal process under a rate curve.
    Generated {
        rate: Rate,
        gap: Gap,
        lengths: Lengths,
    },
    /// Rows of a trace.
    Replayed(Replay),
    /// Many callers, each a renewal process of its own.
    Clients(Arc<[Client]>),
}

/// A trace played again.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Replay {
    /// In order of time, which counts from the beginning of the slice.
    pub rows: Arc<[TraceRow]>,
    /// How many times faster than recorded.
    pub rate_multiplier: f64,
    /// How many times over.
    pub repeat: u32,
    /// Length of one round, in nanoseconds as recorded.
    pub period_ns: u64,
    /// Rows of one round more, which is cut short.
    pub partial: usize,
}

impl Workload {
    /// The models asked for.
    #[must_use]
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// The names of those who send, in order; none where the scenario says nothing of it.
    #[must_use]
    pub fn sender_names(&self) -> &[String] {
        self.senders.as_ref().map_or(&[], |senders| &senders.names)
    }

    /// Whose request this number is: a place in [`Workload::sender_names`], or nobody's in particular.
    #[must_use]
    pub fn sender(&self, seed: Seed, number: u64) -> Option<usize> {
        self.senders.as_ref()?.sender(seed, number)
    }

    /// Where the request of this number comes from; `None` where the scenario says nothing of it. A
    /// function of the two numbers alone.
    #[must_use]
    #[inline]
    pub fn provenance(&self, seed: Seed, number: u64) -> Option<Provenance<'_>> {
        let senders = self.senders.as_ref()?;
        Some(senders.provenance(seed, number))
    }

    /// How long arrivals go on.
    #[must_use]
    pub const fn duration(&self) -> Duration {
        self.duration
    }

    /// The number of arrivals: exact for a replayed trace, else the mean over seeds.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "for people, and 2^53 rows fit no memory"
    )]
    pub fn expected_arrivals(&self) -> f64 {
        let seconds = self.duration.as_secs_f64();
        match &self.traffic {
            Traffic::Generated { rate, .. } => rate.expected_until(seconds),
            Traffic::Replayed(replay) => {
                replay.rows.len() as f64 * f64::from(replay.repeat) + replay.partial as f64
            }
            Traffic::Clients(clients) => clients
                .iter()
                .map(|client| client.rate.expected_until(seconds))
                .sum(),
        }
    }

    /// The arrivals under this seed, in order of time. Allocates nothing per arrival.
    #[must_use]
    pub fn arrivals(&self, seed: Seed) -> Arrivals<'_> {
        let source = match &self.traffic {
            Traffic::Generated { rate, gap, lengths } => Source::Generated {
                clock: Clock {
                    gap: *gap,
                    cursor: rate.cursor(seed),
                    seed,
                    number: 0,
                    expected: 0.0,
                },
                lengths,
            },
            Traffic::Replayed(replay) => Source::Replayed {
                replay,
                row: 0,
                round: 0,
            },
            Traffic::Clients(clients) => Source::Clients(ClientsCursor::new(clients, seed)),
        };
        let end = Instant::ZERO + self.duration;
        Arrivals {
            workload: self,
            seed,
            number: 0,
            end,
            source,
        }
    }
}

/// Iterates over the arrivals of a [`Workload`]. Times never go back.
#[derive(Clone, Debug)]
pub struct Arrivals<'a> {
    workload: &'a Workload,
    seed: Seed,
    number: u64,
    end: Instant,
    source: Source<'a>,
}

#[derive(Clone, Debug)]
enum Source<'a> {
    Generated {
        clock: Clock<'a>,
        lengths: &'a Lengths,
    },
    Replayed {
        replay: &'a Replay,
        row: usize,
        round: u32,
    },
    Clients(ClientsCursor<'a>),
}

/// A renewal process under a rate curve.
#[derive(Clone, Debug)]
struct Clock<'a> {
    gap: Gap,
    cursor: RateCursor<'a>,
    seed: Seed,
    number: u64,
    expected: f64,
}

impl Clock<'_> {
    fn next(&mut self) -> Option<Instant> {
        self.expected += self
            .gap
            .sample(&mut KeyedRng::new(self.seed, ARRIVAL, self.number, 0));
        self.number += 1;
        self.cursor.due(self.expected).map(Instant::from_secs_f64)
    }
}

impl Iterator for Arrivals<'_> {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let number = self.number;
        let provenance = self.workload.provenance(self.seed, number);
        // What a request is, is drawn by its number; a repeated one is drawn by its content.
        let key = provenance.map_or(number, |provenance| provenance.key);
        let (at, (prompt_tokens, output_tokens)) = match &mut self.source {
            Source::Generated { clock, lengths } => {
                let at = clock.next().filter(|at| *at < self.end)?;
                (at, lengths.draw(self.seed, key))
            }
            Source::Replayed { replay, row, round } => {
                if *row == replay.rows.len() {
                    (*row, *round) = (0, *round + 1);
                }
                let is_partial = *round >= replay.repeat;
                if is_partial && (*round > replay.repeat || *row >= replay.partial) {
                    return None;
                }
                let next = &replay.rows[*row];
                *row += 1;
                let lengths_of = if key == number {
                    next
                } else {
                    replay.row_of(self.seed, key)
                };
                (
                    replay.at(next, *round),
                    (lengths_of.prompt_tokens, lengths_of.output_tokens),
                )
            }
            Source::Clients(clients) => {
                let (at, lengths) = clients.next(self.seed).filter(|(at, _)| *at < self.end)?;
                (at, lengths.draw(self.seed, key))
            }
        };
        self.number += 1;
        let arrival = Arrival {
            at,
            model: self.workload.model(self.seed, key),
            prompt_tokens,
            output_tokens,
            max_tokens: self.workload.max_tokens,
            stream: streams(self.workload.stream_share, self.seed, key),
        };
        Some(match provenance {
            None => arrival,
            Some(provenance) => self.workload.sent(arrival, &provenance, self.seed),
        })
    }
}

impl Workload {
    fn model(&self, seed: Seed, key: u64) -> u16 {
        let place = model_of(&self.mix, seed, key);
        u16::try_from(place).expect("a scenario asks for at most 65,535 models")
    }

    /// An arrival as its sender sends it.
    fn sent(&self, arrival: Arrival, provenance: &Provenance<'_>, seed: Seed) -> Arrival {
        let (senders, place) = (self.senders.as_ref(), provenance.sender);
        let Some(sender) = senders.zip(place).map(|(s, place)| &s.each[place]) else {
            return arrival;
        };
        let key = provenance.key;
        let own_model = |mix: &senders::Mix| mix.models[model_of(&mix.up_to, seed, key)];
        Arrival {
            model: sender.models.as_ref().map_or(arrival.model, own_model),
            prompt_tokens: arrival.prompt_tokens + provenance.more_prompt_tokens,
            output_tokens: if sender.embeds {
                0
            } else {
                arrival.output_tokens
            },
            max_tokens: sender.max_tokens,
            stream: streams(sender.stream_share, seed, key),
            ..arrival
        }
    }
}

/// The place that a request draws in a mix.
fn model_of(mix: &[f64], seed: Seed, key: u64) -> usize {
    if mix.len() == 1 {
        return 0;
    }
    let u = KeyedRng::new(seed, MODEL, key, 0).unit();
    mix.partition_point(|up_to| *up_to <= u).min(mix.len() - 1)
}

fn streams(share: f64, seed: Seed, key: u64) -> bool {
    if share <= 0.0 || share >= 1.0 {
        return share >= 1.0;
    }
    KeyedRng::new(seed, STREAM, key, 0).unit() < share
}

impl Replay {
    /// The row that a repeated content has its lengths of.
    fn row_of(&self, seed: Seed, key: u64) -> &TraceRow {
        let place = KeyedRng::new(seed, REPEATED_ROW, key, 0).below(self.rows.len());
        &self.rows[place]
    }

    /// When `row` comes in round `round`.
    fn at(&self, row: &TraceRow, round: u32) -> Instant {
        Instant::from_nanos(self.scaled(row.at_ns + u64::from(round) * self.period_ns))
    }

    /// Recorded nanoseconds as played.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "exact up to 104 days of nanoseconds, then rounded; never negative"
    )]
    pub(crate) fn scaled(&self, recorded_ns: u64) -> u64 {
        (recorded_ns as f64 / self.rate_multiplier) as u64
    }
}

/// Gaps between arrivals. Request: the arrival's number; number: 0, or the client's place plus 1.
pub(crate) const ARRIVAL: Purpose = Purpose::named("scenarios.arrival");
const REPEATED_ROW: Purpose = Purpose::named("scenarios.repeated_row");
const MODEL: Purpose = Purpose::named("scenarios.model");
const STREAM: Purpose = Purpose::named("scenarios.stream");
