//! What the same luck in all arms was worth.

use crate::{comparison::Comparison, labels::short_axis};

/// The variance-reduction factor of the first comparison (the best arm against the reference, else the second
/// best against the reference that is best), in a sentence. `None` without one.
pub(crate) fn common_luck(comparison: &Comparison<'_>) -> Option<String> {
    let reference = comparison.sweep.reference;
    let ranking = comparison.ranking();
    let other = ranking.into_iter().find(|arm| *arm != reference)?;
    let metric = comparison.deciding();
    let factor = comparison
        .paired(other, reference, metric)?
        .variance_reduction?;
    let name = crate::advice::lower_first(metric.title());
    let arm = comparison.sweep.arms[other].label();
    // A single axis is named once, whatever its values look like.
    let arm = match comparison.sweep.axes.as_slice() {
        [axis] if !arm.contains(short_axis(&axis.name)) => {
            format!("{} {arm}", short_axis(&axis.name))
        }
        _ => arm,
    };
    let head = format!(
        "Both arms met the same luck: for the same interval of {name} ({arm} against the reference) independent runs would take \
         {factor:.1} times as many replications (variance-reduction factor)"
    );
    Some(match factor < 1.0 {
        true => format!("{head}, which is fewer: here the same luck does not help."),
        false => format!("{head}."),
    })
}
