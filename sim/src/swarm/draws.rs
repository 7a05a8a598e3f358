//! Where the choices of a random plan come from: a seed, or a list that a property test shrinks.
//!
//! The smallest choice is always the simplest one: the first of a list, `false`, the low end of a
//! range. A list that has run out gives it for ever, so a shorter list of smaller numbers is a simpler
//! plan.

use router::{KeyedRng, Purpose, Seed};

/// A source of choices.
#[derive(Clone, Debug)]
pub struct Draws {
    from: From,
    taken: u64,
}

#[derive(Clone, Debug)]
enum From {
    Seed { seed: Seed, run: u64 },
    List(Vec<u32>),
}

impl Draws {
    /// The choices of one run of a swarm.
    #[must_use]
    pub const fn of_run(seed: Seed, run: u64) -> Self {
        Self {
            from: From::Seed { seed, run },
            taken: 0,
        }
    }

    /// Choices given one by one; after the last each is the simplest.
    #[must_use]
    pub const fn of_list(list: Vec<u32>) -> Self {
        Self {
            from: From::List(list),
            taken: 0,
        }
    }

    /// A number below `bound`, which is above 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        let number = self.taken;
        self.taken += 1;
        match &self.from {
            From::Seed { seed, run } => {
                let drawn = KeyedRng::new(*seed, CHOICE, *run, number).below(bound as usize);
                u32::try_from(drawn).unwrap_or_default()
            }
            From::List(list) => {
                let place = usize::try_from(number).unwrap_or(usize::MAX);
                list.get(place).map_or(0, |choice| choice % bound)
            }
        }
    }

    /// Whether, `percent` times out of a hundred.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) >= 100 - percent.min(100)
    }

    /// One of these.
    pub fn one<T: Clone>(&mut self, of: &[T]) -> T {
        let count = u32::try_from(of.len()).unwrap_or(1);
        of[self.below(count) as usize].clone()
    }

    /// From `low` to `high`, both among them.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }
}

const CHOICE: Purpose = Purpose::named("swarm.choice");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_has_run_out_gives_the_simplest_choice() {
        let mut draws = Draws::of_list(vec![7]);

        assert_eq!(draws.below(5), 2);
        assert_eq!(draws.below(5), 0);
        assert!(!draws.chance(99));
        assert_eq!(draws.one(&["simple", "odd"]), "simple");
        assert_eq!(draws.between(3, 9), 3);
    }

    #[test]
    fn runs_of_one_seed_differ_and_each_comes_again() {
        let first = |run| {
            let mut draws = Draws::of_run(Seed(1), run);
            (0..8).map(|_| draws.below(1_000)).collect::<Vec<_>>()
        };

        assert_eq!(first(3), first(3));
        assert_ne!(first(3), first(4));
    }
}
