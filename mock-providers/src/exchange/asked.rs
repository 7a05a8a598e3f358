//! What a request over HTTP asks for, read from its body.

use router::{LETTERS_PER_TOKEN, tokens_of_letters};
use serde_json::Value;

use super::{Letterhead, anthropic, beginning, checked, open_ai};
use crate::{prompt_cache::Beginning, reply::ProviderCall};

/// Which API was called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Api {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's embeddings.
    Embeddings,
    /// Anthropic's messages.
    Messages,
}

impl Api {
    /// The API that a path without its outer slashes leads to, and the name in it:
    /// `[NAME/][v1/]chat/completions`, or Azure's `[NAME/]openai/deployments/NAME/chat/completions`.
    pub(crate) fn of_path(path: &str) -> Option<(Self, Option<&str>)> {
        let apis = [
            ("chat/completions", Self::Chat),
            ("embeddings", Self::Embeddings),
            ("messages", Self::Messages),
        ];
        let (before, api) = apis.into_iter().find_map(|(end, api)| {
            let before = path.strip_suffix(end)?;
            (before.is_empty() || before.ends_with('/')).then_some((before, api))
        })?;
        let before = before.trim_end_matches('/');
        let version = before.strip_suffix("v1");
        let version = version.filter(|rest| rest.is_empty() || rest.ends_with('/'));
        let before = version.unwrap_or(before);
        let is_long = before.contains('/');
        let name = match is_long.then(|| before.split_once("openai/deployments/")) {
            Some(Some(("", deployment))) => deployment,
            Some(Some((name, _))) => name,
            Some(None) | None => before,
        };
        let name = name.trim_matches('/');
        Some((api, (!name.is_empty()).then_some(name)))
    }

    #[cfg(feature = "http")]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Embeddings => "embeddings",
            Self::Messages => "messages",
        }
    }

    /// The error for a request that cannot be read, in the words of the API.
    pub(crate) fn complaint(self, kind: &str, message: &str) -> String {
        let message = Value::from(message);
        match self {
            Self::Chat | Self::Embeddings => format!(
                r#"{{"error":{{"message":{message},"type":"{kind}","param":null,"code":null}}}}"#
            ),
            Self::Messages => {
                format!(r#"{{"type":"error","error":{{"type":"{kind}","message":{message}}}}}"#)
            }
        }
    }
}

/// A request as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Asked {
    pub(crate) api: Api,
    pub(crate) model: String,
    pub(crate) prompt_tokens: u32,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) stream: bool,
    /// Whether OpenAI's stream shall tell the usage in a last frame.
    pub(crate) tells_usage: bool,
    /// Texts to embed.
    pub(crate) inputs: u32,
    /// Numbers of each embedding.
    pub(crate) dimensions: u32,
    body: Value,
}

impl Asked {
    /// Reads a body that came to this path. The error says what is amiss.
    pub(crate) fn read(api: Api, path: &str, body: &[u8]) -> Result<Self, String> {
        let body: Value = serde_json::from_slice(body)
            .map_err(|error| format!("the body is not JSON: {error}"))?;
        let Some(model) = body["model"].as_str().or_else(|| azure_deployment(path)) else {
            return Err("you must provide a model parameter".to_owned());
        };
        let prompt = match api {
            Api::Chat => &body["messages"],
            Api::Embeddings => &body["input"],
            Api::Messages if body["max_tokens"].is_null() => {
                return Err("max_tokens: Field required".to_owned());
            }
            Api::Messages => &body["messages"],
        };
        if prompt.is_null() {
            let name = if api == Api::Embeddings {
                "input"
            } else {
                "messages"
            };
            return Err(format!("missing required parameter: {name}"));
        }
        checked::check(api, &body)?;
        let prompt_tokens = tokens([prompt, &body["system"]]);
        let number = |name: &str| body[name].as_u64().and_then(|n| u32::try_from(n).ok());
        // A list of numbers is one text that was cut into tokens already.
        let texts = prompt
            .as_array()
            .filter(|each| !each.iter().all(Value::is_number));
        let inputs = match texts {
            Some(texts) if api == Api::Embeddings => u32::try_from(texts.len()).unwrap_or(u32::MAX),
            Some(_) | None => 1,
        };
        Ok(Self {
            api,
            model: model.to_owned(),
            prompt_tokens: prompt_tokens.max(1),
            max_tokens: number("max_tokens").or_else(|| number("max_completion_tokens")),
            stream: api != Api::Embeddings && body["stream"] == true,
            tells_usage: body["stream_options"]["include_usage"] == true,
            inputs,
            dimensions: number("dimensions").unwrap_or(DIMENSIONS).clamp(1, 4_096),
            body,
        })
    }

    /// What the provider may have in its prompt cache.
    pub(crate) fn beginning(&self) -> Beginning {
        match self.api {
            Api::Chat | Api::Messages => beginning::of(&self.body),
            Api::Embeddings => Beginning::default(),
        }
    }

    /// The whole answer of so many tokens.
    pub(crate) fn answer(&self, call: &ProviderCall, tokens: u32, head: &Letterhead) -> String {
        match self.api {
            Api::Chat => open_ai::answer(call, tokens, head),
            Api::Embeddings => open_ai::embeddings(self, head),
            Api::Messages => anthropic::answer(call, tokens, head),
        }
    }
}

/// The deployment that a path of Azure's names: its clients need not say a model.
fn azure_deployment(path: &str) -> Option<&str> {
    let (_, rest) = path.split_once("openai/deployments/")?;
    let (deployment, _) = rest.split_once('/')?;
    (!deployment.is_empty()).then_some(deployment)
}

/// Tokens of texts, estimated by their letters: those of strings, of messages and of parts of them; a
/// number is a token that was counted already. ([`tokens_of_letters`])
pub fn tokens<'a>(prompts: impl IntoIterator<Item = &'a Value>) -> u32 {
    let letters: usize = prompts.into_iter().map(letters).sum();
    tokens_of_letters(letters)
}

/// Letters of all texts in a prompt; a number is a token that was counted already.
fn letters(prompt: &Value) -> usize {
    match prompt {
        Value::String(text) => text.chars().count(),
        Value::Array(parts) => parts.iter().map(letters).sum(),
        Value::Object(keys) => ["content", "text"]
            .into_iter()
            .filter_map(|name| keys.get(name).map(letters))
            .sum(),
        Value::Number(_) => LETTERS_PER_TOKEN as usize,
        Value::Bool(_) | Value::Null => 0,
    }
}

/// Few, so that answers stay small; real models have hundreds.
const DIMENSIONS: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(api: Api, body: &str) -> Result<Asked, String> {
        Asked::read(api, "", body.as_bytes())
    }

    #[test]
    fn tokens_are_a_quarter_of_the_letters_of_all_texts() {
        let asked = |content: &str| {
            let body = format!(
                r#"{{"model": "m", "max_tokens": 9, "system": "12345678",
                    "messages": [{{"role": "user", "content": {content}}}]}}"#
            );
            read(Api::Messages, &body).unwrap().prompt_tokens
        };

        assert_eq!(asked(r#""12345""#), 4);
        assert_eq!(asked(r#"[{"type": "text", "text": "12345"}]"#), 4);
        assert_eq!(asked(r#""""#), 2);
    }

    #[test]
    fn a_path_names_the_api_and_who_is_called() {
        for (path, api, name) in [
            ("v1/chat/completions", Api::Chat, None),
            ("chat/completions", Api::Chat, None),
            ("v1/embeddings", Api::Embeddings, None),
            ("east/v1/messages", Api::Messages, Some("east")),
            ("a/b/v1/messages", Api::Messages, Some("a/b")),
            ("gpt-v1/messages", Api::Messages, Some("gpt-v1")),
            ("east/chat/completions", Api::Chat, Some("east")),
            (
                "openai/deployments/gpt/chat/completions",
                Api::Chat,
                Some("gpt"),
            ),
            (
                "e/openai/deployments/gpt/embeddings",
                Api::Embeddings,
                Some("e"),
            ),
        ] {
            assert_eq!(Api::of_path(path), Some((api, name)), "{path}");
        }
        assert_eq!(Api::of_path("v1/nonsense"), None);
        assert_eq!(Api::of_path("v1/mymessages"), None);
    }

    #[test]
    fn a_limit_on_the_answer_has_two_names() {
        for name in ["max_tokens", "max_completion_tokens"] {
            let body = format!(r#"{{"model": "m", "messages": [], "{name}": 7}}"#);
            assert_eq!(read(Api::Chat, &body).unwrap().max_tokens, Some(7));
        }
    }

    #[test]
    fn a_path_of_azures_says_the_model_if_the_body_does_not() {
        let asked = |body: &str| {
            let path = "east/openai/deployments/gpt/chat/completions";
            Asked::read(Api::Chat, path, body.as_bytes()).map(|asked| asked.model)
        };

        assert_eq!(asked(r#"{"messages": []}"#), Ok("gpt".to_owned()));
        assert_eq!(
            asked(r#"{"messages": [], "model": "other"}"#),
            Ok("other".to_owned())
        );
    }

    #[test]
    fn inputs_are_texts_or_lists_of_tokens() {
        let inputs = |input: &str| {
            let body = format!(r#"{{"model": "m", "input": {input}}}"#);
            read(Api::Embeddings, &body).unwrap().inputs
        };

        assert_eq!(inputs(r#""one""#), 1);
        assert_eq!(inputs(r#"["one", "two"]"#), 2);
        assert_eq!(inputs("[1, 2, 3]"), 1);
        assert_eq!(inputs("[[1], [2, 3]]"), 2);
    }

    #[test]
    fn what_is_amiss_is_said() {
        for (api, body, says) in [
            (Api::Chat, "{", "not JSON"),
            (Api::Chat, r#"{"messages": []}"#, "model"),
            (Api::Chat, r#"{"model": "m"}"#, "messages"),
            (Api::Embeddings, r#"{"model": "m"}"#, "input"),
            (
                Api::Messages,
                r#"{"model": "m", "messages": []}"#,
                "max_tokens",
            ),
        ] {
            let error = read(api, body).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
