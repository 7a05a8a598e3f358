//! `POST /v1/completions`: the older shape, passed through to a provider that speaks it.

use wiremock::{
    Mock, MockServer as Upstream, ResponseTemplate,
    matchers::{method, path},
};

use super::*;

async fn door(upstream: &Upstream) -> FrontDoor {
    let config = format!(
        "model_list:\n- {{model_name: text, litellm_params: {{model: openai/davinci, api_key: sk-own, \
         api_base: \"{}/v1\"}}}}\ngeneral_settings: {{master_key: {KEY}}}\n",
        upstream.uri()
    );
    let config = read(&config, "config.yaml", Profile::default(), &|_| None).unwrap();
    let options = ServeOptions {
        proxies: false,
        ..ServeOptions::default()
    };
    FrontDoor::open(config, options, loopback()).await.unwrap()
}

async fn ask(door: &FrontDoor, body: &str) -> Got {
    let url = format!("http://{}/v1/completions", door.address());
    let sent = client()
        .post(url)
        .bearer_auth(KEY)
        .body(body.to_owned())
        .send();
    Got::of(sent.await.unwrap()).await
}

#[tokio::test]
async fn a_prompt_goes_out_and_its_text_comes_back() {
    let upstream = Upstream::start().await;
    let answer = r#"{"object": "text_completion", "choices": [{"text": "two words", "finish_reason": "stop"}],
                     "usage": {"prompt_tokens": 3, "completion_tokens": 2}}"#;
    Mock::given(method("POST"))
        .and(path("/v1/completions"))
        .respond_with(ResponseTemplate::new(200).set_body_string(answer))
        .mount(&upstream)
        .await;
    let door = door(&upstream).await;

    let got = ask(
        &door,
        r#"{"model": "text", "prompt": "say two", "max_tokens": 5}"#,
    )
    .await;

    assert_eq!(got.status, 200, "{}", got.text);
    assert_eq!(got.json()["choices"][0]["text"], "two words");
    let sent: Value =
        serde_json::from_slice(&upstream.received_requests().await.unwrap()[0].body).unwrap();
    assert_eq!(
        sent,
        serde_json::json!({"model": "davinci", "prompt": "say two", "max_tokens": 5})
    );
}

#[tokio::test]
async fn its_stream_is_passed_on_frame_by_frame() {
    let upstream = Upstream::start().await;
    let frames = "data: {\"choices\": [{\"text\": \"two\", \"finish_reason\": null}]}\n\n\
                  data: {\"choices\": [{\"text\": \" words\", \"finish_reason\": \"stop\"}]}\n\n\
                  data: [DONE]\n\n";
    Mock::given(path("/v1/completions"))
        .respond_with(ResponseTemplate::new(200).set_body_raw(frames, "text/event-stream"))
        .mount(&upstream)
        .await;
    let door = door(&upstream).await;

    let got = ask(
        &door,
        r#"{"model": "text", "prompt": ["say two"], "stream": true}"#,
    )
    .await;

    assert_eq!((got.status, got.text.as_str()), (200, frames));
}

#[tokio::test]
async fn a_prompt_that_is_none_is_refused() {
    let upstream = Upstream::start().await;
    let door = door(&upstream).await;
    for body in [r#"{"model": "text"}"#, r#"{"model": "text", "prompt": 5}"#] {
        let got = ask(&door, body).await;
        assert_eq!(got.status, 400, "{}", got.text);
        assert!(
            got.text.contains("`prompt` must be a text or a list"),
            "{}",
            got.text
        );
    }
    assert!(upstream.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_path_of_azures_says_the_model_if_the_body_does_not() {
    let house = House::open(&[("good", "")], "").await;
    let sent = house
        .request(Method::POST, "openai/deployments/chat/chat/completions")
        .body(r#"{"messages": []}"#);

    let got = Got::of(sent.send().await.unwrap()).await;

    assert_eq!(got.status, 200, "{}", got.text);
}
