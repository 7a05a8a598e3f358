//! Errors as OpenAI's clients expect them: a status, and an object that says what is wrong. `code` is
//! the status as a text, and types follow from it, as LiteLLM's proxy has it
//! (`openai_error_payload.py`, `ProxyException`, 1.110.2).

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use serde_json::json;

/// An error on its way to a caller.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    kind: Option<&'static str>,
    param: Option<String>,
    message: String,
    /// Boxed, since few errors have any.
    pub(super) headers: Box<HeaderMap>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            kind: None,
            param: None,
            message: message.into(),
            headers: Box::default(),
        }
    }

    /// A request that makes no sense.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// A key of the body that makes no sense.
    pub(super) fn param(param: &str, message: impl Into<String>) -> Self {
        Self {
            param: Some(param.to_owned()),
            ..Self::bad(message)
        }
    }

    /// A caller that may not come in.
    pub(super) fn unauthorized(message: &str) -> Self {
        let message = format!("Authentication Error, {message}");
        Self::new(StatusCode::UNAUTHORIZED, message).of_type("auth_error")
    }

    pub(super) const fn of_type(mut self, kind: &'static str) -> Self {
        self.kind = Some(kind);
        self
    }

    /// The object, as it stands in a body or in a frame.
    pub(super) fn json(&self) -> String {
        let status = self.status.as_u16();
        let kind = self.kind.unwrap_or(match status {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "internal_server_error",
        });
        let Self { message, param, .. } = self;
        let code = status.to_string();
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
            .to_string()
    }

    pub(super) fn response(self) -> Response {
        let mut response = Response::new(Body::from(self.json()));
        *response.status_mut() = self.status;
        *response.headers_mut() = *self.headers;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_shape_that_clients_read() {
        let refusal = Refusal::param("timeout", "no number");
        let object: serde_json::Value = serde_json::from_str(&refusal.json()).unwrap();

        assert_eq!(
            object["error"],
            json!({"message": "no number", "type": "invalid_request_error", "param": "timeout",
                   "code": "400"})
        );
        let kinds = [429, 401, 500].map(|status| {
            let refusal = Refusal::new(StatusCode::from_u16(status).unwrap(), "");
            let object: serde_json::Value = serde_json::from_str(&refusal.json()).unwrap();
            object["error"]["type"].as_str().unwrap().to_owned()
        });
        let due = [
            "rate_limit_error",
            "authentication_error",
            "internal_server_error",
        ];
        assert_eq!(kinds, due);
    }
}
