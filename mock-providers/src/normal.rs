//! Standard normal draws, the same bits on every machine.
//!
//! The ziggurat of Doornik ("An improved ziggurat method to generate normal random samples", 2005)
//! as `rand_distr` draws it, number for number, but with logarithm and exponential of the `libm`
//! crate: `rand_distr` takes the platform's as soon as any crate of a build asks for the standard
//! library, and one draw in a hundred needs one of them.

use rand::Rng as _;
use router::KeyedRng;

use crate::normal_tables::{EDGES, HEIGHTS};

/// A draw of mean 0 and deviation 1.
pub(crate) fn normal(rng: &mut KeyedRng) -> f64 {
    loop {
        let bits = rng.next_u64();
        let layer = usize::from(bits.to_le_bytes()[0]);
        // 52 bits as a number of [2, 4), and from there to [−1, 1).
        let u = f64::from_bits(bits >> 12 | 0x4000_0000_0000_0000) - 3.0;
        let x = u * EDGES[layer];
        if x.abs() < EDGES[layer + 1] {
            return x;
        }
        if layer == 0 {
            return tail(rng, u);
        }
        let (low, high) = (HEIGHTS[layer], HEIGHTS[layer + 1]);
        if high + (low - high) * rng.unit() < libm::exp(-x * x / 2.0) {
            return x;
        }
    }
}

/// A draw beyond the lowest edge, on the side of `u` (Marsaglia, "Generating a variable from the
/// tail of the normal distribution", 1964).
fn tail(rng: &mut KeyedRng, u: f64) -> f64 {
    let edge = EDGES[1];
    loop {
        let x = libm::log(open_unit(rng)) / edge;
        let y = libm::log(open_unit(rng));
        if -2.0 * y >= x * x {
            return if u < 0.0 { x - edge } else { edge - x };
        }
    }
}

/// A number of (0, 1), without its ends.
fn open_unit(rng: &mut KeyedRng) -> f64 {
    f64::from_bits(rng.next_u64() >> 12 | 0x3ff0_0000_0000_0000) - (1.0 - f64::EPSILON / 2.0)
}

#[cfg(test)]
mod tests {
    use router::{Purpose, Seed};

    use super::*;

    const HERE: Purpose = Purpose::named("test.normal");

    #[test]
    fn the_edges_are_those_of_256_layers_of_equal_area() {
        let height = |x: f64| libm::exp(-x * x / 2.0);
        let area = 0.004_928_673_233_99;

        assert!((EDGES[0] - area / height(EDGES[1])).abs() < 1e-13);
        for layer in 1..255 {
            let x = EDGES[layer];
            let above = (-2.0 * libm::log(area / x + height(x))).sqrt();
            assert!((EDGES[layer + 1] - above).abs() < 1e-13, "layer {layer}");
        }
        for (x, y) in EDGES.iter().zip(HEIGHTS) {
            assert!((height(*x) - y).abs() < 1e-15, "at {x}");
        }
    }

    #[test]
    fn draws_have_the_quantiles_of_the_table_out_to_four_deviations() {
        let n = 4_000_000_u32;
        let draws =
            (0..u64::from(n)).map(|request| normal(&mut KeyedRng::new(Seed(1), HERE, request, 0)));
        let bounds = [-3.9, -2.5, -1.0, 0.0, 1.0, 2.5, 3.7, 3.9];
        let mut below = [0_u32; 8];
        for draw in draws {
            for (count, bound) in below.iter_mut().zip(bounds) {
                *count += u32::from(draw < bound);
            }
        }

        for (count, bound) in below.into_iter().zip(bounds) {
            let share = libm::erfc(-bound / std::f64::consts::SQRT_2) / 2.0;
            let found = f64::from(count) / f64::from(n);
            let error = (share * (1.0 - share) / f64::from(n)).sqrt();
            assert!(
                (found - share).abs() < 4.5 * error,
                "{bound}: {found}, {share}"
            );
        }
    }

    #[test]
    fn draws_are_those_of_rand_distr() {
        use rand::RngExt as _;

        for request in 0..400_000 {
            let rng = || KeyedRng::new(Seed(11), HERE, request, 1);
            let theirs: f64 = rng().sample(rand_distr::StandardNormal);
            let ours = normal(&mut rng());
            // Theirs may take the platform's logarithm for the tail, the last bit of which may differ.
            assert!((ours - theirs).abs() < 1e-14, "{request}: {ours}, {theirs}");
        }
    }

    #[test]
    fn the_first_draws_are_these_bits_on_every_machine() {
        let sum = (0..200_000).fold(0_u64, |sum, request| {
            let draw = normal(&mut KeyedRng::new(Seed(7), HERE, request, 3));
            sum.rotate_left(5) ^ draw.to_bits()
        });

        assert_eq!(sum, 8_518_320_816_535_057_290);
    }
}
