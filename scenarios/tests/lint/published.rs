//! Findings in configs that people published: every one is reached, none is a panic.

use std::{collections::BTreeMap, fs, path::PathBuf};

use router::ProfileName;

use crate::found_for;

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn texts() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/configs");
    let Ok(files) = fs::read_dir(&folder) else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "{} is missing", folder.display());
        eprintln!("skipped: {} is missing", folder.display());
        return Vec::new();
    };
    let mut texts: Vec<(String, String)> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    texts.sort();
    texts
}

#[test]
fn published_configs_have_findings_and_each_has_a_line_of_the_file() {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    let mut read = 0;
    for (name, text) in texts() {
        let Ok(node) = scenarios::litellm::parse(&text, &name) else {
            continue;
        };
        if scenarios::litellm::from_node(&node, &name).is_err() {
            continue;
        }
        read += 1;
        for profile in ProfileName::ALL {
            for finding in found_for(&text, profile.profile(), None) {
                let line = usize::try_from(finding.line).unwrap();
                assert!(
                    line > 0 && line <= text.lines().count(),
                    "{name}: {finding}"
                );
                if profile == ProfileName::Litellm1110 {
                    *times.entry(finding.id).or_default() += 1;
                }
            }
        }
    }
    if read == 0 {
        return;
    }

    assert!(read >= 34, "only {read} were read");
    insta::assert_debug_snapshot!(times, @r#"
    {
        "context-window-unknown": 1,
        "cost-prices-unknown": 1,
        "deployment-max-retries": 1,
        "duplicate-id": 2,
        "lone-deployment-benched-at-once": 33,
        "lone-deployment-spared": 2,
        "lopsided-limits": 2,
        "no-spare-deployment": 35,
        "order-of-lone-deployment": 3,
        "pre-call-checks-off": 1,
        "prices-per-thousand": 1,
        "rpm-limits-requests-at-once": 4,
        "usage-routing-without-limits": 1,
        "usage-rpm-one-short": 1,
    }
    "#);
}
