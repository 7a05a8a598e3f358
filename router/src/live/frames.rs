//! A stream of server-sent events, cut into frames, and what each frame says.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::verdict::UsageBody;

/// Cuts bytes into frames, which end with an empty line.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    buffer: BytesMut,
    /// Up to here no end was found.
    searched: usize,
}

impl Cutter {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame, with its end.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        let from = self.searched.saturating_sub(LONGEST_END - 1);
        match end_of_frame(&self.buffer, from) {
            Some(end) => {
                self.searched = 0;
                Some(self.buffer.split_to(end).freeze())
            }
            None => {
                self.searched = self.buffer.len();
                None
            }
        }
    }

    /// What is left at the end of the stream: a frame without its empty line.
    pub(super) fn rest(&mut self) -> Option<Bytes> {
        let mut rest = std::mem::take(&mut self.buffer);
        self.searched = 0;
        if rest.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        rest.extend_from_slice(b"\n\n");
        Some(rest.freeze())
    }

    /// Whether what waits for its end is longer than any frame.
    pub(super) fn is_overfull(&self) -> bool {
        self.buffer.len() > LARGEST_FRAME
    }
}

/// Where the first frame ends: after an empty line. Lines end with LF, CR LF or CR, each as it likes
/// (HTML, "Server-sent events"); a CR behind which the LF may yet come is waited for.
fn end_of_frame(buffer: &[u8], from: usize) -> Option<usize> {
    (from..buffer.len()).find_map(|at| {
        let length = match buffer[at..] {
            [b'\n', b'\n', ..] | [b'\r', b'\r', ..] => 2,
            [b'\n', b'\r', b'\n', ..] => 3,
            [b'\n', b'\r', _, ..] => 2,
            _ => return None,
        };
        Some(at + length)
    })
}

/// The data of a frame: what its lines of data say, in the order of the lines.
pub(super) fn data(frame: &str) -> Option<Cow<'_, str>> {
    let lines = frame.split(['\r', '\n']);
    let mut lines = lines.filter_map(|line| line.strip_prefix("data:"));
    let first = lines.next()?;
    let mut data = Cow::Borrowed(first.trim());
    for line in lines {
        let data = data.to_mut();
        data.push('\n');
        data.push_str(line.trim_end());
    }
    Some(data)
}

/// What a frame says.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Says {
    /// A comment, or an event without data.
    Nothing,
    /// `[DONE]`.
    Done,
    /// An error object.
    Error(Value),
    /// What is no JSON, or of no shape that is known.
    Unreadable,
    /// A piece of an answer.
    Piece(Piece),
}

/// A piece of a streamed answer.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Piece {
    /// Whether it holds anything that a reader would see.
    pub(super) content: bool,
    /// Whether that is text: one token, as providers send them.
    pub(super) text: bool,
    /// Whether it tells why the answer ends.
    pub(super) reason: bool,
    pub(super) usage: Option<UsageBody>,
}

/// Reads a frame.
pub(super) fn read(frame: &[u8]) -> Says {
    let Ok(frame) = std::str::from_utf8(frame) else {
        return Says::Unreadable;
    };
    let Some(data) = data(frame) else {
        return Says::Nothing;
    };
    let data = data.trim();
    if data.is_empty() {
        return Says::Nothing;
    }
    if data.starts_with("[DONE]") {
        return Says::Done;
    }
    let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) else {
        return Says::Unreadable;
    };
    match chunk.error {
        Some(error) => Says::Error(error),
        None => Says::Piece(chunk.piece()),
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(default)]
    error: Option<Value>,
    #[serde(default, borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default, borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default, borrow)]
    delta: Option<Delta<'a>>,
    /// The older shape.
    #[serde(default, borrow)]
    text: Option<&'a RawValue>,
    #[serde(default, borrow)]
    finish_reason: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(default, borrow)]
    refusal: Option<&'a RawValue>,
    #[serde(default, borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(default, borrow)]
    function_call: Option<&'a RawValue>,
    #[serde(default, borrow)]
    audio: Option<&'a RawValue>,
}

impl Chunk<'_> {
    fn piece(&self) -> Piece {
        let mut piece = Piece {
            usage: self
                .usage
                .and_then(|usage| serde_json::from_str(usage.get()).ok()),
            ..Piece::default()
        };
        for choice in self.choices.iter().flatten() {
            piece.reason |= choice.finish_reason.is_some();
            let delta = choice.delta.as_ref();
            let text = [delta.and_then(|d| d.content), choice.text];
            let others = delta.map(|d| {
                [
                    d.reasoning_content,
                    d.reasoning,
                    d.refusal,
                    d.tool_calls,
                    d.function_call,
                    d.audio,
                ]
            });
            piece.text |= text.into_iter().flatten().any(says_something);
            piece.content |= others.into_iter().flatten().flatten().any(says_something);
        }
        piece.content |= piece.text;
        piece
    }
}

fn says_something(value: &RawValue) -> bool {
    !matches!(value.get(), "\"\"" | "[]" | "{}")
}

const LONGEST_END: usize = 3;
/// A frame holds a few tokens; a picture in one may take megabytes.
const LARGEST_FRAME: usize = 32 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(content: bool, text: bool, reason: bool) -> Says {
        Says::Piece(Piece {
            content,
            text,
            reason,
            usage: None,
        })
    }

    #[test]
    fn frames_are_cut_wherever_the_bytes_are_and_whatever_ends_lines() {
        let text = b"data: 1\n\ndata: 2\r\n\r\n: x\n\ndata: 3\n";
        for size in 1..text.len() {
            let mut cutter = Cutter::default();
            let mut frames = Vec::new();
            for bytes in text.chunks(size) {
                cutter.push(bytes);
                frames.extend(std::iter::from_fn(|| cutter.next()));
            }
            let whole = ["data: 1\n\n", "data: 2\r\n\r\n", ": x\n\n"];
            assert_eq!(frames, whole.map(Bytes::from), "{size}");
            assert_eq!(cutter.rest().unwrap(), "data: 3\n\n\n");
            assert_eq!(cutter.rest(), None);
        }
    }

    #[test]
    fn an_empty_line_ends_a_frame_whichever_end_it_and_the_line_before_have() {
        for (text, frames) in [
            ("data: 1\r\rdata: 2\r\r", ["data: 1\r\r", "data: 2\r\r"]),
            (
                "data: 1\n\r\ndata: 2\r\n\n",
                ["data: 1\n\r\n", "data: 2\r\n\n"],
            ),
            ("data: 1\r\n\rdata: 2\n\n", ["data: 1\r\n\r", "data: 2\n\n"]),
            ("data: 1\r\r\ndata: 2\n\n", ["data: 1\r\r", "\ndata: 2\n\n"]),
        ] {
            for size in 1..text.len() {
                let mut cutter = Cutter::default();
                let mut cut = Vec::new();
                for bytes in text.as_bytes().chunks(size) {
                    cutter.push(bytes);
                    cut.extend(std::iter::from_fn(|| cutter.next()));
                }
                assert_eq!(cut, frames.map(Bytes::from), "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn lines_of_a_frame_are_told_apart_by_a_lone_carriage_return_too() {
        let frame = b"event: x\rdata: {\"choices\":\rdata: [{\"text\":\"a\"}]}\r\r";

        assert_eq!(read(frame), piece(true, true, false));
    }

    #[test]
    fn a_frame_is_content_if_a_reader_would_see_it() {
        let of = |delta: &str| {
            let frame = format!(r#"data: {{"choices":[{{"delta":{delta}}}]}}"#);
            read(frame.as_bytes())
        };

        assert_eq!(
            of(r#"{"role":"assistant","content":""}"#),
            piece(false, false, false)
        );
        assert_eq!(of(r#"{"content":"a"}"#), piece(true, true, false));
        assert_eq!(
            of(r#"{"content":null,"refusal":null}"#),
            piece(false, false, false)
        );
        assert_eq!(
            of(r#"{"tool_calls":[{"index":0}]}"#),
            piece(true, false, false)
        );
        assert_eq!(
            of(r#"{"reasoning_content":"hm"}"#),
            piece(true, false, false)
        );
        assert_eq!(of("null"), piece(false, false, false));
        let older = br#"data: {"choices":[{"text":"a","finish_reason":"stop"}]}"#;
        assert_eq!(read(older), piece(true, true, true));
    }

    #[test]
    fn comments_markers_errors_and_rubbish_are_told_apart() {
        assert_eq!(read(b": keep-alive\n\n"), Says::Nothing);
        assert_eq!(read(b"event: ping\n\n"), Says::Nothing);
        assert_eq!(read(b"data: [DONE]\n\n"), Says::Done);
        assert_eq!(read(b"data: {\"id\": \n\n"), Says::Unreadable);
        let error = read(br#"data: {"error":{"message":"no"}}"#);
        assert_eq!(error, Says::Error(serde_json::json!({"message": "no"})));
    }

    #[test]
    fn usage_is_read_where_it_stands() {
        let frame = br#"data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
        let Says::Piece(piece) = read(frame) else {
            panic!("it is a piece")
        };

        let usage = piece.usage.unwrap().or(crate::Usage::default());
        assert_eq!(usage, crate::Usage::new(3, 4));
    }
}
