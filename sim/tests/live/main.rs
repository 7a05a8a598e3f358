//! The front door over loopback, with providers of `mock-providers` behind it: what clients get, who
//! is let in, and that nothing is left behind.

#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on has failed, and looks at few events"
)]

mod abuse;
mod answers;
mod anthropic;
mod completions;
mod faults;
mod journal;
mod library;
mod operators;
#[path = "../engine/record/saw.rs"]
mod saw;
mod twins;

use std::{net::SocketAddr, time::Duration};

use mock_providers::{
    ProviderSpec,
    http::{Limits, MockServer, ServerOptions, Upstream},
};
use reqwest::{Client, Method, RequestBuilder, Response};
use router::{Profile, ProfileName, Seed};
use serde_json::Value;
use sim::serve::{FrontDoor, ServeOptions, read};

/// Providers, and a front door before them.
struct House {
    providers: MockServer,
    door: FrontDoor,
}

/// The key of all houses.
const KEY: &str = "sk-master";

impl House {
    /// Each provider is a deployment of the group `chat`, by its name. `settings` are the router's.
    async fn open(providers: &[(&str, &str)], settings: &str) -> Self {
        Self::with(
            providers,
            settings,
            ServeOptions::default(),
            Profile::default(),
        )
        .await
    }

    async fn with(
        providers: &[(&str, &str)],
        settings: &str,
        options: ServeOptions,
        profile: Profile,
    ) -> Self {
        let upstreams = providers.iter().map(|(name, rest)| Upstream {
            name: (*name).to_owned(),
            models: Vec::new(),
            spec: spec(rest),
        });
        let providers = ServerOptions {
            upstreams: upstreams.collect(),
            seed: Seed(7),
            output_tokens: 6,
            limits: Limits::default(),
        };
        let providers = MockServer::start(&providers, loopback()).await.unwrap();
        let url = providers.url();
        let deployments: String = providers_of(&url, &names(&providers).await);
        let config = format!(
            "model_list:\n{deployments}router_settings: {{{settings}}}\n\
             general_settings: {{master_key: {KEY}}}\n"
        );
        let config = read(&config, "config.yaml", profile, &|_| None).unwrap();
        let options = ServeOptions {
            proxies: false,
            ..options
        };
        let door = FrontDoor::open(config, options, loopback()).await.unwrap();
        Self { providers, door }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("http://{}/{path}", self.door.address());
        client().request(method, url).bearer_auth(KEY)
    }

    /// A chat request to the group, with these further keys.
    fn chat(&self, keys: &str) -> RequestBuilder {
        let body = format!(
            r#"{{"model": "chat", "messages": [{{"role": "user", "content": "twenty letters, just"}}]{keys}}}"#
        );
        self.request(Method::POST, "v1/chat/completions").body(body)
    }

    async fn ask(&self, keys: &str) -> Got {
        Got::of(self.chat(keys).send().await.unwrap()).await
    }

    /// Waits until nothing is under way, neither here nor at the providers.
    async fn until_quiet(&self) {
        for _ in 0..400 {
            if self.door.unfinished() == 0 && self.door.in_flight() == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        let (unfinished, in_flight) = (self.door.unfinished(), self.door.in_flight());
        panic!("{unfinished} requests and {in_flight} attempts are left");
    }
}

async fn names(providers: &MockServer) -> Vec<String> {
    let url = format!("{}/_mock/providers", providers.url());
    let told: Value = json(client().get(url).send().await.unwrap()).await;
    let all = told["providers"].as_array().unwrap().iter();
    all.map(|provider| provider["name"].as_str().unwrap().to_owned())
        .collect()
}

fn providers_of(url: &str, names: &[String]) -> String {
    let entry = |name: &String| {
        format!(
            "- {{model_name: chat, litellm_params: {{model: openai/{name}, api_key: sk-{name}, \
             api_base: \"{url}/{name}/v1\"}}, model_info: {{id: {name}}}}}\n"
        )
    };
    names.iter().map(entry).collect()
}

/// What a client got, in one piece.
#[derive(Debug)]
struct Got {
    status: u16,
    headers: reqwest::header::HeaderMap,
    text: String,
}

impl Got {
    async fn of(response: Response) -> Self {
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().await.unwrap_or_default(),
        }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }
}

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

async fn json(response: Response) -> Value {
    let text = response.text().await.unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// Constant times: 10 ms to the first token, 2 ms for each further one.
fn spec(rest: &str) -> ProviderSpec {
    serde_json::from_str(&format!(
        r#"{{"latency": {{"first_token": {{"constant": {{"ms": 10}}}},
                          "per_output_token": {{"constant": {{"ms": 2}}}}}}{rest}}}"#
    ))
    .unwrap()
}

fn corrected() -> Profile {
    ProfileName::Corrected.profile()
}
