//! What must hold of an exchange over HTTP, whatever is asked. Built for `sim/fuzz`, which looks for
//! bytes that break it, and for tests, which play its corpus.

use router::{Epoch, Instant, Seed};
use serde_json::Value;

use crate::{
    exchange::{
        Encounter, Play,
        asked::{Api, Asked},
        frames::Frames,
        orders::Orders,
    },
    providers::Providers,
    spec::ProviderSpec,
};

/// A request (a line that is its path, lines of headers, an empty line, a body) is refused in JSON, or
/// answered in JSON or in frames of JSON, unless it orders a fault.
pub fn request(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (head, body) = text.split_once("\n\n").unwrap_or(("", text));
    let mut lines = head.lines();
    let path = lines.next().unwrap_or_default().trim_matches('/');
    let (api, _) = Api::of_path(path).unwrap_or((Api::Chat, None));
    let refused = |message: &str| {
        let told = api.complaint("invalid_request_error", message);
        let told: Value = serde_json::from_str(&told).expect("a complaint is JSON");
        assert_eq!(told["error"]["message"], message);
        assert!(!message.is_empty(), "what is refused is told");
    };
    let asked = match Asked::read(api, path, body.as_bytes()) {
        Ok(asked) => asked,
        Err(message) => return refused(&message),
    };
    assert!(asked.prompt_tokens > 0);
    let headers: Vec<(String, &str)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .collect();
    let headers = headers.iter().map(|(name, value)| (name.as_str(), *value));
    let orders = match Orders::read(headers) {
        Ok(orders) => orders,
        Err(message) => return refused(&message),
    };
    let spec = ProviderSpec::preset("anthropic").expect("it is known");
    let mut providers =
        Providers::new([&spec], Seed(1), Epoch::default()).expect("it can be built");
    let encounter = Encounter {
        at: Instant::from_secs_f64(1.0),
        epoch: Epoch::default(),
        number: 0,
        upstream: 0,
        output_tokens: 20,
    };
    let met = match encounter.with(&mut providers, &asked, &orders) {
        Ok(met) => met,
        Err(error) => return refused(&error.to_string()),
    };
    match met.play {
        Play::Hang | Play::Reset { .. } => assert!(orders.wish.fault.is_some()),
        Play::Piece {
            body, cut, head, ..
        } => {
            let whole = !cut && head.content_type == "application/json" && !body.is_empty();
            if whole && orders.wish.fault.is_none() {
                let answer: Value = serde_json::from_str(&body).expect("an answer is JSON");
                assert!(answer.is_object(), "{answer}");
            }
        }
        Play::Stream { frames, .. } => {
            if orders.wish.fault.is_none() {
                are_frames(*frames);
            }
        }
    }
}

/// Each frame's data is JSON or the marker of the end, and moments never run back.
fn are_frames(mut frames: Frames) {
    let mut latest = frames.begin_after();
    for _ in 0..MOST_FRAMES {
        let Some((after, text)) = frames.next() else {
            return;
        };
        assert!(after >= latest, "a frame comes before the one before it");
        latest = after;
        for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
            assert!(
                data == "[DONE]" || serde_json::from_str::<Value>(data).is_ok(),
                "{data}"
            );
        }
    }
}

/// So many frames are looked at.
const MOST_FRAMES: usize = 50;

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    #[test]
    fn every_request_of_the_corpus_is_answered_or_refused_as_it_must_be() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/fuzz/corpus/requests");
        let files: Vec<_> = fs::read_dir(corpus).unwrap().collect();

        assert!(!files.is_empty());
        for file in files {
            super::request(&fs::read(file.unwrap().path()).unwrap());
        }
    }
}
