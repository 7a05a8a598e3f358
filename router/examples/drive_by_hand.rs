//! Two deployments, the first of which says 429: prints each step that the router gives.
//!
//! Run it with `cargo run -p router --example drive_by_hand`.
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::time::Duration;

use router::{
    ConfigError, DeploymentId, Failure, Instant, Outcome, Request, RequestId, Router, RouterConfig,
    Seed, Step, Usage,
};

fn main() -> Result<(), ConfigError> {
    let mut router = Router::new(&RouterConfig::of_deployments(["a", "b"]), Seed(2))?;
    let model = router.model("m");
    let mut now = Instant::ZERO;
    for id in 0..4 {
        let request = Request {
            id: RequestId(id),
            model,
            prompt_tokens: 100,
            max_tokens: None,
            stream: false,
            origin: router::Origin::default(),
            overrides: None,
        };
        let mut turn = router.arrive(now, request, &mut ());
        loop {
            println!("{now} request {id}: {:?}", turn.step);
            turn = match turn.step {
                Step::Send(attempt) => {
                    now += Duration::from_millis(200);
                    let outcome = match attempt.deployment() {
                        DeploymentId(0) => Outcome::Failure(Failure::with_status(429)),
                        _ => Outcome::Success {
                            usage: Usage::default(),
                            first_token_after: None,
                        },
                    };
                    router.attempt_finished(now, attempt, &outcome, &mut ())
                }
                Step::Wait(wait) => {
                    now = wait.until();
                    router.resume(now, wait, &mut ())
                }
                Step::Park(_) | Step::Done(_) => break,
            };
        }
    }
    Ok(())
}
