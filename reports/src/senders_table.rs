//! The table of senders that console, Markdown and page share: a row for each sender of each arm.

use crate::{
    distribution::as_f64,
    metrics::Unit,
    record::{ArmRecord, SweepRecord},
    senders::SenderRecord,
    stats::mean_interval,
};

/// Titles and rows; all rows are as long as the titles.
#[derive(Debug)]
pub(crate) struct SendersTable {
    pub(crate) titles: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// A column: its title, its unit, and what it reads off one sender of one run.
type Column = (&'static str, Unit, fn(&SenderRecord) -> Option<f64>);

const COLUMNS: &[Column] = &[
    ("Requests", Unit::Count, |s| Some(as_f64(s.requests))),
    ("Goodput", Unit::Ratio, |s| share(s.good?, s.requests)),
    ("Success", Unit::Ratio, |s| share(s.completed, s.requests)),
    ("Latency p50", Unit::Millis, |s| {
        Some(s.latency_p50_s? * 1e3)
    }),
    ("Latency p99", Unit::Millis, |s| {
        Some(s.latency_p99_s? * 1e3)
    }),
    ("Attempts", Unit::PerRequest, |s| {
        share(s.attempts, s.requests)
    }),
    ("From the cache", Unit::Ratio, |s| {
        share(s.cache_hits, s.requests)
    }),
    ("Prompt tokens cached", Unit::Ratio, |s| {
        share(s.cached_tokens, s.prompt_tokens)
    }),
    ("Cost", Unit::UsdPer1000Requests, |s| {
        Some(1e3 * s.cost_usd? / as_f64(s.requests))
    }),
];

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| as_f64(part) / as_f64(whole))
}

impl SendersTable {
    /// Every arm's senders; of many arms only the reference's. `None` where nothing is known of them.
    pub(crate) fn new(sweep: &SweepRecord) -> Option<Self> {
        let of_one = |arm: &&ArmRecord| arm.runs.first().map_or(0, |run| run.senders.len());
        let rows: usize = sweep.arms.iter().map(|arm| of_one(&arm)).sum();
        let reference = sweep.arms.get(sweep.reference);
        let arms: Vec<&ArmRecord> = match rows <= ROWS_AT_MOST {
            true => sweep.arms.iter().collect(),
            false => reference.into_iter().collect(),
        };
        let mut lines: Vec<(String, String, Vec<Vec<f64>>)> = Vec::new();
        for arm in arms {
            for name in names(arm) {
                let own = || arm.runs.iter().flat_map(|run| &run.senders);
                let own = || own().filter(|sender| sender.name == name);
                let column = |(_, _, read): &Column| own().filter_map(read).collect();
                let cells = COLUMNS.iter().map(column).collect();
                lines.push((arm.label(), name, cells));
            }
        }
        if lines.is_empty() {
            return None;
        }
        let tells = |column: &usize| {
            let mut values = lines.iter().flat_map(|(_, _, cells)| &cells[*column]);
            values.any(|value| *value != 0.0)
        };
        let columns: Vec<usize> = (0..COLUMNS.len()).filter(tells).collect();
        let with_arm = sweep.arms.len() > 1;
        let head = with_arm.then_some("Arm").into_iter().chain(["Sender"]);
        let titles = head.chain(columns.iter().map(|&column| COLUMNS[column].0));
        let cell = |column: usize, values: &[f64]| {
            let estimate = mean_interval(values);
            estimate.map_or_else(|| "—".to_owned(), |e| COLUMNS[column].1.show_estimate(&e))
        };
        let row = |(arm, name, cells): &(String, String, Vec<Vec<f64>>)| {
            let head = with_arm
                .then(|| arm.clone())
                .into_iter()
                .chain([name.clone()]);
            let cells = columns.iter().map(|&column| cell(column, &cells[column]));
            head.chain(cells).collect()
        };
        Some(Self {
            titles: titles.map(str::to_owned).collect(),
            rows: lines.iter().map(row).collect(),
        })
    }
}

/// The senders of an arm, in the order in which its runs name them.
fn names(arm: &ArmRecord) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for sender in arm.runs.iter().flat_map(|run| &run.senders) {
        if !names.contains(&sender.name) {
            names.push(sender.name.clone());
        }
    }
    names
}

const ROWS_AT_MOST: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RunRecord;

    fn sender(name: &str, completed: u64) -> SenderRecord {
        SenderRecord {
            name: name.to_owned(),
            requests: 100,
            completed,
            failed: 100 - completed,
            attempts: 150,
            latency_p99_s: Some(2.0),
            cost_usd: None,
            ..SenderRecord::default()
        }
    }

    fn arm(label: &str, senders: &[SenderRecord]) -> ArmRecord {
        let run = RunRecord {
            senders: senders.to_vec(),
            ..RunRecord::default()
        };
        ArmRecord {
            labels: vec![("priority".to_owned(), label.to_owned())],
            runs: vec![run.clone(), run],
        }
    }

    #[test]
    fn each_sender_of_each_arm_has_a_row_with_the_columns_that_tell_something() {
        let sweep = SweepRecord {
            arms: vec![
                arm("1", &[sender("free", 90), sender("gold", 99)]),
                arm("2", &[sender("free", 80)]),
            ],
            ..SweepRecord::default()
        };

        let table = SendersTable::new(&sweep).unwrap();

        let titles = [
            "Arm",
            "Sender",
            "Requests",
            "Success",
            "Latency p99",
            "Attempts",
        ];
        assert_eq!(table.titles, titles);
        assert_eq!(table.rows.len(), 3);
        assert_eq!(
            table.rows[1][..4],
            ["priority 1", "gold", "100 ± 0", "99.00 ± 0.00 %"]
        );
    }

    #[test]
    fn of_many_arms_only_the_reference_is_shown_and_of_none_nothing() {
        let many = |senders: &[SenderRecord]| SweepRecord {
            arms: (0..30).map(|n| arm(&n.to_string(), senders)).collect(),
            reference: 7,
            ..SweepRecord::default()
        };

        let table = SendersTable::new(&many(&[sender("free", 90)])).unwrap();
        assert_eq!(table.rows.len(), 1);
        assert_eq!(table.rows[0][0], "priority 7");
        assert!(SendersTable::new(&many(&[])).is_none());
    }
}
