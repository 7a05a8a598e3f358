//! What a provider's wait time means. LiteLLM reads one header, as whole seconds or as a date, and
//! takes 0 at its word; `corrected` reads every form that is known, also in the body, and takes
//! what makes no sense for no hint. (BR-018, BR-026)

use std::time::Duration;

use crate::{
    outcome::{Failure, RetryAfter},
    profile::Profile,
    time::{Instant, nanos_from_secs},
};

impl Failure {
    /// The same failure with a wait time in its body.
    #[must_use]
    pub const fn wait_in_body(mut self, wait: Duration) -> Self {
        self.wait_in_body = Some(wait);
        self
    }

    /// How long the provider asked to be left alone. `None`: it did not say, or nonsense; the same
    /// as a zero in `corrected`, which LiteLLM takes for "not at all". (semantics 4.5)
    pub(crate) fn cooldown_hint(&self, now: Instant, profile: &Profile) -> Option<Duration> {
        if profile.corrections.reads_every_hint {
            return self.any_hint(now).filter(|wait| !wait.is_zero());
        }
        let seconds = self.retry_after?.whole_seconds(now)?;
        u64::try_from(seconds).ok().map(Duration::from_secs)
    }

    /// The hint in whatever form: the header's if it makes sense, else the body's. A date means that
    /// very moment.
    pub(crate) fn any_hint(&self, now: Instant) -> Option<Duration> {
        let header = match self.retry_after {
            Some(RetryAfter::Date(at)) if at > now => Some(at.since(now)),
            Some(RetryAfter::Millis(millis)) => Some(Duration::from_millis(millis)),
            Some(RetryAfter::Seconds(seconds)) => {
                u64::try_from(seconds).ok().map(Duration::from_secs)
            }
            Some(RetryAfter::Date(_) | RetryAfter::Unreadable) | None => None,
        };
        header.or(self.wait_in_body)
    }
}

/// The wait time in the words of an error: "try again in 20s", "retry in 1.5s", "… in 350ms",
/// "… in 1m12s". (OpenAI's and Google's messages)
pub(crate) fn in_words(message: &str) -> Option<Duration> {
    let message = message.to_lowercase();
    let after = ["try again in ", "retry in "];
    let at = after.iter().find_map(|words| {
        let at = message.find(words)?;
        Some(at + words.len())
    })?;
    let mut rest = &message[at..];
    let mut seconds: Option<f64> = None;
    loop {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let Ok(number) = rest[..digits].parse::<f64>() else {
            break;
        };
        let unit = rest[digits..].trim_start();
        let letters = unit
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(unit.len());
        let scale = match &unit[..letters] {
            "ms" => 1e-3,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3_600.0,
            _ => break,
        };
        seconds = Some(seconds.unwrap_or(0.0) + number * scale);
        rest = unit[letters..].trim_start();
    }
    seconds.map(|s| Duration::from_nanos(nanos_from_secs(s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    #[test]
    fn corrected_reads_every_form_and_takes_nonsense_for_none() {
        let read = |failure: Failure| {
            let hint = failure.cooldown_hint(at(10.0), &Profile::corrected());
            hint.map(|wait| wait.as_secs_f64())
        };
        let header = |hint| read(Failure::with_status(429).retry_after(hint));
        let body = Failure::with_status(429).wait_in_body(Duration::from_secs(52));

        assert_eq!(header(RetryAfter::Seconds(10)), Some(10.0));
        assert_eq!(header(RetryAfter::Date(at(40.0))), Some(30.0));
        assert_eq!(header(RetryAfter::Millis(1_500)), Some(1.5));
        for nonsense in [
            RetryAfter::Seconds(0),
            RetryAfter::Seconds(-5),
            RetryAfter::Date(at(5.0)),
            RetryAfter::Unreadable,
        ] {
            assert_eq!(header(nonsense), None, "{nonsense:?}");
        }
        assert_eq!(read(body), Some(52.0));
        assert_eq!(read(body.retry_after(RetryAfter::Seconds(10))), Some(10.0));
        assert_eq!(read(body.retry_after(RetryAfter::Unreadable)), Some(52.0));
    }

    #[test]
    fn litellm_reads_the_header_alone_and_takes_zero_at_its_word() {
        for profile in [Profile::litellm_1_92(), Profile::litellm_1_110()] {
            let read = |failure: Failure| failure.cooldown_hint(at(10.0), &profile);
            let zero = Failure::with_status(429).retry_after(RetryAfter::Seconds(0));
            let body = Failure::with_status(429).wait_in_body(Duration::from_secs(52));

            assert_eq!(read(zero), Some(Duration::ZERO));
            assert_eq!(read(body), None);
        }
    }

    #[test]
    fn words_say_how_long_in_units() {
        let seconds = |message| in_words(message).map(|wait| wait.as_secs_f64());

        assert_eq!(seconds("Please try again in 20s. Visit"), Some(20.0));
        assert_eq!(seconds("Please retry in 52.5s."), Some(52.5));
        assert_eq!(seconds("try again in 350ms"), Some(0.35));
        assert_eq!(seconds("Try again in 1m12s."), Some(72.0));
        assert_eq!(seconds("try again in 5 seconds"), Some(5.0));
        assert_eq!(seconds("try again in a while"), None);
        assert_eq!(seconds("no hint"), None);
    }
}
