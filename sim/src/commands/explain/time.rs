//! Where one request's time went: in a sentence, and as bars on one line of time.

use std::time::Duration;

use reports::aligned;
use sim::{Span, SpanKind, Story};

/// How it ended, who is to blame if it failed, and what took most of its time.
pub(super) fn finding(story: &Story<'_>) -> String {
    let took = story.took();
    let mut text = match story.blame() {
        Some(blame) => format!(
            "It got no answer, and knew after {}. Blame: {}.\n{}\n",
            secs(took),
            blame.title().to_lowercase(),
            blame.about()
        ),
        None => format!("It was answered after {}.\n", secs(took)),
    };
    let (kind, spent) = most(story.spans());
    if took > Duration::ZERO && spent > Duration::ZERO {
        let percent = share(spent, took) * 100.0;
        text.push_str(&format!(
            "{percent:.0} % of its time, {}, went into {}.\n",
            secs(spent),
            kind.words()
        ));
    }
    text
}

/// The kind of span that took most time, and how much.
fn most(spans: &[Span]) -> (SpanKind, Duration) {
    let of = |kind: SpanKind| {
        let lengths = spans.iter().filter(|span| span.kind == kind);
        lengths.map(Span::length).sum::<Duration>()
    };
    let kinds = SpanKind::ALL.map(|kind| (kind, of(kind)));
    kinds.into_iter().fold(
        kinds[0],
        |most, kind| if kind.1 > most.1 { kind } else { most },
    )
}

/// A line for each attempt and wait, with its place in the request's time. Nothing for a request
/// that took no time.
pub(super) fn bars(spans: &[Span], took: Duration) -> String {
    if took.is_zero() {
        return String::new();
    }
    let line = |span: &Span| {
        let length = span.length();
        vec![
            span.what.clone(),
            format!("{:>9}", secs(length)),
            format!("{:>4.0} %", share(length, took) * 100.0),
            format!("|{}|", bar(span, took)),
            ended(span),
        ]
    };
    let lines: Vec<Vec<String>> = spans.iter().map(line).collect();
    let mut text = format!(
        "\nWhere its {} went  (░ waiting, ▒ an attempt that failed, ▓ until the first token, █ the answer)\n",
        secs(took)
    );
    for line in aligned(&lines) {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

fn ended(span: &Span) -> String {
    match span.kind {
        SpanKind::Answering => span.ended.clone(),
        SpanKind::Failing => format!("failed: {}", span.ended),
        SpanKind::Waiting => String::new(),
    }
}

/// Its place among [`WIDTH`] characters; never nothing.
fn bar(span: &Span, took: Duration) -> String {
    let place = |after: Duration| {
        let columns = share(after, took) * WIDTH_F;
        (0..WIDTH)
            .find(|&column| f64::from(column) + 0.5 > columns)
            .unwrap_or(WIDTH)
    };
    let from = place(span.from).min(WIDTH - 1);
    let to = place(span.to).max(from + 1);
    let first_token = span.first_token.map(place);
    let mark = |column: u16| match (span.kind, first_token) {
        _ if !(from..to).contains(&column) => ' ',
        (SpanKind::Waiting, _) => '░',
        (SpanKind::Failing, _) => '▒',
        (SpanKind::Answering, Some(first)) if column < first => '▓',
        (SpanKind::Answering, _) => '█',
    };
    (0..WIDTH).map(mark).collect()
}

fn share(part: Duration, whole: Duration) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64()
}

fn secs(span: Duration) -> String {
    format!("{:.3} s", span.as_secs_f64())
}

/// Characters of a request's whole time.
const WIDTH: u16 = 40;
const WIDTH_F: f64 = 40.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn span(kind: SpanKind, from: u64, to: u64) -> Span {
        Span {
            kind,
            what: "it".to_owned(),
            from: Duration::from_secs(from),
            to: Duration::from_secs(to),
            first_token: None,
            ended: String::new(),
        }
    }

    #[test]
    fn bars_lie_where_their_time_lies_and_the_shortest_can_be_seen() {
        let took = Duration::from_secs(40);
        let drawn = |span: Span| bar(&span, took);

        let expected = format!("{}{}{}", " ".repeat(10), "▒".repeat(5), " ".repeat(25));
        assert_eq!(drawn(span(SpanKind::Failing, 10, 15)), expected);
        assert_eq!(
            drawn(span(SpanKind::Waiting, 40, 40)),
            format!("{}░", " ".repeat(39))
        );
        let mut answer = span(SpanKind::Answering, 0, 40);
        answer.first_token = Some(Duration::from_secs(20));
        assert_eq!(
            drawn(answer),
            format!("{}{}", "▓".repeat(20), "█".repeat(20))
        );
    }

    #[test]
    fn the_largest_part_is_named() {
        let spans = [
            span(SpanKind::Failing, 0, 2),
            span(SpanKind::Waiting, 2, 5),
            span(SpanKind::Failing, 5, 7),
        ];
        assert_eq!(most(&spans), (SpanKind::Failing, Duration::from_secs(4)));
    }
}
