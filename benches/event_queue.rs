//! One hold of the event queue (remove the next event, add another) with many events waiting, and
//! the same for std's heap with integer keys.

use std::{cmp::Reverse, collections::BinaryHeap, hint::black_box};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand_distr::{Distribution as _, StandardNormal};
use router::{Instant, KeyedRng, Purpose, Seed};
use sim::EventQueue;

fn holds(criterion: &mut Criterion) {
    let gaps = gaps();
    let mut group = criterion.benchmark_group("event_queue");
    for waiting in [1_000, 100_000, 1_000_000] {
        group.bench_function(BenchmarkId::new("wheel", waiting), |bencher| {
            let mut gap = gaps.iter().cycle();
            let mut queue = EventQueue::new();
            for payload in 0..waiting {
                queue.push(Instant::from_nanos(*gap.next().expect("endless")), payload);
            }
            bencher.iter(|| {
                let (at, payload) = queue.pop_before(Instant::NEVER).expect("some wait");
                let next = at.as_nanos() + gap.next().expect("endless");
                queue.push(Instant::from_nanos(next), black_box(payload));
            });
        });
        group.bench_function(BenchmarkId::new("std_heap", waiting), |bencher| {
            let mut gap = gaps.iter().cycle();
            let mut entered = 0_u64;
            let mut heap = BinaryHeap::new();
            for payload in 0..waiting {
                heap.push(Reverse(key(
                    *gap.next().expect("endless"),
                    entered,
                    payload,
                )));
                entered += 1;
            }
            bencher.iter(|| {
                let Reverse(first) = heap.pop().expect("some wait");
                let next = (first >> 64) as u64 + gap.next().expect("endless");
                heap.push(Reverse(key(next, entered, black_box(payload(first)))));
                entered += 1;
            });
        });
    }
    group.finish();
}

/// Time, then order of entry, then payload.
fn key(at: u64, entered: u64, payload: u32) -> u128 {
    u128::from(at) << 64 | u128::from(entered << 24) | u128::from(payload)
}

fn payload(key: u128) -> u32 {
    u32::try_from(key & 0xff_ffff).expect("24 bits")
}

/// Log-normal around a second, in nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few seconds"
)]
fn gaps() -> Vec<u64> {
    (0..65_521)
        .map(|number| {
            let normal: f64 = StandardNormal.sample(&mut KeyedRng::new(Seed(1), GAP, number, 0));
            (1e9 * libm::exp(0.5 * normal)) as u64
        })
        .collect()
}

const GAP: Purpose = Purpose::named("benches.gap");

criterion_group!(benches, holds);
criterion_main!(benches);
