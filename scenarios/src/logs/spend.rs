//! What a row says of its call: whom it asked and how it went, in LiteLLM's words or in plain ones.

use router::ErrorClass;
use serde::Deserialize;

use super::{LogResult, fields::Field, json::text_of, record::Record, rows::short};

/// Whom a call asked, and how it went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) group: Option<&'a str>,
    pub(crate) deployment: Option<&'a str>,
    model: Option<&'a str>,
    provider: Option<&'a str>,
    pub(crate) result: LogResult,
}

impl<'a> Call<'a> {
    /// As a table says it whose columns were named.
    pub(crate) fn plain(record: &'a Record<'_>) -> Result<Self, (&'static str, String)> {
        let model = record.get(Field::ProviderModel);
        let group = record.get(Field::Model).or(model);
        Ok(Self {
            group,
            deployment: record
                .get(Field::Deployment)
                .or(model)
                .or(group)
                .or(Some(UNNAMED)),
            model: model.or(group),
            provider: record.get(Field::Provider),
            result: result(record, None)?,
        })
    }

    /// The model as `litellm_params.model` has it.
    pub(crate) fn litellm_model(&self) -> String {
        let model = self.model.unwrap_or(UNNAMED);
        match self.provider {
            Some(provider) if !model.contains('/') => format!("{provider}/{model}"),
            _ if model.contains('/') => model.to_owned(),
            _ => format!("openai/{model}"),
        }
    }
}

/// As LiteLLM says it. A failure that names no deployment never got to one.
pub(crate) fn call<'a>(record: &'a Record<'_>) -> Result<Call<'a>, (&'static str, String)> {
    if let Some(kind) = record.get(Field::CallType)
        && !CALLS.iter().any(|known| kind.contains(known))
    {
        return Err((OTHER_CALL, format!("found `{}`", short(kind))));
    }
    let told = record.get(Field::Metadata);
    let told = told.and_then(|text| serde_json::from_str::<Told>(text).ok());
    let result = result(record, told.as_ref())?;
    let model = record.get(Field::ProviderModel);
    let by_model = || match result {
        LogResult::Failure(_) => None,
        LogResult::Success | LogResult::Cached | LogResult::Unfinished => model,
    };
    Ok(Call {
        group: record.get(Field::Model).or(model),
        deployment: record.get(Field::Deployment).or_else(by_model),
        model,
        provider: record.get(Field::Provider),
        result,
    })
}

/// What is read of `metadata`; all else is passed over.
#[derive(Debug, Deserialize)]
struct Told {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    error_information: Option<ToldError>,
}

#[derive(Debug, Deserialize)]
struct ToldError {
    #[serde(default)]
    error_code: Option<serde_json::Value>,
    #[serde(default)]
    error_class: Option<String>,
}

fn result(record: &Record<'_>, told: Option<&Told>) -> Result<LogResult, (&'static str, String)> {
    let error = told.and_then(|told| told.error_information.as_ref());
    let code = error.and_then(|error| error.error_code.as_ref());
    let code = code.map(text_of);
    let class = error.and_then(|error| error.error_class.as_deref());
    let given = record.get(Field::ErrorCode);
    let status = record.get(Field::Status);
    let status = status.or_else(|| told?.status.as_deref());
    let of_error = || {
        let words = [given, code.as_deref(), class];
        words.into_iter().flatten().find_map(status_of)
    };
    let Some(word) = status else {
        if let Some(failed) = of_error() {
            return Ok(LogResult::Failure(failed));
        }
        return match given {
            Some(word) => Err(no_status(word)),
            None => Ok(cached(record)),
        };
    };
    match word.to_ascii_lowercase().as_str() {
        "success" | "ok" | "completed" | "succeeded" | "true" => Ok(cached(record)),
        "failure" | "failed" | "error" | "false" => {
            Ok(LogResult::Failure(of_error().unwrap_or(UNSAID)))
        }
        _ => match word.parse::<u16>() {
            Ok(200..=399) => Ok(cached(record)),
            _ => status_of(word)
                .map(LogResult::Failure)
                .ok_or_else(|| no_status(word)),
        },
    }
}

fn no_status(word: &str) -> (&'static str, String) {
    let word = short(word);
    let accepted = "success, failure, an HTTP status or the name of a LiteLLM exception";
    (
        "a status that is none",
        format!("found `{word}`, accepted is {accepted}"),
    )
}

fn cached(record: &Record<'_>) -> LogResult {
    match record.get(Field::Cached) {
        Some(text) if text.eq_ignore_ascii_case("true") || text == "1" => LogResult::Cached,
        _ => LogResult::Success,
    }
}

/// The status that a word of an error stands for: a number, or the name of an exception.
pub(crate) fn status_of(word: &str) -> Option<u16> {
    if let Ok(status) = word.parse::<u16>() {
        return (400..=599).contains(&status).then_some(status);
    }
    let name = word.rsplit('.').next().unwrap_or(word);
    let known = ErrorClass::ALL
        .into_iter()
        .find(|class| class.exception().eq_ignore_ascii_case(name));
    let lower = name.to_ascii_lowercase();
    known.and_then(ErrorClass::status).or_else(|| match () {
        () if lower.contains("timeout") => Some(408),
        () if lower.contains("ratelimit") || lower.contains("rate_limit") => Some(429),
        () if lower.contains("connection") => Some(500),
        () => None,
    })
}

/// Yes or no.
pub(crate) fn truth(text: &str, what: &str) -> Result<bool, (&'static str, String)> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" | "yes" => Ok(true),
        "false" | "f" | "0" | "no" => Ok(false),
        _ => Err((
            "neither yes nor no",
            format!(
                "found `{}` as {what}, accepted is true or false",
                short(text)
            ),
        )),
    }
}

/// The reason for rows of other calls, such as embeddings.
pub(crate) const OTHER_CALL: &str = "another call than a completion";
/// Parts of the names of LiteLLM's calls that answer with text.
const CALLS: [&str; 4] = ["completion", "responses", "messages", "generate_content"];
/// The status of a failure that says nothing of it: that of LiteLLM's `APIError`.
const UNSAID: u16 = 500;
/// A deployment without a name.
const UNNAMED: &str = "model";
