//! Limits on spending: of a deployment, of a provider (semantics 8.6). LiteLLM holds a budget only
//! if it has both an amount above zero and a period that can be read (observed).

use std::{collections::BTreeMap, time::Duration};

use router::config::Budget;

use super::{
    section::{Section, ignored, used},
    setting::{Result, Setting},
    tables::{PROXY_LIMIT, UNKNOWN},
};
use crate::yaml::Node;

/// Reads `max_budget` of a deployment, in US dollars.
pub(super) fn read_amount(s: &mut Setting<'_>, period_key: &str) -> Result<Option<f64>> {
    let amount = s.amount_or_text()?;
    if amount == Some(0.0) {
        s.suspect("LiteLLM reads a budget of 0 as none");
        return Ok(None);
    }
    let has_period = |node: &Node| node.as_str().and_then(period).is_some();
    if amount.is_some() && !s.beside(period_key).is_some_and(has_period) {
        s.suspect(format!(
            "LiteLLM holds no budget without a `{period_key}` that it can read beside it"
        ));
        return Ok(None);
    }
    Ok(amount)
}

/// Reads the length of a budget's window, as `1d`.
pub(super) fn read_period(s: &mut Setting<'_>, amount_key: &str) -> Result<Option<Duration>> {
    if s.given().is_none() {
        return Ok(None);
    }
    let Some(text) = s.text()? else {
        return Ok(None);
    };
    let period = period(&text);
    if period.is_none() {
        s.suspect(
            "LiteLLM cannot read this period and holds no budget; it reads a whole number with s, m, \
             h, d, w or mo, as `30d`",
        );
    } else if s.beside(amount_key).is_none() && amount_key == "max_budget" {
        s.suspect(format!(
            "LiteLLM holds no budget without `{amount_key}` beside it"
        ));
    }
    Ok(period)
}

/// A number and its unit. What follows the unit is passed over, as LiteLLM does (observed). A month
/// counts as 30 days here; LiteLLM goes by the calendar.
fn period(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    let (_, seconds) = UNITS.iter().find(|(name, _)| unit.starts_with(name))?;
    let seconds = number.checked_mul(*seconds)?;
    (seconds <= MOST_SECONDS).then(|| Duration::from_secs(seconds))
}

/// Reads `provider_budget_config`: `{provider: {budget_limit: …, time_period: …}}`.
pub(super) fn read_provider_budgets(s: &mut Setting<'_>) -> Result<BTreeMap<String, Budget>> {
    let mut budgets = BTreeMap::new();
    s.entries(|provider, entry| {
        if entry.node.as_map().is_none() {
            return Err(entry.unaccepted("a mapping with `budget_limit` and `time_period`"));
        }
        let mut draft = Draft::default();
        entry.section(&PROVIDER_BUDGET, &mut draft)?;
        // Without an amount the provider serves nothing at all; 0 is none (both observed).
        if let (Some(period), false) = (draft.period, draft.is_zero) {
            let budget = Budget {
                limit: draft.limit,
                period: Some(period),
            };
            budgets.insert(provider.to_owned(), budget);
        }
        Ok(())
    })?;
    Ok(budgets)
}

#[derive(Default)]
struct Draft {
    limit: Option<f64>,
    is_zero: bool,
    period: Option<Duration>,
}

static PROVIDER_BUDGET: Section<Draft> = Section {
    keys: &[
        used("budget_limit", |d, s| {
            d.is_zero = s.node.whole() == Some(0);
            d.limit = read_amount(s, "time_period")?;
            Ok(())
        }),
        used("time_period", |d, s| {
            d.period = read_period(s, "budget_limit")?;
            Ok(())
        }),
        ignored("budget_duration", MISNAMED),
        ignored("max_budget", MISNAMED),
        ignored("rpm_limit", PROXY_LIMIT),
        ignored("tpm_limit", PROXY_LIMIT),
    ],
    families: &[],
    otherwise: UNKNOWN,
};

const MISNAMED: &str =
    "LiteLLM reads a provider's budget from `budget_limit` and `time_period` only";

/// Units of time, the longest name first.
const UNITS: [(&str, u64); 6] = [
    ("mo", 30 * 86_400),
    ("s", 1),
    ("m", 60),
    ("h", 3_600),
    ("d", 86_400),
    ("w", 7 * 86_400),
];

/// About 31 years, well within the range of virtual time.
const MOST_SECONDS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read_as_litellm_reads_them() {
        let seconds = |text| period(text).map(|period| period.as_secs());

        assert_eq!(
            ["60s", "5m", "2h", "1d", "1w", "1mo", "1d "].map(seconds),
            [
                Some(60),
                Some(300),
                Some(7_200),
                Some(86_400),
                Some(604_800),
                Some(2_592_000),
                Some(86_400)
            ]
        );
        for odd in ["1x", "60", "1M", "1D", "0d", "1.5h", " 1h", "-1d", "", "d"] {
            assert_eq!(period(odd), None, "{odd:?}");
        }
    }
}
