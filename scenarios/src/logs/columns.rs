//! Which column of a table means what.

use super::{
    LogOptions,
    fields::{Field, SPEND},
    rows::Source,
};
use crate::{
    error::{ScenarioError, suggestion},
    workload::trace::place,
};

/// Fields with the places of their columns.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    is_spend: bool,
    places: Vec<(Field, usize)>,
}

impl Columns {
    /// By `--columns` if given, else by LiteLLM's names.
    pub(crate) fn of(
        header: &[String],
        options: &LogOptions,
        file: &str,
    ) -> Result<Self, ScenarioError> {
        let names: Vec<&str> = header.iter().map(String::as_str).collect();
        if options.columns.is_empty() {
            let spend = SPEND.iter();
            let places: Vec<(Field, usize)> = spend
                .filter_map(|(name, field)| Some((*field, place(header, name)?)))
                .collect();
            let found = |wanted: Field| places.iter().any(|(field, _)| *field == wanted);
            if found(Field::Start) && found(Field::End) {
                return Ok(Self {
                    is_spend: true,
                    places,
                });
            }
            return Err(no_spend_log(&names, places.len()).at(1, 1).in_file(file));
        }
        let mut places = Vec::new();
        for (field, name) in options.columns.iter() {
            let Some(at) = place(header, name) else {
                return Err(
                    ScenarioError::new(format!("the log has no column `{name}`"))
                        .key("--columns")
                        .at(1, 1)
                        .in_file(file)
                        .help(suggestion(name, &names)),
                );
            };
            places.push((field, at));
        }
        let has = |wanted: Field| places.iter().any(|(field, _)| *field == wanted);
        if !has(Field::Start) {
            return Err(ScenarioError::new("no column is named for `start`")
                .key("--columns")
                .help("accepted is, for example, --columns start=created_at,latency_ms=duration"));
        }
        Ok(Self {
            is_spend: false,
            places,
        })
    }

    /// Each field with its place in a row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Field, usize)> {
        self.places.iter().copied()
    }

    /// What a file of this kind is, as told to people.
    pub(crate) fn format(&self, kind: &str) -> String {
        match self.is_spend {
            true => format!("LiteLLM spend logs ({kind})"),
            false => format!("{kind} by --columns"),
        }
    }

    /// How cells of it are to be taken.
    pub(crate) fn source(&self, options: &LogOptions) -> Source {
        Source {
            is_spend: self.is_spend,
            has_ends: ENDS
                .iter()
                .any(|end| self.iter().any(|(field, _)| field == *end)),
            time_unit: options.time_unit,
        }
    }
}

/// A table whose columns are not those of a spend log: which is missing, if it is one otherwise.
pub(crate) fn no_spend_log(names: &[&str], known: usize) -> ScenarioError {
    let missing: Vec<String> = ["startTime", "endTime"]
        .iter()
        .filter(|name| !names.iter().any(|known| known.eq_ignore_ascii_case(name)))
        .map(|name| format!("`{name}`"))
        .collect();
    let help = "accepted are LiteLLM's spend logs, which have startTime and endTime, OpenTelemetry spans as JSON, \
                and any other rows with --columns start=…,latency_ms=…";
    if known >= ENOUGH_OF_SPEND && !missing.is_empty() {
        let missing = missing.join(" and no column ");
        return ScenarioError::new(format!("the spend log has no column {missing}")).help(help);
    }
    let shown: String = names.join(",").chars().take(160).collect();
    ScenarioError::new(format!("a log of no known format has the columns {shown}")).help(help)
}

/// So many columns of LiteLLM's names make a spend log.
const ENOUGH_OF_SPEND: usize = 3;

/// Fields that tell when a call ended.
pub(crate) const ENDS: [Field; 3] = [Field::End, Field::LatencyMs, Field::LatencyS];
