//! The server over loopback: the shapes of both APIs, pauses, headers, every fault as in virtual time,
//! and what a test can order, change and read.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on has failed, and these measure real time"
)]

mod abuse;
mod control;
mod faults;
mod shapes;

use std::time::{Duration, Instant};

use mock_providers::{
    ProviderSpec,
    http::{Limits, MockServer, ServerOptions, Upstream},
};
use reqwest::{Client, Method, RequestBuilder, Response};
use router::Seed;
use serde_json::Value;

const SEED: Seed = Seed(7);

/// Constant times: 40 ms to the first token, 20 ms for each further one.
fn spec(rest: &str) -> ProviderSpec {
    serde_json::from_str(&format!(
        r#"{{"latency": {{"first_token": {{"constant": {{"ms": 40}}}},
                          "per_output_token": {{"constant": {{"ms": 20}}}}}}{rest}}}"#
    ))
    .unwrap()
}

/// A server of these upstreams, whose models say six tokens.
async fn serve(upstreams: &[(&str, ProviderSpec)]) -> MockServer {
    serve_within(upstreams, Limits::default()).await
}

async fn serve_within(upstreams: &[(&str, ProviderSpec)], limits: Limits) -> MockServer {
    let upstreams = upstreams.iter().map(|(name, spec)| Upstream {
        name: (*name).to_owned(),
        models: Vec::new(),
        spec: spec.clone(),
    });
    let options = ServerOptions {
        upstreams: upstreams.collect(),
        seed: SEED,
        output_tokens: 6,
        limits,
    };
    let address = ([127, 0, 0, 1], 0).into();
    MockServer::start(&options, address).await.unwrap()
}

/// A chat request for 5 prompt tokens.
fn chat(server: &MockServer, upstream: &str, stream: bool) -> RequestBuilder {
    let body = format!(
        r#"{{"model": "{upstream}", "stream": {stream},
             "messages": [{{"role": "user", "content": "twenty letters, just"}}]}}"#
    );
    post(server, "/v1/chat/completions", body)
}

fn post(server: &MockServer, path: &str, body: String) -> RequestBuilder {
    let client = Client::builder().no_proxy().build().unwrap();
    client.post(server.url() + path).body(body)
}

async fn json(response: Response) -> Value {
    let text = response.text().await.unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The data of each frame, with the time since `begun`; and whether the stream ended as HTTP wants it.
async fn frames(mut response: Response, begun: Instant) -> (Vec<(Duration, String)>, bool) {
    let (mut frames, mut rest) = (Vec::new(), String::new());
    loop {
        let whole = match response.chunk().await {
            Ok(Some(bytes)) => {
                rest += std::str::from_utf8(&bytes).unwrap();
                None
            }
            Ok(None) => Some(true),
            Err(_) => Some(false),
        };
        while let Some((frame, after)) = rest.split_once("\n\n") {
            frames.push((begun.elapsed(), frame.to_owned()));
            rest = after.to_owned();
        }
        if let Some(whole) = whole {
            return (frames, whole);
        }
    }
}

/// Asks the control endpoint.
async fn control(server: &MockServer, method: Method, path: &str, body: &str) -> (u16, Value) {
    let client = Client::builder().no_proxy().build().unwrap();
    let request = client.request(method, format!("{}/_mock/{path}", server.url()));
    let response = request.body(body.to_owned()).send().await.unwrap();
    (response.status().as_u16(), json(response).await)
}

/// Waits until the server has heard that the client of request `number` is gone.
async fn until_abandoned(server: &MockServer, number: usize) {
    for _ in 0..200 {
        let (_, seen) = control(server, Method::GET, "requests", "").await;
        if seen[number]["state"] == "abandoned" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("request {number} is still under way");
}
