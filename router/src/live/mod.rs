//! What talks to the world in real time (feature `live`). Nothing here decides: the core does, and
//! it compiles without any of this.
//!
//! | file | does |
//! | --- | --- |
//! | `driver.rs` | [`LiveRouter`]: one loop over the core's steps for each request |
//! | `flight.rs`, `core.rs` | the core behind its lock; what a request holds, given back when it is dropped |
//! | `start.rs` | what it is started with |
//! | `exchange.rs`, `streaming.rs` | sends one attempt and reads what comes, in one piece or as a stream |
//! | `stream.rs` | a stream on its way to the caller |
//! | `frames.rs`, `limits.rs` | what a frame of a stream is; when an attempt has taken too long |
//! | `verdict.rs` | statuses, headers and bodies as outcomes |
//! | `anthropic/` | chat completions in Anthropic's words, and back |
//! | `upstream.rs`, `payload.rs`, `secret.rs` | whom to call, what with, and what must never be shown |
//! | `answers.rs` | the texts of answers that the core's response cache knows of |
//! | `clock.rs` | real time as moments of a run |
//! | `alert_webhook.rs` | posts alerts |

mod alert_webhook;
mod answers;
mod anthropic;
mod clock;
mod core;
mod driver;
mod exchange;
mod flight;
mod frames;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
mod limits;
mod payload;
mod secret;
mod start;
mod stream;
mod streaming;
mod upstream;
mod verdict;

pub use alert_webhook::{AlertWebhook, WebhookError};
pub use clock::Clock;
pub use driver::{LiveRouter, Reply, TooManyNames};
pub use payload::{Call, Endpoint, Payload};
pub use secret::Secret;
pub use start::{LiveOptions, StartError};
pub use stream::{Begun, Item, ReplyStream};
pub use upstream::{Shape, Upstream};
