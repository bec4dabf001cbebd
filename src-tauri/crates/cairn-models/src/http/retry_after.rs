//! How long a server asks to wait. Owns: the header's spellings. Pure: the time of day is an argument.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;

/// Reads `retry-after-ms`, then `retry-after` as seconds or as a date. None when neither is there or makes sense.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // By the server's own clock where it tells it: ours may be wrong.
    let now = text("date")
        .and_then(seconds_of)
        .or_else(|| now.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs()))?;
    Some(Duration::from_secs(seconds_of(value)?.saturating_sub(now)))
}

/// Seconds since 1970 of a date as HTTP writes it, like `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate).
fn seconds_of(date: &str) -> Option<u64> {
    let (_, rest) = date.split_once(", ")?;
    let mut words = rest.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let month_name = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month_name)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(str::parse::<u64>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // Days since 1970 by the civil calendar, the year taken to begin in March.
    let (year, month) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let (era, in_era) = (year / 400, year % 400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + day_of_year - 719_468;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn wait(headers: &[(&'static str, &'static str)], now: u64) -> Option<Duration> {
        let map = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        retry_after(&map, UNIX_EPOCH + Duration::from_secs(now))
    }

    #[test]
    fn x100_every_spelling_of_retry_after_is_read() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let seconds = 784_111_777;
        let table: &[(&[(&str, &str)], Option<u64>)] = &[
            (&[], None),
            (&[("retry-after", "7")], Some(7_000)),
            (&[("retry-after", "0.5")], Some(500)),
            (&[("retry-after-ms", "250")], Some(250)),
            (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(250)),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "1e999")], None),
        ];
        for (headers, milliseconds) in table {
            let headers: Vec<(&'static str, &'static str)> = headers.to_vec();
            assert_eq!(
                wait(&headers, seconds),
                milliseconds.map(Duration::from_millis),
                "{headers:?}"
            );
        }
        assert_eq!(
            wait(&[("retry-after", date)], seconds - 20),
            Some(Duration::from_secs(20))
        );
        assert_eq!(
            wait(&[("retry-after", date)], seconds + 20),
            Some(Duration::ZERO),
            "a date that has passed"
        );
        let server_clock = [("retry-after", date), ("date", "Sun, 06 Nov 1994 08:49:30 GMT")];
        assert_eq!(
            wait(&server_clock, 0),
            Some(Duration::from_secs(7)),
            "by the server's own clock"
        );
    }

    #[test]
    fn dates_are_counted_right() {
        let table = [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Tue, 29 Feb 2000 12:00:00 GMT", Some(951_825_600)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200)),
            ("Wed, 31 Dec 2025 23:59:59 GMT", Some(1_767_225_599)),
            ("Wed, 31 Foo 2025 23:59:59 GMT", None),
            ("31 Dec 2025", None),
            ("Wed, 99 Dec 2025 23:59:59 GMT", None),
        ];
        for (date, seconds) in table {
            assert_eq!(seconds_of(date), seconds, "{date}");
        }
    }
}
