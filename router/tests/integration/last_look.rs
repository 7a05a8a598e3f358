//! Whom the router still has when it gives a request up.

use router::{DeploymentId, Event, Failure, Instant, Observer, Outcome};

use crate::harness::{Hand, NEW, group, sent};

/// Members and eligible deployments of each request that was given up.
#[derive(Default)]
struct Looks(Vec<(Vec<DeploymentId>, Vec<DeploymentId>)>);

impl Observer for Looks {
    const LAST_LOOK: bool = true;

    fn observe(&mut self, _at: Instant, event: &Event<'_>) {
        if let Event::GivenUp {
            members, eligible, ..
        } = event
        {
            self.0.push((members.to_vec(), eligible.to_vec()));
        }
    }
}

#[test]
fn a_request_that_fails_tells_who_passes_the_filters_at_that_moment() {
    let mut config = group(["a", "b", "c"], NEW);
    config.settings.num_retries = Some(0);
    config.deployments[2].blocked = true;
    let mut hand = Hand::new(&config);
    let mut looks = Looks::default();

    let attempt = sent(hand.arrive("m"));
    let benched = attempt.deployment();
    let outcome = Outcome::Failure(Failure::with_status(429));
    let turn = hand
        .router
        .attempt_finished(hand.now, attempt, &outcome, &mut looks);

    let other = DeploymentId(1 - benched.0);
    let members = [0, 1, 2].map(DeploymentId).to_vec();
    assert_eq!(looks.0, [(members, vec![other])]);
    drop(turn);
    hand.assert_idle();
}

#[test]
fn an_answer_and_an_observer_that_does_not_ask_have_no_last_look() {
    let mut config = group(["a", "b"], NEW);
    config.settings.num_retries = Some(0);
    let mut hand = Hand::new(&config);
    let mut looks = Looks::default();

    let attempt = sent(hand.arrive("m"));
    let answer = crate::harness::success();
    let turn = hand
        .router
        .attempt_finished(hand.now, attempt, &answer, &mut looks);
    drop(turn);
    assert!(looks.0.is_empty());

    let attempt = sent(hand.arrive("m"));
    drop(hand.fail(attempt, 500));
    assert_eq!(hand.heard("GivenUp"), 0);
}
