//! A deployment of Anthropic's behind the front door: OpenAI's clients ask, and a server that speaks
//! messages answers.

use super::*;

/// A door before one deployment of Anthropic's.
async fn open(spec_rest: &str, settings: &str) -> (MockServer, FrontDoor) {
    let options = ServerOptions {
        upstreams: vec![Upstream {
            name: "claude".to_owned(),
            models: Vec::new(),
            spec: serde_json::from_str(&format!(
                r#"{{"preset": "anthropic", "latency": {{"first_token": {{"constant": {{"ms": 10}}}},
                    "per_output_token": {{"constant": {{"ms": 2}}}}}}{spec_rest}}}"#
            ))
            .unwrap(),
        }],
        seed: Seed(7),
        output_tokens: 6,
        limits: Limits::default(),
    };
    let server = MockServer::start(&options, loopback()).await.unwrap();
    let config = format!(
        "model_list:\n- {{model_name: chat, litellm_params: {{model: anthropic/claude, api_key: sk-ant, \
         api_base: \"{}\"}}, model_info: {{id: one}}}}\nrouter_settings: {{num_retries: 0{settings}}}\n",
        server.url()
    );
    let config = read(&config, "config.yaml", Profile::default(), &|_| None).unwrap();
    let options = ServeOptions {
        proxies: false,
        ..ServeOptions::default()
    };
    let door = FrontDoor::open(config, options, loopback()).await.unwrap();
    (server, door)
}

async fn ask(door: &FrontDoor, keys: &str) -> Got {
    let url = format!("http://{}/v1/chat/completions", door.address());
    let body = format!(
        r#"{{"model": "chat", "messages": [{{"role": "system", "content": "be brief"}},
             {{"role": "user", "content": "twenty letters, just"}}]{keys}}}"#
    );
    Got::of(client().post(url).body(body).send().await.unwrap()).await
}

/// The requests that a server saw, as it tells them.
async fn asked_of(server: &MockServer) -> Value {
    let path = server.url() + "/_mock/requests";
    json(client().get(path).send().await.unwrap()).await
}

#[tokio::test]
async fn a_chat_completion_becomes_a_message_and_comes_back() {
    let (server, door) = open("", "").await;

    let got = ask(&door, r#", "max_tokens": 4"#).await;

    assert_eq!(got.status, 200, "{}", got.text);
    let told = got.json();
    assert_eq!(told["object"], "chat.completion");
    assert_eq!(told["choices"][0]["finish_reason"], "length");
    assert_eq!(told["choices"][0]["message"]["role"], "assistant");
    assert!(
        told["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .contains(' ')
    );
    assert_eq!(told["usage"]["completion_tokens"], 4);
    assert_eq!(told["usage"]["prompt_tokens"], 7);
    let seen = asked_of(&server).await;
    assert_eq!(seen[0]["api"], "messages", "{seen}");
}

#[tokio::test]
async fn a_stream_comes_in_openais_frames_and_its_usage_is_counted() {
    let (_server, door) = open("", "").await;

    let got = ask(
        &door,
        r#", "stream": true, "stream_options": {"include_usage": true}"#,
    )
    .await;

    assert_eq!(got.status, 200);
    assert!(got.text.ends_with("data: [DONE]\n\n"), "{}", got.text);
    assert!(!got.text.contains("event:"), "{}", got.text);
    let frames = got
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: {"));
    let frames: Vec<Value> = frames
        .map(|rest| serde_json::from_str(&format!("{{{rest}")).unwrap())
        .collect();
    let text: String = frames
        .iter()
        .filter_map(|frame| frame["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text.split_whitespace().count(), 6, "{text}");
    let reasons = frames
        .iter()
        .filter(|frame| frame["choices"][0]["finish_reason"] == "stop");
    assert_eq!(reasons.count(), 1);
    assert_eq!(frames.last().unwrap()["usage"]["completion_tokens"], 6);
    let metrics = client().get(format!("http://{}/metrics", door.address()));
    let metrics = metrics.send().await.unwrap().text().await.unwrap();
    assert!(
        metrics.contains("routelab_tokens_total{deployment=\"one\",kind=\"completion\"} 6"),
        "{metrics}"
    );
}

#[tokio::test]
async fn errors_and_limits_are_told_in_openais_shape() {
    let limited = r#", "quota": {"requests_per_minute": 1}"#;
    let (_server, door) = open(limited, "").await;
    let first = ask(&door, "").await;
    assert_eq!(first.status, 200, "{}", first.text);
    assert_eq!(first.header("x-ratelimit-limit-requests"), "1");
    assert_eq!(
        first.header("llm_provider-anthropic-ratelimit-requests-limit"),
        "1"
    );
    let second = ask(&door, "").await;
    assert_eq!(second.status, 429, "{}", second.text);
    assert!(!second.header("retry-after").is_empty());

    let overloaded = r#", "faults": [{"outage": {"status": 529}}]"#;
    let (_server, door) = open(overloaded, "").await;
    let got = ask(&door, "").await;
    assert!(got.status >= 500, "{}", got.text);
    assert!(got.json()["error"]["message"].is_string());
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_a_failure() {
    let cut = r#", "faults": [{"mid_stream": {"how": "cut", "after_tokens": 2}}]"#;
    let (_server, door) = open(cut, "").await;

    let got = ask(&door, r#", "stream": true"#).await;

    assert!(got.text.contains("\"error\""), "{}", got.text);
    assert!(!got.text.ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn what_anthropic_has_no_words_for_is_a_400_and_nobody_is_asked() {
    let (server, door) = open("", "").await;

    let got = ask(&door, r#", "logprobs": true"#).await;

    assert_eq!(got.status, 400, "{}", got.text);
    assert!(
        got.text.contains("does not support parameters: logprobs"),
        "{}",
        got.text
    );
    let seen = asked_of(&server).await;
    assert_eq!(seen.as_array().unwrap().len(), 0);
}
