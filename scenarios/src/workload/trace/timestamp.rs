//! Times as traces write them: a number of some unit, or a calendar date; read to the nanosecond
//! without passing through floating point.

use schemars::JsonSchema;
use serde::Deserialize;

/// What a time column counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
pub enum TimeUnit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// A date and time, `2023-11-16 18:15:46.68059`; `T` between and a zone after are allowed, and
    /// without a zone it is UTC.
    #[serde(rename = "datetime")]
    DateTime,
}

impl TimeUnit {
    /// What is accepted as such a time, in words.
    pub(crate) const fn accepted(self) -> &'static str {
        match self {
            Self::Seconds => "a number of seconds",
            Self::Milliseconds => "a number of milliseconds",
            Self::Microseconds => "a number of microseconds",
            Self::Nanoseconds => "a number of nanoseconds",
            Self::DateTime => "a date with a time, as 2026-11-29T22:40:07.39Z",
        }
    }

    /// Nanoseconds since this column's zero (1970 for dates); `None` if it is no such time.
    pub(crate) fn read(self, text: &str) -> Option<i64> {
        match self {
            Self::Seconds => decimal(text, 9),
            Self::Milliseconds => decimal(text, 6),
            Self::Microseconds => decimal(text, 3),
            Self::Nanoseconds => decimal(text, 0),
            Self::DateTime => date_time(text),
        }
    }
}

/// A decimal number times 10^`places`, cut towards zero.
fn decimal(text: &str, places: usize) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let mut value: i64 = whole.parse().ok()?;
    let mut following = fraction.bytes();
    for _ in 0..places {
        let digit = following.next().map_or(0, |byte| i64::from(byte - b'0'));
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(if negative { -value } else { value })
}

/// `YYYY-MM-DD HH:MM:SS[.fraction][Z|±HH:MM]` to nanoseconds since 1970.
pub(crate) fn date_time(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once(['T', ' '])?;
    let mut parts = date.splitn(3, '-');
    let mut number = |width: usize| {
        let part = parts.next()?;
        if part.len() == width {
            digits(part)
        } else {
            None
        }
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let clock_end = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(clock_end);
    let offset_s = match zone {
        "" | "Z" => 0,
        _ => {
            let (hours, minutes) = zone_parts(&zone[1..])?;
            let seconds = digits(hours)? * 3_600 + digits(minutes)? * 60;
            if zone.starts_with('-') {
                -seconds
            } else {
                seconds
            }
        }
    };
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = whole.splitn(3, ':');
    let mut number = || parts.next().filter(|part| part.len() == 2).and_then(digits);
    let (hour, minute, second) = (number()?, number()?, number()?);
    if hour > 23 || minute > 59 || second > 60 || fraction.starts_with(['-', '+']) {
        return None;
    }
    let days = days_since_1970(year, month, day)?;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset_s;
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(decimal(&format!("0.{fraction}"), 9)?)
}

/// Hours and minutes of a zone as `02:00`, `0200` or, as PostgreSQL writes it, `02`.
fn zone_parts(zone: &str) -> Option<(&str, &str)> {
    match zone.split_once(':') {
        Some(parts) => Some(parts),
        None if zone.len() == 2 => Some((zone, "0")),
        None if zone.len() == 4 && zone.is_ascii() => Some(zone.split_at(2)),
        None => None,
    }
}

fn digits(text: &str) -> Option<i64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar; `None` if there is no such date.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let february = if leap { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(month - 1)
        .ok()
        .filter(|month| *month < 12)?;
    if year < 1 || day < 1 || day > lengths[month] {
        return None;
    }
    let before = year - 1;
    let to_year = before * 365 + before / 4 - before / 100 + before / 400;
    Some(to_year + lengths[..month].iter().sum::<i64>() + day - 1 - 719_162)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_date_forms_of_the_azure_traces_are_read_to_the_nanosecond() {
        assert_eq!(
            date_time("1970-01-02 00:00:00.0000001"),
            Some(86_400_000_000_100)
        );
        assert_eq!(
            date_time("2023-11-16 18:15:46.6805900"),
            Some(1_700_158_546_680_590_000)
        );
        assert_eq!(
            date_time("2024-05-10 00:00:00.009930+00:00"),
            Some(1_715_299_200_009_930_000)
        );
        assert_eq!(
            date_time("2024-10-15T12:00:00.269Z"),
            Some(1_728_993_600_269_000_000)
        );
        assert_eq!(
            date_time("2024-10-15T14:00:00+02:00"),
            date_time("2024-10-15T12:00:00Z")
        );
    }

    #[test]
    fn dates_that_are_none_are_refused() {
        for text in [
            "",
            "yesterday",
            "2023-02-29 00:00:00",
            "2023-13-01 00:00:00",
            "2023-11-16",
            "2023-11-16 25:00:00",
            "2023-11-16 10:00",
            "23-11-16 10:00:00",
            "2023-11-16 10:00:00.-5",
        ] {
            assert_eq!(date_time(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_keep_every_digit_down_to_the_nanosecond() {
        assert_eq!(
            TimeUnit::Seconds.read("118.000000001"),
            Some(118_000_000_001)
        );
        assert_eq!(
            TimeUnit::Milliseconds.read("3536999"),
            Some(3_536_999_000_000)
        );
        assert_eq!(TimeUnit::Nanoseconds.read("-5"), Some(-5));
        assert_eq!(TimeUnit::Seconds.read("-0.5"), Some(-500_000_000));
        for text in ["", "NaN", "1e5", "0x10", "99999999999999999999", ".5"] {
            assert_eq!(TimeUnit::Seconds.read(text), None, "{text}");
        }
    }
}
