//! What is told to the user when a command cannot do its work: the mistake, the line it stands in
//! where there is one, and what would be accepted.

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report,
};
use reports::ReportError;
use scenarios::{ScenarioError, error::one_line};
use sim::{ExpectError, SimError, calibrate::CalibrationError};

use crate::progress::note;

/// Why a command ends without having done its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Complaint {
    /// An input is wrong.
    #[error("{0}")]
    Input(#[from] ScenarioError),
    /// An `expect:` cannot be judged.
    #[error("{0}")]
    Expect(#[from] ExpectError),
    /// A run could not be done.
    #[error("{0}")]
    Run(#[from] SimError),
    /// A log says too little.
    #[error("{log}: {error}")]
    Calibration {
        /// The log's files.
        log: String,
        /// What it lacks.
        error: CalibrationError,
    },
    /// A report could not be made.
    #[error("{0}")]
    Report(#[from] ReportError),
    /// What was typed makes no sense.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to type instead.
        help: String,
    },
    /// Files or standard output could not be written.
    #[error("cannot write {what}: {source}")]
    Write {
        /// What was to be written.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Whoever read standard output closed it; nothing is wrong.
    #[error("the reader of standard output left")]
    ReaderLeft,
}

impl Complaint {
    /// Prints it on standard error, with colours only on a terminal.
    pub(crate) fn print(&self) {
        let theme = if std::io::IsTerminal::is_terminal(&std::io::stderr())
            && std::env::var_os("NO_COLOR").is_none()
        {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(100)
            .with_links(false);
        let report = self.report();
        let mut text = String::new();
        match handler.render_report(&mut text, report.as_ref()) {
            Ok(()) => note(text.trim_end()),
            Err(_) => note(&self.to_string()),
        }
    }

    fn report(&self) -> Report {
        match self {
            Self::Input(error) => input_report(error),
            Self::Usage { message, help } => {
                Report::new(MietteDiagnostic::new(message).with_help(help))
            }
            Self::Expect(_)
            | Self::Run(_)
            | Self::Calibration { .. }
            | Self::Report(_)
            | Self::Write { .. }
            | Self::ReaderLeft => Report::new(MietteDiagnostic::new(self.to_string())),
        }
    }
}

/// What a terminal would obey, such as an escape in a broken file, is shown as `?`: of the same length.
fn without_controls(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' => c,
            c if c.is_ascii_control() => '?',
            c => c,
        })
        .collect()
}

/// An input error with the marked line, where its text is known.
fn input_report(error: &ScenarioError) -> Report {
    let key = error.key_path();
    let message = if key.is_empty() {
        error.message().to_owned()
    } else {
        format!("{key}: {}", error.message())
    };
    let mut diagnostic = MietteDiagnostic::new(message);
    if let Some(help) = error.help_text() {
        diagnostic = diagnostic.with_help(help);
    }
    match (error.text(), error.span()) {
        (Some(text), Some(span)) => {
            let diagnostic = diagnostic.with_label(LabeledSpan::at(span, "here"));
            let name = one_line(error.file().unwrap_or("input"));
            Report::new(diagnostic).with_source_code(NamedSource::new(name, without_controls(text)))
        }
        _ => {
            let place = match (error.file().map(one_line), error.line()) {
                (Some(file), Some(line)) => format!("{file}:{line}: "),
                (Some(file), None) => format!("{file}: "),
                (None, _) => String::new(),
            };
            diagnostic.message.insert_str(0, &place);
            Report::new(diagnostic)
        }
    }
}
