//! What a server bears of its clients: how many at once, how slow, how much.

use std::{error::Error, time::Duration};

use axum::{
    body::{Body, Bytes, to_bytes},
    http::{HeaderMap, StatusCode, header},
};
use http_body_util::LengthLimitError;
use tokio::time::timeout;

/// Limits of a server on its clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections at once; further ones wait to be taken.
    pub connections: u32,
    /// How long the head of a request may take, and how long a connection may rest between two.
    pub head_timeout: Duration,
    /// How long a body may take.
    pub body_timeout: Duration,
    /// How long a client may leave bytes of an answer unread before its connection, and with it its
    /// request, is ended.
    pub write_timeout: Duration,
    /// The largest body, in bytes.
    pub largest_body: usize,
}

impl Default for Limits {
    /// As many connections as the system allows; a minute for a body or for bytes that nobody reads;
    /// 75 s for a head, as long as nginx keeps a connection that rests (`keepalive_timeout`); bodies of
    /// 64 MiB, so that prompts of a million tokens fit.
    fn default() -> Self {
        Self {
            connections: 1_000_000,
            head_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            largest_body: 64 << 20,
        }
    }
}

/// Why a body is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadBody {
    /// It is too large.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// It takes too long.
    #[error("the body did not come within {} s", .0.as_secs_f64())]
    TooSlow(Duration),
    /// It breaks off.
    #[error("the body ended before its end")]
    Broken,
}

impl BadBody {
    /// The status that says so.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Broken => StatusCode::BAD_REQUEST,
        }
    }
}

impl Limits {
    /// The whole body, if it is no larger than allowed and comes in time.
    ///
    /// # Errors
    ///
    /// If it is too large, by its own word or in truth, comes too slowly, or breaks off.
    pub async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, BadBody> {
        let most = self.largest_body;
        let length = headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > most as u64) {
            return Err(BadBody::TooLarge(most));
        }
        match timeout(self.body_timeout, to_bytes(body, most)).await {
            Ok(Ok(body)) => Ok(body),
            Ok(Err(error)) => {
                let limit = error.source();
                let limit = limit.is_some_and(<dyn Error>::is::<LengthLimitError>);
                Err(if limit {
                    BadBody::TooLarge(most)
                } else {
                    BadBody::Broken
                })
            }
            Err(_) => Err(BadBody::TooSlow(self.body_timeout)),
        }
    }
}
