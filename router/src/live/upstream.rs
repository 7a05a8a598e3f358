//! Whom a deployment's attempts are sent to.

use std::collections::BTreeMap;

use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::value::RawValue;

use super::{anthropic, payload::Endpoint, secret::Secret};
use crate::providers::split_provider;

/// The address of a deployment, and what is sent there with every attempt.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// `api_base`.
    pub api_base: String,
    /// In whose words it is called.
    pub shape: Shape,
    /// `api_key`.
    pub api_key: Option<Secret>,
    /// `organization`, which OpenAI wants as a header.
    pub organization: Option<String>,
    /// `headers` and `extra_headers`.
    pub headers: Vec<(String, Secret)>,
    /// Parameters that are sent where the caller gives none, as `temperature`.
    pub parameters: BTreeMap<String, Box<RawValue>>,
}

/// In whose words a deployment is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Anthropic's messages: chat completions are translated, and the answers back.
    Anthropic,
    /// Azure's: the deployment's name stands in the address.
    Azure {
        /// `api_version`.
        api_version: String,
    },
    /// OpenAI's, and that of all who serve the same.
    OpenAi,
}

impl Upstream {
    /// An OpenAI-shaped server at this address.
    #[must_use]
    pub const fn open_ai(api_base: String, api_key: Option<Secret>) -> Self {
        Self {
            api_base,
            shape: Shape::OpenAi,
            api_key,
            organization: None,
            headers: Vec::new(),
            parameters: BTreeMap::new(),
        }
    }

    /// What every attempt carries. The error names what is amiss, and no value.
    pub(super) fn fixed_headers(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        let mut put = |name: HeaderName, value: &str| match HeaderValue::from_str(value) {
            Ok(mut value) => {
                value.set_sensitive(true);
                headers.insert(name, value);
                Ok(())
            }
            Err(_) => Err(format!(
                "the value of `{name}` is no text that a header can hold"
            )),
        };
        if let Some(key) = &self.api_key {
            match self.shape {
                Shape::Azure { .. } => put(HeaderName::from_static("api-key"), key.reveal())?,
                Shape::Anthropic => put(HeaderName::from_static("x-api-key"), key.reveal())?,
                Shape::OpenAi => put(AUTHORIZATION, &format!("Bearer {}", key.reveal()))?,
            }
        }
        if let Some(organization) = &self.organization {
            put(HeaderName::from_static("openai-organization"), organization)?;
        }
        if self.shape == Shape::Anthropic {
            put(
                HeaderName::from_static("anthropic-version"),
                anthropic::VERSION,
            )?;
        }
        for (name, value) in &self.headers {
            let named = HeaderName::try_from(name.as_str());
            let name = named.map_err(|_| format!("`{name}` is no name of a header"))?;
            put(name, value.reveal())?;
        }
        Ok(headers)
    }

    /// Where an attempt goes.
    pub(super) fn url(&self, endpoint: Endpoint, model: &str) -> Result<Url, String> {
        let base = self.api_base.trim_end_matches('/');
        let path = endpoint.path();
        let text = match &self.shape {
            Shape::Anthropic if endpoint != Endpoint::Chat => {
                return Err(format!("anthropic has no /{path}"));
            }
            Shape::Anthropic if base.ends_with("/v1/messages") => base.to_owned(),
            Shape::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
            Shape::Anthropic => format!("{base}/v1/messages"),
            Shape::OpenAi if base.ends_with(path) => base.to_owned(),
            Shape::OpenAi => format!("{base}/{path}"),
            Shape::Azure { api_version } => {
                format!("{base}/openai/deployments/{model}/{path}?api-version={api_version}")
            }
        };
        let url = Url::parse(&text).ok();
        url.filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or_else(|| format!("`{}` is no http or https address", self.api_base))
    }
}

/// A model as its provider knows it: without the provider's name before it.
pub(super) fn bare(model: &str) -> &str {
    split_provider(model).map_or(model, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_made_from_the_base_whatever_its_slashes() {
        let of = |base: &str| {
            let upstream = Upstream::open_ai(base.to_owned(), None);
            upstream.url(Endpoint::Chat, "m").unwrap().to_string()
        };

        assert_eq!(of("http://h/v1"), "http://h/v1/chat/completions");
        assert_eq!(of("http://h/v1/"), "http://h/v1/chat/completions");
        assert_eq!(of("http://h/chat/completions"), "http://h/chat/completions");
    }

    #[test]
    fn azure_has_the_deployment_in_the_address_and_a_header_of_its_own_for_the_key() {
        let api_version = "2024-10-21".to_owned();
        let upstream = Upstream {
            shape: Shape::Azure { api_version },
            ..Upstream::open_ai("http://h".to_owned(), Some(Secret::new("k".to_owned())))
        };

        assert_eq!(
            upstream.url(Endpoint::Embeddings, "e").unwrap().to_string(),
            "http://h/openai/deployments/e/embeddings?api-version=2024-10-21"
        );
        let headers = upstream.fixed_headers().unwrap();
        assert_eq!(headers["api-key"], "k");
        assert!(!headers.contains_key("authorization"));
    }

    #[test]
    fn anthropic_has_an_address_and_headers_of_its_own() {
        let of = |base: &str| Upstream {
            shape: Shape::Anthropic,
            ..Upstream::open_ai(base.to_owned(), Some(Secret::new("k".to_owned())))
        };

        for base in [
            "http://h",
            "http://h/",
            "http://h/v1",
            "http://h/v1/messages",
        ] {
            let url = of(base).url(Endpoint::Chat, "m").unwrap();
            assert_eq!(url.to_string(), "http://h/v1/messages", "{base}");
        }
        assert!(of("http://h").url(Endpoint::Embeddings, "m").is_err());
        let headers = of("http://h").fixed_headers().unwrap();
        assert_eq!(
            (&headers["x-api-key"], &headers["anthropic-version"]),
            (&"k".parse().unwrap(), &"2023-06-01".parse().unwrap())
        );
        assert!(!headers.contains_key("authorization"));
    }

    #[test]
    fn no_key_is_shown_by_debugging_an_upstream_or_its_headers() {
        let mut upstream = Upstream::open_ai(
            "http://h".to_owned(),
            Some(Secret::new("sk-secret".to_owned())),
        );
        let header = (
            "x-gateway-key".to_owned(),
            Secret::new("sk-secret".to_owned()),
        );
        upstream.headers.push(header);

        let shown = format!("{upstream:?} {:?}", upstream.fixed_headers());

        assert!(!shown.contains("sk-secret"), "{shown}");
    }

    #[test]
    fn what_is_no_address_or_no_header_is_told_without_its_value() {
        let upstream = Upstream::open_ai("ftp://h".to_owned(), None);
        assert!(upstream.url(Endpoint::Chat, "m").is_err());

        let key = Some(Secret::new("sk\nsecret".to_owned()));
        let error = Upstream::open_ai("http://h".to_owned(), key).fixed_headers();
        assert!(!error.unwrap_err().contains("secret"));
    }
}
