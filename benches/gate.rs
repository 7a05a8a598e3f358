//! When a count of instructions is too much, and what is said of it.

/// A toolchain of the same version generates the same code; the C library picks some of its own by
/// the processor.
pub const TOLERANCE: f64 = 0.02;

/// What was counted of a case, in instructions of one request.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a> {
    /// Its name in the list of accepted numbers.
    pub case: &'a str,
    /// In this revision.
    pub found: f64,
    /// The number that this revision accepts.
    pub accepted: f64,
    /// In the other revision, if there is one that was counted.
    pub before: Option<Before>,
    /// What may not be exceeded whatever was accepted, because features that nobody uses must cost nothing.
    pub bound: Option<f64>,
}

/// A case in another revision.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    /// What was counted there.
    pub found: f64,
    /// The number that it accepted, if it can say so.
    pub accepted: Option<f64>,
}

impl Counted<'_> {
    /// The numbers, in a line.
    #[must_use]
    pub fn told(&self) -> String {
        let Self {
            case,
            found,
            accepted,
            ..
        } = self;
        let change = percent(*found, *accepted);
        let mut told =
            format!("{case}: {found:.0} instructions a request, {accepted:.0} accepted ({change})");
        if let Some(before) = self.before {
            let change = percent(*found, before.found);
            told += &format!(", {:.0} in the other revision ({change})", before.found);
        }
        told
    }

    /// Whatever is too much, in a sentence each.
    ///
    /// Dearer than the other revision is too much even under the accepted number, so that a list that was not
    /// lowered with the code hides no loss. It passes if this revision accepted another number than that one.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let Self {
            case,
            found,
            accepted,
            ..
        } = self;
        let most = percent(1.0 + TOLERANCE, 1.0);
        let mut faults = Vec::new();
        if is_dearer(*found, *accepted) {
            let change = percent(*found, *accepted);
            faults.push(format!(
                "{case} takes {found:.0} instructions a request and {accepted:.0} are accepted: {change}, \
                 where {most} may be"
            ));
        }
        if let Some(before) = self.before
            && is_dearer(*found, before.found)
            && before
                .accepted
                .is_none_or(|theirs| is_same(theirs, *accepted))
        {
            let change = percent(*found, before.found);
            faults.push(format!(
                "{case} takes {found:.0} instructions a request and took {:.0} in the other revision: {change}, \
                 where {most} may be, and no other number was accepted since",
                before.found
            ));
        }
        if let Some(bound) = self.bound
            && *found > bound
        {
            faults.push(format!(
                "{case} takes {found:.0} instructions a request, above the {bound:.0} of before there were features: \
                 those that nobody uses must cost nothing"
            ));
        }
        faults
    }
}

fn is_dearer(found: f64, reference: f64) -> bool {
    found > reference * (1.0 + TOLERANCE)
}

/// Whole numbers are accepted.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.5
}

/// How much more than a reference, as a person reads it.
fn percent(found: f64, reference: f64) -> String {
    format!("{:+.1} %", (found / reference - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(found: f64, accepted: f64, before: Option<Before>) -> Counted<'static> {
        Counted {
            case: "simple-shuffle/10",
            found,
            accepted,
            before,
            bound: None,
        }
    }

    fn before(found: f64, accepted: f64) -> Option<Before> {
        let accepted = Some(accepted);
        Some(Before { found, accepted })
    }

    #[test]
    fn what_stays_within_two_percent_of_both_numbers_passes_and_both_are_told() {
        let same = counted(2_800.0, 2_761.0, before(2_770.0, 2_761.0));
        assert_eq!(same.faults(), Vec::<String>::new());
        assert_eq!(
            same.told(),
            "simple-shuffle/10: 2800 instructions a request, 2761 accepted (+1.4 %), 2770 in the other revision (+1.1 %)"
        );
        let alone = counted(2_761.0, 2_761.0, None);
        assert_eq!(alone.faults(), Vec::<String>::new());
        assert_eq!(
            alone.told(),
            "simple-shuffle/10: 2761 instructions a request, 2761 accepted (+0.0 %)"
        );
    }

    #[test]
    fn a_request_above_the_accepted_number_is_a_fault_that_names_the_case_and_both_numbers() {
        assert_eq!(
            counted(2_900.0, 2_761.0, None).faults(),
            [
                "simple-shuffle/10 takes 2900 instructions a request and 2761 are accepted: +5.0 %, where +2.0 % may be"
            ]
        );
    }

    #[test]
    fn a_loss_is_a_fault_even_under_a_number_that_was_not_lowered_with_the_code() {
        for found in [2_900.0, 3_180.0, 3_200.0] {
            let faults = counted(found, 3_200.0, before(2_761.0, 3_200.0)).faults();
            assert_eq!(faults.len(), 1, "{faults:?}");
        }
        assert_eq!(
            counted(2_900.0, 3_200.0, before(2_761.0, 3_200.0)).faults(),
            [
                "simple-shuffle/10 takes 2900 instructions a request and took 2761 in the other revision: +5.0 %, \
                 where +2.0 % may be, and no other number was accepted since"
            ]
        );
    }

    #[test]
    fn a_number_that_is_accepted_with_the_change_lets_it_pass() {
        let raised = counted(2_900.0, 2_900.0, before(2_761.0, 2_761.0));
        assert_eq!(raised.faults(), Vec::<String>::new());
        // Up to that number.
        let above = counted(3_000.0, 2_900.0, before(2_761.0, 2_761.0));
        assert_eq!(above.faults().len(), 1);
    }

    #[test]
    fn a_revision_that_cannot_say_what_it_accepted_excuses_nothing() {
        let before = Some(Before {
            found: 2_761.0,
            accepted: None,
        });
        assert_eq!(counted(2_900.0, 2_900.0, before).faults().len(), 1);
    }

    #[test]
    fn features_that_nobody_uses_are_a_fault_whatever_was_accepted() {
        let unused = Counted {
            bound: Some(2_934.0),
            ..counted(2_950.0, 2_950.0, before(2_950.0, 2_950.0))
        };
        assert_eq!(
            unused.faults(),
            [
                "simple-shuffle/10 takes 2950 instructions a request, above the 2934 of before there were features: \
                 those that nobody uses must cost nothing"
            ]
        );
    }
}
