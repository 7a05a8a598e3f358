//! The parts that talk to the world, against a server on loopback.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod driver;

use std::time::Duration;

use router::{
    Alert, AlertKind, Alerts, Event, Failure, Instant, Observer, Outcome, RequestId, RouterConfig,
    live::{AlertWebhook, WebhookError},
};
use serde_json::Value;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, method, path},
};

/// How often the webhooks here post.
const SOON: Duration = Duration::from_millis(20);

/// A deployment failed so often, as its router tells it.
fn outage(errors: u32) -> Vec<Alert> {
    let mut alerts = Alerts::new(&RouterConfig::of_deployments(["a"]));
    let outcome = Outcome::Failure(Failure::with_status(500));
    for request in 0..errors {
        let event = Event::Finished {
            request: RequestId(request.into()),
            deployment: router::DeploymentId(0),
            attempt: 0,
            took: Duration::from_secs(1),
            outcome: &outcome,
        };
        alerts.observe(Instant::ZERO, &event);
    }
    alerts.take()
}

fn slow(request: u64) -> Alert {
    Alert {
        at: Instant::from_secs_f64(3.0),
        kind: AlertKind::LlmTooSlow {
            request: RequestId(request),
            deployment: "a".to_owned(),
            seconds: 400.0,
            threshold_seconds: 300.0,
        },
    }
}

/// Not of wiremock's pool, whose servers are given on: what a webhook of one test posts late would
/// reach the server of another.
async fn own_server() -> MockServer {
    MockServer::builder().start().await
}

async fn hook(answer: u16) -> MockServer {
    let server = own_server().await;
    Mock::given(method("POST"))
        .and(path("/hook"))
        .and(header("content-type", "application/json"))
        .respond_with(ResponseTemplate::new(answer))
        .mount(&server)
        .await;
    server
}

async fn bodies(server: &MockServer) -> Vec<Value> {
    let requests = server.received_requests().await.unwrap();
    let body = |request: &wiremock::Request| request.body_json().unwrap();
    requests.iter().map(body).collect()
}

#[tokio::test]
async fn alerts_of_one_kind_are_posted_in_one_message_with_their_data() {
    let server = hook(200).await;
    let webhook = AlertWebhook::start(&format!("{}/hook", server.uri()), SOON).unwrap();
    let outage = outage(10);
    assert_eq!(outage.len(), 2);
    for alert in outage.iter().cloned().chain([slow(8)]) {
        webhook.post(alert);
    }

    webhook.close().await;

    let bodies = bodies(&server).await;
    assert_eq!(bodies.len(), 2);
    let slow_text = "Alert: llm_too_slow\nLow, at 3.000s: a took 400.00 s for request #8, \
                     more than 300.00 s";
    assert_eq!(bodies[0]["text"], slow_text);
    let outage_text = "Alert: outage_alerts (2 of them)\n\
                       Medium, at 0.000s: minor outage of a: 5 errors within a minute\n\
                       High, at 0.000s: major outage of a: 10 errors within a minute";
    assert_eq!(bodies[1]["text"], outage_text);
    let posted: Vec<Alert> = serde_json::from_value(bodies[1]["alerts"].clone()).unwrap();
    assert_eq!(posted, outage);
}

#[tokio::test]
async fn what_is_queued_is_posted_by_and_by_without_closing() {
    let server = hook(200).await;
    let webhook = AlertWebhook::start(&format!("{}/hook", server.uri()), SOON).unwrap();

    for request in 0..2 {
        webhook.post(slow(request));
        for _ in 0..500 {
            if bodies(&server).await.len() > usize::try_from(request).unwrap() {
                break;
            }
            tokio::time::sleep(SOON).await;
        }
    }

    assert_eq!(bodies(&server).await.len(), 2);
    webhook.close().await;
}

#[tokio::test]
async fn a_webhook_that_fails_or_is_gone_hurts_nobody() {
    let refusing = hook(500).await;
    let webhook = AlertWebhook::start(&format!("{}/hook", refusing.uri()), SOON).unwrap();
    webhook.post(slow(1));
    webhook.close().await;
    assert_eq!(bodies(&refusing).await.len(), 1);

    let gone = own_server().await;
    let address = format!("{}/hook", gone.uri());
    drop(gone);
    let webhook = AlertWebhook::start(&address, SOON).unwrap();
    webhook.post(slow(1));
    webhook.close().await;
}

#[tokio::test]
async fn a_flood_is_cut_and_never_blocks() {
    let server = hook(200).await;
    let webhook = AlertWebhook::start(&format!("{}/hook", server.uri()), SOON).unwrap();
    // The posting task has no turn before the first await.
    for request in 0..5_000 {
        webhook.post(slow(request));
    }

    webhook.close().await;

    let bodies = bodies(&server).await;
    assert_eq!(bodies.len(), 1);
    let alerts = bodies[0]["alerts"].as_array().unwrap();
    assert_eq!(alerts.len(), 1_000);
    let text = bodies[0]["text"].as_str().unwrap();
    assert!(text.ends_with("and 990 more"), "{text}");
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_by_name() {
    for url in ["nowhere", "file:///tmp/hook", ""] {
        let refused = AlertWebhook::start(url, SOON).unwrap_err();
        assert!(matches!(&refused, WebhookError::BadAddress { url: given } if given == url));
    }
}
