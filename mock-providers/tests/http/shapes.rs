//! Answers and errors in the shapes of OpenAI and Anthropic.

use super::*;

#[tokio::test]
async fn a_chat_completion_comes_whole_when_the_model_says() {
    let quota = r#", "dialect": "open_ai", "quota": {"requests_per_minute": 2}"#;
    let server = serve(&[("m", spec(quota))]).await;
    let begun = Instant::now();

    let response = chat(&server, "m", false).send().await.unwrap();

    assert_eq!(response.status(), 200);
    // 40 ms and five times 20 ms.
    assert!(begun.elapsed() >= Duration::from_millis(140));
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(header("x-ratelimit-limit-requests"), "2");
    assert_eq!(header("x-ratelimit-remaining-requests"), "1");
    let answer = json(response).await;
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["model"], "m");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    let message = &answer["choices"][0]["message"];
    assert_eq!(message["role"], "assistant");
    let words = message["content"].as_str().unwrap();
    assert_eq!(words.split_whitespace().count(), 6);
    assert_eq!(answer["usage"]["prompt_tokens"], 5);
    assert_eq!(answer["usage"]["completion_tokens"], 6);

    // The second is the last of the minute, unless a new one has begun meanwhile.
    let limit = |status: &[u16]| status.iter().filter(|s| **s == 429).count();
    let mut statuses = Vec::new();
    let mut refused = None;
    for _ in 0..5 {
        let response = chat(&server, "m", false).send().await.unwrap();
        statuses.push(response.status().as_u16());
        if response.status() == 429 {
            refused = Some(response);
        }
    }
    assert!(limit(&statuses) >= 2, "{statuses:?}");
    let refused = refused.unwrap();
    let wait = refused.headers()["retry-after"].to_str().unwrap();
    assert!((1..=60).contains(&wait.parse::<u32>().unwrap()), "{wait}");
    let error = json(refused).await;
    assert_eq!(error["error"]["code"], "rate_limit_exceeded");
}

#[tokio::test]
async fn a_stream_comes_token_by_token_with_pauses_and_ends_with_its_marker() {
    let server = serve(&[("m", spec(""))]).await;
    let body = r#"{"model": "m", "stream": true, "stream_options": {"include_usage": true},
                   "max_tokens": 4, "messages": [{"role": "user", "content": "say it"}]}"#;
    let begun = Instant::now();
    let request = post(&server, "/v1/chat/completions", body.to_owned());
    let request = request.header("x-mock-per-token-ms", 150);
    let response = request.send().await.unwrap();

    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let (frames, whole) = frames(response, begun).await;

    assert!(whole);
    let data = |number: usize| frames[number].1.strip_prefix("data: ").unwrap();
    let chunk = |number: usize| serde_json::from_str::<Value>(data(number)).unwrap();
    // Opening, four tokens, the reason, the usage, the marker.
    assert_eq!(frames.len(), 8);
    assert_eq!(chunk(0)["choices"][0]["delta"]["role"], "assistant");
    for token in 1..=4 {
        assert!(chunk(token)["choices"][0]["delta"]["content"].is_string());
    }
    assert_eq!(chunk(5)["choices"][0]["finish_reason"], "length");
    assert_eq!(chunk(6)["usage"]["completion_tokens"], 4);
    assert_eq!(data(7), "[DONE]");
    for (token, due_ms) in [(1, 40), (2, 190), (3, 340), (4, 490), (7, 490)] {
        let came = frames[token].0;
        assert!(came >= Duration::from_millis(due_ms), "{token}: {came:?}");
    }
    // They come one by one, and not all at the end.
    assert!(frames[1].0 + Duration::from_millis(200) < frames[4].0);
}

#[tokio::test]
async fn anthropics_messages_have_their_own_shapes() {
    let limits = r#", "quota": {"requests_per_minute": 60}"#;
    let gone = r#", "faults": [{"shared_capacity": {"demand_median": 1e9, "demand_sigma": 0,
                    "varies_over_s": 1, "status": 529}}]"#;
    let server = serve(&[("claude", spec(limits)), ("full", spec(gone))]).await;
    let ask = |model: &str, stream: bool| {
        let body = format!(
            r#"{{"model": "{model}", "max_tokens": 3, "stream": {stream},
                 "messages": [{{"role": "user", "content": "say it"}}]}}"#
        );
        post(&server, "/v1/messages", body)
    };

    let response = ask("claude", false).send().await.unwrap();
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("anthropic-ratelimit-requests-limit"), "60");
    assert!(header("anthropic-ratelimit-requests-reset").ends_with('Z'));
    assert!(header("request-id").starts_with("req_"));
    let answer = json(response).await;
    assert_eq!(answer["type"], "message");
    assert_eq!(answer["content"][0]["type"], "text");
    assert_eq!(answer["stop_reason"], "max_tokens");
    assert_eq!(answer["usage"]["output_tokens"], 3);

    let response = ask("claude", true).send().await.unwrap();
    let (frames, whole) = frames(response, Instant::now()).await;
    assert!(whole);
    let named: Vec<&str> = frames
        .iter()
        .map(|(_, frame)| {
            frame
                .lines()
                .next()
                .unwrap()
                .strip_prefix("event: ")
                .unwrap()
        })
        .collect();
    let delta = "content_block_delta";
    assert_eq!(
        named,
        [
            "message_start",
            "content_block_start",
            delta,
            delta,
            delta,
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    for (_, frame) in &frames {
        let (event, data) = frame.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(format!("event: {}", data["type"].as_str().unwrap()), event);
    }

    let response = ask("full", false).send().await.unwrap();
    assert_eq!(response.status(), 529);
    let error = json(response).await;
    assert_eq!(error["type"], "error");
    assert_eq!(error["error"]["type"], "overloaded_error");
}

#[tokio::test]
async fn a_conversation_that_goes_on_is_read_from_the_prompt_cache() {
    let cache = r#", "prompt_cache": {"at_least_tokens": 10}"#;
    let server = serve(&[("m", spec(cache))]).await;
    let ask = async |path: &str, turns: usize| {
        let system = "a system prompt of forty letters is here";
        let turn = r#"{"role": "user", "content": "four"}"#;
        let body = format!(
            r#"{{"model": "m", "max_tokens": 1, "messages":
                [{{"role": "system", "content": "{system}"}}, {}]}}"#,
            vec![turn; turns].join(", ")
        );
        let response = post(&server, path, body).send().await.unwrap();
        json(response).await["usage"].clone()
    };

    let chat = "/v1/chat/completions";
    let cached = |usage: &Value| usage["prompt_tokens_details"]["cached_tokens"].clone();
    assert_eq!(cached(&ask(chat, 1).await), 0);
    // Ten tokens of the system prompt and one of the first turn.
    let next = ask(chat, 3).await;
    assert_eq!(
        (cached(&next), next["prompt_tokens"].clone()),
        (11.into(), 13.into())
    );
    let usage = ask("/v1/messages", 4).await;
    assert_eq!(usage["cache_read_input_tokens"], 13);
    assert_eq!(usage["input_tokens"], 1);
}

#[tokio::test]
async fn embeddings_models_and_mistakes_are_answered_too() {
    let server = serve(&[("m", spec("")), ("n", spec(""))]).await;
    let embed = r#"{"model": "m", "input": ["one", "two"], "dimensions": 3}"#.to_owned();

    let answer = json(post(&server, "/v1/embeddings", embed).send().await.unwrap()).await;
    assert_eq!(answer["data"].as_array().unwrap().len(), 2);
    assert_eq!(answer["data"][1]["embedding"].as_array().unwrap().len(), 3);
    assert_eq!(answer["usage"]["prompt_tokens"], 2);

    let client = Client::builder().no_proxy().build().unwrap();
    let models = client
        .get(server.url() + "/v1/models")
        .send()
        .await
        .unwrap();
    let models = json(models).await;
    let ids = models["data"].as_array().unwrap().iter();
    assert_eq!(ids.map(|m| &m["id"]).collect::<Vec<_>>(), ["m", "n"]);

    for (path, body, status, says) in [
        (
            "/v1/chat/completions",
            r#"{"model": "x", "messages": []}"#,
            404,
            "`x`",
        ),
        ("/v1/chat/completions", "{", 400, "JSON"),
        (
            "/v1/messages",
            r#"{"model": "m", "messages": []}"#,
            400,
            "max_tokens",
        ),
        ("/v1/nothing", "{}", 404, "/v1/nothing"),
        (
            "/v1/chat/completions",
            r#"{"model": "m", "messages": [], "max_tokens": -3}"#,
            400,
            "'max_tokens'",
        ),
        (
            "/v1/messages",
            r#"{"model": "m", "messages": "hi", "max_tokens": 3}"#,
            400,
            "messages: ",
        ),
    ] {
        let response = post(&server, path, body.to_owned()).send().await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        let error = json(response).await;
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{message}");
    }
    let azure = "/n/openai/deployments/gpt/chat/completions";
    let response = post(&server, azure, r#"{"messages": []}"#.to_owned());
    assert_eq!(response.send().await.unwrap().status(), 200);
    // A path may name the provider, whatever the model.
    let body = r#"{"model": "gpt", "messages": []}"#.to_owned();
    let response = post(&server, "/n/v1/chat/completions", body).send().await;
    assert_eq!(response.unwrap().status(), 200);
}
