//! What a client gets: answers, streams, errors, and the headers beside them.

use super::*;

#[tokio::test]
async fn an_answer_says_who_gave_it_after_how_many_attempts() {
    let failing = r#", "faults": [{"outage": {"status": 500}}]"#;
    let house = House::open(&[("bad", failing), ("good", "")], "num_retries: 5").await;

    let mut retried = 0;
    for _ in 0..8 {
        let got = house.ask("").await;

        assert_eq!(got.status, 200, "{}", got.text);
        assert_eq!(got.header("x-litellm-model-id"), "good");
        assert_eq!(got.header("x-litellm-model-group"), "chat");
        assert_eq!(got.header("x-litellm-attempted-fallbacks"), "0");
        assert!(!got.header("x-litellm-call-id").is_empty());
        let retries: u32 = got.header("x-litellm-attempted-retries").parse().unwrap();
        retried += u32::from(retries > 0);
        assert_eq!(got.json()["usage"]["completion_tokens"], 6);
        assert!(got.header("llm_provider-x-request-id").starts_with("req_"));
    }
    assert!(retried > 0, "the failing deployment was picked at times");
    house.until_quiet().await;
}

#[tokio::test]
async fn a_stream_comes_frame_by_frame_and_ends_with_its_marker() {
    let house = House::open(&[("good", "")], "").await;

    let got = house.ask(r#", "stream": true"#).await;

    assert_eq!(got.status, 200);
    assert_eq!(
        got.header("content-type"),
        "text/event-stream; charset=utf-8"
    );
    assert_eq!(got.header("x-litellm-model-id"), "good");
    assert_eq!(got.text.matches("data: {").count(), 8, "{}", got.text);
    assert_eq!(got.text.matches("[DONE]").count(), 1);
    assert!(got.text.ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn a_stream_that_nobody_begins_is_an_error_with_a_status() {
    let failing = r#", "faults": [{"rate_limit_storm": {"hint": {"seconds": 9}}}]"#;
    let house = House::open(&[("bad", failing)], "num_retries: 0").await;

    let got = house.ask(r#", "stream": true"#).await;

    assert_eq!(got.status, 429);
    assert_eq!(got.header("retry-after"), "9");
    assert_eq!(got.header("llm_provider-retry-after"), "9");
    let error = &got.json()["error"];
    assert_eq!(error["type"], "rate_limit_error");
    assert_eq!(error["code"], "429");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("litellm.RateLimitError: "), "{message}");
}

#[tokio::test]
async fn a_stream_that_breaks_after_its_first_token_ends_with_an_error() {
    let failing = r#", "faults": [{"mid_stream": {"how": "cut", "after_tokens": 3}}]"#;
    let house = House::open(&[("bad", failing)], "num_retries: 2").await;

    let got = house.ask(r#", "stream": true"#).await;

    assert_eq!(got.status, 200);
    let last = got.text.trim_end().rsplit("data: ").next().unwrap();
    let error: Value = serde_json::from_str(last).unwrap();
    assert_eq!(error["error"]["code"], "500", "{error}");
    assert!(!got.text.contains("[DONE]"));
    house.until_quiet().await;
}

#[tokio::test]
async fn a_request_brings_its_own_fallbacks_and_retries_along() {
    let failing = r#", "faults": [{"outage": {"status": 503}}]"#;
    let house = House::open(&[("bad", failing), ("good", "")], "num_retries: 2").await;
    let ask = |keys: &str| {
        let body = format!(r#"{{"model": "bad", "messages": [], "num_retries": 0{keys}}}"#);
        house
            .request(Method::POST, "v1/chat/completions")
            .body(body)
    };

    let alone = Got::of(ask("").send().await.unwrap()).await;
    let backed = Got::of(ask(r#", "fallbacks": ["good"]"#).send().await.unwrap()).await;

    assert_eq!(alone.status, 503);
    assert_eq!(backed.status, 200, "{}", backed.text);
    assert_eq!(backed.header("x-litellm-attempted-fallbacks"), "1");
    assert_eq!(backed.header("x-litellm-attempted-retries"), "0");
    assert_eq!(backed.header("x-litellm-model-id"), "good");
}

#[tokio::test]
async fn the_callers_own_time_limit_ends_an_attempt() {
    let house = House::open(
        &[("slow", r#", "faults": [{"hang": {}}]"#)],
        "num_retries: 0",
    )
    .await;

    let got = house.ask(r#", "timeout": 0.2"#).await;

    assert_eq!(got.status, 408);
    assert!(got.text.contains("litellm.Timeout"), "{}", got.text);
    house.until_quiet().await;
}

#[tokio::test]
async fn embeddings_have_the_same_door() {
    let house = House::open(&[("good", "")], "").await;
    let body = r#"{"model": "chat", "input": ["one", "two"]}"#;

    let asked = house.request(Method::POST, "v1/embeddings").body(body);
    let got = Got::of(asked.send().await.unwrap()).await;

    assert_eq!(got.json()["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn equal_requests_are_answered_from_the_cache_word_for_word() {
    let house = House::open(&[("good", "")], "cache_responses: true").await;
    for keys in ["", r#", "stream": true"#] {
        let first = house.ask(keys).await;
        let second = house.ask(keys).await;
        let other = house.ask(&format!(r#"{keys}, "temperature": 0.5"#)).await;

        assert_eq!(first.text, second.text);
        assert_ne!(first.text, other.text);
    }
    let url = format!("{}/_mock/requests", house.providers.url());
    let seen = json(client().get(url).send().await.unwrap()).await;
    assert_eq!(seen.as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_key_is_sent_to_its_own_deployment_alone_and_the_callers_to_none() {
    let house = House::open(&[("good", "")], "").await;
    let server = wiremock::MockServer::start().await;
    drop(house);
    let config = format!(
        "model_list:\n- {{model_name: chat, litellm_params: {{model: openai/gpt, api_key: sk-own, \
         api_base: \"{}/v1\", temperature: 0.25, extra_headers: {{x-team: blue}}}}}}\n\
         general_settings: {{master_key: {KEY}}}\n",
        server.uri()
    );
    let answer = wiremock::ResponseTemplate::new(200).set_body_string(r#"{"choices": []}"#);
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(answer)
        .mount(&server)
        .await;
    let config = read(&config, "c", Profile::default(), &|_| None).unwrap();
    let options = ServeOptions {
        proxies: false,
        ..ServeOptions::default()
    };
    let door = FrontDoor::open(config, options, loopback()).await.unwrap();

    let url = format!("http://{}/v1/chat/completions", door.address());
    let body = r#"{"model": "chat", "messages": [], "max_tokens": 3, "num_retries": 1}"#;
    let got = client().post(url).bearer_auth(KEY).body(body).send().await;

    assert_eq!(got.unwrap().status(), 200);
    let seen = &server.received_requests().await.unwrap()[0];
    assert_eq!(seen.url.path(), "/v1/chat/completions");
    assert_eq!(seen.headers["authorization"], "Bearer sk-own");
    assert_eq!(seen.headers["x-team"], "blue");
    let sent: Value = serde_json::from_slice(&seen.body).unwrap();
    let due =
        serde_json::json!({"model": "gpt", "messages": [], "max_tokens": 3, "temperature": 0.25});
    assert_eq!(sent, due);
}
