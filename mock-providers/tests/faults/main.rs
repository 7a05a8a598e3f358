//! The ways to fail, each as what its name says, when its schedule says, and for whom its rate says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod broken;
mod modes;
mod ways;

use mock_providers::{Provider, ProviderCall, ProviderSpec, Reply};
use router::{DeploymentId, Epoch, Failure, Instant, Outcome, RequestId, Seed};

/// A provider of constant times (100 ms to the first token, 10 ms for each further one). What is
/// written of it is read again as the same.
fn provider_with(settings: &str) -> Provider {
    let json = format!(
        r#"{{"latency": {{"first_token": {{"constant": {{"ms": 100}}}},
                          "per_output_token": {{"constant": {{"ms": 10}}}}}}, {settings}}}"#
    );
    let spec: ProviderSpec = serde_json::from_str(&json).unwrap();
    let written = serde_json::to_string(&spec).unwrap();
    assert_eq!(
        serde_json::from_str::<ProviderSpec>(&written).unwrap(),
        spec
    );
    Provider::new(&spec, Seed(3), 0, Epoch::default()).unwrap()
}

fn provider(faults: &str) -> Provider {
    provider_with(&format!(r#""faults": [{faults}]"#))
}

/// A call of 100 prompt tokens that will be answered with 11.
fn call(request: u64, stream: bool) -> ProviderCall {
    ProviderCall {
        request: RequestId(request),
        attempt: 0,
        deployment: DeploymentId(0),
        prompt_tokens: 100,
        output_tokens: 11,
        max_tokens: None,
        stream,
        beginning: mock_providers::Beginning::default(),
        batch: false,
    }
}

fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}

fn failure(reply: &Reply) -> Option<Failure> {
    match reply.outcome {
        Outcome::Failure(failure) => Some(failure),
        Outcome::Success { .. } => None,
    }
}

fn status_at(provider: &mut Provider, seconds: f64, stream: bool) -> Option<u16> {
    failure(&provider.respond(at(seconds), &call(0, stream))).and_then(|f| f.status)
}
