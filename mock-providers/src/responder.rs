//! Providers as responders of wiremock: the same behaviours as those of the server, in one line of a
//! test.
//!
//! What wiremock cannot do is left to it in the nearest way: it sends a body at once, so the frames of a
//! stream come together when the last is due, and a stream that falls silent never comes; a body in one
//! piece that would be cut is a connection that ends before the answer. `http::MockServer` does both.

use std::{
    panic,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use router::{Instant, Outcome, Seed};
use wiremock::{Request, Respond, ResponseTemplate};

use crate::{
    clock::Clock,
    error::SpecError,
    exchange::{
        Encounter, Head, Play,
        asked::{Api, Asked},
        frames::End,
        orders::Orders,
    },
    providers::Providers,
    reply::ProviderCall,
    spec::ProviderSpec,
};

/// A provider that answers the requests of a wiremock server, from now on.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use mock_providers::Responder;
/// use wiremock::{Mock, MockServer, matchers::any};
///
/// let server = MockServer::start().await;
/// let provider = Responder::read(r#"{"preset": "openai", "quota": {"requests_per_minute": 3}}"#).unwrap();
/// Mock::given(any()).respond_with(provider).mount(&server).await;
/// # });
/// ```
///
/// The path says which API it is, as with the server; headers such as `x-mock-fault` order what happens
/// to one request. A clone is the same provider: keep one to read what it was asked.
#[derive(Clone, Debug)]
pub struct Responder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Clock,
    output_tokens: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    providers: Providers,
    latest: Instant,
    heard: Vec<(ProviderCall, Outcome)>,
}

impl Responder {
    /// The provider of this spec, whose model says 50 tokens.
    ///
    /// # Errors
    ///
    /// If the spec makes no sense.
    pub fn new(spec: &ProviderSpec, seed: Seed) -> Result<Self, SpecError> {
        let clock = Clock::start();
        let providers = Providers::new([spec], seed, clock.epoch()).map_err(|(_, error)| error)?;
        Ok(Self(Arc::new(Shared {
            clock,
            output_tokens: OUTPUT_TOKENS,
            state: Mutex::new(State {
                providers,
                latest: Instant::ZERO,
                heard: Vec::new(),
            }),
        })))
    }

    /// The provider of the spec in this JSON.
    ///
    /// # Errors
    ///
    /// If it is no spec, or one that makes no sense; what it says.
    pub fn read(json: &str) -> Result<Self, String> {
        let spec: ProviderSpec = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Self::new(&spec, Seed(0)).map_err(|error| error.to_string())
    }

    /// What it was asked so far, and what became of it.
    #[must_use]
    pub fn heard(&self) -> Vec<(ProviderCall, Outcome)> {
        let state = self.0.state.lock();
        state.unwrap_or_else(PoisonError::into_inner).heard.clone()
    }

    fn play(&self, request: &Request) -> Result<Play, (u16, String)> {
        let path = request.url.path().trim_matches('/');
        let Some((api, _)) = Api::of_path(path) else {
            let message = format!("there is nothing at /{path}");
            return Err((404, Api::Chat.complaint(INVALID, &message)));
        };
        let wrong = |message: &str| (400, api.complaint(INVALID, message));
        let asked = Asked::read(api, path, &request.body).map_err(|message| wrong(&message))?;
        let texts = request.headers.iter();
        let texts = texts.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let orders = Orders::read(texts).map_err(|message| wrong(&message))?;

        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        state.latest = self.0.clock.now().max(state.latest);
        let encounter = Encounter {
            at: state.latest,
            epoch: self.0.clock.epoch(),
            number: state.heard.len() as u64,
            upstream: 0,
            output_tokens: self.0.output_tokens,
        };
        let met = encounter.with(&mut state.providers, &asked, &orders);
        let met = met.map_err(|error| wrong(&error.to_string()))?;
        state.heard.push((met.call, met.reply.outcome));
        Ok(met.play)
    }
}

impl Respond for Responder {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        match self.play(request) {
            Err((status, body)) => {
                ResponseTemplate::new(status).set_body_raw(body, "application/json")
            }
            Ok(Play::Hang) => ResponseTemplate::new(200).set_delay(FOREVER),
            Ok(Play::Reset { .. } | Play::Piece { cut: true, .. }) => hang_up(),
            Ok(Play::Piece {
                after, head, body, ..
            }) => template(&head, body, after),
            Ok(Play::Stream {
                after,
                head,
                frames,
            }) => {
                let mut frames = *frames;
                let (mut body, mut last) = (String::new(), after);
                for (after, frame) in &mut frames {
                    body += &frame;
                    last = after;
                }
                if frames.end == End::Silence {
                    last = FOREVER;
                }
                template(&head, body, last)
            }
        }
    }
}

fn template(head: &Head, body: String, after: Duration) -> ResponseTemplate {
    let mut template = ResponseTemplate::new(head.status)
        .set_delay(after.min(FOREVER))
        .set_body_raw(body, head.content_type);
    for (name, value) in &head.headers {
        template = template.insert_header(*name, value.as_str());
    }
    template
}

/// Ends the connection before the answer: a responder can only do so by ending the connection's own
/// task, which reports nothing when it is unwound like this.
fn hang_up() -> ! {
    panic::resume_unwind(Box::new("the connection ends here"))
}

const INVALID: &str = "invalid_request_error";
const OUTPUT_TOKENS: u32 = 50;
/// A day: no test waits so long, and timers can.
const FOREVER: Duration = Duration::from_secs(86_400);
