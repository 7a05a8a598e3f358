//! One pick, by strategy and number of deployments: a request arrives, is sent, and is answered.

use std::hint::black_box;

use benches::{request, router_config};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use router::{Instant, Outcome, Router, Seed, Step, StrategySpec, Usage};

fn picks(criterion: &mut Criterion) {
    let strategies = StrategySpec::NAMES.map(|name| StrategySpec::named(name).expect("a name"));
    for strategy in strategies {
        let mut group = criterion.benchmark_group(format!("pick/{}", strategy.name()));
        for deployments in [2, 10, 100, 1_000] {
            group.bench_function(BenchmarkId::from_parameter(deployments), |bencher| {
                let config = router_config(deployments, strategy.clone());
                let mut router = Router::new(&config, Seed(1)).expect("the settings are valid");
                let model = router.model("m");
                let answer = Outcome::Success {
                    usage: Usage::new(500, 100),
                    first_token_after: None,
                };
                let mut number = 0;
                bencher.iter(|| {
                    let now = Instant::from_nanos(number * 1_000_000);
                    let turn = router.arrive(now, request(number, model), &mut ());
                    let Step::Send(attempt) = turn.step else {
                        unreachable!("nobody is cooled")
                    };
                    number += 1;
                    black_box(router.attempt_finished(now, attempt, &answer, &mut ()))
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, picks);
criterion_main!(benches);
