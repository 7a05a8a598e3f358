//! The scripted upstream: which reply a call gets, and what the client sees of it, when.

use std::{collections::BTreeMap, collections::BTreeSet, time::Duration};

use router::{
    Deadline, ErrorBody, ErrorClass, Failure, Instant, Outcome, Profile, Reached, RetryAfter, Usage,
};

use crate::{
    setup,
    vector::{self, Reply, Script, Vector},
};

/// One vector's upstream.
#[derive(Debug)]
pub(crate) struct ScriptedUpstream<'a> {
    scripts: &'a BTreeMap<String, Script>,
    shared: &'a BTreeMap<String, Vec<Reply>>,
    refused: BTreeSet<String>,
    calls: BTreeMap<&'a str, usize>,
    profile: Profile,
}

/// One call of a client's.
#[derive(Debug)]
pub(crate) struct Call {
    /// How long ago it was sent: deadlines count from then.
    pub(crate) sent_before: Duration,
    pub(crate) stream: bool,
    /// How many tokens LiteLLM finds in its prompt.
    pub(crate) prompt_tokens: u32,
    pub(crate) embedding: bool,
    pub(crate) deadline: Deadline,
}

/// What becomes of one call, counted from its arrival upstream.
#[derive(Debug)]
pub(crate) struct Course {
    /// As recorded: a status, or what happened in its place.
    pub(crate) label: String,
    /// The call is never seen upstream.
    pub(crate) unseen: bool,
    /// When the answer begins: its headers.
    pub(crate) headers_after: Duration,
    /// When the client sees the end of it.
    pub(crate) ends_after: Duration,
    pub(crate) outcome: Outcome,
}

impl<'a> ScriptedUpstream<'a> {
    pub(crate) fn new(vector: &'a Vector, profile: Profile) -> Self {
        Self {
            scripts: &vector.upstream.deployments,
            shared: &vector.upstream.shared,
            refused: setup::refused(&vector.config),
            calls: BTreeMap::new(),
            profile,
        }
    }

    /// A call arrives.
    pub(crate) fn call(&mut self, at: Instant, deployment: &str, call: &Call) -> Course {
        if self.refused.contains(deployment) {
            let mut course = Course::failing("refused", Failure::of(ErrorClass::InternalServer));
            course.unseen = true;
            return course;
        }
        let reply = self.next_reply(at, deployment);
        let course = self.course(at, deployment, &reply, call);
        cut_short(course, &reply, call.sent_before, call.deadline)
    }

    fn next_reply(&mut self, at: Instant, deployment: &str) -> Reply {
        let Some((name, script)) = self.scripts.get_key_value(deployment) else {
            return Reply::default();
        };
        let mut numbered = |key: &'a str, replies: &'a [Reply]| {
            let count = self.calls.entry(key).or_default();
            let reply = replies[(*count).min(replies.len() - 1)].clone();
            *count += 1;
            reply
        };
        match script {
            Script::Replies(replies) => numbered(name, replies),
            Script::Shared(key) => {
                let (key, replies) = self.shared.get_key_value(key).expect("a shared script");
                numbered(key, replies)
            }
            Script::ByTime(replies) => {
                let now_ms = at.as_secs_f64() * 1e3;
                let open = |r: &&Reply| r.until_ms.is_none_or(|until| now_ms < until);
                replies
                    .iter()
                    .find(open)
                    .expect("the last has no end")
                    .clone()
            }
        }
    }

    /// What the reply is to a client that waits for it whatever it takes.
    fn course(&self, at: Instant, deployment: &str, reply: &Reply, call: &Call) -> Course {
        let latency = millis(reply.latency_ms);
        if reply.hang {
            return Course {
                ends_after: Duration::MAX,
                headers_after: Duration::MAX,
                ..Course::failing("hang", Failure::of(ErrorClass::Timeout))
            };
        }
        if reply.reset {
            return Course {
                ends_after: latency,
                headers_after: latency,
                ..Course::failing("reset", Failure::of(ErrorClass::InternalServer))
            };
        }
        let status = reply.status.unwrap_or(200);
        if status >= 300 {
            return Course {
                ends_after: latency,
                headers_after: latency,
                ..Course::failing(
                    &status.to_string(),
                    self.failure(at + latency, status, reply),
                )
            };
        }
        let mut usage = usage(reply.usage);
        if call.embedding {
            usage.completion_tokens = 0;
        }
        if !call.stream {
            return Course {
                label: status.to_string(),
                unseen: false,
                headers_after: latency,
                ends_after: latency,
                outcome: Outcome::Success {
                    usage,
                    first_token_after: None,
                },
            };
        }
        let first = latency + millis(reply.ttft_ms);
        let chunk = |n: u32| first + millis(reply.chunk_ms) * n;
        match reply.break_after {
            None => Course {
                label: status.to_string(),
                unseen: false,
                headers_after: latency,
                ends_after: chunk(reply.chunks.unwrap_or(3).saturating_sub(1)),
                outcome: Outcome::Success {
                    usage: counted(call.prompt_tokens, deployment, reply.chunks.unwrap_or(3)),
                    first_token_after: Some(first),
                },
            },
            Some(after) => {
                let event = reply.break_kind.as_deref() == Some("error_event");
                let label = if event {
                    status.to_string()
                } else {
                    "break".to_owned()
                };
                let message = reply.error.as_ref().and_then(|e| e.message.as_deref());
                let message = message.unwrap_or("scripted mid-stream failure");
                let failure = match event {
                    true => Failure::of_event(message, &self.profile),
                    false => Failure::of(ErrorClass::ApiConnection),
                };
                let reached = match after {
                    0 => Reached::Headers,
                    _ => Reached::Content,
                };
                let failure = Failure {
                    reached,
                    tokens_delivered: after,
                    first_token_after: (after > 0).then_some(first),
                    ..failure
                };
                Course {
                    headers_after: latency,
                    ends_after: chunk(after),
                    ..Course::failing(&label, failure)
                }
            }
        }
    }

    fn failure(&self, replied: Instant, status: u16, reply: &Reply) -> Failure {
        let body = reply.error.clone().unwrap_or_default();
        let scripted = format!("scripted failure {status}");
        let body = ErrorBody {
            code: body.code.as_ref().and_then(serde_json::Value::as_str),
            kind: body.kind.as_deref().or(Some("scripted")),
            message: body.message.as_deref().unwrap_or(&scripted),
        };
        let mut failure = Failure::with_body(status, &body, &self.profile);
        let header = |name: &str| {
            let found = reply
                .headers
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name));
            // Blanks around a header's value are not part of it.
            found.map(|(_, value)| vector::text(value).trim().to_owned())
        };
        failure.retry_after = match (header("retry-after"), header("retry-after-ms")) {
            (Some(text), _) => Some(retry_after(replied, &text)),
            (None, Some(ms)) => Some(RetryAfter::Millis(ms.parse().expect("a number"))),
            (None, None) => None,
        };
        failure
    }
}

impl Course {
    /// Fails at once.
    fn failing(label: &str, failure: Failure) -> Self {
        Self {
            label: label.to_owned(),
            unseen: false,
            headers_after: Duration::ZERO,
            ends_after: Duration::ZERO,
            outcome: Outcome::Failure(failure),
        }
    }
}

/// What is left of a course under a deadline: the earlier of its end and the client's patience.
fn cut_short(course: Course, reply: &Reply, sent_before: Duration, deadline: Deadline) -> Course {
    let gives_up_after = match deadline {
        Deadline::None => None,
        Deadline::Content(_) => unreachable!("no vector sets limits on content"),
        Deadline::Whole(most) => {
            let end = most.saturating_sub(sent_before);
            (course.ends_after > end).then_some(end)
        }
        Deadline::Silence(most) => {
            let first = course.headers_after.saturating_add(millis(reply.ttft_ms));
            let silences = [
                (Duration::ZERO, course.headers_after),
                (course.headers_after, first),
                (first, first.saturating_add(millis(reply.chunk_ms))),
            ];
            let last = usize::from(course.ends_after > first) + 2;
            let too_long = |(from, to): &&(Duration, Duration)| to.saturating_sub(*from) > most;
            silences[..last]
                .iter()
                .find(too_long)
                .map(|(from, _)| *from + most)
        }
    };
    let Some(end) = gives_up_after else {
        return course;
    };
    let mut failure = Failure::of(ErrorClass::Timeout);
    let first = course.headers_after.saturating_add(millis(reply.ttft_ms));
    if end > course.headers_after {
        failure.reached = Reached::Headers;
    }
    if end > first {
        failure.reached = Reached::Content;
        failure.tokens_delivered = 1;
        failure.first_token_after = Some(first);
    }
    Course {
        ends_after: end,
        headers_after: course.headers_after,
        ..Course::failing("abandoned", failure)
    }
}

/// What LiteLLM counts of a stream that tells no usage itself: the prompt, and of the answer the words
/// `from`, `w1`, `w2` and so on and the deployment's id, which are a token for the letters and one for
/// the digits.
fn counted(prompt_tokens: u32, deployment: &str, chunks: u32) -> Usage {
    let digits = deployment.ends_with(|c: char| c.is_ascii_digit());
    Usage::new(
        prompt_tokens,
        2 + u32::from(digits) + 2 * chunks.saturating_sub(1),
    )
}

fn usage(given: Option<vector::Tokens>) -> Usage {
    Usage::new(
        given.and_then(|u| u.prompt_tokens).unwrap_or(10),
        given.and_then(|u| u.completion_tokens).unwrap_or(5),
    )
}

/// A header's text; `{http_date:+3}` is a date three seconds after the reply.
fn retry_after(replied: Instant, text: &str) -> RetryAfter {
    if let Some(offset) = text
        .strip_prefix("{http_date:")
        .and_then(|t| t.strip_suffix('}'))
    {
        // A date has whole seconds, so what is below them is lost.
        let seconds = replied.as_secs_f64() + offset.parse::<f64>().expect("an offset");
        return RetryAfter::Date(Instant::from_secs_f64(seconds.floor()));
    }
    text.parse()
        .map_or(RetryAfter::Unreadable, RetryAfter::Seconds)
}

pub(crate) fn millis(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}
