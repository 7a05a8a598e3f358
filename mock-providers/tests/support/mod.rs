//! What several tests of this package call providers with.

use mock_providers::ProviderCall;
use router::{DeploymentId, Instant, RequestId};

/// A call of 100 prompt tokens that will be answered with 50.
pub(crate) fn call(request: u64) -> ProviderCall {
    ProviderCall {
        request: RequestId(request),
        attempt: 0,
        deployment: DeploymentId(0),
        prompt_tokens: 100,
        output_tokens: 50,
        max_tokens: None,
        stream: false,
        beginning: mock_providers::Beginning::default(),
        batch: false,
    }
}

pub(crate) fn at(seconds: f64) -> Instant {
    Instant::from_secs_f64(seconds)
}
