//! Kind 6: choosing by weight or price.

use router::{
    DeploymentConfig, DeploymentId, Failure, Instant, Origin, Outcome, Profile, Request, RequestId,
    RetryAfter, Router, RouterConfig, Seed, Step, Turn, Usage,
};

use crate::{
    ask::member,
    harness::{CORRECTED, NEW, OLD},
};

/// A member and its weight.
type Weighted = (&'static str, Option<u32>);

const A: Weighted = ("A", None);
const B: Weighted = ("B", Some(9));
const C: Weighted = ("C", Some(1));
const ORDERS: [[Weighted; 3]; 6] = [
    [A, B, C],
    [A, C, B],
    [B, A, C],
    [B, C, A],
    [C, A, B],
    [C, B, A],
];
const PICKS: u64 = 10_000;

/// How `weight` is said.
#[derive(Clone, Copy)]
enum By {
    Rpm,
    Weight,
}

/// How often each member is picked, in the order A, B, C, with some of them out.
fn picks(profile: Profile, members: [Weighted; 3], by: By, out: &[&str]) -> [u32; 3] {
    let config = RouterConfig {
        profile,
        deployments: members.map(|m| deployment(m, by)).into(),
        ..RouterConfig::default()
    };
    let mut router = Router::new(&config, Seed(7)).unwrap();
    let model = router.model("m");
    let ask = |router: &mut Router, id| {
        let request = Request {
            id: RequestId(id),
            model,
            prompt_tokens: 10,
            max_tokens: None,
            stream: false,
            origin: Origin::default(),
            overrides: None,
        };
        match router.arrive(Instant::ZERO, request, &mut ()).step {
            Step::Send(attempt) => attempt,
            other => panic!("not sent: {other:?}"),
        }
    };
    let finish = |router: &mut Router, attempt, outcome: &Outcome| {
        let Turn { .. } = router.attempt_finished(Instant::ZERO, attempt, outcome, &mut ());
    };
    // A 429 benches; called by its id, so that even a member that is never picked gets one.
    for (n, name) in (PICKS..).zip(out) {
        let own = router.model(name);
        let request = Request {
            id: RequestId(n),
            model: own,
            prompt_tokens: 10,
            max_tokens: None,
            stream: false,
            origin: Origin::default(),
            overrides: None,
        };
        let Step::Send(attempt) = router.arrive(Instant::ZERO, request, &mut ()).step else {
            panic!("{name} is not called by its id")
        };
        let failure = Failure::with_status(429).retry_after(RetryAfter::Seconds(3_600));
        finish(&mut router, attempt, &Outcome::Failure(failure));
    }
    let mut counts = [0; 3];
    for id in 0..PICKS {
        let attempt = ask(&mut router, id);
        let DeploymentId(picked) = attempt.deployment();
        let name = members[picked as usize].0;
        counts[["A", "B", "C"].iter().position(|n| *n == name).unwrap()] += 1;
        let outcome = Outcome::Success {
            usage: Usage::new(10, 5),
            first_token_after: None,
        };
        finish(&mut router, attempt, &outcome);
    }
    counts
}

fn deployment((id, weight): Weighted, by: By) -> DeploymentConfig {
    let mut deployment = member(id);
    match by {
        By::Rpm => deployment.rpm = weight.map(u64::from),
        By::Weight => deployment.weight = weight.map(f64::from),
    }
    deployment
}

/// Within four standard errors of these shares of all picks.
fn assert_shares(got: [u32; 3], want: [f64; 3]) {
    for (got, want) in got.into_iter().zip(want) {
        let picks = 10_000.0;
        let error = 4.0 * (picks * want * (1.0 - want)).sqrt();
        assert!(
            (f64::from(got) - picks * want).abs() <= error,
            "{got} for {want}"
        );
    }
}

const THIRD: f64 = 1.0 / 3.0;

#[test]
fn br_034_weights_count_if_any_eligible_member_has_one_whoever_is_first() {
    // 1.110 does not have the fault.
    for profile in [NEW, CORRECTED] {
        for order in ORDERS {
            for by in [By::Weight, By::Rpm] {
                assert_shares(picks(profile, order, by, &[]), [0.0, 0.9, 0.1]);
                assert_shares(picks(profile, order, by, &["B"]), [0.0, 0.0, 1.0]);
                assert_shares(picks(profile, order, by, &["B", "C"]), [1.0, 0.0, 0.0]);
            }
        }
    }
}

#[test]
fn br_034_in_1_92_whoever_is_first_decides_whether_weights_count() {
    for order in ORDERS {
        let shares = match order[0].0 {
            "A" => [THIRD; 3],
            _ => [0.0, 0.9, 0.1],
        };
        for by in [By::Weight, By::Rpm] {
            assert_shares(picks(OLD, order, by, &[]), shares);
        }
    }
    // The same configuration flips as B comes and goes.
    assert_shares(picks(OLD, [B, A, C], By::Weight, &["B"]), [0.5, 0.0, 0.5]);
}

#[test]
fn br_034_weights_that_are_all_zero_mean_evenly() {
    let zeros = [("A", Some(0)), ("B", Some(0)), ("C", Some(0))];
    for profile in [OLD, NEW, CORRECTED] {
        for by in [By::Weight, By::Rpm] {
            assert_shares(picks(profile, zeros, by, &[]), [THIRD; 3]);
        }
    }
}
