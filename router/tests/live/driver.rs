//! The driver against servers on loopback: it obeys the core, and gives back what it holds.

use std::sync::Arc;

use reqwest::header::HeaderMap;
use router::{
    Answer, DeploymentId, Origin, Outcome, Router, Seed, Usage,
    config::Alerting,
    live::{
        Call, Clock, Endpoint, Item, LiveOptions, LiveRouter, Payload, Secret, StartError, Upstream,
    },
};

use super::*;

const ANSWER: &str = r#"{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}"#;

fn answer(body: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_string(body)
}

/// A server that answers like this whatever is asked.
async fn upstream(response: ResponseTemplate) -> MockServer {
    let server = own_server().await;
    Mock::given(method("POST"))
        .respond_with(response)
        .mount(&server)
        .await;
    server
}

fn start(config: &RouterConfig, servers: &[&MockServer]) -> LiveRouter {
    let key = || Some(Secret::new("sk-up".to_owned()));
    let upstreams = servers
        .iter()
        .map(|server| Upstream::open_ai(server.uri() + "/v1", key()));
    LiveRouter::start(config, upstreams.collect(), options(), ()).unwrap()
}

fn options() -> LiveOptions {
    LiveOptions {
        clock: Clock::start(),
        seed: Seed(3),
        proxies: false,
        instances: 1,
        shared_state: false,
    }
}

fn call() -> Call {
    Call {
        model: "m".to_owned(),
        prompt_tokens: 3,
        max_tokens: None,
        origin: Origin::default(),
        overrides: None,
        payload: Arc::new(Payload {
            endpoint: Endpoint::Chat,
            body: serde_json::from_str(r#"{"messages": [], "temperature": 1.0}"#).unwrap(),
            headers: HeaderMap::new(),
            number_headers: None,
        }),
        id: None,
    }
}

fn is_quiet(router: &Router) -> bool {
    router.unfinished() == 0
        && router.in_flight(DeploymentId(0)) == 0
        && router.slots_taken(DeploymentId(0)) == 0
}

async fn until(live: &LiveRouter, holds: impl Fn(&Router) -> bool) {
    for _ in 0..400 {
        if live.look(|router, (), _| holds(router)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came so far");
}

#[tokio::test]
async fn a_failed_attempt_is_followed_by_what_the_core_says() {
    let (bad, good) = (
        upstream(ResponseTemplate::new(500)).await,
        upstream(answer(ANSWER)).await,
    );
    let mut config = RouterConfig::of_deployments(["bad", "good"]);
    config.deployments[1].order = Some(2);
    config.deployments[0].order = Some(1);
    config.settings.num_retries = Some(1);
    config.settings.disable_cooldowns = true;
    let live = start(&config, &[&bad, &good]);

    let reply = live.call(call()).await.unwrap();

    let Answer::Completed {
        deployment,
        usage,
        trail,
        ..
    } = reply.answer
    else {
        panic!("{:?}", reply.answer)
    };
    assert_eq!((deployment, usage), (DeploymentId(1), Usage::new(3, 4)));
    assert_eq!((trail.attempts, trail.fallbacks), (3, 1));
    assert_eq!(reply.body, ANSWER);
    let sent = &good.received_requests().await.unwrap()[0];
    assert_eq!(sent.headers["authorization"], "Bearer sk-up");
    let body = String::from_utf8(sent.body.clone()).unwrap();
    assert_eq!(
        body,
        r#"{"model":"fake-good","messages":[],"temperature":1.0}"#
    );
    assert!(live.look(|router, (), _| is_quiet(router)));
}

#[tokio::test]
async fn the_words_of_the_failure_that_surfaces_are_kept() {
    let body = r#"{"error": {"message": "no such key", "type": "x", "code": null}}"#;
    let bad = upstream(
        ResponseTemplate::new(401)
            .set_body_string(body)
            .insert_header("x-request-id", "r1"),
    )
    .await;
    let mut config = RouterConfig::of_deployments(["bad"]);
    config.settings.num_retries = Some(0);
    let live = start(&config, &[&bad]);

    let reply = live.call(call()).await.unwrap();

    assert!(matches!(reply.answer, Answer::Failed { error, .. } if error.status() == Some(401)));
    assert_eq!(reply.message.as_deref(), Some("no such key"));
    assert_eq!(reply.headers["x-request-id"], "r1");
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_wherever_it_is() {
    let slow = upstream(answer(ANSWER).set_delay(Duration::from_secs(60))).await;
    let mut config = RouterConfig::of_deployments(["slow"]);
    config.profile = router::ProfileName::Corrected.profile();
    config.settings.default_max_parallel_requests = Some(1);
    let live = start(&config, &[&slow]);
    let calling = |live: LiveRouter| tokio::spawn(async move { live.call(call()).await.unwrap() });

    let sent = calling(live.clone());
    until(&live, |router| router.in_flight(DeploymentId(0)) == 1).await;
    let parked = calling(live.clone());
    until(&live, |router| router.unfinished() == 2).await;
    parked.abort();
    until(&live, |router| router.unfinished() == 1).await;
    assert_eq!(
        live.look(|router, (), _| router.slots_taken(DeploymentId(0))),
        1
    );
    sent.abort();

    until(&live, is_quiet).await;
}

#[tokio::test]
async fn a_stream_that_is_dropped_is_cancelled_and_one_that_is_not_read_never_begins() {
    let slow = upstream(answer("").set_delay(Duration::from_secs(60))).await;
    let live = start(&RouterConfig::of_deployments(["slow"]), &[&slow]);

    drop(live.stream(call()).unwrap());
    assert!(live.look(|router, (), _| is_quiet(router)));
    let mut stream = live.stream(call()).unwrap();
    let reading = tokio::spawn(async move { stream.next().await.is_some() });
    until(&live, |router| router.in_flight(DeploymentId(0)) == 1).await;
    reading.abort();

    until(&live, is_quiet).await;
}

const FRAMES: &str = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
     : keep-alive\n\n\
     data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\
     data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n\
     data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
     data: [DONE]\n\n";

async fn frames(live: &LiveRouter) -> (String, router::live::Reply) {
    let mut stream = live.stream(call()).unwrap();
    let mut text = String::new();
    loop {
        match stream.next().await.expect("an end comes first") {
            Item::Begun(begun) => {
                assert_eq!(text, "");
                assert_eq!(begun.attempts, 1);
            }
            Item::Frame(frame) => text += std::str::from_utf8(&frame).unwrap(),
            Item::End(reply) => {
                assert!(stream.next().await.is_none());
                return (text, *reply);
            }
        }
    }
}

#[tokio::test]
async fn frames_are_passed_on_as_they_are_but_for_the_marker() {
    let server = upstream(answer(FRAMES)).await;
    for profile in router::ProfileName::ALL {
        let mut config = RouterConfig::of_deployments(["a"]);
        config.profile = profile.profile();
        let live = start(&config, &[&server]);

        let (text, reply) = frames(&live).await;

        assert_eq!(text, FRAMES.replace("data: [DONE]\n\n", ""));
        let Answer::Completed { usage, trail, .. } = reply.answer else {
            panic!("{:?}", reply.answer)
        };
        assert_eq!(usage, Usage::new(3, 2));
        assert!(trail.first_token.is_some());
    }
}

#[tokio::test]
async fn mirrors_are_sent_and_nobody_waits_for_them() {
    let (own, silent) = (
        upstream(answer(ANSWER)).await,
        upstream(answer(ANSWER)).await,
    );
    let mut config = RouterConfig::of_deployments(["own", "silent"]);
    config.deployments[1].model_name = "shadow".to_owned();
    config.deployments[0].silent_model = Some("shadow".to_owned());
    let live = start(&config, &[&own, &silent]);

    let reply = live.call(call()).await.unwrap();
    until(&live, is_quiet).await;

    assert!(matches!(
        reply.answer,
        Answer::Completed {
            deployment: DeploymentId(0),
            ..
        }
    ));
    let mirrored = silent.received_requests().await.unwrap();
    assert_eq!(mirrored.len(), 1);
    assert!(
        std::str::from_utf8(&mirrored[0].body)
            .unwrap()
            .contains(r#""model":"fake-silent""#)
    );
}

/// Counts outcomes.
#[derive(Debug, Default)]
struct Ended(usize);

impl Observer for Ended {
    fn observe(&mut self, _: Instant, event: &Event<'_>) {
        if let Event::Finished {
            outcome: Outcome::Success { .. },
            ..
        } = event
        {
            self.0 += 1;
        }
    }
}

#[tokio::test]
async fn many_calls_at_once_share_one_core() {
    let server = upstream(answer(ANSWER)).await;
    let config = RouterConfig::of_deployments(["a"]);
    let target = Upstream::open_ai(server.uri() + "/v1", None);
    let live = LiveRouter::start(&config, vec![target], options(), Ended::default()).unwrap();
    let calls = (0..50).map(|_| {
        let live = live.clone();
        tokio::spawn(async move { live.call(call()).await.unwrap().answer })
    });

    for answer in calls.collect::<Vec<_>>() {
        assert!(matches!(answer.await.unwrap(), Answer::Completed { .. }));
    }

    assert_eq!(live.look(|_, ended, _| ended.0), 50);
}

#[tokio::test]
async fn names_that_strangers_ask_for_do_not_fill_the_memory() {
    let server = upstream(answer(ANSWER)).await;
    let live = start(&RouterConfig::of_deployments(["a"]), &[&server]);
    let mut refused = 0;
    for number in 0..10_100 {
        let model = format!("nobody-{number}");
        refused += usize::from(live.call(Call { model, ..call() }).await.is_err());
    }

    assert_eq!(refused, 100);
    assert!(
        live.call(call()).await.is_ok(),
        "names that are known still are"
    );
}

#[tokio::test]
async fn a_router_that_cannot_call_does_not_start() {
    let config = RouterConfig::of_deployments(["a"]);
    let begin = |upstreams| LiveRouter::start(&config, upstreams, options(), ()).map(drop);
    let nowhere = Upstream::open_ai("nowhere".to_owned(), None);

    let none = begin(Vec::new());
    let bad = begin(vec![nowhere]);

    assert!(matches!(none, Err(StartError::UpstreamCount { .. })));
    let told = bad.unwrap_err().to_string();
    assert!(told.contains("`a`") && told.contains("`nowhere`"), "{told}");
}

#[tokio::test]
async fn what_operators_are_told_is_posted() {
    let (bad, hook) = (upstream(ResponseTemplate::new(500)).await, hook(200).await);
    let mut config = RouterConfig::of_deployments(["bad"]);
    config.settings.num_retries = Some(0);
    config.settings.alerting = Some(Alerting {
        threshold: Duration::from_secs(300),
        webhook_url: Some(hook.uri() + "/hook"),
    });
    let live = start(&config, &[&bad]);

    live.call(call()).await.unwrap();
    live.close().await;

    let posted = hook.received_requests().await.unwrap();
    assert_eq!(posted.len(), 1);
    assert!(
        std::str::from_utf8(&posted[0].body)
            .unwrap()
            .contains("llm_exceptions")
    );
}
