//! Kind 5: fallbacks and order.

use std::collections::BTreeMap;

use router::{
    Api, Cause, ErrorClass, Overrides, Profile, RouterConfig, StrategySpec,
    config::{Fallbacks, RoutingGroup},
};

use crate::{
    ask::Ask,
    harness::{CORRECTED, NEW, OLD, World},
    provider::{always, class, ok, replies, status, until},
    results::span,
};

const ALL: [Profile; 3] = [OLD, NEW, CORRECTED];

fn lists(entries: &[(&str, &[&str])]) -> Option<Fallbacks> {
    let list = |targets: &[&str]| targets.iter().map(|&t| t.to_owned()).collect();
    let entry = |(name, targets): &(&str, &[&str])| ((*name).to_owned(), list(targets));
    Some(entries.iter().map(entry).collect())
}

/// Three groups whose lists form cycles, two retries each.
fn circle(profile: Profile, change: impl FnOnce(&mut RouterConfig)) -> World {
    let mut world = World::of(profile, &["g1:A", "g2:B", "g3:C", "h:H"], |c| {
        c.settings.num_retries = Some(2);
        c.settings.fallbacks = lists(&[
            ("g1", &["g2", "g3"]),
            ("g2", &["g1", "g3"]),
            ("g3", &["g1"]),
        ]);
        change(c);
    });
    for name in ["A", "B", "C"] {
        world.provider(name, always(status(500)));
    }
    world
}

fn path(world: &World, ask: usize) -> String {
    world.answer(ask).path.concat()
}

#[test]
fn br_028_a_cycle_in_the_fallback_lists_tries_each_group_once() {
    let mut world = circle(OLD, |_| {});
    world.ask(0.0, &Ask::of("g1"));
    world.run();
    assert!(world.all_hits().len() > 9, "1.92 goes round");

    for profile in [NEW, CORRECTED] {
        let mut world = circle(profile, |_| {});
        let ask = world.ask(0.0, &Ask::of("g1"));
        world.run();
        assert_eq!(path(&world, ask), "AAABBBCCC", "{:?}", profile.name);
    }
}

#[test]
fn br_028_a_depth_of_zero_keeps_a_request_in_its_group() {
    for profile in ALL {
        let mut world = circle(profile, |c| c.settings.max_fallbacks = Some(0));
        let ask = world.ask(0.0, &Ask::of("g1"));
        world.run();
        assert_eq!(path(&world, ask), "AAA", "{:?}", profile.name);
    }
}

#[test]
fn br_028_a_fault_of_the_request_does_not_walk_at_all() {
    let walked = |profile| {
        let mut world = circle(profile, |_| {});
        for name in ["A", "B", "C"] {
            world.provider(name, always(status(400)));
        }
        let ask = world.ask(0.0, &Ask::of("g1"));
        world.run();
        path(&world, ask)
    };

    assert!(walked(OLD).len() > 3, "1.92 goes round");
    assert_eq!(walked(NEW), "ABC");
    assert_eq!(walked(CORRECTED), "A");
}

#[test]
fn br_028_a_connection_class_raised_before_any_network_activity_is_tried_once() {
    let never_sent = class(ErrorClass::ApiConnection).because(Cause::Request);
    let tried = |profile| {
        let mut world = circle(profile, |_| {});
        for name in ["A", "B", "C"] {
            world.provider(name, always(never_sent.after(0.0)));
        }
        let ask = world.ask(0.0, &Ask::of("g1"));
        world.run();
        path(&world, ask)
    };

    assert!(tried(OLD).len() > 9, "1.92 goes round");
    assert_eq!(tried(NEW), "AAABBBCCC");
    assert_eq!(tried(CORRECTED), "A");
}

#[test]
fn br_028_an_empty_account_is_no_fault_of_the_request_and_walks() {
    let empty = status(400).because(Cause::CreditExhausted);
    let mut world = circle(CORRECTED, |_| {});
    world.provider("A", always(empty));
    world.provider("B", always(ok()));
    let ask = world.ask(0.0, &Ask::of("g1"));
    world.run();

    assert_eq!(path(&world, ask), "AB");
}

#[test]
fn br_028_requests_that_walk_leave_other_traffic_alone() {
    for profile in ALL {
        let mut world = circle(profile, |_| {});
        for _ in 0..3 {
            world.ask(0.0, &Ask::of("g1"));
        }
        let others: Vec<usize> = (0..20)
            .map(|n| world.ask(0.05 * f64::from(n), &Ask::of("h")))
            .collect();
        world.run();

        for ask in others {
            assert_eq!(world.answer(ask).took(), span(0.1), "{:?}", profile.name);
        }
    }
}

/// A (order 1) and B (order 2); 100 requests, one a second; A answers one 429 with a hint of 10 s at
/// t = 20, at once.
fn two_orders(profile: Profile) -> World {
    let mut world = World::of(profile, &["A", "B"], |c| {
        c.deployments[0].order = Some(1);
        c.deployments[1].order = Some(2);
    });
    let refusal = status(429).hint_seconds(10).after(0.0);
    world.provider(
        "A",
        Box::new(move |call| {
            let refuses = (20.0..21.0).contains(&call.at);
            if refuses { refusal } else { ok() }
        }),
    );
    world.each_second(0.0, 100, &Ask::of("m"));
    world
}

#[test]
fn br_030_the_second_order_serves_only_while_the_first_is_out() {
    // The versions of the report ignored the order without pre-call checks; ours do not.
    for profile in ALL {
        let mut world = two_orders(profile);
        world.run();

        let expected: Vec<f64> = (20..30).map(f64::from).collect();
        assert_eq!(world.hit_times("B"), expected, "{:?}", profile.name);
        assert_eq!(world.oks(), 100, "{:?}", profile.name);
    }
}

#[test]
fn br_030_members_without_an_order_serve_when_no_ordered_one_is_left() {
    // Our choice is LiteLLM's.
    for profile in ALL {
        let mut world = World::of(profile, &["A", "C"], |c| {
            c.deployments[0].order = Some(1);
            c.settings.num_retries = Some(1);
        });
        world.provider("A", replies([ok(), status(429).hint_seconds(10), ok()]));
        world.each_second(0.0, 4, &Ask::of("m"));
        world.run();

        assert_eq!(world.hits("C").len(), 3, "{:?}", profile.name);
        assert!((1.0..2.0).contains(&world.hit_times("C")[0]));
    }
}

/// `r` under least-busy, its alias `x`, and the fallback of `r`. A fails always.
fn aliased(profile: Profile, change: impl FnOnce(&mut RouterConfig)) -> World {
    let mut world = World::of(profile, &["r:A", "r:B", "f:F", "own:O"], |c| {
        let alias = ("x".to_owned(), "r".to_owned());
        c.settings.model_group_alias = BTreeMap::from([alias]);
        c.settings.fallbacks = lists(&[("r", &["f"])]);
        c.settings.routing_groups = vec![RoutingGroup {
            group_name: "spread".to_owned(),
            models: vec!["r".to_owned()],
            routing_strategy: StrategySpec::LeastBusy,
            model_priorities: BTreeMap::new(),
        }];
        change(c);
    });
    world.provider("A", always(status(500)));
    world.provider("B", until(3.0, status(500), ok().after(0.7)));
    world
}

/// Where 40 requests by this name went, and when.
fn trace(profile: Profile, name: &str) -> Vec<(String, f64)> {
    let mut world = aliased(profile, |_| {});
    for n in 0..40 {
        world.ask(0.2 * f64::from(n), &Ask::of(name));
    }
    world.run();
    let hit = |hit: &crate::results::Hit| (hit.provider.clone(), hit.at.as_secs_f64());
    world.all_hits().iter().map(hit).collect()
}

#[test]
fn br_031_an_alias_has_the_fallbacks_and_the_strategy_of_its_target() {
    for profile in [OLD, NEW] {
        let mut world = aliased(profile, |_| {});
        let ask = world.ask(0.0, &Ask::of("x"));
        world.run();
        assert_eq!(world.answer(ask).status(), Some(500), "{:?}", profile.name);
    }

    let mut world = aliased(CORRECTED, |_| {});
    let ask = world.ask(0.0, &Ask::of("x"));
    world.run();
    assert_eq!(world.answer(ask).by(), "F");
    assert_eq!(trace(CORRECTED, "x"), trace(CORRECTED, "r"));
}

#[test]
fn br_031_an_alias_with_an_entry_of_its_own_keeps_it() {
    for profile in ALL {
        let mut world = aliased(profile, |c| {
            c.settings.fallbacks = lists(&[("r", &["f"]), ("x", &["own"])]);
        });
        let ask = world.ask(0.0, &Ask::of("x"));
        world.run();
        assert_eq!(world.answer(ask).by(), "O", "{:?}", profile.name);
    }
}

#[test]
fn br_031_a_fallback_by_an_alias_goes_on_to_the_fallbacks_of_its_target() {
    let served = |profile| {
        let mut world = aliased(profile, |c| {
            c.settings.fallbacks = lists(&[("own", &["x"]), ("r", &["f"])]);
        });
        world.provider("O", always(status(500)));
        let ask = world.ask(0.0, &Ask::of("own"));
        world.run();
        world.answer(ask).is_ok()
    };

    assert!(!served(OLD) && !served(NEW));
    assert!(served(CORRECTED));
}

/// Two members of each group, so that a 429 benches; whoever is named is out until its time.
fn out_until(profile: Profile, out: &[(&str, i64)]) -> World {
    let members = ["m:P", "m:Q", "f1:F1", "f1:G1", "f2:F2", "f2:G2"];
    let mut world = World::of(profile, &members, |c| {
        c.settings.fallbacks = lists(&[("m", &["f1", "f2"])]);
    });
    for (group, seconds) in out {
        let both = match *group {
            "m" => ["P", "Q"],
            "f1" => ["F1", "G1"],
            _ => ["F2", "G2"],
        };
        for name in both {
            let refusal = status(429).hint_seconds(*seconds).after(0.0);
            world.provider(name, until(0.5, refusal, ok()));
            // The id of a deployment goes there, whatever is out.
            world.ask(0.0, &Ask::of(name));
        }
    }
    world
}

#[test]
fn br_032_a_cooled_primary_moves_on_at_no_cost() {
    // The fault is of another gateway.
    for profile in ALL {
        let mut world = out_until(profile, &[("m", 60)]);
        let ask = world.ask(10.0, &Ask::of("m"));
        world.run();
        let answer = world.answer(ask);
        assert!(["F1", "G1"].contains(&answer.by()), "{:?}", profile.name);
        assert_eq!(answer.took(), span(0.1));

        let mut world = out_until(profile, &[("m", 60), ("f1", 60)]);
        let ask = world.ask(10.0, &Ask::of("m"));
        world.run();
        assert!(["F2", "G2"].contains(&world.answer(ask).by()));
    }
}

#[test]
fn br_032_when_all_are_cooled_the_caller_is_told_when_the_first_returns() {
    let told = |profile| {
        let mut world = out_until(profile, &[("m", 60), ("f1", 40), ("f2", 120)]);
        let ask = world.ask(10.0, &Ask::of("m"));
        world.run();
        let answer = world.answer(ask);
        (answer.status(), answer.try_again_in(), answer.path.len())
    };

    assert_eq!(told(OLD), (None, Some(span(60.0)), 0), "the whole length");
    assert_eq!(told(NEW), (Some(429), Some(span(60.0)), 0));
    assert_eq!(
        told(CORRECTED),
        (Some(429), Some(span(30.0)), 0),
        "f1 is first"
    );
}

/// S (8,000 tokens) and L (128,000), with a context-window fallback from one to the other.
fn small_and_large(profile: Profile, checks: bool) -> World {
    World::of(profile, &["m:S", "large:L"], |c| {
        c.deployments[0].max_input_tokens = Some(8_000);
        c.deployments[1].max_input_tokens = Some(128_000);
        c.settings.enable_pre_call_checks = checks;
        c.settings.context_window_fallbacks = lists(&[("m", &["large"])]);
    })
}

fn long() -> Ask {
    let mut ask = Ask::of("m");
    ask.prompt_tokens = 20_000;
    ask
}

#[test]
fn br_033_the_kind_of_the_error_decides_and_not_its_wording() {
    for profile in ALL {
        let mut world = small_and_large(profile, false);
        world.provider("S", always(class(ErrorClass::ContextWindowExceeded)));
        let ask = world.ask(0.0, &long());
        world.run();
        assert_eq!(path(&world, ask), "SL", "{:?}", profile.name);

        let mut world = small_and_large(profile, false);
        world.provider("S", always(status(400)));
        let ask = world.ask(0.0, &long());
        world.run();
        assert_eq!(world.answer(ask).status(), Some(400), "{:?}", profile.name);
    }
}

#[test]
fn br_033_the_size_check_covers_every_call() {
    let paths = |profile| {
        let mut world = small_and_large(profile, true);
        let chat = world.ask(0.0, &long());
        let embedding = world.ask(
            1.0,
            &long().with(Overrides {
                api: Api::Embedding,
                ..Overrides::default()
            }),
        );
        world.run();
        [path(&world, chat), path(&world, embedding)]
    };

    assert_eq!(paths(OLD), ["L", "S"]);
    assert_eq!(paths(NEW), ["L", "S"]);
    assert_eq!(paths(CORRECTED), ["L", "L"]);
}
