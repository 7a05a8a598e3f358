//! Headers by which one request orders what happens to it, for tests that must know.
//!
//! | header | orders |
//! | --- | --- |
//! | `x-mock-request` | the number that its luck is keyed by, in place of the server's count |
//! | `x-mock-attempt` | which attempt of that request it is, from 0 |
//! | `x-mock-prompt-tokens` | tokens of the prompt, in place of a quarter of its letters |
//! | `x-mock-output-tokens` | tokens that the model would say, up to a million |
//! | `x-mock-first-token-ms`, `x-mock-per-token-ms` | the times of the answer |
//! | `x-mock-fault` | a fault as JSON, e.g. `{"broken": {"how": "reset"}}`, asked before all others |

use std::str::FromStr;

use crate::{failure::FailureMode, wish::Wish};

/// What a request orders.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Orders {
    pub(crate) request: Option<u64>,
    pub(crate) attempt: Option<u16>,
    pub(crate) prompt_tokens: Option<u32>,
    pub(crate) output_tokens: Option<u32>,
    pub(crate) wish: Wish,
}

impl Orders {
    /// Reads headers, of which the names come in lower case. The error says what is amiss.
    pub(crate) fn read<'a>(
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, String> {
        let mut orders = Self::default();
        for (name, value) in headers {
            match name {
                "x-mock-request" => orders.request = Some(number(name, value)?),
                "x-mock-attempt" => orders.attempt = Some(number(name, value)?),
                "x-mock-prompt-tokens" => orders.prompt_tokens = Some(number(name, value)?),
                "x-mock-output-tokens" => orders.output_tokens = Some(tokens(name, value)?),
                "x-mock-first-token-ms" => orders.wish.first_token_ms = Some(number(name, value)?),
                "x-mock-per-token-ms" => orders.wish.per_token_ms = Some(number(name, value)?),
                "x-mock-fault" => orders.wish.fault = Some(fault(value)?),
                _ if name.starts_with("x-mock-") => {
                    return Err(format!("there is no header `{name}`; known are {KNOWN}"));
                }
                _ => {}
            }
        }
        Ok(orders)
    }
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, String> {
    let number = value.trim().parse();
    number.map_err(|_| format!("{name}: `{value}` is not a number that fits"))
}

/// Tokens that are written out: more than any model says would only fill the memory.
fn tokens(name: &str, value: &str) -> Result<u32, String> {
    let tokens = number(name, value)?;
    match tokens {
        0..=MOST_TOKENS => Ok(tokens),
        _ => Err(format!(
            "{name}: {tokens} is too many; accepted are 0 to {MOST_TOKENS}"
        )),
    }
}

fn fault(value: &str) -> Result<FailureMode, String> {
    serde_json::from_str(value).map_err(|error| format!("x-mock-fault: {error}"))
}

/// Tokens that a request may order.
const MOST_TOKENS: u32 = 1_000_000;

const KNOWN: &str = "x-mock-request, x-mock-attempt, x-mock-prompt-tokens, x-mock-output-tokens, \
                     x-mock-first-token-ms, x-mock-per-token-ms, x-mock-fault";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_cannot_be_read_is_refused_and_other_headers_are_not_looked_at() {
        let read = |name, value| Orders::read([(name, value)]);

        assert_eq!(read("x-mock-request", "7").unwrap().request, Some(7));
        assert_eq!(read("content-length", "7").unwrap(), Orders::default());
        for (name, value, says) in [
            ("x-mock-attempt", "-1", "x-mock-attempt"),
            ("x-mock-output-tokens", "1000001", "0 to 1000000"),
            ("x-mock-fault", r#"{"outrage": {}}"#, "outage"),
            ("x-mock-falt", "{}", "x-mock-fault"),
        ] {
            assert!(read(name, value).unwrap_err().contains(says), "{name}");
        }
    }
}
