//! What of a log is read, under which names, and why the rest is not.

use crate::error::{ScenarioError, suggestion};

/// Something that calibration wants of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Field {
    Start,
    End,
    LatencyMs,
    LatencyS,
    FirstTokenAt,
    FirstTokenMs,
    FirstTokenS,
    Model,
    Deployment,
    ProviderModel,
    Provider,
    PromptTokens,
    OutputTokens,
    Status,
    ErrorCode,
    Stream,
    Sender,
    Session,
    Cached,
    Id,
    CallType,
    Metadata,
}

impl Field {
    /// How many there are.
    pub(crate) const COUNT: usize = Self::Metadata as usize + 1;

    /// What people know it by: the name of LiteLLM's column, or that of `--columns`.
    pub(crate) fn name(self, is_spend: bool) -> &'static str {
        let known = SPEND.iter().find(|(_, field)| is_spend && *field == self);
        known
            .map(|(name, _)| *name)
            .or_else(|| self.word())
            .unwrap_or("metadata")
    }

    /// The name that `--columns` has for it; `None` if it cannot be named there.
    const fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::Start => "start",
            Self::End => "end",
            Self::LatencyMs => "latency_ms",
            Self::LatencyS => "latency_s",
            Self::FirstTokenAt => "first_token_at",
            Self::FirstTokenMs => "first_token_ms",
            Self::FirstTokenS => "first_token_s",
            Self::Model => "model",
            Self::Deployment => "deployment",
            Self::ProviderModel => "litellm_model",
            Self::PromptTokens => "prompt_tokens",
            Self::OutputTokens => "output_tokens",
            Self::Status => "status",
            Self::ErrorCode => "error_code",
            Self::Stream => "stream",
            Self::Sender => "sender",
            Self::Session => "session",
            Self::Cached => "cached",
            Self::Id => "id",
            Self::Provider | Self::CallType | Self::Metadata => return None,
        })
    }
}

/// Names that `--columns` takes, in the order of [`Field`].
const NAMED: [Field; 19] = [
    Field::Start,
    Field::End,
    Field::LatencyMs,
    Field::LatencyS,
    Field::FirstTokenAt,
    Field::FirstTokenMs,
    Field::FirstTokenS,
    Field::Model,
    Field::Deployment,
    Field::ProviderModel,
    Field::PromptTokens,
    Field::OutputTokens,
    Field::Status,
    Field::ErrorCode,
    Field::Stream,
    Field::Sender,
    Field::Session,
    Field::Cached,
    Field::Id,
];

/// Which column of a CSV means what, as `start=created_at,latency_ms=duration`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ColumnMap(Vec<(Field, String)>);

impl ColumnMap {
    /// Reads `name=column` pairs with commas between.
    ///
    /// # Errors
    ///
    /// If a pair is none, a name is unknown, or one stands twice.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let words: Vec<&str> = NAMED.iter().filter_map(|field| field.word()).collect();
        let mut map: Vec<(Field, String)> = Vec::new();
        for pair in text.split(',') {
            let Some((word, column)) = pair.split_once('=') else {
                return Err(ScenarioError::new(format!("found `{pair}`")).key("--columns").help(
                    "accepted is name=column with commas between, as start=created_at,latency_ms=duration",
                ));
            };
            let (word, column) = (word.trim(), column.trim());
            let Some(field) = NAMED.into_iter().find(|field| field.word() == Some(word)) else {
                return Err(ScenarioError::new(format!("unknown name `{word}`"))
                    .key("--columns")
                    .help(suggestion(word, &words)));
            };
            if map.iter().any(|(known, _)| *known == field) {
                return Err(ScenarioError::new(format!("`{word}` is given twice")).key("--columns"));
            }
            map.push((field, column.to_owned()));
        }
        Ok(Self(map))
    }

    /// Whether nothing was given.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pairs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Field, &str)> {
        self.0
            .iter()
            .map(|(field, column)| (*field, column.as_str()))
    }
}

/// Columns of LiteLLM's spend logs (1.110) that are read.
pub(crate) const SPEND: [(&str, Field); 18] = [
    ("startTime", Field::Start),
    ("endTime", Field::End),
    ("request_duration_ms", Field::LatencyMs),
    ("completionStartTime", Field::FirstTokenAt),
    ("model_group", Field::Model),
    ("model_id", Field::Deployment),
    ("model", Field::ProviderModel),
    ("custom_llm_provider", Field::Provider),
    ("prompt_tokens", Field::PromptTokens),
    ("completion_tokens", Field::OutputTokens),
    ("status", Field::Status),
    ("user", Field::Sender),
    ("session_id", Field::Session),
    ("cache_hit", Field::Cached),
    ("request_id", Field::Id),
    ("call_type", Field::CallType),
    ("metadata", Field::Metadata),
    ("stream", Field::Stream),
];

/// Why a column that is not read is not.
pub(crate) fn reason(column: &str) -> &'static str {
    let column = column.to_ascii_lowercase();
    let is = |names: &[&str]| names.contains(&column.as_str());
    if is(&[
        "messages",
        "response",
        "proxy_server_request",
        "prompt",
        "completion",
        "input",
        "output",
    ]) || column.contains("message")
        || column.contains("content")
    {
        "content of calls: never read"
    } else if is(&[
        "api_key",
        "end_user",
        "team_id",
        "organization_id",
        "requester_ip_address",
        "request_tags",
        "api_base",
        "agent_id",
        "billing_agent_id",
    ]) || column.contains("api_key")
        || column.contains("email")
    {
        "about persons or secrets: never read"
    } else if is(&["spend", "total_tokens", "response_cost"]) {
        "follows from what is read"
    } else {
        "nothing in a scenario depends on it"
    }
}
