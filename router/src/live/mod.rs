//! What talks to the world in real time (feature `live`). Nothing here decides: the core does, and
//! it compiles without any of this.

mod alert_webhook;

pub use alert_webhook::{AlertWebhook, WebhookError};
