//! A pool of things that come up again, all as often or some more often than others.

use std::sync::Arc;

use router::KeyedRng;

/// Things by rank, drawn by Zipf's law: rank k as often as 1 ÷ k^skew.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Pool {
    size: u32,
    /// Cumulative shares by rank; `None` where all are alike.
    up_to: Option<Arc<[f64]>>,
}

impl Pool {
    /// A pool of `size` things. A skew of 0 makes them all alike.
    pub(crate) fn new(size: u32, skew: f64) -> Self {
        let weights = || (1..=size).map(|rank| libm::pow(f64::from(rank), -skew));
        let total: f64 = weights().sum();
        let mut sum = 0.0;
        let up_to = (skew > 0.0).then(|| {
            weights()
                .map(|weight| {
                    sum += weight;
                    sum / total
                })
                .collect()
        });
        Self { size, up_to }
    }

    /// One of them, by its rank from 0.
    pub(crate) fn draw(&self, rng: &mut KeyedRng) -> usize {
        let size = self.size as usize;
        match &self.up_to {
            None => rng.below(size),
            Some(up_to) => {
                let u = rng.unit();
                up_to.partition_point(|up_to| *up_to <= u).min(size - 1)
            }
        }
    }
}

/// A table of a million ranks takes 8 MB.
pub(super) const POOL_AT_MOST: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use router::{Purpose, Seed};

    use super::*;

    fn counts(pool: &Pool) -> Vec<f64> {
        let mut counts = vec![0.0; pool.size as usize];
        for n in 0..100_000 {
            let mut rng = KeyedRng::new(Seed(3), Purpose::named("test"), n, 0);
            counts[pool.draw(&mut rng)] += 1e-5;
        }
        counts
    }

    #[test]
    fn without_skew_all_come_up_as_often() {
        for share in counts(&Pool::new(4, 0.0)) {
            assert!((share - 0.25).abs() < 0.01, "{share}");
        }
    }

    #[test]
    fn with_skew_one_the_first_comes_up_twice_as_often_as_the_second_and_four_times_as_the_fourth()
    {
        // 1 + 1/2 + 1/3 + 1/4 = 25/12.
        let expected = [12.0 / 25.0, 6.0 / 25.0, 4.0 / 25.0, 3.0 / 25.0];
        for (share, expected) in counts(&Pool::new(4, 1.0)).iter().zip(expected) {
            assert!((share - expected).abs() < 0.01, "{share} for {expected}");
        }
    }
}
