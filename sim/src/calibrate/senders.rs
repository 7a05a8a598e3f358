//! Who sends, by share alone: names, keys and users stay in the log.

use reports::stats::size;
use scenarios::logs::{Log, LogRow};
use serde::Serialize;

/// A sender without a name.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SenderShare {
    /// What it is called here.
    pub name: String,
    /// Its share of the requests.
    pub share: f64,
}

/// The largest senders, and the others together; none if the log knows fewer than two.
pub(crate) fn shares(log: &Log, asked: &[&&LogRow]) -> Vec<SenderShare> {
    let mut counts = vec![0_usize; log.senders];
    for row in asked {
        if let Some(sender) = row.sender {
            counts[sender] += 1;
        }
    }
    counts.retain(|count| *count > 0);
    if counts.len() < 2 {
        return Vec::new();
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let all = size(asked.len());
    let others: usize = counts.iter().skip(MOST).sum();
    let named = (1..)
        .zip(counts.iter().take(MOST))
        .map(|(number, count)| SenderShare {
            name: format!("sender-{number}"),
            share: size(*count) / all,
        });
    let rest = (others > 0).then(|| SenderShare {
        name: "others".to_owned(),
        share: size(others) / all,
    });
    named.chain(rest).collect()
}

/// More senders are one.
const MOST: usize = 9;
