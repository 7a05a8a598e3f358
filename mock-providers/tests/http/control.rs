//! What a test can order for one request, change while the server runs, and read afterwards.

use super::*;

async fn status(request: RequestBuilder) -> u16 {
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_request_orders_its_own_length_times_and_fault() {
    let server = serve(&[("m", spec(""))]).await;
    let begun = Instant::now();
    let request = chat(&server, "m", false)
        .header("x-mock-output-tokens", 90)
        .header("x-mock-prompt-tokens", 1_000)
        .header("x-mock-first-token-ms", 3)
        .header("x-mock-per-token-ms", 0);

    let answer = json(request.send().await.unwrap()).await;

    assert_eq!(answer["usage"]["completion_tokens"], 90);
    assert_eq!(answer["usage"]["prompt_tokens"], 1_000);
    // Its own times are 40 ms and 89 times 20 ms.
    assert!(begun.elapsed() < Duration::from_secs(1));

    let fault = r#"{"bad_key": {}}"#;
    let with = |name, value| chat(&server, "m", false).header(name, value);
    assert_eq!(status(with("x-mock-fault", fault)).await, 401);
    assert_eq!(status(chat(&server, "m", false)).await, 200);
    for (name, value) in [
        ("x-mock-fault", r#"{"outage": {"from_s": -1}}"#),
        ("x-mock-fault", "{}"),
        ("x-mock-attempt", "first"),
        ("x-mock-faults", fault),
    ] {
        let response = with(name, value).send().await.unwrap();
        assert_eq!(response.status(), 400, "{name}: {value}");
    }
}

#[tokio::test]
async fn a_provider_is_changed_while_the_server_runs_and_put_back() {
    let server = serve(&[("east", spec("")), ("west", spec(""))]).await;
    let down = r#"{"faults": [{"outage": {"status": 502}}]}"#;

    let (code, told) = control(&server, Method::PATCH, "providers/east", down).await;
    assert_eq!(code, 200);
    assert_eq!(told["spec"]["faults"][0]["outage"]["status"], 502);
    assert!(told["spec"]["latency"].is_object(), "{told}");
    assert_eq!(status(chat(&server, "east", false)).await, 502);
    assert_eq!(status(chat(&server, "west", false)).await, 200);

    for (method, path, body, code, says) in [
        (Method::PATCH, "providers/north", "{}", 404, "`north`"),
        (
            Method::PATCH,
            "providers/east",
            r#"{"fautls": []}"#,
            400,
            "fautls",
        ),
        (
            Method::PATCH,
            "providers/east",
            r#"{"models": null, "quota": {"requests_per_minute": "many"}}"#,
            400,
            "quota: ",
        ),
        (
            Method::PATCH,
            "providers/east",
            r#"{"faults": [{"outage": {"from_s": 9, "to_s": 3}}]}"#,
            400,
            "to_s",
        ),
        (Method::PUT, "providers/east", "[]", 400, "object"),
        (Method::GET, "nothing", "", 404, "/_mock/providers"),
    ] {
        let (found, told) = control(&server, method, path, body).await;
        assert_eq!(found, code, "{path} {body}");
        let message = told["error"].as_str().unwrap();
        assert!(message.contains(says), "{message}");
    }
    // What is refused changes nothing.
    assert_eq!(status(chat(&server, "east", false)).await, 502);

    assert_eq!(control(&server, Method::POST, "reset", "").await.0, 200);
    assert_eq!(status(chat(&server, "east", false)).await, 200);
}

#[tokio::test]
async fn by_schedule_a_fault_ends_at_its_moment() {
    let server = serve(&[("m", spec(""))]).await;
    let (_, told) = control(&server, Method::GET, "providers", "").await;
    let until = told["now_s"].as_f64().unwrap() + 1.0;
    let fault = format!(r#"{{"faults": [{{"outage": {{"to_s": {until}}}}}]}}"#);
    let _ = control(&server, Method::PATCH, "providers/m", &fault).await;

    assert_eq!(status(chat(&server, "m", false)).await, 503);
    tokio::time::sleep(Duration::from_millis(1_020)).await;
    assert_eq!(status(chat(&server, "m", false)).await, 200);
}

#[tokio::test]
async fn what_came_is_told_and_counted() {
    let server = serve(&[("east", spec("")), ("west", spec(""))]).await;
    let reset =
        chat(&server, "west", true).header("x-mock-fault", r#"{"broken": {"how": "reset"}}"#);
    assert!(reset.send().await.is_err());
    let whole = chat(&server, "east", false).send().await.unwrap();
    let _ = whole.text().await.unwrap();
    let left = chat(&server, "east", true).header("x-mock-fault", r#"{"hang": {}}"#);
    let left = tokio::time::timeout(Duration::from_millis(300), left.send()).await;
    assert!(left.is_err());
    until_abandoned(&server, 2).await;

    let (_, seen) = control(&server, Method::GET, "requests", "").await;
    let of = |number: usize, key: &str| seen[number][key].clone();
    assert_eq!(seen.as_array().unwrap().len(), 3);
    assert_eq!(
        (of(0, "provider"), of(0, "manner")),
        ("west".into(), "reset".into())
    );
    assert_eq!(
        (of(0, "status"), of(0, "error")),
        (Value::Null, "InternalServerError".into())
    );
    assert_eq!((of(1, "status"), of(1, "tokens")), (200.into(), 6.into()));
    assert_eq!(
        (of(1, "state"), of(1, "prompt_tokens")),
        ("ended".into(), 5.into())
    );
    assert_eq!(
        (of(2, "state"), of(2, "ends_after_s")),
        ("abandoned".into(), Value::Null)
    );
    let (_, west) = control(&server, Method::GET, "requests?provider=west", "").await;
    assert_eq!(west.as_array().unwrap().len(), 1);

    let client = Client::builder().no_proxy().build().unwrap();
    let page = client.get(server.url() + "/metrics").send().await.unwrap();
    let page = page.text().await.unwrap();
    for line in [
        r#"mock_requests_total{provider="east",api="chat",status="200",manner="answer"} 1"#,
        r#"mock_requests_total{provider="west",api="chat",status="none",manner="reset"} 1"#,
        r#"mock_completion_tokens_total{provider="east"} 6"#,
        r#"mock_requests_abandoned_total{provider="east"} 1"#,
        r#"mock_requests_in_flight{provider="east"} 0"#,
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }

    let _ = control(&server, Method::DELETE, "requests", "").await;
    let (_, seen) = control(&server, Method::GET, "requests", "").await;
    assert_eq!(seen, Value::Array(Vec::new()));
}

#[tokio::test]
async fn a_server_that_stops_lets_answers_end_and_cuts_what_never_ends() {
    let server = serve(&[("m", spec(""))]).await;
    let slow = chat(&server, "m", false).header("x-mock-first-token-ms", 600);
    let answered = tokio::spawn(slow.send());
    let hang = chat(&server, "m", true).header("x-mock-fault", r#"{"hang": {}}"#);
    let hanging = tokio::spawn(hang.send());
    tokio::time::sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();

    server.stop(Duration::from_millis(1_000)).await;

    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(answered.await.unwrap().unwrap().status(), 200);
    assert!(hanging.await.unwrap().is_err());
}
