//! The journal of a front door: it replays to the same decisions, whatever happened, and holds no secret.

use std::{fs, path::Path};

use sim::journal::replay;

use super::*;

#[tokio::test]
async fn what_a_front_door_decided_is_decided_again_from_its_journal() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("door.jsonl");
    drop(fs::remove_file(&file));
    for run in 1..=2 {
        let options = ServeOptions {
            journal: Some(file.clone()),
            ..ServeOptions::default()
        };
        let providers = [
            ("good", ""),
            ("bad", r#", "faults": [{"outage": {"status": 401}}]"#),
            ("slow", r#", "faults": [{"hang": {"share": 0.3}}]"#),
        ];
        let house = House::with(&providers, "num_retries: 1", options, corrected()).await;
        let mut asked = 0;
        for number in 0..8 {
            let stream = if number % 2 == 0 {
                r#", "stream": true"#
            } else {
                ""
            };
            house
                .ask(&format!(r#"{stream}, "timeout": 0.1, "user": "u{number}""#))
                .await;
            asked += 1;
        }
        let cleared = house
            .request(Method::DELETE, "cooldowns")
            .send()
            .await
            .unwrap();
        assert_eq!(cleared.status(), 200);
        // One that leaves.
        let leaving = house
            .chat("")
            .timeout(Duration::from_millis(3))
            .send()
            .await;
        asked += 1;
        drop(leaving);
        house.until_quiet().await;
        let House { providers, door } = house;
        assert!(door.stop(Duration::from_secs(20)).await);
        drop(providers);

        let text = fs::read(&file).unwrap();
        let replayed = replay(&text[..]).unwrap();
        assert_eq!((replayed.difference, replayed.cut), (None, Vec::new()));
        assert_eq!((replayed.runs, replayed.unfinished), (run, 0));
        // The one that leaves may leave before it has arrived.
        assert!(
            replayed.requests >= run * (asked - 1),
            "{}",
            replayed.requests
        );
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("\"clear\":{}"));
        for secret in ["twenty letters", KEY, "sk-good", "http://"] {
            assert!(!text.contains(secret), "{secret}");
        }
    }
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_keeps_the_door_shut() {
    let config = "model_list:\n- {model_name: m, litellm_params: {model: openai/m, api_base: \"http://x\"}}\n";
    let config = read(config, "config.yaml", corrected(), &|_| None).unwrap();
    let options = ServeOptions {
        journal: Some("/nowhere/door.jsonl".into()),
        ..ServeOptions::default()
    };

    let refused = FrontDoor::open(config, options, loopback())
        .await
        .unwrap_err();

    assert!(
        refused
            .to_string()
            .contains("cannot write the journal /nowhere/door.jsonl")
    );
}
