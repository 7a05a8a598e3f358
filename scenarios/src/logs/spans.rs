//! OpenTelemetry spans of calls to models, by the GenAI semantic conventions (1.41, and the older names of
//! the same attributes). Spans of tools, agents and embeddings are about something else and are dropped.

use serde_json::{Map, Value};

use super::{
    fields::{Field, reason},
    json::text_of,
    record::Record,
    rows::Rows,
};

/// The spans under one of OTLP's `resourceSpans`.
pub(crate) fn of_resource(resource: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let scopes = named(
        resource,
        &["scopeSpans", "scope_spans", "instrumentationLibrarySpans"],
    );
    scopes
        .iter()
        .flat_map(|scope| named(scope, &["spans"]))
        .filter_map(Value::as_object)
}

fn named<'a>(value: &'a Value, names: &[&str]) -> &'a [Value] {
    let found = names.iter().find_map(|name| value.get(*name)?.as_array());
    found.map_or(&[], Vec::as_slice)
}

/// Whether an object is a span and no row of a log.
pub(crate) fn is_span(map: &Map<String, Value>) -> bool {
    map.contains_key("attributes") && START.iter().any(|name| map.contains_key(*name))
}

/// Takes a span as a row, or drops it.
pub(crate) fn take(span: &Map<String, Value>, line: u64, rows: &mut Rows) {
    let attributes = attributes(span.get("attributes"));
    let get = |names: &[&str]| {
        let known = |name: &&str| attributes.iter().find(|(key, _)| key == name);
        names.iter().find_map(known).map(|(_, text)| text.as_str())
    };
    let model = get(&["gen_ai.request.model", "gen_ai.response.model"]);
    let operation = get(&["gen_ai.operation.name"]);
    match (operation, model) {
        (Some(operation), _) if !CALLS.contains(&operation) => {
            return rows.drop_other(line, NO_MODEL_CALL, operation);
        }
        (None, None) => {
            let name = span.get("name").map(text_of).unwrap_or_default();
            return rows.drop_other(line, NO_MODEL_CALL, &name);
        }
        _ => {}
    }
    for (key, _) in &attributes {
        if !READ.contains(&key.as_str()) {
            rows.ignore(key, reason(key));
        }
    }
    let mut record = Record::at(line);
    let mut keep = |field: Field, text: Option<&str>| {
        if let Some(text) = text {
            record.set(field, text.to_owned());
        }
    };
    let top = |names: &[&str]| names.iter().find_map(|name| span.get(*name)).map(text_of);
    keep(Field::Start, top(&START).as_deref());
    keep(
        Field::End,
        top(&["endTimeUnixNano", "end_time_unix_nano", "end_time"]).as_deref(),
    );
    keep(Field::Session, top(&["traceId", "trace_id"]).as_deref());
    keep(Field::Id, top(&["spanId", "span_id"]).as_deref());
    let provider = get(&["gen_ai.provider.name", "gen_ai.system"]);
    let name = model.unwrap_or("model");
    let full = provider.map_or_else(|| name.to_owned(), |provider| format!("{provider}/{name}"));
    let id = get(&["server.address"]).map_or_else(|| full.clone(), |at| format!("{full}@{at}"));
    keep(Field::Model, Some(name));
    keep(Field::ProviderModel, Some(&full));
    keep(Field::Deployment, Some(&id));
    keep(
        Field::PromptTokens,
        get(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]),
    );
    keep(
        Field::OutputTokens,
        get(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
        ]),
    );
    keep(Field::Stream, get(&["gen_ai.request.stream"]));
    keep(Field::FirstTokenS, get(&FIRST_TOKEN));
    keep(Field::Sender, get(&["enduser.id", "user.id"]));
    let error = get(&["error.type"]);
    let failed = error.is_some() || span.get("status").is_some_and(is_error);
    keep(
        Field::Status,
        Some(if failed { "failure" } else { "success" }),
    );
    keep(Field::ErrorCode, error);
    rows.take(&record);
}

/// Keys with their values as text: OTLP's list of typed values, or a plain mapping.
fn attributes(of: Option<&Value>) -> Vec<(String, String)> {
    match of {
        Some(Value::Object(map)) => map
            .iter()
            .map(|(key, value)| (key.clone(), text_of(value)))
            .collect(),
        Some(Value::Array(list)) => list
            .iter()
            .filter_map(|item| {
                let key = item.get("key")?.as_str()?.to_owned();
                let value = item.get("value")?.as_object()?.values().next()?;
                Some((key, text_of(value)))
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Code 2 of a span's status, in the forms in which it is written.
fn is_error(status: &Value) -> bool {
    let code = status.get("code").unwrap_or(status);
    matches!(text_of(code).as_str(), "2" | "ERROR" | "STATUS_CODE_ERROR")
}

/// The reason for spans that are no calls to a model.
pub(crate) const NO_MODEL_CALL: &str = "a span that is no call to a model";
const START: [&str; 3] = ["startTimeUnixNano", "start_time_unix_nano", "start_time"];
const FIRST_TOKEN: [&str; 3] = [
    "gen_ai.server.time_to_first_token",
    "gen_ai.response.time_to_first_chunk",
    "gen_ai.client.operation.time_to_first_chunk",
];
/// Operations that answer with text.
const CALLS: [&str; 3] = ["chat", "text_completion", "generate_content"];
/// Attributes that are read.
const READ: [&str; 17] = [
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.system",
    "server.address",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "gen_ai.request.stream",
    "gen_ai.server.time_to_first_token",
    "gen_ai.response.time_to_first_chunk",
    "gen_ai.client.operation.time_to_first_chunk",
    "enduser.id",
    "user.id",
    "error.type",
];
