//! Clients that are slow, wrong, or gone: clear errors, nothing left behind, and the server stays up.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;

/// Little patience, and small bodies.
fn strict() -> Limits {
    Limits {
        connections: 60,
        head_timeout: Duration::from_millis(300),
        body_timeout: Duration::from_millis(300),
        write_timeout: Duration::from_millis(300),
        largest_body: 4_096,
    }
}

async fn begun(server: &MockServer, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// All that comes until the connection ends.
async fn rest(mut stream: TcpStream) -> String {
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    String::from_utf8(rest).unwrap()
}

async fn works(server: &MockServer) {
    let answer = chat(server, "m", false).send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

/// Waits until no request is under way, and says how many clients left before their end.
async fn until_quiet(server: &MockServer) -> String {
    let client = Client::builder().no_proxy().build().unwrap();
    for _ in 0..400 {
        let page = client.get(server.url() + "/metrics").send().await.unwrap();
        let page = page.text().await.unwrap();
        let of = |name: &str| {
            let line = page.lines().find(|line| line.starts_with(name));
            line.map(|line| line.rsplit(' ').next().unwrap().to_owned())
        };
        if of("mock_requests_in_flight{") == Some("0".to_owned()) {
            return of("mock_requests_abandoned_total{").unwrap();
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("requests are left under way");
}

#[tokio::test]
async fn what_makes_no_sense_is_told_why() {
    let server = serve(&[("m", spec(""))]).await;
    for (path, body, status, says) in [
        ("/v1/chat/completions", "{", 400, "JSON"),
        ("/v1/chat/completions", "", 400, "JSON"),
        ("/v1/chat/completions", r#"{"messages": []}"#, 400, "model"),
        (
            "/v1/chat/completions",
            r#"{"model": "nobody", "messages": []}"#,
            404,
            "`nobody`",
        ),
        ("/v1/nothing", "{}", 404, "/v1/nothing"),
        ("/v1/models", "{}", 405, "method"),
    ] {
        let answer = post(&server, path, body.to_owned()).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path} {body}");
        let told = json(answer).await["error"]["message"].to_string();
        assert!(told.contains(says), "{path} {body}: {told}");
    }
    works(&server).await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_whether_it_says_so_or_not() {
    let server = serve_within(&[("m", spec(""))], strict()).await;
    let large = "x".repeat(5_000);

    let told = post(&server, "/v1/chat/completions", large.clone());
    let told = told.send().await.unwrap();
    assert_eq!(told.status(), 413);
    let message = json(told).await["error"]["message"].to_string();
    assert!(message.contains("larger than 4096 bytes"), "{message}");

    let silent = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n\
         1388\r\n{large}\r\n"
    );
    let answer = rest(begun(&server, &silent).await).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    works(&server).await;
}

#[tokio::test]
async fn a_client_that_never_finishes_its_head_or_its_body_is_shown_out() {
    let server = serve_within(&[("m", spec(""))], strict()).await;
    let mut slow = Vec::new();
    // All places but one.
    for _ in 0..strict().connections - 2 {
        slow.push(begun(&server, "POST /v1/chat/completions HTTP/1.1\r\nx: ").await);
    }
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{";
    let body = begun(&server, head).await;
    works(&server).await;

    for stream in slow {
        // Whatever it is told, the connection ends.
        rest(stream).await;
    }
    let answer = rest(body).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    works(&server).await;
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_a_place() {
    let limits = Limits {
        connections: 2,
        ..strict()
    };
    let server = serve_within(&[("m", spec(""))], limits).await;
    let holding = [begun(&server, "").await, begun(&server, "").await];
    // It is taken when the idle ones are shown out.
    works(&server).await;
    drop(holding);
}

#[tokio::test]
async fn a_client_that_stops_reading_a_stream_is_left() {
    let server = serve_within(&[("m", spec(""))], strict()).await;
    let body = r#"{"model": "m", "messages": [], "stream": true}"#;
    // Far more than the buffers of two sockets hold, at once.
    let ask = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-mock-first-token-ms: 0\r\n\
         x-mock-per-token-ms: 0\r\nx-mock-output-tokens: 200000\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = begun(&server, &ask).await;
    let mut first = [0; 64];
    stream.read_exact(&mut first).await.unwrap();
    assert!(first.starts_with(b"HTTP/1.1 200"));

    // It reads no more, and leaves the connection open.
    assert_eq!(until_quiet(&server).await, "1");
    works(&server).await;
    drop(stream);
}

/// Requests whose client leaves before the answer, a hundred at once.
async fn abort(server: &MockServer, hundreds: usize, keys: &str) {
    let body = format!(r#"{{"model": "m", "messages": []{keys}}}"#);
    let ask = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    for _ in 0..hundreds {
        let mut streams = Vec::new();
        for _ in 0..100 {
            streams.push(begun(server, &ask).await);
        }
        // Some are dropped before they are read, some with their exchange under way.
        for stream in streams {
            tokio::task::yield_now().await;
            stream.set_zero_linger().unwrap();
        }
    }
}

#[tokio::test]
async fn ten_thousand_aborted_connections_leave_nothing_under_way() {
    let server = serve(&[("m", spec(r#", "faults": [{"hang": {}}]"#))]).await;
    abort(&server, 50, "").await;
    abort(&server, 50, r#", "stream": true"#).await;

    let abandoned: u32 = until_quiet(&server).await.parse().unwrap();
    assert!(abandoned > 0);
    let models = Client::builder().no_proxy().build().unwrap();
    let models = models.get(server.url() + "/v1/models").send().await;
    assert_eq!(models.unwrap().status(), 200);
}
