//! Clients that are slow, wrong, or gone: clear errors, nothing left behind, and the door stays open.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;

/// A door with little patience.
fn strict() -> ServeOptions {
    ServeOptions {
        limits: Limits {
            head_timeout: Duration::from_millis(300),
            body_timeout: Duration::from_millis(300),
            largest_body: 4_096,
            ..Limits::default()
        },
        ..ServeOptions::default()
    }
}

async fn strict_house() -> House {
    House::with(&[("good", "")], "", strict(), Profile::default()).await
}

#[tokio::test]
async fn what_makes_no_sense_is_answered_with_400_and_says_why() {
    let house = House::open(&[("good", "")], "").await;
    for (body, says) in [
        ("{", "no JSON"),
        ("", "no JSON"),
        ("[]", "no JSON"),
        (r#"{"messages": []}"#, "`model`"),
        (r#"{"model": "chat"}"#, "`messages`"),
        (
            r#"{"model": "nobody", "messages": []}"#,
            "Invalid model name",
        ),
    ] {
        let asked = house
            .request(Method::POST, "v1/chat/completions")
            .body(body);
        let got = Got::of(asked.send().await.unwrap()).await;
        assert_eq!(got.status, 400, "{body}");
        let message = got.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(says), "{body}: {message}");
    }
    for (method, path, status) in [
        (Method::GET, "v1/nothing", 404),
        (Method::GET, "v1/chat/completions", 405),
        (Method::POST, "v1/models", 405),
    ] {
        let got = Got::of(house.request(method, path).send().await.unwrap()).await;
        assert_eq!(got.status, status, "{path}");
        assert!(got.json()["error"]["message"].is_string());
    }
    assert_eq!(house.ask("").await.status, 200);
    house.until_quiet().await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_whether_it_says_so_or_not() {
    let house = strict_house().await;
    let large = "x".repeat(5_000);

    let told = house
        .request(Method::POST, "v1/chat/completions")
        .body(large.clone());
    let told = Got::of(told.send().await.unwrap()).await;
    let mut stream = TcpStream::connect(house.door.address()).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {KEY}\r\n\
         transfer-encoding: chunked\r\n\r\n1388\r\n{large}\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 64];
    let length = stream.read(&mut answer).await.unwrap();

    assert_eq!(told.status, 413);
    assert!(told.text.contains("larger than 4096 bytes"));
    assert!(answer[..length].starts_with(b"HTTP/1.1 413"));
    assert_eq!(house.ask("").await.status, 200);
}

#[tokio::test]
async fn a_client_that_never_finishes_its_head_or_its_body_is_shown_out() {
    let house = strict_house().await;
    let address = house.door.address();

    let mut heads = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"POST /v1/chat/completions HTTP/1.1\r\nx: ")
            .await
            .unwrap();
        heads.push(stream);
    }
    let mut slow = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {KEY}\r\n\
         content-length: 100\r\n\r\n{{"
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(house.ask("").await.status, 200);

    for stream in &mut heads {
        // Whatever it is told, the connection ends.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    }
    let mut answer = vec![0; 64];
    let length = slow.read(&mut answer).await.unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 408"));
    house.until_quiet().await;
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_a_place() {
    let options = ServeOptions {
        limits: Limits {
            connections: 2,
            head_timeout: Duration::from_millis(300),
            ..Limits::default()
        },
        ..ServeOptions::default()
    };
    let house = House::with(&[("good", "")], "", options, Profile::default()).await;
    let address = house.door.address();

    let holding = [
        TcpStream::connect(address).await.unwrap(),
        TcpStream::connect(address).await.unwrap(),
    ];
    // It is taken when the idle ones are shown out.
    assert_eq!(house.ask("").await.status, 200);
    drop(holding);
}

#[tokio::test]
async fn a_client_that_stops_reading_a_stream_gives_its_attempt_back() {
    let options = ServeOptions {
        limits: Limits {
            write_timeout: Duration::from_millis(200),
            ..Limits::default()
        },
        ..ServeOptions::default()
    };
    // Far more than the buffers of two sockets hold.
    let frame = format!(
        "data: {{\"choices\": [{{\"delta\": {{\"content\": \"{}\"}}}}]}}\n\n",
        "x".repeat(10_000)
    );
    let upstream = wiremock::MockServer::start().await;
    let streamed =
        wiremock::ResponseTemplate::new(200).set_body_raw(frame.repeat(3_000), "text/event-stream");
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(streamed)
        .mount(&upstream)
        .await;
    let config = format!(
        "model_list:\n- {{model_name: chat, litellm_params: {{model: openai/gpt, api_base: \"{}/v1\"}}}}\n",
        upstream.uri()
    );
    let config = read(&config, "config.yaml", Profile::default(), &|_| None).unwrap();
    let options = ServeOptions {
        proxies: false,
        ..options
    };
    let door = FrontDoor::open(config, options, loopback()).await.unwrap();
    let body = r#"{"model": "chat", "messages": [], "stream": true}"#;
    let mut stream = TcpStream::connect(door.address()).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 64];
    assert!(stream.read(&mut first).await.unwrap() > 0);
    assert!(first.starts_with(b"HTTP/1.1 200"));
    assert_eq!(door.in_flight(), 1);

    // It reads no more.
    for _ in 0..400 {
        if door.unfinished() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!((door.unfinished(), door.in_flight()), (0, 0));
    drop(stream);
}

/// Requests whose client leaves before the answer.
async fn abort(house: &House, times: usize, keys: &str) {
    let body = format!(r#"{{"model": "chat", "messages": []{keys}}}"#);
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {KEY}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let address = house.door.address();
    for _ in 0..times.div_ceil(AT_ONCE) {
        let mut streams = Vec::new();
        for _ in 0..AT_ONCE.min(times) {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            streams.push(stream);
        }
        // Some are dropped before they are read, some with their attempt under way.
        for stream in streams {
            tokio::task::yield_now().await;
            stream.set_zero_linger().unwrap();
            drop(stream);
        }
    }
}

const AT_ONCE: usize = 100;
const HANGS: &str = r#", "faults": [{"hang": {}}]"#;

#[tokio::test]
async fn callers_that_leave_give_back_what_they_held() {
    let settings = "num_retries: 3, default_max_parallel_requests: 5, \
                    routing_strategy: usage-based-routing-v2";
    let house = House::with(
        &[("slow", HANGS)],
        settings,
        ServeOptions::default(),
        corrected(),
    )
    .await;
    for keys in ["", r#", "stream": true"#] {
        abort(&house, 300, keys).await;
        house.until_quiet().await;
    }
    let slots = house.request(Method::GET, "health").send().await.unwrap();
    let told = json(slots).await;
    let all = told["healthy_endpoints"].as_array().unwrap().iter();
    let all = all.chain(told["unhealthy_endpoints"].as_array().unwrap());
    assert!(
        all.clone().count() == 1 && all.clone().all(|d| d["slots_taken"] == 0),
        "{told}"
    );
}

#[tokio::test]
async fn a_slot_that_a_leaving_caller_held_goes_to_the_one_that_waits() {
    let steps = r#", "faults": [{"scripted": {"steps": [{"hang": {}}]}}]"#;
    let settings = "num_retries: 0, default_max_parallel_requests: 1";
    let house = House::with(
        &[("one", steps)],
        settings,
        ServeOptions::default(),
        corrected(),
    )
    .await;
    let first = tokio::spawn(house.chat("").send());
    while house.door.in_flight() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let second = tokio::spawn(house.chat("").send());
    while house.door.unfinished() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    first.abort();

    assert_eq!(second.await.unwrap().unwrap().status(), 200);
    house.until_quiet().await;
}

#[tokio::test]
async fn ten_thousand_aborted_connections_leave_nothing_behind() {
    let house = House::open(&[("slow", HANGS), ("slower", HANGS)], "num_retries: 3").await;
    let before = memory_kib();
    abort(&house, 5_000, "").await;
    abort(&house, 5_000, r#", "stream": true"#).await;
    house.until_quiet().await;

    let after = memory_kib();
    println!("resident memory: {before} KiB before, {after} KiB after");
    assert!(
        after < before + 64 * 1_024,
        "{before} KiB grew to {after} KiB"
    );
    let asked = house.request(Method::GET, "health/liveliness").send().await;
    assert_eq!(asked.unwrap().status(), 200);
}

/// The resident memory of this process.
fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|n| n.parse().ok()).unwrap_or_default()
}
