//! The power of two choices: each request goes to the less busy of two servers drawn at random, and long
//! lines become rare twice exponentially (N. Vvedenskaya et al., Problems of Information Transmission 32, 1996;
//! M. Mitzenmacher, IEEE TPDS 12, 2001: k or more at a share ρ^(2ᵏ − 1) of infinitely many servers).
//!
//! LiteLLM has no such strategy, but its parts make one: every deployment has a tag of its own, requests
//! name two of them, and `least-busy` chooses of the two that are left. A handful of servers differs from the
//! limit, so that theory here is exact for their number: the stationary distribution of the Markov chain
//! of queue lengths, solved numerically.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::figure::{Found, Model, controlled, hold, share};

const SERVERS: usize = 4;
/// Of what they can serve.
const RHO: f64 = 0.7;
/// Queues are cut here; hardly any are so long.
const LONGEST: u8 = 12;

type State = [u8; SERVERS];

/// Share of servers with k or more, for k from 0, if each gets `rho` of what it can serve.
fn with_at_least(rho: f64) -> Vec<f64> {
    let states = states();
    let number: BTreeMap<State, usize> = states.iter().copied().zip(0..).collect();
    // Servers stand in falling order, so that of a pair the later one is chosen; equals are alike.
    let pairs = (SERVERS * (SERVERS - 1) / 2) as f64;
    let rate = SERVERS as f64 * (rho + 1.0);
    let mut moves: Vec<(usize, usize, f64)> = Vec::new();
    for (from, state) in states.iter().enumerate() {
        for place in 0..SERVERS {
            let length = state[place];
            let first = state.iter().position(|&l| l == length).unwrap();
            let last = state.iter().rposition(|&l| l == length).unwrap();
            let arrives = place as f64 / pairs * SERVERS as f64 * rho / rate;
            let to = match length < LONGEST {
                true => number[&changed(state, first, length + 1)],
                false => from,
            };
            moves.push((from, to, arrives));
            let to = match length > 0 {
                true => number[&changed(state, last, length - 1)],
                false => from,
            };
            moves.push((from, to, 1.0 / rate));
        }
    }
    let mut at = vec![1.0 / states.len() as f64; states.len()];
    loop {
        let mut next = vec![0.0; states.len()];
        for &(from, to, p) in &moves {
            next[to] += at[from] * p;
        }
        let moved: f64 = at.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
        at = next;
        if moved < 1e-11 {
            break;
        }
    }
    let share_of = |k: u8| {
        let with = |state: &State| state.iter().filter(|&&l| l >= k).count() as f64;
        let terms = states.iter().zip(&at).map(|(state, p)| with(state) * p);
        terms.sum::<f64>() / SERVERS as f64
    };
    (0..=LONGEST).map(share_of).collect()
}

fn changed(state: &State, place: usize, length: u8) -> State {
    let mut state = *state;
    state[place] = length;
    state
}

/// All queue lengths in falling order.
fn states() -> Vec<State> {
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    for _ in 0..SERVERS {
        let longer = |state: Vec<u8>| {
            let most = state.last().copied().unwrap_or(LONGEST);
            (0..=most).map(move |length| [state.as_slice(), &[length]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    let fixed = |state: Vec<u8>| State::try_from(state).unwrap();
    all.into_iter().map(fixed).collect()
}

#[test]
fn the_less_busy_of_two_leaves_few_long_lines() {
    let mut senders = "senders: {".to_owned();
    for a in 0..SERVERS {
        for b in 0..a {
            let share = match (a, b) {
                (1, 0) => String::new(),
                _ => format!("share: {}, ", 1.0 / 6.0),
            };
            let _ = write!(senders, "p{a}{b}: {{{share}tags: [t{a}, t{b}]}}, ");
        }
    }
    senders += "}";
    let found = Model {
        seed: 24,
        profile: "corrected",
        settings: "disable_cooldowns: true, num_retries: 0, routing_strategy: least-busy, \
                   enable_tag_filtering: true",
        deployments: 4,
        params: "tags: [t{n}]",
        provider: "max_concurrent: 1",
        per_second: 28.0,
        counted_s: 3_800.0,
        warm_up_s: 50.0,
        workload: &senders,
        ..Model::PLAIN
    }
    .heard(|| Found::new(SERVERS, 50.0));

    let theory = [0.98, 1.0, 1.02].map(|k| (k, with_at_least(RHO * k)));
    let at = |k: f64, length: usize| {
        let solved = theory.iter().find(|(of, _)| *of == k);
        solved.expect("it is one of the three").1[length]
    };
    assert!(at(1.02, usize::from(LONGEST)) < 1e-6, "{theory:?}");
    let with = |length: usize| {
        let of = |one: &Found| share(one.with_at_least[length], one.arrivals) / SERVERS as f64;
        found.iter().map(of).collect::<Vec<f64>>()
    };
    let busy = with(1);
    hold("two choices, busy servers", &busy, |k| at(k, 1));
    for length in 2..=3 {
        let what = format!("two choices, servers with {length} or more");
        let values = controlled(&with(length), &busy, RHO);
        hold(&what, &values, |k| at(k, length));
    }
    // A single random choice leaves lines of three at 0.7³ of all servers, and infinitely many
    // servers with two choices at 0.7⁷.
    assert!(at(1.0, 3) < 0.343 / 2.0 && at(1.0, 3) > libm::pow(RHO, 7.0));
    let mean: Vec<f64> = found.iter().map(Found::mean).collect();
    let mean = controlled(&mean, &busy, RHO);
    hold("two choices, mean in flight", &mean, |k| {
        SERVERS as f64 * (1..=usize::from(LONGEST)).map(|n| at(k, n)).sum::<f64>()
    });
}
