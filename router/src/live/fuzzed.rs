//! What must hold of what a provider sends, whatever it is. Built for `sim/fuzz`, which looks for bytes
//! that break it, and for tests, which play its corpus.

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::{
    anthropic::{self, Translator},
    frames::{Cutter, Says, read},
    payload::{Endpoint, Payload},
    verdict::Told,
};
use crate::{
    outcome::{Failure, Outcome, Usage},
    profile::ProfileName,
    time::{Epoch, Instant},
};

/// A stream says the same in whatever pieces it comes, and that is what the standard reads in it; no byte
/// is lost on the way to the caller; and what Anthropic's events become can be read.
pub fn stream(data: &[u8]) {
    let whole = cut(data, data.len().max(1));
    assert_eq!(whole.concat(), data, "every byte goes on");
    for size in [1, 2, 3, 7] {
        assert_eq!(cut(data, size), whole, "pieces of {size}");
    }
    let said: Vec<Says> = whole.iter().map(|frame| read(frame)).collect();
    let said: Vec<&Says> = said.iter().filter(|says| **says != Says::Nothing).collect();
    let standard: Vec<Says> = events(data).iter().map(|event| read(event)).collect();
    let standard: Vec<&Says> = standard
        .iter()
        .filter(|says| **says != Says::Nothing)
        .collect();
    assert_eq!(said, standard);
    for says in said {
        match says {
            Says::Error(error) => {
                for name in ProfileName::ALL {
                    told_well(&Told::of_event(error, &name.profile()));
                }
            }
            Says::Piece(piece) => {
                let usage = piece.usage.map(|usage| usage.or(Usage::default()));
                assert!(piece.content || !piece.text, "text is content: {usage:?}");
            }
            Says::Nothing | Says::Done | Says::Unreadable => {}
        }
    }
    let mut translator = Translator::new(0, true);
    for frame in &whole {
        let Some(translated) = translator.frames(frame) else {
            continue;
        };
        let is_event = translated != *frame;
        assert!(
            !is_event || read(&translated) != Says::Unreadable,
            "{translated:?}"
        );
    }
    assert!(translator.usage()["total_tokens"].is_u64());
}

/// The frames of a stream that comes in pieces of this size, as they go on to the caller; the last without
/// the end that is added to it.
fn cut(data: &[u8], size: usize) -> Vec<Bytes> {
    let mut cutter = Cutter::default();
    let mut frames = Vec::new();
    for piece in data.chunks(size) {
        cutter.push(piece);
        frames.extend(std::iter::from_fn(|| cutter.next()));
    }
    let cut: usize = frames.iter().map(Bytes::len).sum();
    match cutter.rest() {
        Some(rest) => frames.push(rest.slice(..rest.len() - 2)),
        None if cut < data.len() => frames.push(Bytes::copy_from_slice(&data[cut..])),
        None => {}
    }
    frames
}

/// The events of a stream as the standard has them: lines end with CR LF, LF or CR, events with an empty
/// line, and what has none at the end is an event as well, as clients read it (HTML, "Server-sent events").
fn events(data: &[u8]) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    let mut event = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (line, after) = match end {
            None => (rest, rest.len()),
            Some(end) if rest[end..].starts_with(b"\r\n") => (&rest[..end], end + 2),
            Some(end) => (&rest[..end], end + 1),
        };
        rest = &rest[after..];
        if line.is_empty() {
            events.push(std::mem::take(&mut event));
        } else {
            event.extend_from_slice(line);
            event.push(b'\n');
        }
    }
    events.push(event);
    events
}

/// An answer (a line with its status, lines of headers, an empty line, a body), as an error under every
/// profile and as a message of Anthropic's; and the body as that of a request to Anthropic.
pub fn answer(data: &[u8]) {
    let (status, headers, body) = split(data);
    let epoch = Epoch::from_unix_seconds(1_767_225_600);
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    for name in ProfileName::ALL {
        let profile = name.profile();
        let told = Told::of_status(status, &headers, body, &profile, epoch);
        told_well(&told);
        for now in [Instant::ZERO, Instant::from_secs_f64(1e6), Instant::NEVER] {
            let hint = told.failure.cooldown_hint(now, &profile);
            assert!(hint.is_none_or(|hint| now + hint >= now));
        }
        if let Some(parsed) = &parsed {
            told_well(&Told::of_object(&parsed["error"], &profile));
            told_well(&Told::of_event(&parsed["error"], &profile));
        }
    }
    if let Some(completion) = anthropic::answer(body, 0) {
        let completion: Value = serde_json::from_slice(&completion).expect("an answer is JSON");
        assert!(completion["error"].is_object() || completion["usage"]["total_tokens"].is_u64());
    }
    if let Ok(body) = serde_json::from_slice(body) {
        let payload = Payload {
            endpoint: Endpoint::Chat,
            body,
            headers: HeaderMap::new(),
            number_headers: None,
        };
        payload.wants_usage();
        if let Ok(message) = anthropic::body(payload.body.iter(), "m", true) {
            let message: Value = serde_json::from_slice(&message).expect("a body is JSON");
            assert_eq!(message["model"], "m");
        }
    }
}

/// A failure is the same after it was written into a journal.
fn told_well(told: &Told) {
    let outcome = Outcome::Failure(told.failure);
    let text = serde_json::to_string(&outcome).expect("an outcome can be written");
    let again: Outcome = serde_json::from_str(&text).expect("what is written can be read");
    assert_eq!(outcome, again, "{text}");
    let Failure { status, .. } = told.failure;
    assert!(
        status.is_none_or(|status| (100..1_000).contains(&status)),
        "{status:?}"
    );
}

fn split(data: &[u8]) -> (u16, HeaderMap, &[u8]) {
    let mut headers = HeaderMap::new();
    let mut status = None;
    let mut rest = data;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = rest[..end].trim_ascii_end();
        rest = &rest[end + 1..];
        if line.is_empty() {
            break;
        }
        if status.is_none() {
            let read = std::str::from_utf8(line)
                .ok()
                .and_then(|text| text.parse().ok());
            status = Some(
                read.filter(|status| (300..600).contains(status))
                    .unwrap_or(500),
            );
            continue;
        }
        let colon = line
            .iter()
            .position(|byte| *byte == b':')
            .unwrap_or_default();
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(
            line[colon..]
                .strip_prefix(b":")
                .unwrap_or_default()
                .trim_ascii_start(),
        );
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    (status.unwrap_or(500), headers, rest)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    fn play(name: &str, target: fn(&[u8])) {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/fuzz/corpus");
        let files: Vec<_> = fs::read_dir(corpus.join(name)).unwrap().collect();
        assert!(!files.is_empty());
        for file in files {
            target(&fs::read(file.unwrap().path()).unwrap());
        }
    }

    #[test]
    fn every_stream_of_the_corpus_says_the_same_in_whatever_pieces_it_comes() {
        play("stream", super::stream);
    }

    #[test]
    fn every_answer_of_the_corpus_is_told_as_it_must_be() {
        play("answers", super::answer);
    }
}
