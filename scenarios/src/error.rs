//! What is wrong with an input, where it is, and what would be accepted.
//!
//! Every reader of this crate reports with the one type [`ScenarioError`]. It knows the file, the
//! place and the key, so that a caller can print one line or draw the marked source.

use std::{fmt, ops::Range, sync::Arc};

use serde::de::{self, Expected, Unexpected};

/// An input that cannot be read: a scenario, a LiteLLM config, a trace, or an override of one.
///
/// Printed on one line, parts that are not known left out:
/// `file.yaml:12:5: router_settings.cooldown_tim: unknown key; did you mean `cooldown_time`?`
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ScenarioError(Box<Details>);

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Details {
    file: Option<String>,
    place: Option<(u32, u32)>,
    key: String,
    message: String,
    help: Option<String>,
    text: Option<Arc<str>>,
}

impl Details {
    fn place(&self) -> Option<(u32, u32)> {
        self.place.filter(|(line, _)| *line > 0)
    }
}

impl ScenarioError {
    /// An error that says `message`: lower case, no full stop.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            message: one_line(message),
            ..Details::default()
        }))
    }

    /// What was found is not what is accepted.
    #[must_use]
    pub fn unaccepted(found: impl fmt::Display, accepted: impl fmt::Display) -> Self {
        Self::new(format!("found {found}")).help(format!("accepted is {accepted}"))
    }

    /// Adds what would be accepted, or what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(one_line(help));
        self
    }

    /// Names the key, as a path. Replaces an earlier one.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.0.key = one_line(key);
        self
    }

    /// Names the place, unless one is named already. Lines and columns count from 1; a line of 0
    /// says that what is wrong stands in no file, so that no later call names a line around it.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.0.place.get_or_insert((line, column));
        self
    }

    /// The same error at another place, of a text that stands inside a larger one.
    pub(crate) fn moved_to(mut self, line: u32, column: u32) -> Self {
        self.0.place = Some((line, column));
        self.0.text = None;
        self
    }

    /// Names the file, unless it is named already.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.0.file.get_or_insert_with(|| file.into());
        self
    }

    /// Attaches the text of the file, for drawing the marked source.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        self.0.text.get_or_insert_with(|| text.into());
        self
    }

    /// Puts the key under `parent`: `cooldown_time` under `router_settings` becomes
    /// `router_settings.cooldown_time`, `[2]` under `model_list` becomes `model_list[2]`.
    #[must_use]
    pub fn under(mut self, parent: &str) -> Self {
        let parent = &*one_line(parent);
        self.0.key = match self.0.key.as_str() {
            "" => parent.to_owned(),
            key if key.starts_with('[') || parent.is_empty() => format!("{parent}{key}"),
            key => format!("{parent}.{key}"),
        };
        self
    }

    /// The file's name, if the input is a file.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The line, from 1. `None` where the input has no lines, as on the command line.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.0.place().map(|(line, _)| line)
    }

    /// The column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> Option<u32> {
        self.0.place().map(|(_, column)| column)
    }

    /// The path of the key, empty where the whole input is meant.
    #[must_use]
    pub fn key_path(&self) -> &str {
        &self.0.key
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What would be accepted, or what to do.
    #[must_use]
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The text of the file, where a caller attached it.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.0.text.as_deref()
    }

    /// The bytes of [`ScenarioError::text`] to mark: from the place to the end of its word or line.
    #[must_use]
    pub fn span(&self) -> Option<Range<usize>> {
        let text = self.text()?;
        let line_index = usize::try_from(self.line()?).ok()? - 1;
        let skipped = usize::try_from(self.column()?.saturating_sub(1)).ok()?;
        let mut before = 0;
        for _ in 0..line_index {
            before += after_break(text.get(before..)?)?;
        }
        let line = text.get(before..)?.split(['\n', '\r']).next()?;
        let into_line: usize = line.chars().take(skipped).map(char::len_utf8).sum();
        let rest = line.get(into_line..)?.trim_end();
        let quoted = rest.starts_with(['"', '\'']);
        let ends_word = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}');
        let length = if quoted {
            rest.len()
        } else {
            rest.find(ends_word).unwrap_or(rest.len())
        };
        let start = before + into_line;
        Some(start..start + length)
    }
}

impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            key,
            message,
            help,
            ..
        } = self;
        let file = file.as_deref().map(one_line);
        match (file, self.place()) {
            (Some(file), Some((line, column))) => write!(f, "{file}:{line}:{column}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some((line, column))) => write!(f, "line {line}, column {column}: ")?,
            (None, None) => {}
        }
        if !key.is_empty() {
            write!(f, "{key}: ")?;
        }
        f.write_str(message)?;
        help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

/// Errors that serde's derived readers raise, in this crate's words. Place and path are added by
/// the deserializer as the error travels up.
impl de::Error for ScenarioError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, accepted: &dyn Expected) -> Self {
        Self::unaccepted(found_in_words(found), accepted_in_words(accepted))
    }

    fn invalid_value(found: Unexpected<'_>, accepted: &dyn Expected) -> Self {
        Self::invalid_type(found, accepted)
    }

    fn unknown_variant(variant: &str, accepted: &'static [&'static str]) -> Self {
        Self::new(format!("unknown value `{variant}`")).help(suggestion(variant, accepted))
    }

    fn unknown_field(field: &str, accepted: &'static [&'static str]) -> Self {
        Self::new("unknown key").help(suggestion(field, accepted))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("key `{field}` is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("key `{field}` appears twice"))
    }
}

/// Where the first line ends and the next begins. As in YAML, a lone CR ends a line too.
fn after_break(text: &str) -> Option<usize> {
    let end = text.find(['\n', '\r'])?;
    Some(
        end + if text[end..].starts_with("\r\n") {
            2
        } else {
            1
        },
    )
}

/// A text that stays on its line and holds nothing that a terminal would obey, whatever it quotes:
/// control characters stand in it as Rust writes them.
#[must_use]
pub fn one_line(text: impl Into<String>) -> String {
    let text = text.into();
    if !text.contains(char::is_control) {
        return text;
    }
    let mut line = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// The name among `known` that `name` was probably meant to be.
pub(crate) fn did_you_mean<'k>(
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<&'k str> {
    let name = name.to_lowercase();
    // One slip in four letters, at most two: `rpn` is `rpm`, `mode` is not `mood_tag`.
    let most = (name.chars().count() / 4).clamp(1, 2);
    known
        .into_iter()
        .map(|known| {
            (
                strsim::damerau_levenshtein(&name, &known.to_lowercase()),
                known,
            )
        })
        .filter(|&(slips, known)| slips <= most && slips < known.len())
        .min_by_key(|&(slips, _)| slips)
        .map(|(_, known)| known)
}

/// A help sentence for a name that is not among `known`.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    match did_you_mean(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "no name is accepted here".to_owned(),
        None => format!("accepted is {}", one_of(known)),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [firsts @ .., last] => format!("{} or {last}", firsts.join(", ")),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest cannot stand in a document"
)]
fn found_in_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(value) => format!("the number {value}"),
        Unexpected::Signed(value) => format!("the number {value}"),
        Unexpected::Float(value) => format!("the number {value}"),
        Unexpected::Str(value) => format!("the text \"{value}\""),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a mapping".to_owned(),
        Unexpected::UnitVariant => "a bare name".to_owned(),
        other => other.to_string(),
    }
}

fn accepted_in_words(accepted: &dyn Expected) -> String {
    let accepted = accepted.to_string();
    match accepted.as_str() {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        _ if accepted.starts_with("struct ") => "a mapping".to_owned(),
        _ => accepted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_prints_place_key_message_and_help_on_one_line() {
        let error = ScenarioError::new("unknown key")
            .key("cooldown_tim")
            .help("did you mean `cooldown_time`?")
            .under("router_settings")
            .at(12, 5)
            .in_file("file.yaml");

        let line = "file.yaml:12:5: router_settings.cooldown_tim: unknown key; \
                    did you mean `cooldown_time`?";
        assert_eq!(error.to_string(), line);
    }

    #[test]
    fn an_error_stays_on_its_line_whatever_it_quotes() {
        let error = ScenarioError::unaccepted("the text \"a\nb\u{1b}[2J\"", "x").key("k\r");

        let line = r#"k\r: found the text "a\nb\u{1b}[2J"; accepted is x"#;
        assert_eq!(error.to_string(), line);
    }

    #[test]
    fn an_error_stays_on_its_line_whatever_its_keys_and_its_file_are_called() {
        let error = ScenarioError::new("unknown key")
            .under("\"at\t_least\"")
            .under("ex\npect[0]")
            .in_file("a\nb.yaml");

        let line = r#"a\nb.yaml: ex\npect[0]."at\t_least": unknown key"#;
        assert_eq!(error.to_string(), line);
    }

    #[test]
    fn the_first_place_and_the_first_file_stay() {
        let error = ScenarioError::new("m")
            .at(3, 4)
            .at(1, 1)
            .in_file("a")
            .in_file("b");

        assert_eq!(
            (error.line(), error.column(), error.file()),
            (Some(3), Some(4), Some("a"))
        );
    }

    #[test]
    fn what_stands_in_no_file_has_no_place_even_if_its_surroundings_have() {
        let error = ScenarioError::new("found nothing")
            .key("seed")
            .at(0, 0)
            .at(7, 1);

        assert_eq!(error.to_string(), "seed: found nothing");
        assert_eq!(error.span(), None);
    }

    #[test]
    fn the_span_marks_the_word_at_the_place_in_bytes() {
        let text = "é: 1\nkey: [añb, c]\n";
        let error = ScenarioError::new("m").at(2, 7).with_text(text);

        let span = error.span().unwrap();

        assert_eq!(&text[span], "añb");
    }

    #[test]
    fn the_span_is_found_whatever_ends_the_lines() {
        for text in ["a\nb\nkey: x\n", "a\r\nb\r\nkey: x\r\n", "a\rb\rkey: x\r"] {
            let error = ScenarioError::new("m").at(3, 6).with_text(text);

            assert_eq!(&text[error.span().unwrap()], "x", "{text:?}");
        }
    }

    #[test]
    fn a_name_is_suggested_only_when_it_is_near() {
        let known = ["cooldown_time", "rpm", "tpm"];

        assert_eq!(did_you_mean("cooldown_tim", known), Some("cooldown_time"));
        assert_eq!(did_you_mean("Cooldown_Time", known), Some("cooldown_time"));
        assert_eq!(did_you_mean("rpn", known), Some("rpm"));
        assert_eq!(did_you_mean("cache", known), None);
    }

    #[test]
    fn names_are_listed_as_a_sentence_does() {
        assert_eq!(one_of(&["a"]), "a");
        assert_eq!(one_of(&["a", "b", "c"]), "a, b or c");
    }
}
