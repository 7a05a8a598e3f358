//! A whole plan under every rule: its run, and what must be the same beside it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use reports::Recorder;
use router::Instant;
use scenarios::RunPlan;

use super::{checker::Checker, recount::Recount, rule::Violation};
use crate::{
    RunEnd, SimError,
    journal::{self, Head, Journal},
    recorder_setup, simulate,
};

/// What came of a plan.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Checked {
    /// Requests that arrived.
    pub requests: u64,
    /// Attempts that were sent.
    pub attempts: u64,
    /// What must not happen, and did.
    pub violations: Vec<Violation>,
}

/// Runs a plan under every rule. A panic on the way, as of a `debug_assert!`, is a violation too: of the
/// invariant that its message names, else of none by number.
#[must_use]
pub fn check_plan(plan: &RunPlan) -> Checked {
    let checked = catch_unwind(AssertUnwindSafe(|| checked(plan)));
    checked.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("a panic without words");
        Checked {
            violations: vec![violation(named(text), format!("a panic: {text}"))],
            ..Checked::default()
        }
    })
}

fn checked(plan: &RunPlan) -> Checked {
    match heard(plan) {
        Ok((end, violations)) => Checked {
            requests: end.requests,
            attempts: end.attempts,
            violations,
        },
        Err(error) => Checked {
            violations: vec![violation(1, format!("the run does not end: {error}"))],
            ..Checked::default()
        },
    }
}

fn heard(plan: &RunPlan) -> Result<(RunEnd, Vec<Violation>), SimError> {
    let mut checker = Checker::new(plan)?;
    let mut journal = Journal::begin(Vec::new(), &Head::of_plan(plan)).ok();
    let mut recorder = Recorder::new(recorder_setup(plan)?);
    let mut recount = Recount::default();
    let written = (&mut journal, (&mut recorder, &mut recount));
    let end = simulate(plan, &mut (&mut checker, written))?;
    let mut violations = checker.finish();
    violations.extend(recount.differences(plan, &recorder.finish(end.end)));
    if let Some(journal) = journal {
        violations.extend(match journal.finish() {
            Ok(text) => replayed(&text),
            Err(error) => Some(violation(23, format!("the journal breaks off: {error}"))),
        });
    }
    Ok((end, violations))
}

/// A run equals the replay of its journal (invariant 23), in which there is nothing that a real router
/// could not see: no length of an answer before it is there, no state of a provider (invariant 21).
fn replayed(text: &[u8]) -> Option<Violation> {
    let what = match journal::replay(text) {
        Err(error) => format!("the journal is not one: {error}"),
        Ok(replayed) => match replayed.difference {
            Some(one) => format!(
                "line {} at {}: {} was decided, and {} in the replay",
                one.line, one.at, one.journal, one.replay
            ),
            None if replayed.unfinished > 0 => {
                format!("{} requests have no end in the replay", replayed.unfinished)
            }
            None => return None,
        },
    };
    Some(violation(23, what))
}

/// A violation that is of the run as a whole.
pub(super) const fn violation(invariant: u8, what: String) -> Violation {
    Violation {
        invariant,
        at: Instant::ZERO,
        request: None,
        what,
    }
}

/// The number behind `invariant` in the words of a panic; 0 without one.
fn named(text: &str) -> u8 {
    let Some((_, rest)) = text.split_once("invariant ") else {
        return 0;
    };
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..digits].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swarm::{Draws, plan_of, scenario};

    #[test]
    fn a_journal_with_another_decision_is_found_out() {
        let plan = plan_of(&scenario(&mut Draws::of_list(Vec::new()))).unwrap();
        let mut journal = Journal::begin(Vec::new(), &Head::of_plan(&plan)).unwrap();
        simulate(&plan, &mut journal).unwrap();
        let text = String::from_utf8(journal.finish().unwrap()).unwrap();
        let sent = "\"send\":{\"deployment\":";
        let other = text.replacen(&format!("{sent}0"), &format!("{sent}1"), 1);

        assert_eq!(replayed(text.as_bytes()), None);
        let found = replayed(other.as_bytes()).map(|one| one.invariant);
        assert_eq!(found, Some(23));
    }

    #[test]
    fn a_panic_is_of_the_invariant_that_it_names() {
        assert_eq!(named("invariant 4: 2 are in flight"), 4);
        assert_eq!(named("index out of bounds"), 0);
    }
}
