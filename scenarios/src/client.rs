//! What stands between those who ask and the router: the `client` block.
//!
//! A call is what somebody asks. The client library sends it as a request; if that fails in a way that
//! may pass, or is silent for too long, the library waits and sends another. Whoever asked may go away
//! before any of them is answered. Each layer that tries again multiplies what the layer below does,
//! and that is what this is for: to see it.
//!
//! Defaults, waits and the statuses that are tried again are those of the Python packages `openai`
//! 2.54.0 and `anthropic` 2.14.0, read on 2026-11-30 (`_constants.py`, `_base_client.py`).

use std::time::Duration;

use router::{KeyedRng, Purpose, Seed};

use crate::{
    error::ScenarioError,
    schema::{ClientSpec, PatienceSpec, SdkSpec},
    traffic::placed,
    workload::{
        arrivals::{SECONDS_AT_MOST, number, span},
        dist::normal_quantile,
    },
    yaml::Node,
};

/// A client library and the patience of who uses it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Client {
    /// Whose library.
    pub sdk: Sdk,
    /// How often it tries again.
    pub max_retries: u8,
    /// How long the router may be silent; `None`: for ever.
    pub timeout: Option<Duration>,
    patience: Option<Patience>,
}

/// A client library by its published behaviour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sdk {
    /// `anthropic` for Python.
    Anthropic,
    /// None: one request a call.
    None,
    /// `openai` for Python.
    Openai,
}

/// What a library does after a failure that may pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SdkRetry {
    /// It gives the failure to whoever asked.
    Fail,
    /// It tries again after this time.
    After(Duration),
}

/// A log-normal time; `ln_sigma` 0 is everybody's.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Patience {
    ln_median_s: f64,
    ln_sigma: f64,
}

impl Client {
    /// When whoever made this call goes away, counted from its beginning; `None`: never. A function of
    /// the two numbers alone.
    #[must_use]
    pub fn patience(&self, seed: Seed, call: u64) -> Option<Duration> {
        let Patience {
            ln_median_s,
            ln_sigma,
        } = self.patience?;
        let u = KeyedRng::new(seed, PATIENCE, call, 0).unit();
        let normal = normal_quantile(u.max(f64::MIN_POSITIVE));
        let seconds = libm::exp(ln_median_s + ln_sigma * normal);
        Some(Duration::from_secs_f64(seconds.min(SECONDS_AT_MOST)))
    }

    /// What the library does after a failure of this status (`None`: a broken connection), having tried
    /// again `retries` times before. `told` is the answer's `retry-after`.
    #[must_use]
    pub fn after_failure(
        &self,
        seed: Seed,
        (call, retries): (u64, u8),
        status: Option<u16>,
        told: Option<Duration>,
    ) -> SdkRetry {
        let may_pass = status.is_none_or(|status| matches!(status, 408 | 409 | 429 | 500..));
        if !may_pass || retries >= self.max_retries {
            return SdkRetry::Fail;
        }
        let told = told.filter(|told| !told.is_zero());
        let longest = match self.sdk {
            Sdk::Openai => LONGEST_WAIT_OPENAI,
            Sdk::Anthropic | Sdk::None => Duration::MAX,
        };
        match told {
            Some(told) if told > longest => SdkRetry::Fail,
            Some(told) => SdkRetry::After(told),
            None => {
                let doubled = FIRST_WAIT_S * f64::from(1_u32 << u32::from(retries).min(DOUBLINGS));
                let u = KeyedRng::new(seed, WAIT, call, u64::from(retries)).unit();
                SdkRetry::After(Duration::from_secs_f64(doubled * (1.0 - JITTER * u)))
            }
        }
    }

    /// What the reader should know of it.
    pub(crate) fn told(self) -> String {
        let Self {
            sdk,
            max_retries,
            timeout,
            patience,
        } = self;
        let sdk = match sdk {
            Sdk::Anthropic => "anthropic for Python",
            Sdk::None => "no library",
            Sdk::Openai => "openai for Python",
        };
        let timeout = timeout.map_or_else(
            || "no timeout".to_owned(),
            |timeout| format!("a timeout of {} s", timeout.as_secs_f64()),
        );
        let patience = match patience {
            None => String::new(),
            Some(one) => format!(
                "; callers go away, half of them within {:.3} s",
                libm::exp(one.ln_median_s)
            ),
        };
        format!("client: {sdk}, up to {max_retries} retries and {timeout}{patience}")
    }
}

/// Reads the block.
pub(crate) fn client(node: Option<&Node>, file: &str) -> Result<Option<Client>, ScenarioError> {
    let Some(node) = node.filter(|node| !node.is_null()) else {
        return Ok(None);
    };
    let spec: ClientSpec = node.read(file).map_err(|error| error.under("client"))?;
    made(&spec)
        .map(Some)
        .map_err(|error| placed(error, node, "client", file))
}

fn made(spec: &ClientSpec) -> Result<Client, ScenarioError> {
    let (sdk, retries, timeout_s) = match spec.sdk.unwrap_or_default() {
        SdkSpec::Anthropic => (Sdk::Anthropic, RETRIES, Some(TIMEOUT_S)),
        SdkSpec::None => (Sdk::None, 0, None),
        SdkSpec::Openai => (Sdk::Openai, RETRIES, Some(TIMEOUT_S)),
    };
    let asked = spec.max_retries.unwrap_or(retries);
    let max_retries = u8::try_from(asked).ok().filter(|&n| n <= RETRIES_AT_MOST);
    let too_many = || number("max_retries", f64::from(asked), "from 0 to 100 retries");
    let timeout = spec.timeout_s.map(|s| span("timeout_s", s)).transpose()?;
    Ok(Client {
        sdk,
        max_retries: max_retries.ok_or_else(too_many)?,
        timeout: timeout.or(timeout_s).map(Duration::from_secs_f64),
        patience: spec
            .patience
            .map(|spec| patience(&spec).map_err(|error| error.under("patience")))
            .transpose()?,
    })
}

fn patience(spec: &PatienceSpec) -> Result<Patience, ScenarioError> {
    let of = |key: &str, seconds: f64| span(key, seconds).map(libm::log);
    match (spec.constant_s, spec.p50_s, spec.p95_s) {
        (Some(all), None, None) => Ok(Patience {
            ln_median_s: of("constant_s", all)?,
            ln_sigma: 0.0,
        }),
        (None, Some(p50), Some(p95)) => {
            let (ln_median_s, ln_p95_s) = (of("p50_s", p50)?, of("p95_s", p95)?);
            if p95 <= p50 {
                return Err(number(
                    "p95_s",
                    p95,
                    format!("a time above `p50_s`, which is {p50}"),
                ));
            }
            Ok(Patience {
                ln_median_s,
                ln_sigma: (ln_p95_s - ln_median_s) / normal_quantile(0.95),
            })
        }
        _ => Err(
            ScenarioError::new("a patience is given by one number or by two")
                .help("accepted are `constant_s` alone, or `p50_s` with `p95_s`, in seconds"),
        ),
    }
}

/// `DEFAULT_MAX_RETRIES` of both.
const RETRIES: u32 = 2;
/// Beyond any use, and what request ids have room for.
const RETRIES_AT_MOST: u8 = 100;
/// `DEFAULT_TIMEOUT` of both.
const TIMEOUT_S: f64 = 600.0;
/// `INITIAL_RETRY_DELAY` of both, doubled with each retry ...
const FIRST_WAIT_S: f64 = 0.5;
/// ... up to `MAX_RETRY_DELAY`, 8 s ...
const DOUBLINGS: u32 = 4;
/// ... less a random share of up to a quarter.
const JITTER: f64 = 0.25;
/// `MAX_RETRY_AFTER_DELAY` of `openai`; `anthropic` has none.
const LONGEST_WAIT_OPENAI: Duration = Duration::from_secs(120);

const PATIENCE: Purpose = Purpose::named("client.patience");
const WAIT: Purpose = Purpose::named("client.wait");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    fn read(text: &str) -> Result<Client, String> {
        let tree = parse(text, "s").unwrap();
        match client(tree.get("client"), "s") {
            Ok(client) => Ok(client.unwrap()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn wait(client: &Client, retries: u8, status: u16, told: Option<u64>) -> Option<f64> {
        let told = told.map(Duration::from_secs);
        match client.after_failure(Seed(1), (7, retries), Some(status), told) {
            SdkRetry::Fail => None,
            SdkRetry::After(wait) => Some(wait.as_secs_f64()),
        }
    }

    #[test]
    fn libraries_try_twice_again_what_may_pass_and_nothing_else() {
        for sdk in ["openai", "anthropic"] {
            let client = read(&format!("client: {{sdk: {sdk}}}")).unwrap();

            for status in [408, 409, 429, 500, 503, 529] {
                assert!(wait(&client, 0, status, None).is_some(), "{sdk} {status}");
                assert!(wait(&client, 1, status, None).is_some(), "{sdk} {status}");
                assert_eq!(wait(&client, 2, status, None), None, "{sdk} {status}");
            }
            for status in [400, 401, 403, 404, 413, 422] {
                assert_eq!(wait(&client, 0, status, None), None, "{sdk} {status}");
            }
            assert_eq!(client.timeout, Some(Duration::from_secs(600)));
        }
    }

    #[test]
    fn waits_double_from_half_a_second_to_eight_less_up_to_a_quarter() {
        let client = read("client: {max_retries: 100}").unwrap();

        for (retries, full) in [(0, 0.5), (1, 1.0), (2, 2.0), (4, 8.0), (5, 8.0), (99, 8.0)] {
            let wait = wait(&client, retries, 500, None).unwrap();
            assert!(wait > full * 0.75 && wait <= full, "{retries}: {wait}");
        }
    }

    #[test]
    fn openai_waits_as_told_up_to_two_minutes_and_anthropic_for_ever() {
        let openai = read("client: {}").unwrap();
        let anthropic = read("client: {sdk: anthropic}").unwrap();

        assert_eq!(wait(&openai, 0, 429, Some(120)), Some(120.0));
        assert_eq!(wait(&openai, 0, 429, Some(121)), None);
        assert_eq!(wait(&anthropic, 0, 429, Some(3_600)), Some(3_600.0));
        let usual = wait(&openai, 0, 429, None);
        assert_eq!(wait(&openai, 0, 429, Some(0)), usual);
    }

    #[test]
    fn patience_goes_through_its_quantiles() {
        let client = read("client: {patience: {p50_s: 20, p95_s: 60}}").unwrap();
        let within = |seconds: f64| {
            let drawn = (0..10_000).map(|call| client.patience(Seed(3), call).unwrap());
            drawn.filter(|s| s.as_secs_f64() <= seconds).count() as f64 / 10_000.0
        };

        assert!((within(20.0) - 0.5).abs() < 0.02);
        assert!((within(60.0) - 0.95).abs() < 0.01);
        let same = read("client: {patience: {constant_s: 30}}").unwrap();
        let seconds = same.patience(Seed(3), 9).unwrap().as_secs_f64();
        assert!((seconds - 30.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let cases = [
            (
                "client: {max_retries: 101}",
                "client.max_retries",
                "from 0 to 100",
            ),
            ("client: {timeout_s: 0}", "client.timeout_s", "above 0"),
            ("client: {sdk: cohere}", "client.sdk", "openai"),
            (
                "client: {patience: {p50_s: 9}}",
                "client.patience",
                "`p95_s`",
            ),
            (
                "client: {patience: {p50_s: 9, p95_s: 9}}",
                "client.patience.p95_s",
                "above `p50_s`",
            ),
            ("client: {retries: 1}", "client", "max_retries"),
        ];
        for (text, key, accepted) in cases {
            let error = read(text).unwrap_err();
            assert!(error.contains(key), "{text}: {error}");
            let tree = parse(text, "s").unwrap();
            let error = client(tree.get("client"), "s").unwrap_err();
            let told = format!("{error} {}", error.help_text().unwrap_or_default());
            assert!(told.contains(accepted), "{text}: {told}");
            assert_eq!(error.line(), Some(1), "{text}");
        }
    }
}
