//! The smallest number that does, found by doubling and halving.

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reached {
    /// The smallest that does.
    At(u32),
    /// None up to the largest that was allowed.
    NoneUpTo(u32),
}

/// The smallest number above `below` and up to `most` that `does`, if numbers above one that does do as
/// well: `first` is tried first, then it is doubled, then what lies between is halved. `None` if `does`
/// was called off.
///
/// # Errors
///
/// As `does`.
pub fn smallest<E>(
    below: u32,
    first: u32,
    most: u32,
    mut does: impl FnMut(u32) -> Result<Option<bool>, E>,
) -> Result<Option<Reached>, E> {
    let (mut fails, mut next) = (below, first.clamp(below.saturating_add(1), most));
    let mut works = loop {
        match does(next)? {
            None => return Ok(None),
            Some(true) => break next,
            Some(false) if next == most => return Ok(Some(Reached::NoneUpTo(most))),
            Some(false) => {
                fails = next;
                next = next.saturating_mul(2).min(most);
            }
        }
    };
    while works - fails > 1 {
        let middle = fails + (works - fails) / 2;
        match does(middle)? {
            None => return Ok(None),
            Some(true) => works = middle,
            Some(false) => fails = middle,
        }
    }
    Ok(Some(Reached::At(works)))
}

/// Sizes of which none can be one less by itself: those given, which do, are lowered one after the other, again
/// and again until none can be. Groups that share a quota, or that fall back to each other, may need less
/// once another has less, so one pass is not enough. `None` if `does` was called off.
///
/// # Errors
///
/// As `does`.
pub fn lowered<E>(
    mut sizes: Vec<u32>,
    mut does: impl FnMut(&[u32]) -> Result<Option<bool>, E>,
) -> Result<Option<Vec<u32>>, E> {
    loop {
        let before = sizes.clone();
        for group in 0..sizes.len() {
            while sizes[group] > 1 {
                let mut less = sizes.clone();
                less[group] -= 1;
                match does(&less)? {
                    None => return Ok(None),
                    Some(true) => sizes = less,
                    Some(false) => break,
                }
            }
        }
        if sizes == before {
            return Ok(Some(sizes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_group_needs_is_asked_again_once_another_has_less() {
        // The first may not be smaller than the second, with which it shares a quota.
        let does = |sizes: &[u32]| Ok::<_, ()>(Some(sizes[0] >= sizes[1] && sizes[1] >= 2));
        assert_eq!(lowered(vec![6, 6], does), Ok(Some(vec![2, 2])));

        // Each can carry what the other does not, and three do between them.
        let does = |sizes: &[u32]| Ok::<_, ()>(Some(sizes.iter().sum::<u32>() >= 5));
        let found = lowered(vec![4, 4], does).unwrap().unwrap();
        assert_eq!(found.iter().sum::<u32>(), 5);

        assert_eq!(lowered::<()>(vec![3, 3], |_| Ok(None)), Ok(None));
    }

    fn search(below: u32, first: u32, most: u32, truth: u32) -> (Reached, usize) {
        let mut tried = 0;
        let found = smallest::<()>(below, first, most, |n| {
            tried += 1;
            Ok(Some(n >= truth))
        });
        (found.unwrap().unwrap(), tried)
    }

    #[test]
    fn the_smallest_is_found_wherever_it_lies() {
        for truth in 1..=64 {
            for first in [1, 4, 64] {
                let (found, tried) = search(0, first, 64, truth);
                assert_eq!(found, Reached::At(truth));
                assert!(tried <= 13, "{tried} tries for {truth} from {first}");
            }
        }
    }

    #[test]
    fn what_no_number_does_is_told_and_nothing_below_the_floor_is_tried() {
        assert_eq!(search(0, 4, 32, 33).0, Reached::NoneUpTo(32));
        assert_eq!(search(6, 3, 32, 1).0, Reached::At(7));
    }

    #[test]
    fn a_search_that_is_called_off_finds_nothing() {
        assert_eq!(smallest::<()>(0, 1, 8, |_| Ok(None)), Ok(None));
    }
}
