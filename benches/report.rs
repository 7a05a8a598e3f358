//! From the records of a sweep to text, and to the files of a whole report.

use std::num::NonZeroUsize;

use benches::sweep;
use criterion::{Criterion, criterion_group, criterion_main};
use reports::SweepRecord;
use sim::{run_plans, sweep_record};

fn reports_of_a_sweep(criterion: &mut Criterion) {
    let sweep = record();
    let mut group = criterion.benchmark_group("report");
    group.sample_size(10);
    group.bench_function("console", |bencher| {
        bencher.iter(|| reports::console(&sweep))
    });
    group.bench_function("all_files", |bencher| {
        let directory = std::env::temp_dir().join(format!("routelab-bench-{}", std::process::id()));
        bencher.iter(|| reports::write_report(&sweep, &directory));
        std::fs::remove_dir_all(directory).expect("it was just written");
    });
    group.finish();
}

/// Eight arms of ten replications.
fn record() -> SweepRecord {
    let scenario = sweep(20, 10);
    let runs = run_plans(&scenario.plans(), NonZeroUsize::MIN, &()).expect("the plans are valid");
    sweep_record(&scenario, runs, "cargo bench --bench report".to_owned())
}

criterion_group!(benches, reports_of_a_sweep);
criterion_main!(benches);
