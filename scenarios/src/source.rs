//! Where a scenario comes from, and what the command line changes before it is read.

use std::{
    fs,
    path::{Path, PathBuf},
};

use router::ProfileName;

use crate::{
    error::ScenarioError,
    library, litellm,
    sweep::{resolve, within},
    traffic::Files,
    yaml::Node,
};

/// Where a scenario comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// A scenario of the library, by name.
    Library(String),
    /// A text, as from a pipe.
    Text {
        /// What it is called in errors and reports.
        name: String,
        /// The YAML.
        text: String,
    },
}

/// What the command line changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoadOptions {
    /// Path and value, put in this order. Paths as those of axes; values as YAML.
    pub sets: Vec<(String, String)>,
    /// In place of the file's `seed`.
    pub seed: Option<u64>,
    /// In place of the file's `replications`.
    pub replications: Option<u32>,
    /// A LiteLLM `config.yaml` in place of the file's `litellm` block.
    pub config: Option<PathBuf>,
    /// In place of the file's `profile`.
    pub profile: Option<ProfileName>,
    /// LiteLLM's price registry, in place of the file's `prices`.
    pub prices: Option<PathBuf>,
    /// The metrics that an expectation may name. Empty: they are not looked up.
    pub metrics: Vec<&'static str>,
}

/// A scenario's text and where it was found.
pub(crate) struct Opened {
    /// What it is called in reports.
    pub name: String,
    /// What it is called in errors.
    pub file: String,
    /// Where files that it names are looked for first.
    pub folder: Option<PathBuf>,
    pub text: String,
}

impl Opened {
    /// Reads the text.
    pub(crate) fn open(source: &Source) -> Result<Self, ScenarioError> {
        match source {
            Source::File(path) => {
                let file = path.display().to_string();
                let text = read_text(path).map_err(|error| error.in_file(&file))?;
                let name = path
                    .file_stem()
                    .map(|stem| stem.to_string_lossy().into_owned());
                let folder = path.parent().map(Path::to_owned);
                Ok(Self {
                    name: name.unwrap_or_default(),
                    file,
                    folder,
                    text,
                })
            }
            Source::Library(name) => {
                let entry = library::entry(name)?;
                Ok(Self {
                    name: name.clone(),
                    file: format!("{name}.yaml"),
                    folder: None,
                    text: entry.text.to_owned(),
                })
            }
            Source::Text { name, text } => Ok(Self {
                name: name.clone(),
                file: name.clone(),
                folder: None,
                text: text.clone(),
            }),
        }
    }
}

/// What the command line did to a tree.
pub(crate) struct Changed {
    /// The file that the LiteLLM config stands in.
    pub litellm_file: String,
    /// The paths that were set.
    pub paths: Vec<String>,
}

/// Puts another config, the `--set`s and a config's content into their places.
pub(crate) fn change(
    tree: &mut Node,
    file: &str,
    files: &Files,
    options: &LoadOptions,
) -> Result<Changed, ScenarioError> {
    let mut litellm_file = file.to_owned();
    if let Some(path) = &options.config {
        litellm_file = path.display().to_string();
        let text = read_text(path).map_err(|error| error.in_file(&litellm_file))?;
        tree.put_path("litellm", parse_config(&text, &litellm_file)?)?;
    }
    let mut paths = Vec::with_capacity(options.sets.len());
    for (name, value) in &options.sets {
        let from_command = |error: ScenarioError| error.in_file("--set");
        let path = resolve(name).map_err(from_command)?;
        if within(&path, "litellm") && path != "litellm" {
            inline(tree, files, file, &mut litellm_file)?;
        }
        tree.set_path(&path, value).map_err(from_command)?;
        paths.push(path);
    }
    inline(tree, files, file, &mut litellm_file)?;
    Ok(Changed {
        litellm_file,
        paths,
    })
}

/// Puts the content of a LiteLLM config in the place of its path.
fn inline(
    tree: &mut Node,
    files: &Files,
    file: &str,
    litellm_file: &mut String,
) -> Result<(), ScenarioError> {
    let Some(node) = tree.get("litellm") else {
        return Ok(());
    };
    let Some(path) = node.as_str() else {
        return Ok(());
    };
    let (line, column) = (node.line, node.column);
    let text = files
        .text(path, "litellm")
        .map_err(|error| error.at(line, column).in_file(file))?;
    path.clone_into(litellm_file);
    let config = parse_config(&text, litellm_file)?;
    tree.put_path("litellm", config)
}

fn parse_config(text: &str, file: &str) -> Result<Node, ScenarioError> {
    litellm::parse(text, file).map_err(|error| error.in_file(file).with_text(text))
}

pub(crate) fn read_text(path: &Path) -> Result<String, ScenarioError> {
    let bytes = fs::read(path)
        .map_err(|error| ScenarioError::new(format!("cannot be read: {}", error.kind())))?;
    String::from_utf8(bytes).map_err(|error| not_utf8(&error))
}

/// Says where the first byte stands that is none of UTF-8, and what the text probably is.
pub(crate) fn not_utf8(error: &std::string::FromUtf8Error) -> ScenarioError {
    let bytes = error.as_bytes();
    let before = &bytes[..error.utf8_error().valid_up_to()];
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    let begin = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    let letters = String::from_utf8_lossy(&before[begin..]).chars().count();
    let place = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
    let message = match bytes.get(before.len()) {
        Some(byte) => format!("this is not UTF-8 text: found the byte {byte:#04x}"),
        None => "this is not UTF-8 text".to_owned(),
    };
    let help = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it begins as UTF-16 does: save it as UTF-8",
        _ => "accepted is UTF-8",
    };
    ScenarioError::new(message)
        .help(help)
        .at(place(lines), place(letters))
}
