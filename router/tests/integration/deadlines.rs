//! How long an attempt may take is data for the driver. (semantics 10)

use std::time::Duration;

use router::{Deadline, Overrides};

use crate::harness::{Hand, NEW, OLD, group, sent};

const fn secs(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

fn deadline(
    router: Option<Duration>,
    deployment: Option<Duration>,
    request: Option<Duration>,
) -> Deadline {
    let mut config = group(["a"], NEW);
    config.settings.timeout = router;
    config.deployments[0].timeout = deployment;
    let mut hand = Hand::new(&config);
    let overrides = Overrides {
        timeout: request,
        ..Overrides::default()
    };
    let attempt = sent(hand.arrive_with("m", false, Some(overrides)));
    hand.router.plan(&attempt).deadline
}

#[test]
fn the_requests_timeout_beats_the_deployments_and_that_the_routers() {
    let whole = |seconds| Deadline::Whole(Duration::from_secs(seconds));

    assert_eq!(deadline(secs(3), secs(2), secs(1)), whole(1));
    assert_eq!(deadline(secs(3), secs(2), None), whole(2));
    assert_eq!(deadline(secs(3), None, None), whole(3));
    assert_eq!(deadline(None, None, None), whole(600));
}

#[test]
fn a_timeout_of_zero_counts_as_not_given() {
    let three = Deadline::Whole(Duration::from_secs(3));

    assert_eq!(deadline(secs(3), secs(0), secs(0)), three);
}

#[test]
fn a_stream_is_bounded_in_its_silences_and_by_the_stream_timeout_if_there_is_one() {
    let mut config = group(["a", "b"], NEW);
    config.deployments[0].stream_timeout = secs(2);
    config.deployments[1].model_name = "n".to_owned();
    config.settings.timeout = secs(9);
    let mut hand = Hand::new(&config);
    let patient = Overrides {
        timeout: secs(30),
        ..Overrides::default()
    };

    let own = sent(hand.arrive_with("m", true, Some(patient.clone())));
    let other = sent(hand.arrive_with("n", true, None));
    let asked = sent(hand.arrive_with("n", true, Some(patient)));

    let silence = |seconds| Deadline::Silence(Duration::from_secs(seconds));
    assert_eq!(hand.router.plan(&own).deadline, silence(2));
    assert_eq!(hand.router.plan(&other).deadline, silence(9));
    assert_eq!(hand.router.plan(&asked).deadline, silence(30));
}

#[test]
fn the_plan_names_the_deployment_and_the_providers_model() {
    let mut hand = Hand::new(&group(["a"], NEW));
    let attempt = sent(hand.arrive("m"));

    let plan = hand.router.plan(&attempt);

    assert_eq!(
        (plan.deployment, plan.model, plan.stream),
        ("a", "openai/fake-a", false)
    );
}

/// Limits in seconds, 0 for none, and what they make of a plain attempt and of a streamed one.
struct Row {
    request: [u64; 2],
    deployment: [u64; 2],
    library: u64,
    router: [u64; 2],
    added: u64,
    whole: u64,
    silence: u64,
}

#[test]
fn which_limit_counts_row_by_row() {
    let row = |request, deployment, library, router, added, [whole, silence]: [u64; 2]| Row {
        request,
        deployment,
        library,
        router,
        added,
        whole,
        silence,
    };
    let none = [0, 0];
    let rows = [
        // (timeout, stream_timeout) of the request, the deployment; the library's; the router's;
        // stream_timeout of default_litellm_params: whole, silence
        row(none, none, 0, none, 0, [600, 600]),
        row(none, none, 0, [7, 0], 0, [7, 7]),
        row(none, none, 5, none, 0, [5, 5]),
        row(none, none, 5, [7, 0], 0, [5, 5]),
        row(none, [4, 0], 5, none, 0, [4, 4]),
        // The library's bounds silence before whole limits, if the router has a limit of its own.
        row(none, [4, 0], 5, [7, 0], 0, [4, 5]),
        row([3, 0], [4, 0], 5, [7, 0], 0, [3, 5]),
        row([3, 0], [4, 0], 5, none, 0, [3, 3]),
        row(none, none, 5, [7, 8], 0, [5, 8]),
        row(none, none, 5, [0, 8], 0, [5, 8]),
        row(none, [4, 6], 5, [7, 8], 9, [4, 6]),
        row([3, 2], [4, 6], 5, [7, 8], 9, [3, 2]),
        row([3, 0], [4, 6], 0, none, 0, [3, 6]),
        // What is added comes last among the limits on silence, before those on the whole.
        row(none, none, 0, none, 9, [600, 9]),
        row([3, 0], [4, 0], 0, [7, 0], 9, [3, 9]),
        row(none, none, 0, [7, 8], 9, [7, 8]),
        row(none, none, 5, [7, 0], 9, [5, 5]),
        row(none, none, 5, none, 9, [5, 9]),
    ];
    for (number, row) in rows.iter().enumerate() {
        for profile in [OLD, NEW] {
            let mut config = group(["a"], profile);
            config.deployments[0].timeout = secs(row.deployment[0]);
            config.deployments[0].stream_timeout = secs(row.deployment[1]);
            config.settings.request_timeout = secs(row.library);
            config.settings.timeout = secs(row.router[0]);
            config.settings.stream_timeout = secs(row.router[1]);
            config.settings.default_litellm_params.stream_timeout = secs(row.added);
            let mut hand = Hand::new(&config);
            let overrides = Overrides {
                timeout: secs(row.request[0]),
                stream_timeout: secs(row.request[1]),
                ..Overrides::default()
            };
            let mut deadline = |stream| {
                let attempt = sent(hand.arrive_with("m", stream, Some(overrides.clone())));
                hand.router.plan(&attempt).deadline
            };

            let whole = Deadline::Whole(Duration::from_secs(row.whole));
            let silence = Deadline::Silence(Duration::from_secs(row.silence));
            assert_eq!(
                (deadline(false), deadline(true)),
                (whole, silence),
                "{number}"
            );
        }
    }
}
