//! Colours: only on a terminal, and never against NO_COLOR.

use std::process::{Command, Stdio};

use crate::{FLAKY, Folder};

/// What each place that could colour is asked by: results, help, and a mistake of each kind.
const ASKED: [&[&str]; 6] = [
    &["run", "tiny.yaml", "--no-report"],
    &["explain", "tiny.yaml", "--worst", "latency"],
    &["list", "scenarios"],
    &["--help"],
    &["run", "nowhere.yaml"],
    &["run", "--nonsense"],
];

#[test]
fn a_pipe_gets_no_colours_whatever_the_environment_says() {
    let folder = Folder::new("colours-pipe").with("tiny.yaml", FLAKY);
    for arguments in ASKED {
        let mut command = folder.command(arguments);
        command.env_remove("NO_COLOR").env("TERM", "xterm-256color");

        let output = command.output().unwrap();

        for text in [output.stdout, output.stderr] {
            assert!(
                !text.contains(&0x1b),
                "{arguments:?}: {}",
                String::from_utf8_lossy(&text)
            );
        }
    }
}

/// On a terminal made by `script` (util-linux); without that program nothing is held here.
#[test]
fn a_terminal_gets_colours_unless_they_are_not_wanted() {
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let folder = Folder::new("colours-terminal").with("tiny.yaml", FLAKY);
    let seen = |arguments: &[&str], no_colour: bool| {
        let command = format!("{} {}", env!("CARGO_BIN_EXE_routelab"), arguments.join(" "));
        let mut script = Command::new("script");
        script
            .args(["--quiet", "--command", &command, "/dev/null"])
            .current_dir(folder.path(""))
            .env_remove("NO_COLOR")
            .env("TERM", "xterm-256color")
            .stdin(Stdio::null());
        if no_colour {
            script.env("NO_COLOR", "1");
        }
        String::from_utf8_lossy(&script.output().unwrap().stdout).into_owned()
    };

    let mut coloured = 0;
    for arguments in ASKED {
        let plain = seen(arguments, true);
        assert!(!is_coloured(&plain), "{arguments:?}: {plain:?}");
        assert!(plain.len() > 40, "{arguments:?}: {plain:?}");
        coloured += usize::from(is_coloured(&seen(arguments, false)));
    }
    assert!(coloured > 0, "a terminal is seen as one");
}

/// Whether a text sets a colour: `ESC [ … m` with a parameter from 30 to 49 or from 90 to 107.
fn is_coloured(text: &str) -> bool {
    text.split("\u{1b}[").skip(1).any(|after| {
        let parameters = after
            .split(|c: char| !c.is_ascii_digit() && c != ';')
            .next();
        let parameters = parameters.unwrap_or("");
        let is_style = after[parameters.len()..].starts_with('m');
        let mut numbers = parameters.split(';').filter_map(|n| n.parse::<u8>().ok());
        is_style && numbers.any(|n| (30..=49).contains(&n) || (90..=107).contains(&n))
    })
}
