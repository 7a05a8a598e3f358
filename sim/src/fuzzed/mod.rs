//! What must hold whatever bytes come in. Built for `sim/fuzz`, which looks for bytes that break it, and
//! for tests, which play the bytes that were found (`sim/fuzz/corpus`).
//!
//! Common to all: no panic, and an error that is one line, names its file, and within it a place or a key.

mod journal;
mod logs;
mod written;

pub use self::{
    journal::journal,
    logs::{log, trace},
    written::{config, scenario},
};
#[cfg(feature = "live")]
pub use crate::serve::fuzzed::request;

use scenarios::{ScenarioError, yaml};

/// How an error is told. `blank`: there is nothing in the file that a line or a key could be of.
fn told_well(error: &ScenarioError, blank: bool) {
    let told = error.to_string();
    assert!(!told.contains(char::is_control), "not one line: {told:?}");
    assert!(error.file().is_some(), "no file is named: {told}");
    let placed = error.line().is_some() || !error.key_path().is_empty();
    assert!(placed || blank, "neither a line nor a key is named: {told}");
    if let Some(text) = error.text() {
        // Lines end as YAML has them: with LF, CR LF or CR.
        let lines = text.replace("\r\n", "\n").matches(['\n', '\r']).count() + 1;
        let line = error.line().unwrap_or_default();
        assert!(
            usize::try_from(line).is_ok_and(|line| line <= lines),
            "line {line} of {lines}: {told}"
        );
        assert!(
            error.span().is_none_or(|span| text.get(span).is_some()),
            "{told}"
        );
    }
}

/// Whether a text is a document of nothing: empty, comments alone, `null`.
fn is_blank(text: &str) -> bool {
    yaml::parse(text, "").is_ok_and(|document| document.is_null())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// Plays a part of the corpus.
    fn play(name: &str, target: impl Fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/corpus")
            .join(name);
        let mut played = 0;
        for file in fs::read_dir(&folder).expect("the corpus is there") {
            let path = file.expect("it can be listed").path();
            println!("{}", path.display());
            target(&fs::read(&path).expect("it can be read"));
            played += 1;
        }
        assert!(played > 0, "nothing in {}", folder.display());
    }

    #[test]
    fn every_config_of_the_corpus_is_read_or_refused_as_it_must_be() {
        play("config", super::config);
    }

    #[test]
    fn every_scenario_of_the_corpus_runs_or_is_refused_as_it_must_be() {
        play("scenario", super::scenario);
    }

    #[test]
    fn every_log_of_the_corpus_keeps_its_books_or_is_refused_as_it_must_be() {
        play("logs", |data| super::log("log", data));
        play("parquet", |data| super::log("log.parquet", data));
    }

    #[test]
    fn every_trace_of_the_corpus_keeps_its_books_or_is_refused_as_it_must_be() {
        play("traces", super::trace);
    }

    #[test]
    fn every_journal_of_the_corpus_replays_up_to_each_line_or_is_refused_as_it_must_be() {
        play("journal", super::journal);
    }

    #[cfg(feature = "live")]
    #[test]
    fn every_request_of_the_corpus_is_read_or_refused_as_it_must_be() {
        play("requests", super::request);
    }
}
