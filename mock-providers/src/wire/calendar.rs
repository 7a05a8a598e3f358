//! Moments of a run as the wall clock says them: the HTTP date and RFC 3339.

use router::{Epoch, Instant};

/// A moment of the wall clock in UTC.
struct Moment {
    year: u64,
    /// From 1.
    month: u64,
    /// From 1.
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    /// 0 is Sunday.
    weekday: u64,
}

/// The moment as an HTTP date (RFC 9110, 5.6.7), e.g. `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(super) fn http_date(epoch: Epoch, at: Instant) -> String {
    let moment = moment(epoch, at);
    format!(
        "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
        WEEKDAYS[index(moment.weekday)],
        moment.day,
        MONTHS[index(moment.month - 1)],
        moment.year,
        moment.hour,
        moment.minute,
        moment.second
    )
}

/// The moment by RFC 3339 to the second, rounded up, e.g. `2024-03-26T20:00:00Z`.
#[must_use]
pub fn rfc_3339(epoch: Epoch, at: Instant) -> String {
    let moment = moment(epoch, at);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second
    )
}

/// Days to a date by Hinnant, "chrono-compatible low-level date algorithms", 2013.
fn moment(epoch: Epoch, at: Instant) -> Moment {
    let seconds = epoch.unix_seconds() + at.as_nanos().div_ceil(1_000_000_000);
    let (days, in_day) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    Moment {
        year: year_of_era + era * 400 + u64::from(month <= 2),
        month,
        day: of_year - (153 * month_from_march + 2) / 5 + 1,
        hour: in_day / 3_600,
        minute: in_day / 60 % 60,
        second: in_day % 60,
        // 1 January 1970 was a Thursday.
        weekday: (days + 4) % 7,
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a day of the week or a month of the year")
}

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_as_the_calendar_has_them() {
        for (unix, date, rfc) in [
            (
                784_111_777,
                "Sun, 06 Nov 1994 08:49:37 GMT",
                "1994-11-06T08:49:37Z",
            ),
            (
                951_782_400,
                "Tue, 29 Feb 2000 00:00:00 GMT",
                "2000-02-29T00:00:00Z",
            ),
            (
                1_711_483_200,
                "Tue, 26 Mar 2024 20:00:00 GMT",
                "2024-03-26T20:00:00Z",
            ),
            (
                4_107_542_399,
                "Sun, 28 Feb 2100 23:59:59 GMT",
                "2100-02-28T23:59:59Z",
            ),
        ] {
            let epoch = Epoch::from_unix_seconds(unix);
            assert_eq!(http_date(epoch, Instant::ZERO), date);
            assert_eq!(rfc_3339(epoch, Instant::ZERO), rfc);
        }
    }

    #[test]
    fn a_moment_within_a_second_is_rounded_up_to_its_end() {
        let epoch = Epoch::from_unix_seconds(1_711_483_199);

        assert_eq!(
            rfc_3339(epoch, Instant::from_nanos(1)),
            "2024-03-26T20:00:00Z"
        );
    }
}
