//! A provider behind wiremock: one line, and the behaviours of the server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use mock_providers::Responder;
use reqwest::{Client, Response};
use router::Outcome;
use serde_json::Value;
use wiremock::{Mock, MockServer, matchers::any};

/// A server with this provider, of 20 ms an answer, in front.
async fn serve(rest: &str) -> (MockServer, Responder) {
    let json = format!(r#"{{"latency": {{"first_token": {{"constant": {{"ms": 20}}}}}}{rest}}}"#);
    let provider = Responder::read(&json).unwrap();
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(provider.clone())
        .mount(&server)
        .await;
    (server, provider)
}

async fn ask(server: &MockServer, stream: bool) -> reqwest::Result<Response> {
    let body = format!(
        r#"{{"model": "m", "stream": {stream}, "max_tokens": 3,
             "messages": [{{"role": "user", "content": "say it"}}]}}"#
    );
    let client = Client::builder().no_proxy().build().unwrap();
    let request = client
        .post(server.uri() + "/v1/chat/completions")
        .body(body);
    request.timeout(Duration::from_secs(1)).send().await
}

async fn status(server: &MockServer) -> Option<u16> {
    let response = ask(server, false).await.ok()?;
    Some(response.status().as_u16())
}

#[tokio::test]
async fn a_quota_a_fault_and_a_script_are_what_they_are_elsewhere() {
    let (server, provider) =
        serve(r#", "quota": {"requests_per_minute": 1, "window": "sliding"}"#).await;
    assert_eq!(status(&server).await, Some(200));
    let refused = ask(&server, false).await.unwrap();
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    let heard = provider.heard();
    assert!(matches!(heard[0].1, Outcome::Success { .. }));
    assert!(matches!(heard[1].1, Outcome::Failure(failure) if failure.status == Some(429)));

    let (server, _) = serve(
        r#", "faults": [{"scripted": {"steps": [{"broken": {"how": "reset"}}, null,
            {"outage": {"status": 502}}, {"broken": {"how": "error_object"}}]}}]"#,
    )
    .await;
    let met = [
        status(&server).await,
        status(&server).await,
        status(&server).await,
    ];
    assert_eq!(met, [None, Some(200), Some(502)]);
    let body = ask(&server, false).await.unwrap().text().await.unwrap();
    let body: Value = serde_json::from_str(&body).unwrap();
    assert!(body["error"].is_object(), "{body}");
    // The server is whole after a connection that it ended.
    assert_eq!(status(&server).await, Some(200));
}

#[tokio::test]
async fn a_stream_has_its_frames_and_breaks_where_it_breaks() {
    let (server, _) = serve(
        r#", "faults": [{"scripted": {"steps": [null,
            {"mid_stream": {"how": "no_end", "after_tokens": 2}}]}}]"#,
    )
    .await;

    let whole = ask(&server, true).await.unwrap();
    assert_eq!(whole.headers()["content-type"], "text/event-stream");
    let whole = whole.text().await.unwrap();
    assert_eq!(whole.matches(r#""content":""#).count(), 4, "{whole}");
    assert!(whole.contains(r#""finish_reason":"length""#) && whole.ends_with("[DONE]\n\n"));
    let broken = ask(&server, true).await.unwrap().text().await.unwrap();
    assert!(!broken.contains(r#""finish_reason":"length""#), "{broken}");
}

#[tokio::test]
async fn what_hangs_is_ended_by_the_client() {
    let (server, _) = serve(r#", "faults": [{"hang": {}}]"#).await;

    assert!(ask(&server, false).await.unwrap_err().is_timeout());
}
