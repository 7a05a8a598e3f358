//! Each fault is over HTTP what it is in virtual time.

use mock_providers::{Beginning, Break, Manner, Provider, ProviderCall, Reply};
use router::{DeploymentId, Epoch, Outcome, RequestId};
use tokio::time::timeout;

use super::*;

/// What a client sees.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Saw {
    /// An answer of so many tokens.
    Answer(u32),
    /// An error with this status.
    Status(u16),
    /// No HTTP answer, the connection ends.
    Reset,
    /// A 200 whose body is none, or cannot be read.
    Unreadable,
    /// A 200 that holds an error object.
    Object,
    /// The connection ends after so many tokens.
    Cut(u32),
    /// So many tokens, and then this.
    Frame(u32, &'static str),
    /// So many tokens, and then silence; `None`: not even headers.
    Silence(Option<u32>),
}

/// What a client of this reply has to see.
fn due(call: &ProviderCall, reply: &Reply) -> Saw {
    let (tokens, status) = match reply.outcome {
        Outcome::Success { usage, .. } => (usage.completion_tokens, None),
        Outcome::Failure(failure) => (failure.tokens_delivered, failure.status),
    };
    let how = match reply.manner {
        Manner::Answer => return Saw::Answer(tokens),
        Manner::Error | Manner::Limited(_) => return Saw::Status(status.unwrap()),
        Manner::Broken(how) => how,
    };
    match (how, call.stream) {
        (Break::Refused | Break::Reset | Break::Tls, _) => Saw::Reset,
        (Break::Silence, stream) => Saw::Silence(stream.then_some(tokens).filter(|_| {
            let Outcome::Failure(failure) = reply.outcome else {
                return false;
            };
            failure.reached() != router::Reached::Nothing
        })),
        (Break::Empty | Break::NotJson, _) | (Break::Malformed, false) => Saw::Unreadable,
        (Break::ErrorObject, false) => Saw::Object,
        (Break::Cut, false) => Saw::Cut(0),
        (Break::NoDone, false) => Saw::Answer(tokens),
        (Break::Cut, true) => Saw::Cut(tokens),
        (Break::ErrorObject, true) => Saw::Frame(tokens, "an error object"),
        (Break::Malformed, true) => Saw::Frame(tokens, "what is no JSON"),
        (Break::NoDone, true) => Saw::Frame(tokens, "a reason without a marker"),
        (Break::NoEnd, true) => Saw::Frame(tokens, "a marker without a reason"),
        (Break::NoEnd, false) => Saw::Answer(tokens),
    }
}

/// What a client sees that waits for a second and a half.
async fn saw(request: RequestBuilder) -> Saw {
    let patience = Duration::from_millis(1_500);
    let response = match timeout(patience, request.send()).await {
        Err(_) => return Saw::Silence(None),
        Ok(Err(_)) => return Saw::Reset,
        Ok(Ok(response)) if response.status() != 200 => {
            return Saw::Status(response.status().as_u16());
        }
        Ok(Ok(response)) => response,
    };
    if response.headers()["content-type"] != "text/event-stream" {
        return in_one_piece(response).await;
    }
    let mut stream = Streamed::default();
    let mut response = response;
    let mut rest = String::new();
    loop {
        match timeout(patience, response.chunk()).await {
            Err(_) => return Saw::Silence(Some(stream.tokens)),
            Ok(Err(_)) => return Saw::Cut(stream.tokens),
            Ok(Ok(None)) => return stream.saw(),
            Ok(Ok(Some(bytes))) => rest += std::str::from_utf8(&bytes).unwrap(),
        }
        while let Some((frame, after)) = rest.split_once("\n\n") {
            stream.hear(frame);
            rest = after.to_owned();
        }
    }
}

async fn in_one_piece(response: Response) -> Saw {
    let Ok(body) = response.text().await else {
        return Saw::Cut(0);
    };
    match serde_json::from_str::<Value>(&body) {
        Err(_) => Saw::Unreadable,
        Ok(body) if body["error"].is_object() => Saw::Object,
        Ok(body) => {
            let tokens = body["usage"]["completion_tokens"].as_u64().unwrap();
            Saw::Answer(tokens.try_into().unwrap())
        }
    }
}

#[derive(Default)]
struct Streamed {
    tokens: u32,
    any: bool,
    broken: Option<&'static str>,
    reason: bool,
    marker: bool,
}

impl Streamed {
    fn hear(&mut self, frame: &str) {
        let Some(data) = frame.strip_prefix("data: ") else {
            return;
        };
        self.any = true;
        if data == "[DONE]" {
            self.marker = true;
            return;
        }
        let Ok(data) = serde_json::from_str::<Value>(data) else {
            self.broken = Some("what is no JSON");
            return;
        };
        if data["error"].is_object() {
            self.broken = Some("an error object");
        }
        let choice = &data["choices"][0];
        let text = choice["delta"]["content"].as_str().unwrap_or_default();
        self.tokens += u32::from(!text.is_empty());
        self.reason |= choice["finish_reason"].is_string();
    }

    fn saw(self) -> Saw {
        match (self.broken, self.reason, self.marker) {
            _ if !self.any => Saw::Unreadable,
            (Some(what), ..) => Saw::Frame(self.tokens, what),
            (None, true, true) => Saw::Answer(self.tokens),
            (None, true, false) => Saw::Frame(self.tokens, "a reason without a marker"),
            (None, false, _) => Saw::Frame(self.tokens, "a marker without a reason"),
        }
    }
}

/// Every fault that a client can see.
const FAULTS: [&str; 24] = [
    r#"{"broken": {"how": "refused"}}"#,
    r#"{"broken": {"how": "reset", "after_ms": 20}}"#,
    r#"{"broken": {"how": "tls"}}"#,
    r#"{"broken": {"how": "error_object"}}"#,
    r#"{"broken": {"how": "malformed"}}"#,
    r#"{"broken": {"how": "empty"}}"#,
    r#"{"broken": {"how": "not_json"}}"#,
    r#"{"broken": {"how": "no_done"}}"#,
    r#"{"hang": {}}"#,
    r#"{"mid_stream": {"how": "cut", "after_tokens": 3}}"#,
    r#"{"mid_stream": {"how": "cut", "after_tokens": 0}}"#,
    r#"{"mid_stream": {"how": "malformed", "after_tokens": 3}}"#,
    r#"{"mid_stream": {"how": "no_end", "after_tokens": 6}}"#,
    r#"{"mid_stream": {"how": "error_event", "after_tokens": 3}}"#,
    r#"{"mid_stream": {"how": "silence", "after_tokens": 3}}"#,
    r#"{"mid_stream": {"how": "silence", "after_tokens": 0}}"#,
    r#"{"stall": {"after_tokens": 2, "for_s": 0.2, "keep_alive_s": 0.05}}"#,
    r#"{"slow_drip": {"per_token_ms": 60}}"#,
    r#"{"bad_key": {}}"#,
    r#"{"model_gone": {}}"#,
    r#"{"outage": {"status": 502}}"#,
    r#"{"flapping": {"period_s": 900, "up_share": 0}}"#,
    r#"{"content": {"context_window_tokens": 1}}"#,
    r#"{"content": {"policy_share": 1}}"#,
];

fn call(request: u64, stream: bool, deployment: usize) -> ProviderCall {
    ProviderCall {
        request: RequestId(request),
        attempt: 0,
        deployment: DeploymentId(deployment.try_into().unwrap()),
        prompt_tokens: 5,
        output_tokens: 6,
        max_tokens: None,
        stream,
        beginning: Beginning::default(),
        batch: false,
    }
}

#[tokio::test]
async fn each_fault_is_over_http_what_it_is_in_virtual_time() {
    let names: Vec<String> = (0..FAULTS.len()).map(|n| format!("p{n}")).collect();
    let specs = FAULTS.map(|fault| spec(&format!(r#", "faults": [{fault}]"#)));
    let upstreams: Vec<_> = names
        .iter()
        .map(String::as_str)
        .zip(specs.clone())
        .collect();
    let server = serve(&upstreams).await;

    let mut asked = Vec::new();
    for stream in [false, true] {
        for (number, spec) in specs.iter().enumerate() {
            let saw = tokio::spawn(saw(chat(&server, &names[number], stream)));
            let mut provider = Provider::new(spec, SEED, number as u64, Epoch::default()).unwrap();
            let call = call(0, stream, number);
            let reply = provider.respond(router::Instant::from_secs_f64(1.0), &call);
            asked.push((number, stream, due(&call, &reply), saw));
        }
    }

    for (number, stream, due, saw) in asked {
        assert_eq!(
            saw.await.unwrap(),
            due,
            "{} stream: {stream}",
            FAULTS[number]
        );
    }
}

#[tokio::test]
async fn a_wrong_hint_stands_in_the_headers_as_it_was_ordered() {
    let server = serve(&[("m", spec(""))]).await;
    let far = "9223372036854775807";
    for (hint, name, text) in [
        (r#"{"seconds": 0}"#, "retry-after", "0"),
        (r#"{"seconds": -30}"#, "retry-after", "-30"),
        (r#"{"seconds": 9223372036854775807}"#, "retry-after", far),
        (r#"{"millis": 250}"#, "retry-after-ms", "250"),
        (r#""unreadable""#, "retry-after", "soon"),
        (r#"{"date_in_s": 30}"#, "retry-after", " GMT"),
        (r#"{"date_in_s": -30}"#, "retry-after", " GMT"),
    ] {
        let storm = format!(r#"{{"rate_limit_storm": {{"hint": {hint}}}}}"#);
        let request = chat(&server, "m", false).header("x-mock-fault", storm);
        let response = request.send().await.unwrap();

        assert_eq!(response.status(), 429);
        let found = response.headers()[name].to_str().unwrap();
        let fits = found == text || (text == " GMT" && found.ends_with(text));
        assert!(fits, "{hint}: {found}");
    }
}

#[tokio::test]
async fn by_rate_the_same_requests_are_struck_as_in_virtual_time() {
    let faults = r#", "faults": [{"error_rate": {"share": 0.3, "status": 503}},
                                 {"broken": {"how": "error_object", "share": 0.3}}]"#;
    let server = serve(&[("m", spec(faults))]).await;
    let mut provider = Provider::new(&spec(faults), SEED, 0, Epoch::default()).unwrap();

    let mut kinds = std::collections::BTreeSet::new();
    for request in 0..24 {
        let order = chat(&server, "m", false).header("x-mock-request", request);
        let quick = order.header("x-mock-per-token-ms", 0);
        let call = call(request, false, 0);
        let due = due(&call, &provider.respond(router::Instant::ZERO, &call));

        assert_eq!(saw(quick).await, due, "request {request}");
        kinds.insert(format!("{due:?}"));
    }
    assert_eq!(kinds.len(), 3, "{kinds:?}");
}

#[tokio::test]
async fn by_script_each_request_meets_its_step() {
    let steps = r#", "faults": [{"scripted": {"steps": [{"broken": {"how": "reset"}}, null,
        {"outage": {"status": 503}}, {"mid_stream": {"how": "cut", "after_tokens": 2}}]}}]"#;
    let server = serve(&[("m", spec(steps))]).await;

    let mut met = Vec::new();
    for _ in 0..5 {
        met.push(saw(chat(&server, "m", true)).await);
    }

    let answer = Saw::Answer(6);
    let expected = [
        Saw::Reset,
        answer.clone(),
        Saw::Status(503),
        Saw::Cut(2),
        answer,
    ];
    assert_eq!(met, expected);
}

#[tokio::test]
async fn a_client_that_leaves_gives_its_slot_to_the_next() {
    let rest = r#", "max_concurrent": 1, "faults": [{"scripted": {"steps":
        [{"mid_stream": {"how": "silence", "after_tokens": 2}}]}}]"#;
    let server = serve(&[("m", spec(rest))]).await;

    let silent = chat(&server, "m", true).send().await.unwrap();
    drop(silent);
    until_abandoned(&server, 0).await;

    assert_eq!(saw(chat(&server, "m", true)).await, Saw::Answer(6));
}
