//! What the router takes for a request that succeeds at once, after a retry, or after a fallback.

use std::hint::black_box;

use benches::{request, router_config};
use criterion::{Criterion, criterion_group, criterion_main};
use router::{
    ErrorClass, Failure, Instant, Outcome, Router, RouterConfig, Seed, Step, StrategySpec, Turn,
    Usage,
};

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step");
    group.bench_function("arrive_finish", |bencher| {
        let mut driver = Driver::new(&config());
        bencher.iter(|| driver.request(0));
    });
    group.bench_function("arrive_retry_finish", |bencher| {
        let mut driver = Driver::new(&config());
        bencher.iter(|| driver.request(1));
    });
    group.bench_function("arrive_fallback_finish", |bencher| {
        let mut config = config();
        config.settings.num_retries = Some(0);
        config.settings.fallbacks = Some(vec![("m".to_owned(), vec!["other".to_owned()])]);
        let mut other = config.deployments[0].clone();
        other.id = "other".to_owned();
        other.model_name = "other".to_owned();
        config.deployments.push(other);
        let mut driver = Driver::new(&config);
        bencher.iter(|| driver.request(1));
    });
    group.finish();
}

/// Ten deployments that are never cooled, however many failures are fed to them.
fn config() -> RouterConfig {
    let mut config = router_config(10, StrategySpec::SimpleShuffle);
    config.settings.disable_cooldowns = true;
    config
}

struct Driver {
    router: Router,
    model: router::ModelId,
    number: u64,
}

impl Driver {
    fn new(config: &RouterConfig) -> Self {
        let mut router = Router::new(config, Seed(1)).expect("the settings are valid");
        let model = router.model("m");
        Self {
            router,
            model,
            number: 0,
        }
    }

    /// A request whose first attempts fail.
    fn request(&mut self, mut failures: u32) {
        let now = Instant::from_nanos(self.number * 1_000_000);
        let mut turn = self
            .router
            .arrive(now, request(self.number, self.model), &mut ());
        self.number += 1;
        loop {
            turn = match turn.step {
                Step::Send(attempt) => {
                    let outcome = if failures > 0 { FAILED } else { ANSWERED };
                    failures = failures.saturating_sub(1);
                    self.router
                        .attempt_finished(now, attempt, &outcome, &mut ())
                }
                Step::Wait(wait) => self.router.resume(wait.until().max(now), wait, &mut ()),
                Step::Park(_) => unreachable!("there are no slots to wait for"),
                Step::Done(_) => {
                    let _: Turn = black_box(turn);
                    return;
                }
            };
        }
    }
}

const ANSWERED: Outcome = Outcome::Success {
    usage: Usage::new(500, 100),
    first_token_after: None,
};
const FAILED: Outcome = Outcome::Failure(Failure::of(ErrorClass::InternalServer));

criterion_group!(benches, steps);
criterion_main!(benches);
