//! Inputs in orders that no simulation gives them in: attempts that end late and out of turn, callers
//! that go away at any moment, waits that end early or long after, slots that are taken long after they
//! were given, cooldowns that an operator ends meanwhile. The books must balance all the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU64,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use proptest::{
    collection::vec,
    option,
    prelude::{Just, ProptestConfig, Strategy, any, prop_oneof},
    prop_assert, prop_assert_eq, proptest,
    sample::{Index, select},
    test_runner::TestCaseError,
};
use router::{
    ContentId, DeploymentId, ErrorClass, Held, Instant, RequestId, Router, RouterConfig, Seed, Turn,
};

use crate::{
    books::Books,
    case,
    world::{Case, End, outcome, request},
};

/// What happens next, after a while. Whom it happens to is chosen among those that it can happen to.
#[derive(Debug, Clone)]
struct Move {
    after_ms: u64,
    what: What,
    whom: Index,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// The next request arrives, with a priority and a known content or without.
    Arrive(Option<u32>, Option<NonZeroU64>),
    End,
    FirstToken,
    /// A wait ends, at its end or right now.
    WakeUp {
        early: bool,
    },
    TakeSlot,
    /// The caller goes away, and what is under way is cancelled.
    GoAway,
    /// The caller goes away, and its attempt goes on.
    LeaveBehind,
    ClearOne,
    ClearAll,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let content = option::weighted(0.3, (1..3_u64).prop_map(|n| NonZeroU64::new(n).unwrap()));
    let arrive = (option::weighted(0.1, 0..3_u32), content);
    let what = prop_oneof![
        8 => arrive.prop_map(|(priority, content)| What::Arrive(priority, content)),
        10 => Just(What::End),
        3 => Just(What::FirstToken),
        6 => any::<bool>().prop_map(|early| What::WakeUp { early }),
        3 => Just(What::TakeSlot),
        3 => Just(What::GoAway),
        1 => Just(What::LeaveBehind),
        1 => Just(What::ClearOne),
        1 => Just(What::ClearAll),
    ];
    let after = prop_oneof![
        4 => Just(0),
        4 => 1..400_u64,
        1 => select(&[1_000, 5_000, 61_000][..]),
    ];
    let one = (after, what, any::<Index>());
    let one = one.prop_map(|(after_ms, what, whom)| Move {
        after_ms,
        what,
        whom,
    });
    vec(one, 1..80)
}

/// A router that is driven by moves.
struct Hand<'a> {
    case: &'a Case,
    router: Router,
    books: Books,
    now: Instant,
    arrived: u64,
    /// How many requests arrive at most.
    to_come: usize,
    ends: usize,
    held: BTreeMap<RequestId, Held>,
    /// Parked requests that a slot was freed for.
    granted: BTreeSet<RequestId>,
    /// Whose first token came.
    streaming: BTreeSet<RequestId>,
    /// Whose caller is gone.
    left: BTreeSet<RequestId>,
}

impl<'a> Hand<'a> {
    fn new(case: &'a Case) -> Self {
        Self {
            case,
            router: Router::new(&case.config, Seed(case.seed)).expect("sound numbers"),
            books: Books::new(case),
            now: Instant::ZERO,
            arrived: 0,
            to_come: case.requests.len(),
            ends: 0,
            held: BTreeMap::new(),
            granted: BTreeSet::new(),
            streaming: BTreeSet::new(),
            left: BTreeSet::new(),
        }
    }

    fn make(&mut self, next: &Move) {
        self.now += Duration::from_millis(next.after_ms);
        self.books.begin(self.now);
        let picks = |fits: &dyn Fn(&RequestId, &Held) -> bool| {
            let fit: Vec<RequestId> = self
                .held
                .iter()
                .filter(|(id, held)| fits(id, held))
                .map(|(id, _)| *id)
                .collect();
            (!fit.is_empty()).then(|| *next.whom.get(&fit))
        };
        let flies = |_: &RequestId, held: &Held| matches!(held, Held::Attempt(_));
        let attended = |id: &RequestId, held: &Held| flies(id, held) && !self.left.contains(id);
        let waits = |_: &RequestId, held: &Held| matches!(held, Held::Wait(_));
        let may_go_on = |id: &RequestId, _: &Held| self.granted.contains(id);
        let anybody = |id: &RequestId, _: &Held| !self.left.contains(id);
        match next.what {
            What::Arrive(priority, content) => self.arrive(priority, content),
            What::End => {
                if let Some(id) = picks(&flies) {
                    self.end(id);
                }
            }
            What::FirstToken => {
                if let Some(id) = picks(&flies) {
                    self.first_token(id);
                }
            }
            What::WakeUp { early } => {
                if let Some(id) = picks(&waits) {
                    self.wake_up(id, early);
                }
            }
            What::TakeSlot => {
                if let Some(id) = picks(&may_go_on) {
                    self.take_slot(id);
                }
            }
            What::GoAway => {
                if let Some(id) = picks(&anybody) {
                    self.go_away(id);
                }
            }
            What::LeaveBehind => {
                if let Some(id) = picks(&attended) {
                    self.leave_behind(id);
                }
            }
            What::ClearOne => {
                let place = next.whom.index(self.case.config.deployments.len());
                let deployment = DeploymentId(u32::try_from(place).unwrap());
                self.router
                    .clear_cooldown(self.now, deployment, &mut self.books);
            }
            What::ClearAll => {
                self.router.clear_cooldowns(self.now, &mut self.books);
            }
        }
        self.books.compare(&self.router);
    }

    /// Everything that is still open comes to its end.
    fn drain(&mut self) {
        while (self.arrived as usize) < self.to_come {
            self.books.begin(self.now);
            self.arrive(None, None);
            self.books.compare(&self.router);
        }
        let mut inputs = 0;
        while let Some(id) = self.next_of_all() {
            self.books.begin(self.now);
            match &self.held[&id] {
                Held::Attempt(_) => self.end(id),
                Held::Wait(_) => self.wake_up(id, false),
                Held::Parked(_) => self.take_slot(id),
            }
            self.books.compare(&self.router);
            inputs += 1;
            assert!(inputs < 100_000, "the run does not end");
        }
    }

    fn next_of_all(&self) -> Option<RequestId> {
        let stuck = |id: &RequestId, held: &Held| {
            matches!(held, Held::Parked(_)) && !self.granted.contains(id)
        };
        let mut all = self.held.iter();
        all.find(|(id, held)| !stuck(id, held)).map(|(id, _)| *id)
    }

    fn arrive(&mut self, priority: Option<u32>, content: Option<NonZeroU64>) {
        if (self.arrived as usize) >= self.to_come {
            return;
        }
        let id = RequestId(self.arrived);
        self.arrived += 1;
        let mut request = request(&mut self.router, self.case, id);
        request.origin.priority = priority;
        request.origin.content = content.map(ContentId);
        let turn = self.router.arrive(self.now, request, &mut self.books);
        self.take(id, turn);
    }

    fn end(&mut self, id: RequestId) {
        let Some(Held::Attempt(attempt)) = self.held.remove(&id) else {
            unreachable!("it has an attempt under way")
        };
        let stream = self.case.requests[id.0 as usize].stream;
        let end = match self.case.ends[self.ends % self.case.ends.len()] {
            // What has begun to stream does not end with a status.
            End::Status(..) if self.streaming.remove(&id) => End::Broken(ErrorClass::ApiConnection),
            end => end,
        };
        self.ends += 1;
        let (now, outcome) = (self.now, outcome(end, stream));
        let turn = self
            .router
            .attempt_finished(now, attempt, &outcome, &mut self.books);
        self.take(id, turn);
    }

    fn first_token(&mut self, id: RequestId) {
        let Some(Held::Attempt(attempt)) = self.held.get(&id) else {
            unreachable!("it has an attempt under way")
        };
        if self.case.requests[id.0 as usize].stream && self.streaming.insert(id) {
            let freed = self.router.first_token(self.now, attempt, &mut self.books);
            self.grant(freed);
        }
    }

    fn wake_up(&mut self, id: RequestId, early: bool) {
        let Some(Held::Wait(wait)) = self.held.remove(&id) else {
            unreachable!("it waits")
        };
        if !early {
            self.now = self.now.max(wait.until());
            self.books.begin(self.now);
        }
        self.books.waited(id);
        let turn = self.router.resume(self.now, wait, &mut self.books);
        self.take(id, turn);
    }

    fn take_slot(&mut self, id: RequestId) {
        let Some(Held::Parked(parked)) = self.held.remove(&id) else {
            unreachable!("it is parked")
        };
        self.granted.remove(&id);
        self.books.waited(id);
        let turn = self.router.admitted(self.now, parked, &mut self.books);
        self.take(id, turn);
    }

    /// Answers a token, whosever it is.
    fn give(&mut self, held: Held) {
        let (router, now, books) = (&mut self.router, self.now, &mut self.books);
        let _ = match held {
            Held::Attempt(attempt) => {
                let outcome = outcome(End::Success, false);
                router.attempt_finished(now, attempt, &outcome, books)
            }
            Held::Wait(wait) => router.resume(now, wait, books),
            Held::Parked(parked) => router.admitted(now, parked, books),
        };
    }

    fn go_away(&mut self, id: RequestId) {
        let held = self.held.remove(&id).expect("it is open");
        self.granted.remove(&id);
        let freed = self.router.cancel(self.now, held, &mut self.books);
        self.grant(freed);
    }

    fn leave_behind(&mut self, id: RequestId) {
        if let Held::Attempt(attempt) = &self.held[&id] {
            self.router.caller_left(attempt);
            self.books.left(id);
            self.left.insert(id);
        }
    }

    fn take(&mut self, id: RequestId, turn: Turn) {
        self.streaming.remove(&id);
        if let Ok(held) = Held::of(turn.step) {
            self.held.insert(id, held);
        }
        self.grant(turn.released);
    }

    fn grant(&mut self, freed: Option<RequestId>) {
        if let Some(id) = freed {
            self.books.released(id);
            self.granted.insert(id);
        }
    }
}

fn drive<'a>(case: &'a Case, to_come: usize, moves: &[Move]) -> Hand<'a> {
    let mut hand = Hand {
        to_come,
        ..Hand::new(case)
    };
    for next in moves {
        hand.make(next);
    }
    hand.drain();
    hand
}

fn balances(case: &Case, moves: &[Move]) -> Result<(), TestCaseError> {
    let hand = drive(case, case.requests.len(), moves);
    prop_assert!(hand.books.broken.is_empty(), "{:#?}", hand.books.broken);
    prop_assert!(hand.held.is_empty(), "{:?} wait for nobody", hand.held);
    prop_assert_eq!(hand.books.over(), case.requests.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_books_balance_after_every_input_whatever_their_order(
        mut case in case(),
        cached in any::<bool>(),
        moves in moves(),
    ) {
        case.config.settings.cache_responses = cached;

        balances(&case, &moves)?;
    }

    // Everybody asks for one group, whose deployments are out often and never for long.
    #[test]
    fn who_is_out_is_tried_by_one_at_a_time_whatever_the_order(
        mut case in case(),
        one_trial in any::<bool>(),
        probe_after_ms in 0..900_u64,
        moves in moves(),
    ) {
        let settings = &mut case.config.settings;
        settings.cooldown_recovery.one_trial = one_trial;
        settings.cooldown_time = Some(Duration::from_secs(1));
        settings.allowed_fails = None;
        for deployment in &mut case.config.deployments {
            "g".clone_into(&mut deployment.model_name);
            deployment.order = None;
            deployment.cooldown_time = None;
            deployment.cooldown_probe_after = Some(Duration::from_millis(probe_after_ms));
        }
        for asked in &mut case.requests {
            "g".clone_into(&mut asked.model);
        }

        balances(&case, &moves)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    // Tokens cannot be copied: what is stale here is one of a router in the same state that has
    // not seen the request come to its end.
    #[test]
    fn a_token_is_found_out_once_its_request_is_over_whatever_came_before(
        mut case in case(),
        moves in moves(),
    ) {
        let to_come = case.requests.len();
        case.requests.push(case.requests[0].clone());
        let mut past = Hand::new(&case);
        past.arrive(None, None);
        let mut hand = drive(&case, to_come, &moves);
        // Another request may have its place now.
        hand.to_come += 1;
        hand.arrive(None, None);

        if let Some(stale) = past.held.remove(&RequestId(0)) {
            let given = catch_unwind(AssertUnwindSafe(|| hand.give(stale)));

            let why = given.expect_err("a stale token was taken");
            let why = why.downcast_ref::<&str>().copied().unwrap_or_default();
            prop_assert!(why.starts_with("invariant 26"), "{}", why);
        }
    }
}

/// Only in debug builds: a release trusts its driver.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "invariant 3")]
fn an_input_from_before_the_last_is_refused() {
    let config = RouterConfig::of_deployments(["a"]);
    let mut router = Router::new(&config, Seed(1)).expect("sound numbers");

    router.clear_cooldowns(Instant::from_nanos(2), &mut ());
    router.clear_cooldowns(Instant::from_nanos(1), &mut ());
}
