//! What callers of LiteLLM got, as `ask_litellm.py` wrote it down.

use serde_json::Value;

/// What a caller got: exception and status, tokens that came, whether a deployment was benched.
#[derive(PartialEq, Debug)]
pub(crate) struct Saw {
    pub(crate) exception: Option<String>,
    pub(crate) status: Option<u64>,
    pub(crate) tokens: u64,
    pub(crate) benched: bool,
}

impl Saw {
    /// What a row of the record says.
    pub(crate) fn recorded(row: &Value) -> Self {
        Self {
            exception: row["exception"].as_str().map(str::to_owned),
            status: row["status"].as_u64(),
            tokens: row["tokens"].as_u64().unwrap(),
            benched: row["benched"].as_bool().unwrap(),
        }
    }
}
