//! Where a service breaks as the load rises, and where it recovers as the load falls.

use super::{Served, recovery::BACK};

/// What became of one run whose load rises and falls in steps.
#[derive(Clone, PartialEq, Debug)]
pub struct Turns {
    /// The share that was answered well at each step up, then at each step down; `None` where nothing
    /// arrived.
    pub shares: Vec<Option<f64>>,
    /// The load at which it first served clearly less than at the lowest; `None`: it never did.
    pub breaks: Option<f64>,
    /// The load on the way down at which it first served as before again, where it broke; `None`: it
    /// never did.
    pub recovers: Option<f64>,
}

/// Reads a run whose load is each of `loads` in turn, for `step_s` each: up to the largest, then down.
/// Of each step the second half counts, so that what the step before left behind has a while to go.
#[must_use]
pub fn turns(served: &Served, loads: &[f64], step_s: f64) -> Turns {
    let begins = |at: usize| reports::stats::size(at) * step_s;
    let share = |at: usize| served.share(begins(at) + step_s / 2.0, begins(at) + step_s);
    let shares: Vec<Option<f64>> = (0..loads.len()).map(share).collect();
    let lowest = shares.first().copied().flatten().unwrap_or(0.0);
    let serves = |at: &usize| shares[*at].is_none_or(|share| share >= BACK * lowest);
    let top = (0..loads.len()).fold(0, |top, at| if loads[at] > loads[top] { at } else { top });
    let breaks = (0..=top).find(|at| !serves(at));
    let recovers = breaks.and_then(|_| (top + 1..loads.len()).find(serves));
    Turns {
        breaks: breaks.map(|at| loads[at]),
        recovers: recovers.map(|at| loads[at]),
        shares,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(shares: &[u32]) -> Served {
        // Two windows a step; only the second counts.
        let windows = shares.iter().flat_map(|&good| [(100, 0), (100, good)]);
        Served {
            width_s: 10.0,
            windows: windows.collect(),
        }
    }

    #[test]
    fn the_way_down_may_recover_later_than_the_way_up_broke() {
        let loads = [1.0, 2.0, 3.0, 2.0, 1.0];

        let same = turns(&run(&[100, 100, 40, 97, 100]), &loads, 20.0);
        assert_eq!((same.breaks, same.recovers), (Some(3.0), Some(2.0)));
        let late = turns(&run(&[100, 50, 40, 50, 100]), &loads, 20.0);
        assert_eq!((late.breaks, late.recovers), (Some(2.0), Some(1.0)));
        let never = turns(&run(&[100, 100, 40, 10, 10]), &loads, 20.0);
        assert_eq!((never.breaks, never.recovers), (Some(3.0), None));
        let strong = turns(&run(&[100, 100, 99, 99, 99]), &loads, 20.0);
        assert_eq!((strong.breaks, strong.recovers), (None, None));
    }
}
