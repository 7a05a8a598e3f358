//! A capacity plan's table on the page.

use super::{CapacityRecord, told::rows};
use crate::found_table::found_table;

/// The section with the table.
pub(crate) fn capacity_section(plan: &CapacityRecord) -> String {
    let basis = "Means with half of their 95 % intervals over replications, where the bound is tightest. A size with \
                 “?” was not shown to do on fresh seeds; “One less” with “?” was not shown to miss.";
    found_table("What is needed", basis, &rows(plan))
}
