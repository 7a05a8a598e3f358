//! One attempt over HTTP: sends it, and reads an answer in one piece, or an error.

use std::future::Future;

use bytes::{Bytes, BytesMut};
use reqwest::{
    Response,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tokio::time::timeout_at;

use super::{
    anthropic,
    clock::Clock,
    driver::Shared,
    flight::Flight,
    limits::Limits,
    payload::{Endpoint, Payload, Sending},
    stream::Sink,
    streaming::Progress,
    upstream::{Shape, bare},
    verdict::{Told, UsageBody},
};
use crate::{
    observe::Observer,
    outcome::{ErrorClass, Failure, Outcome, Usage},
    request::tokens_of_letters,
    time::Instant,
};

/// How an attempt ended, and what came.
#[derive(Debug)]
pub(super) struct Came {
    pub(super) outcome: Outcome,
    /// What the provider said of a failure.
    pub(super) message: String,
    pub(super) headers: HeaderMap,
    /// An answer in one piece; of a stream its frames, where they are to be kept.
    pub(super) body: Bytes,
}

/// An attempt under way.
pub(super) struct Exchange<'a, O: Observer + Send + 'static> {
    pub(super) shared: &'a Shared<O>,
    pub(super) flight: &'a Flight<O>,
    pub(super) sending: &'a Sending,
    pub(super) payload: &'a Payload,
    pub(super) prompt_tokens: u32,
    pub(super) keeps_frames: bool,
}

/// The deadline came first.
pub(super) struct Late;

impl<O: Observer + Send + 'static> Exchange<'_, O> {
    pub(super) async fn play(self, sink: Option<&mut Sink>) -> Came {
        let sent = self.shared.clock.now();
        let mut limits = Limits::new(self.sending.deadline, sent);
        let mut headers = HeaderMap::new();
        let response = match self.within(&limits, self.request()).await {
            Ok(Ok(response)) => response,
            Ok(Err(told)) => return told.came(headers),
            Err(Late) => return self.late(&Progress::default()).came(headers),
        };
        limits.sign(self.shared.clock.now());
        let status = response.status();
        headers.clone_from(response.headers());
        if !status.is_success() {
            let told = self.error(response, &limits).await;
            return told.came(headers);
        }
        if self.sending.stream {
            self.stream(response, limits, sink, headers).await
        } else {
            self.piece(response, &limits, headers).await
        }
    }

    /// Sends it, and waits for status and headers.
    async fn request(&self) -> Result<Response, Told> {
        let Sending {
            request,
            deployment,
            model,
            stream,
            number,
            ..
        } = self.sending;
        let target = &self.shared.targets[deployment.index()];
        let model = bare(model);
        let url = target.upstream.url(self.payload.endpoint, model);
        let url = url.map_err(Told::not_spoken)?;
        let mut headers = target.headers.clone();
        headers.extend(
            self.payload
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        if let Some([of_request, of_attempt]) = &self.payload.number_headers {
            headers.insert(of_request, HeaderValue::from(request.0));
            headers.insert(of_attempt, HeaderValue::from(*number));
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = self.payload.body_for(&target.upstream, model, *stream);
        let body = body.map_err(Told::not_spoken)?;
        let request = self.shared.client.post(url).headers(headers).body(body);
        // The address may hold a secret, and a caller need not know it.
        let sent = request.send().await.map_err(reqwest::Error::without_url);
        sent.map_err(|error| Told::broken(with_causes(&error)))
    }

    pub(super) async fn within<T>(
        &self,
        limits: &Limits,
        doing: impl Future<Output = T>,
    ) -> Result<T, Late> {
        within(&self.shared.clock, limits.end(), doing).await
    }

    /// An answer with an error's status: what is left of its body may be missing.
    async fn error(&self, mut response: Response, limits: &Limits) -> Told {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let mut body = BytesMut::new();
        while body.len() < LARGEST_ERROR {
            match self.within(limits, response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None) | Err(_)) => break,
                Err(Late) => return self.late(&Progress::default()),
            }
        }
        let profile = &self.shared.profile;
        let epoch = self.shared.clock.epoch();
        Told::of_status(status, &headers, &body, profile, epoch)
    }

    async fn piece(&self, mut response: Response, limits: &Limits, headers: HeaderMap) -> Came {
        let mut body = BytesMut::new();
        loop {
            match self.within(limits, response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None)) => break,
                Ok(Err(error)) => {
                    let error = error.without_url();
                    return Told::broken(with_causes(&error)).came(headers);
                }
                Err(Late) => return self.late(&Progress::default()).came(headers),
            }
            if body.len() > LARGEST_ANSWER {
                return Told::broken("the answer is larger than any answer").came(headers);
            }
        }
        if self.is_anthropic() {
            match anthropic::answer(&body, self.unix_seconds()) {
                Some(answer) => body = BytesMut::from(&answer[..]),
                None => return Told::broken("the answer is no message").came(headers),
            }
        }
        let Ok(answer) = serde_json::from_slice::<Answered<'_>>(&body) else {
            return Told::broken("the answer is no JSON object").came(headers);
        };
        if let Some(error) = &answer.error {
            return Told::of_object(error, &self.shared.profile).came(headers);
        }
        let usage = answer
            .usage
            .and_then(|usage| serde_json::from_str::<UsageBody>(usage.get()).ok());
        let estimate = Usage::new(self.prompt_tokens, 0);
        let usage = match usage {
            Some(usage) => usage.or(estimate),
            None => Usage::new(self.prompt_tokens, self.estimated_tokens(&body)),
        };
        Came {
            outcome: Outcome::Success {
                usage,
                first_token_after: None,
            },
            message: String::new(),
            headers,
            body: body.freeze(),
        }
    }

    /// Tokens of an answer whose provider does not count them.
    fn estimated_tokens(&self, body: &[u8]) -> u32 {
        if self.payload.endpoint == Endpoint::Embeddings {
            return 0;
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let choices = body["choices"].as_array().into_iter().flatten();
        let texts = choices.filter_map(|choice| {
            let text = choice["message"]["content"].as_str();
            text.or_else(|| choice["text"].as_str())
        });
        let letters: usize = texts.map(|text| text.chars().count()).sum();
        tokens_of_letters(letters)
    }

    /// Whether its upstream speaks Anthropic's words.
    pub(super) fn is_anthropic(&self) -> bool {
        let target = &self.shared.targets[self.sending.deployment.index()];
        target.upstream.shape == Shape::Anthropic
    }

    /// What the wall clock says.
    pub(super) fn unix_seconds(&self) -> u64 {
        let clock = &self.shared.clock;
        clock.epoch().unix_seconds() + clock.now().since(Instant::ZERO).as_secs()
    }

    /// The failure that the deadline makes.
    pub(super) fn late(&self, progress: &Progress) -> Told {
        progress.mark(Told {
            failure: Failure::of(ErrorClass::Timeout).because(self.sending.timeout_cause),
            message: "Request timed out.".to_owned(),
        })
    }
}

async fn within<T>(clock: &Clock, end: Instant, doing: impl Future<Output = T>) -> Result<T, Late> {
    match clock.real(end) {
        Some(end) => timeout_at(end, doing).await.map_err(|_| Late),
        None => Ok(doing.await),
    }
}

impl Told {
    pub(super) fn came(self, headers: HeaderMap) -> Came {
        Came {
            outcome: Outcome::Failure(self.failure),
            message: self.message,
            headers,
            body: Bytes::new(),
        }
    }
}

/// What is read of an answer in one piece.
#[derive(Deserialize)]
struct Answered<'a> {
    #[serde(default)]
    error: Option<Value>,
    #[serde(default, borrow)]
    usage: Option<&'a RawValue>,
}

/// An error and what is behind it: `reqwest` itself says only that something failed.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(behind) = cause {
        text += ": ";
        text += &behind.to_string();
        cause = behind.source();
    }
    text
}

const LARGEST_ERROR: usize = 1 << 20;
/// Thousands of embeddings fit.
const LARGEST_ANSWER: usize = 256 << 20;
