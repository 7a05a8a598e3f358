//! Chat completions in Anthropic's words and back: the messages API, as LiteLLM calls it.
//!
//! | file | does |
//! | --- | --- |
//! | `request.rs` | a chat completion's body as that of a message |
//! | `answer.rs` | a message as a chat completion, in one piece |
//! | `stream.rs` | the events of a message as the frames of a chat completion |

mod answer;
mod request;
mod stream;

pub(super) use answer::answer;
pub(super) use request::body;
pub(super) use stream::Translator;

/// The version of the API that is asked for (docs.anthropic.com, "Versioning"; read 2026-11-30).
pub(super) const VERSION: &str = "2023-06-01";

/// Why a message ended, in OpenAI's words.
fn finish_reason(stop_reason: &str) -> &'static str {
    match stop_reason {
        "max_tokens" => "length",
        "tool_use" => "tool_calls",
        "refusal" => "content_filter",
        _ => "stop",
    }
}

/// Tokens of a message: its prompt, what of that was written to and read from the cache, its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Tokens {
    prompt: u64,
    cached: u64,
    answer: u64,
}

impl Tokens {
    /// Takes in a `usage`; what it does not say stays.
    fn hear(&mut self, usage: &serde_json::Value) {
        let count = |name: &str| usage[name].as_u64();
        if let Some(read) = count("input_tokens") {
            let cached = count("cache_read_input_tokens").unwrap_or_default();
            let written = count("cache_creation_input_tokens").unwrap_or_default();
            self.prompt = read.saturating_add(written).saturating_add(cached);
            self.cached = cached;
        }
        self.answer = count("output_tokens").unwrap_or(self.answer);
    }

    /// As OpenAI writes it: there the prompt has its cached tokens among it.
    fn told(self) -> serde_json::Value {
        serde_json::json!({
            "prompt_tokens": self.prompt,
            "completion_tokens": self.answer,
            "total_tokens": self.prompt.saturating_add(self.answer),
            "prompt_tokens_details": {"cached_tokens": self.cached},
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_beyond_all_measure_is_the_most_there_is() {
        let mut tokens = Tokens::default();
        let most = u64::MAX;
        tokens.hear(&serde_json::json!({
            "input_tokens": most, "cache_read_input_tokens": 2, "output_tokens": most,
        }));

        assert_eq!(tokens.told()["prompt_tokens"], most);
        assert_eq!(tokens.told()["total_tokens"], most);
    }
}
