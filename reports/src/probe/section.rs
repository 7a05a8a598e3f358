//! A probe's table on the page.

use super::{ProbeRecord, told::rows};
use crate::found_table::found_table;

/// The section with the table.
pub(crate) fn probe_section(probe: &ProbeRecord) -> String {
    let basis = "Medians over replications with their 95 % intervals by order statistics, where there are enough; what was \
                 not seen to recover counts as longer than anything seen. Shares with Wilson’s interval.";
    found_table("What the push did", basis, &rows(probe))
}
