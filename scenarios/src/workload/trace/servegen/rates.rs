//! The rates of a whole service: a CSV of `t_s,rate_rps` and, perhaps, `active_clients`.

use super::{RateStats, Slice, steps};
use crate::{
    error::ScenarioError,
    workload::{
        rate::Rate,
        trace::{Books, header, place, problem, records},
    },
};

/// Rates of a whole service.
#[derive(Clone, PartialEq, Debug)]
pub struct RateTable {
    /// Beginnings of windows in seconds, increasing, with arrivals a second.
    pub windows: Vec<(f64, f64)>,
    /// Length of the last window: that of the one before it.
    pub window_s: f64,
    /// The most callers of any window, where the file has a column `active_clients`.
    pub most_clients: Option<u64>,
    /// What became of the rows.
    pub books: Books,
}

impl RateTable {
    /// Reads `t_s,rate_rps,…`.
    ///
    /// # Errors
    /// If the columns are missing, a number is negative or none, or times do not increase.
    pub fn read(text: &str, file: &str) -> Result<Self, ScenarioError> {
        let header = header(text);
        let (Some(time), Some(rate)) = (place(&header, "t_s"), place(&header, "rate_rps")) else {
            let message = "the trace has no columns `t_s` and `rate_rps`";
            return Err(problem(file, Some(1), message));
        };
        let mut windows: Vec<(f64, f64)> = Vec::new();
        let clients = place(&header, "active_clients");
        let mut most_clients: Option<u64> = None;
        let mut books = Books::default();
        for (line, record) in records(text) {
            let line = Some(line);
            let cell = |at: usize| {
                let text = record.as_ref()?.get(at)?.trim();
                text.parse::<f64>()
                    .ok()
                    .filter(|value| value.is_finite() && *value >= 0.0)
            };
            let (Some(t), Some(rate)) = (cell(time), cell(rate)) else {
                let message = "a window's time or rate is no number of 0 or more";
                return Err(problem(file, line, message));
            };
            if windows.last().is_some_and(|(before, _)| t <= *before) {
                return Err(problem(
                    file,
                    line,
                    "a window begins no later than the one before it",
                ));
            }
            books.read += 1;
            windows.push((t, rate));
            let active = clients.and_then(|at| record.as_ref()?.get(at)?.trim().parse().ok());
            most_clients = most_clients.max(active);
        }
        let [.., (before, _), (last, _)] = windows[..] else {
            return Err(problem(
                file,
                None,
                "a trace of rates needs at least two windows",
            ));
        };
        Ok(Self {
            window_s: last - before,
            windows,
            most_clients,
            books,
        })
    }

    /// The second at which its last window ends.
    #[must_use]
    pub fn end_s(&self) -> f64 {
        self.windows[self.windows.len() - 1].0 + self.window_s
    }

    /// What it looks like in numbers.
    #[must_use]
    pub fn stats(&self) -> RateStats {
        RateStats::of(self)
    }

    /// The curve of a slice, from 0, and its length in seconds.
    ///
    /// # Errors
    /// If the slice lies outside the trace or has no arrivals at all.
    pub(crate) fn rate(&self, slice: Slice, file: &str) -> Result<(Rate, f64), ScenarioError> {
        let end = self.end_s();
        let to_s = slice.end(end, file)?;
        let steps = steps(&self.windows, slice, to_s, end);
        if steps.iter().all(|step| step.per_second <= 0.0) {
            return Err(problem(
                file,
                None,
                "no window of the chosen slice has any arrivals",
            ));
        }
        Ok((Rate::Steps(steps.into()), to_s - slice.from_s))
    }
}

#[cfg(test)]
mod tests {
    use router::Seed;

    use super::*;

    #[test]
    fn a_slice_of_rates_begins_at_zero_and_is_multiplied() {
        let table = RateTable::read("t_s,rate_rps\n0,10\n600,20\n1200,0\n", "f").unwrap();
        let slice = Slice {
            from_s: 300.0,
            to_s: Some(900.0),
            rate_multiplier: 0.5,
        };

        let (rate, length) = table.rate(slice, "f").unwrap();

        assert!((length - 600.0).abs() < 1e-9);
        let mut cursor = rate.cursor(Seed(0));
        assert_eq!(cursor.due(1_500.0), Some(300.0));
        assert_eq!(cursor.due(4_500.0), Some(600.0));
        assert_eq!(cursor.due(4_501.0), None);
    }
}
