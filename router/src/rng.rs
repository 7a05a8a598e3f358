//! Keyed randomness: a draw is a function of what it is for, not of how many came before it.
//!
//! Each random quantity of a run has its own stream, named by a [`Seed`], a [`Purpose`], a request
//! and a number (the attempt, or the attempt and the deployment). Two configurations that handle
//! the same request therefore meet the same luck (common random numbers), whatever happened to
//! other requests, and the virtual and the live driver agree.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014) started from a mix of the key: under 1 ns a draw, no allocation.

use std::convert::Infallible;

use rand::rand_core::{TryRng, utils};
use serde::{Deserialize, Serialize};

/// The randomness of one replication of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed of replication `number` under this master seed.
    #[must_use]
    pub const fn replication(self, number: u32) -> Self {
        Self(mix(self.0 ^ mix(number as u64 ^ 0x7265_706c_6963_6174)))
    }
}

/// What a stream of draws is for. Two purposes of different names never share a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Purpose(u64);

impl Purpose {
    /// The purpose called `name`; by convention `package.quantity`, e.g. `router.pick`.
    #[must_use]
    pub const fn named(name: &str) -> Self {
        let bytes = name.as_bytes();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64; // FNV-1a, 64 bits
        let mut at = 0;
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        Self(mix(hash))
    }
}

/// A stream of random numbers for one purpose. Cheap to make: make one where it is used.
///
/// It is a generator of the `rand` crate, so every distribution of `rand_distr` can draw from it.
///
/// ```
/// use router::{KeyedRng, Purpose, Seed};
///
/// const JITTER: Purpose = Purpose::named("example.jitter");
/// let draw = |request| KeyedRng::new(Seed(7), JITTER, request, 0).unit();
/// assert_eq!(draw(1), draw(1));
/// assert_ne!(draw(1), draw(2));
/// ```
#[derive(Clone, Debug)]
pub struct KeyedRng(u64);

impl KeyedRng {
    /// The stream of `purpose` for `request` and `number`.
    #[must_use]
    pub const fn new(seed: Seed, purpose: Purpose, request: u64, number: u64) -> Self {
        let key = mix(seed.0 ^ purpose.0).wrapping_add(mix(request.wrapping_add(GOLDEN)));
        Self(mix(key ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93)))
    }

    /// A number in [0, 1), one of 2^53 equally likely.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A number below `bound`, all equally likely (Lemire's multiply-shift; the bias is below
    /// `bound` ÷ 2^64). `bound` must not be 0.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the product's high half is below bound"
    )]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }
}

impl TryRng for KeyedRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        utils::fill_bytes_via_next_word(dst, || self.try_next_u64())
    }
}

/// SplitMix64's finaliser: every input bit changes every output bit with probability near one half.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Purpose = Purpose::named("test.here");
    const THERE: Purpose = Purpose::named("test.there");

    #[test]
    fn the_same_key_gives_the_same_stream_and_any_other_key_another() {
        let first = |seed, purpose, request, number| {
            KeyedRng::new(Seed(seed), purpose, request, number).bits()
        };
        let base = first(1, HERE, 2, 3);

        assert_eq!(base, first(1, HERE, 2, 3));
        for other in [
            first(2, HERE, 2, 3),
            first(1, THERE, 2, 3),
            first(1, HERE, 3, 3),
        ] {
            assert_ne!(base, other);
        }
        assert_ne!(base, first(1, HERE, 2, 4));
    }

    #[test]
    fn first_draws_over_consecutive_requests_are_uniform() {
        let mut cells = [0_u32; 64];
        let draws = 640_000;
        for request in 0..draws {
            cells[KeyedRng::new(Seed(9), HERE, request, 0).below(64)] += 1;
        }

        // Chi-square with 63 degrees of freedom: 103.4 is its 99.9 % point.
        let expected = f64::from(u32::try_from(draws).expect("small")) / 64.0;
        let chi: f64 = cells
            .iter()
            .map(|&n| libm::pow(f64::from(n) - expected, 2.0) / expected)
            .sum();
        assert!(chi < 103.4, "chi-square {chi}");
    }

    #[test]
    fn neighbouring_requests_are_uncorrelated() {
        let n = 200_000_u32;
        let mut sum = 0.0;
        for request in 0..u64::from(n) {
            let one = KeyedRng::new(Seed(9), HERE, request, 0).unit() - 0.5;
            let next = KeyedRng::new(Seed(9), HERE, request + 1, 0).unit() - 0.5;
            sum += one * next * 12.0;
        }

        let correlation = sum / f64::from(n);
        assert!(
            correlation.abs() < 4.0 / f64::from(n).sqrt(),
            "correlation {correlation}"
        );
    }

    #[test]
    fn replications_of_one_master_seed_differ() {
        assert_ne!(Seed(1).replication(0), Seed(1).replication(1));
        assert_ne!(Seed(1).replication(0), Seed(2).replication(0));
    }
}
