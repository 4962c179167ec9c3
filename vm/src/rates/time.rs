//! Moments and durations as headers write them.

/// Days from 1970-01-01 to a date of the Gregorian calendar, by counting in years that begin with March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Seconds since 1970 of a date and a time of the day in UTC, where they exist.
fn moment(year: i64, month: i64, day: i64, clock: [i64; 3]) -> Option<i64> {
    let [hour, minute, second] = clock;
    let exists = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    exists.then(|| days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

fn whole(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

fn clock(text: &str) -> Option<[i64; 3]> {
    let mut parts = text.split(':').map(whole);
    let clock = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(clock)
}

fn month(name: &str) -> Option<i64> {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let at = months.iter().position(|month| month.eq_ignore_ascii_case(name))?;
    i64::try_from(at + 1).ok()
}

/// The three forms of RFC 9110, in seconds since 1970: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`,
/// `Sun Nov  6 08:49:37 1994`.
pub(super) fn http_date(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    match words.as_slice() {
        [_, day, name, year, time, _] | [_, name, day, time, year] => {
            moment(whole(year)?, month(name)?, whole(day)?, clock(time)?)
        }
        [_, date, time, _] => {
            let mut parts = date.split('-');
            let (day, name, year) = (whole(parts.next()?)?, month(parts.next()?)?, whole(parts.next()?)?);
            // Two digits; headers of now are about now.
            moment(if year < 70 { year + 2000 } else { year + 1900 }, name, day, clock(time)?)
        }
        _ => None,
    }
}

/// `2026-11-30T12:00:07.5+02:00` in seconds since 1970.
pub(super) fn rfc_3339(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut parts = date.split('-').map(whole);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (time, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => time.split_at(at),
        None => return None,
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let fraction: f64 = format!("0.{fraction}").parse().ok().filter(|_| whole_digits(fraction))?;
    let offset = match offset {
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = offset.get(1..)?.split_once(':')?;
            let seconds = whole(hours)? * 3600 + whole(minutes)? * 60;
            if offset.starts_with('-') { -seconds } else { seconds }
        }
    };
    Some((moment(year, month, day, clock(time)?)? - offset) as f64 + fraction)
}

fn whole_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `6m0s`, `1d2h3m4.5s`, `12ms`, in seconds.
pub(super) fn duration(text: &str) -> Option<f64> {
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let at = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, unit) = rest.split_at(at);
        let end = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        let (unit, behind) = unit.split_at(end);
        let each = match unit {
            "d" => 86_400.0,
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * each;
        rest = behind;
    }
    (!text.is_empty()).then_some(seconds)
}
