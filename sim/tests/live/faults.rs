//! A fault over HTTP is to the live router what it is to a real LiteLLM: both versions were asked
//! through `routelab mock` (`tests/engine/record/ask_litellm.py`), and what they saw is held against the
//! live router at the same servers.

use router::{
    Answer, RequestId, RouteError,
    live::{Call, Clock, Endpoint, Item, LiveOptions, LiveRouter, Payload, Upstream as Target},
};

use super::{saw::Saw, *};

/// One request at two deployments with this fault, as the script asks.
async fn live(url: &str, profile: Profile, fault: &Value, stream: bool) -> Saw {
    let mut config = router::RouterConfig::of_deployments(["one", "two"]);
    config.profile = profile;
    config.settings.num_retries = Some(0);
    config.settings.timeout = Some(Duration::from_secs(2));
    config.settings.stream_timeout = Some(Duration::from_secs(2));
    let options = LiveOptions {
        clock: Clock::start(),
        seed: Seed(1),
        proxies: false,
        instances: 1,
        shared_state: false,
    };
    let target = || Target::open_ai(format!("{url}/m/v1"), None);
    let live = LiveRouter::start(&config, vec![target(), target()], options, ()).unwrap();
    let body = r#"{"messages": [{"role": "user", "content": "say it"}], "max_tokens": 6}"#;
    let mut payload = Payload {
        endpoint: Endpoint::Chat,
        body: serde_json::from_str(body).unwrap(),
        headers: reqwest::header::HeaderMap::new(),
        number_headers: None,
    };
    payload
        .headers
        .insert("x-mock-fault", fault.to_string().parse().unwrap());
    let call = Call {
        model: "m".to_owned(),
        prompt_tokens: 2,
        max_tokens: Some(6),
        origin: router::Origin::default(),
        overrides: None,
        payload: std::sync::Arc::new(payload),
        id: Some(RequestId(0)),
    };
    let mut words = 0;
    let reply = if stream {
        let mut items = live.stream(call).unwrap();
        loop {
            match items.next().await.unwrap() {
                Item::Begun(_) => {}
                Item::Frame(frame) => {
                    words += std::str::from_utf8(&frame)
                        .unwrap()
                        .matches(r#"{"content":"#)
                        .count() as u64
                }
                Item::End(reply) => break *reply,
            }
        }
    } else {
        live.call(call).await.unwrap()
    };
    let benched = live.look(|router, _, now| router.cooldowns(now).count() > 0);
    assert_eq!(live.look(|router, _, _| router.unfinished()), 0);
    match reply.answer {
        Answer::Completed { usage, .. } => {
            let tokens = usage.completion_tokens.into();
            assert!(
                !stream || words == tokens,
                "{fault}: {words} of {tokens} tokens were passed on"
            );
            Saw {
                exception: None,
                status: None,
                tokens,
                benched,
            }
        }
        Answer::Failed {
            error: RouteError::Attempt { failure, .. },
            ..
        } => {
            let tokens = failure.tokens_delivered.into();
            assert!(
                !stream || words == tokens,
                "{fault}: {words} of {tokens} tokens were passed on"
            );
            Saw {
                exception: Some(failure.class.exception().to_owned()),
                status: failure.status.map(u64::from),
                tokens,
                benched,
            }
        }
        Answer::Failed { error, .. } => panic!("{fault}: {error:?}"),
    }
}

#[tokio::test]
async fn each_fault_is_to_the_live_router_what_it_is_to_litellm() {
    let spec = r#"{"dialect": "open_ai", "latency": {"first_token": {"constant": {"ms": 20}},
                   "per_output_token": {"constant": {"ms": 5}}}}"#;
    let options = ServerOptions {
        upstreams: vec![Upstream {
            name: "m".to_owned(),
            models: Vec::new(),
            spec: serde_json::from_str(spec).unwrap(),
        }],
        seed: Seed(1),
        output_tokens: 6,
        limits: Limits::default(),
    };
    let server = MockServer::start(&options, loopback()).await.unwrap();
    let url = server.url();
    let mut asked = Vec::new();
    for (profile, rows) in [
        (
            ProfileName::Litellm1110,
            include_str!("../engine/record/litellm-1.110.json"),
        ),
        (
            ProfileName::Litellm192,
            include_str!("../engine/record/litellm-1.92.json"),
        ),
    ] {
        let rows: Vec<Value> = serde_json::from_str(rows).unwrap();
        assert_eq!(rows.len(), 76);
        for row in rows {
            let url = url.clone();
            let asking = async move {
                let (fault, stream) = (&row["fault"], row["stream"] == true);
                let (found, due) = (
                    live(&url, profile.profile(), fault, stream).await,
                    Saw::recorded(&row),
                );
                let name = profile.as_str();
                (found != due)
                    .then(|| format!("{name} {fault} stream {stream}: {found:?}, not {due:?}"))
            };
            asked.push(tokio::spawn(asking));
        }
    }

    let mut wrong = Vec::new();
    for asking in asked {
        wrong.extend(asking.await.unwrap());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
