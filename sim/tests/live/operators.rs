//! Who is let in, and what operators see and do.

use super::*;

#[tokio::test]
async fn only_the_master_key_opens_the_door() {
    let house = House::open(&[("good", "")], "").await;
    let url = format!("http://{}/v1/models", house.door.address());
    let ask = |header: Option<(&str, &str)>| {
        let request = client().get(&url);
        let request = match header {
            Some((name, value)) => request.header(name, value),
            None => request,
        };
        async { Got::of(request.send().await.unwrap()).await }
    };

    for (header, status, says) in [
        (None, 401, "No api key passed in"),
        (Some(("authorization", "Basic abc")), 401, "Malformed"),
        (Some(("authorization", "Bearer sk-other")), 401, "Invalid"),
        (Some(("authorization", "Bearer sk-master2")), 401, "Invalid"),
        (Some(("authorization", "bearer sk-master")), 200, "chat"),
        (Some(("api-key", KEY)), 200, "chat"),
        (Some(("x-api-key", KEY)), 200, "chat"),
    ] {
        let got = ask(header).await;
        assert_eq!(got.status, status, "{header:?}");
        assert!(got.text.contains(says), "{header:?}: {}", got.text);
        if status == 401 {
            assert_eq!(got.json()["error"]["type"], "auth_error");
        }
        assert!(!got.text.contains("sk-"), "{}", got.text);
    }
}

#[tokio::test]
async fn liveness_and_metrics_need_no_key() {
    let house = House::open(&[("good", "")], "").await;
    house.ask("").await;
    for (path, says) in [
        ("health/liveliness", "alive"),
        ("health/readiness", "healthy"),
        ("metrics", "routelab_requests_total{status=\"200\"} 1"),
        (
            "metrics",
            "routelab_attempts_total{deployment=\"good\",outcome=\"success\"} 1",
        ),
        (
            "metrics",
            "routelab_tokens_total{deployment=\"good\",kind=\"completion\"} 6",
        ),
        ("metrics", "routelab_request_duration_seconds_count 1"),
    ] {
        let url = format!("http://{}/{path}", house.door.address());
        let got = Got::of(client().get(url).send().await.unwrap()).await;
        assert_eq!(got.status, 200);
        assert!(got.text.contains(says), "{path}: {}", got.text);
    }
}

#[tokio::test]
async fn a_cooldown_is_seen_and_cleared() {
    let failing = r#", "faults": [{"bad_key": {}}]"#;
    let providers = [("bad", failing), ("good", "")];
    let house = House::open(&providers, "num_retries: 5, cooldown_time: 600").await;
    let get = |path: &'static str| async {
        json(house.request(Method::GET, path).send().await.unwrap()).await
    };
    while get("cooldowns").await["cooldowns"]
        .as_array()
        .unwrap()
        .is_empty()
    {
        house.ask("").await;
    }

    let told = get("cooldowns").await;
    let health = get("health").await;
    let cooldown = &told["cooldowns"][0];
    assert_eq!(cooldown["model_id"], "bad");
    assert_eq!(
        (&cooldown["status"], &cooldown["why"]),
        (&401.into(), &"not_retryable".into())
    );
    assert!(cooldown["ends_in_s"].as_f64().unwrap() > 590.0);
    assert_eq!(health["healthy_count"], 1);
    assert_eq!(health["unhealthy_endpoints"][0]["model_id"], "bad");

    let delete = |path: &'static str| house.request(Method::DELETE, path).send();
    let nobody = delete("cooldowns/nobody").await.unwrap();
    assert_eq!(nobody.status(), 404);
    let good = json(delete("cooldowns/good").await.unwrap()).await;
    assert_eq!(good["cleared"], 0);
    let bad = json(delete("cooldowns/bad").await.unwrap()).await;
    assert_eq!(bad["cleared"], 1);
    assert!(
        get("cooldowns").await["cooldowns"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert_eq!(json(delete("cooldowns").await.unwrap()).await["cleared"], 0);
}

#[tokio::test]
async fn a_door_that_stops_lets_requests_under_way_end() {
    let house = House::open(&[("good", "")], "").await;
    let House { providers, door } = house;
    let url = format!("http://{}/v1/chat/completions", door.address());
    let body = r#"{"model": "chat", "messages": [], "stream": true}"#;
    let mut response = client()
        .post(&url)
        .bearer_auth(KEY)
        .body(body)
        .send()
        .await
        .unwrap();
    assert!(response.chunk().await.unwrap().is_some());

    let stopping = tokio::spawn(door.stop(Duration::from_secs(20)));
    let mut rest = Vec::new();
    while let Some(bytes) = response.chunk().await.unwrap() {
        rest.extend_from_slice(&bytes);
    }

    assert!(rest.ends_with(b"data: [DONE]\n\n"));
    assert!(stopping.await.unwrap(), "it ended in time");
    assert!(client().post(&url).body(body).send().await.is_err());
    drop(providers);
}

#[tokio::test]
async fn a_door_that_stops_leaves_requests_that_do_not_end() {
    let House { providers, door } =
        House::open(&[("slow", r#", "faults": [{"hang": {}}]"#)], "").await;
    let url = format!("http://{}/v1/chat/completions", door.address());
    let body = r#"{"model": "chat", "messages": []}"#;
    let asking = tokio::spawn(client().post(&url).bearer_auth(KEY).body(body).send());
    while door.in_flight() == 0 {
        tokio::task::yield_now().await;
    }

    assert!(!door.stop(Duration::from_millis(50)).await);
    asking.abort();
    drop(providers);
}
