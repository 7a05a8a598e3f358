//! Fields of a body that OpenAI and Anthropic refuse with 400, in their words. What is not named here
//! is passed over: a mock that is stricter than the real one fails clients that are right.

use serde_json::Value;

use super::asked::Api;

/// Texts of one request for embeddings (platform.openai.com, API reference, embeddings, `input`).
const MOST_INPUTS: usize = 2_048;

/// Looks at the fields that a body may have. The error says which is amiss.
pub(super) fn check(api: Api, body: &Value) -> Result<(), String> {
    match api {
        Api::Chat => list_of_messages(api, body)?,
        Api::Messages => list_of_messages(api, body)?,
        Api::Embeddings => {
            let input = &body["input"];
            if !(input.is_string() || input.is_array()) {
                return Err(wrong_type(api, "input", "a string or an array", input));
            }
            let inputs = input
                .as_array()
                .filter(|each| !each.iter().all(Value::is_number));
            let inputs = inputs.map_or(1, Vec::len);
            if inputs > MOST_INPUTS {
                return Err(format!(
                    "Invalid 'input': array too long. Expected an array with maximum length \
                     {MOST_INPUTS}, but got an array with length {inputs} instead."
                ));
            }
        }
    }
    for name in ["max_tokens", "max_completion_tokens", "n", "dimensions"] {
        at_least_one(api, name, &body[name])?;
    }
    let stream = &body["stream"];
    if !(stream.is_null() || stream.is_boolean()) {
        return Err(wrong_type(api, "stream", "a boolean", stream));
    }
    for (name, most) in [("temperature", 2.0), ("top_p", 1.0)] {
        let value = &body[name];
        let Some(found) = value.as_f64() else {
            if value.is_null() {
                continue;
            }
            return Err(wrong_type(api, name, "a decimal", value));
        };
        if !(0.0..=most).contains(&found) {
            return Err(format!(
                "Invalid '{name}': expected a value between 0 and {most}, but got {found} instead."
            ));
        }
    }
    Ok(())
}

fn list_of_messages(api: Api, body: &Value) -> Result<(), String> {
    let messages = &body["messages"];
    let Some(list) = messages.as_array() else {
        return Err(wrong_type(api, "messages", "an array of objects", messages));
    };
    let amiss = (0..).zip(list).find(|(_, message)| !message.is_object());
    amiss.map_or(Ok(()), |(at, message)| {
        Err(wrong_type(
            api,
            &format!("messages[{at}]"),
            "an object",
            message,
        ))
    })
}

fn at_least_one(api: Api, name: &str, value: &Value) -> Result<(), String> {
    match (value.as_i64(), value.is_null()) {
        (_, true) | (Some(1..), _) => Ok(()),
        (Some(found), _) => Err(match api {
            Api::Chat | Api::Embeddings => format!(
                "Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {found} \
                 instead."
            ),
            Api::Messages => format!("{name}: Input should be greater than or equal to 1"),
        }),
        (None, _) => Err(wrong_type(api, name, "an integer", value)),
    }
}

fn wrong_type(api: Api, name: &str, expected: &str, found: &Value) -> String {
    let kind = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    match api {
        Api::Chat | Api::Embeddings => {
            format!("Invalid type for '{name}': expected {expected}, but got {kind} instead.")
        }
        Api::Messages => format!("{name}: Input should be {expected}, found {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_that_the_real_ones_refuse_is_named() {
        for (api, body, says) in [
            (
                Api::Chat,
                r#"{"messages": "hi"}"#,
                "Invalid type for 'messages': expected an array of objects, but got a string instead.",
            ),
            (Api::Chat, r#"{"messages": ["hi"]}"#, "'messages[0]'"),
            (
                Api::Chat,
                r#"{"messages": [], "max_tokens": -3}"#,
                "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got -3 instead.",
            ),
            (
                Api::Chat,
                r#"{"messages": [], "max_tokens": "9"}"#,
                "'max_tokens': expected an integer, but got a string",
            ),
            (
                Api::Chat,
                r#"{"messages": [], "max_completion_tokens": 0}"#,
                "'max_completion_tokens'",
            ),
            (
                Api::Chat,
                r#"{"messages": [], "stream": "yes"}"#,
                "'stream': expected a boolean",
            ),
            (
                Api::Chat,
                r#"{"messages": [], "temperature": 3}"#,
                "'temperature': expected a value between 0 and 2, but got 3",
            ),
            (Api::Chat, r#"{"messages": [], "top_p": "a"}"#, "'top_p'"),
            (Api::Embeddings, r#"{"input": 5}"#, "'input'"),
            (
                Api::Embeddings,
                r#"{"input": "a", "dimensions": 0}"#,
                "'dimensions'",
            ),
            (
                Api::Messages,
                r#"{"messages": "hi"}"#,
                "messages: Input should be an array of objects",
            ),
            (
                Api::Messages,
                r#"{"messages": [], "max_tokens": -3}"#,
                "max_tokens: Input should be greater than or equal to 1",
            ),
        ] {
            let body = serde_json::from_str(body).unwrap();
            let error = check(api, &body).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn no_more_texts_are_embedded_at_once_than_the_real_one_takes() {
        let body = |texts: usize| serde_json::json!({"input": vec!["a"; texts]});

        assert_eq!(check(Api::Embeddings, &body(2_048)), Ok(()));
        let error = check(Api::Embeddings, &body(2_049)).unwrap_err();
        assert!(error.contains("maximum length 2048, but got an array with length 2049"));
        let tokens = serde_json::json!({"input": vec![7; 5_000]});
        assert_eq!(check(Api::Embeddings, &tokens), Ok(()));
    }

    #[test]
    fn what_the_real_ones_take_is_taken() {
        for body in [
            r#"{"messages": [], "max_tokens": null, "stream": null, "temperature": 0}"#,
            r#"{"messages": [{"role": "user", "content": null}], "max_tokens": 1, "n": 1, "top_p": 1}"#,
        ] {
            assert_eq!(
                check(Api::Chat, &serde_json::from_str(body).unwrap()),
                Ok(())
            );
        }
    }
}
