//! How long an attempt may take is data for the driver. (semantics 10)

use std::time::Duration;

use router::{Deadline, Overrides};

use crate::harness::{Hand, NEW, group, sent};

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
