//! `routelab mock`: it tells where it listens, answers there, and ends when it is interrupted.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdout, Stdio},
};

use super::*;

/// A server, killed at the end of its test.
struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = folder.command(arguments);
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap();
        Self {
            child,
            address: address.to_owned(),
            stdout,
        }
    }

    /// Head and body of the answer to a chat request.
    fn ask(&self, path: &str, headers: &str) -> (String, String) {
        let body = r#"{"model": "a", "messages": [{"role": "user", "content": "say it"}]}"#;
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: mock\r\nconnection: close\r\n{headers}\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PROVIDERS: &str = "
east: {latency: {first_token: {constant: {ms: 1}}}}
west:
  latency: {first_token: {constant: {ms: 1}}}
  faults: [{outage: {status: 502}}]
";

#[test]
fn a_file_of_providers_is_served_by_name() {
    let folder = Folder::new("mock-file").with("providers.yaml", PROVIDERS);
    let arguments = [
        "mock",
        "--providers",
        "providers.yaml",
        "--output-tokens",
        "7",
    ];
    let mut server = Server::start(&folder, &arguments);
    let mut east = String::new();
    server.stdout.read_line(&mut east).unwrap();
    assert!(east.contains(&format!("http://{}/east/v1", server.address)));

    let (head, body) = server.ask("/east/v1/chat/completions", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(body.contains(r#""completion_tokens":7"#), "{body}");
    let (head, _) = server.ask("/west/v1/chat/completions", "");
    assert!(head.starts_with("HTTP/1.1 502"), "{head}");
}

#[test]
fn a_scenarios_deployments_are_served_by_id_and_by_model() {
    let folder = Folder::new("mock-scenario").with("tiny.yaml", TINY);
    let server = Server::start(&folder, &["mock", "tiny.yaml"]);

    for path in ["/v1/chat/completions", "/good/v1/chat/completions"] {
        let (head, _) = server.ask(path, "x-mock-first-token-ms: 1\r\n");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_in_good_order() {
    let folder = Folder::new("mock-stop").with("providers.yaml", PROVIDERS);
    let mut server = Server::start(&folder, &["mock", "--providers", "providers.yaml"]);

    let id = server.child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &id]).status().unwrap();

    assert!(killed.success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_served_is_told_with_its_place() {
    let wrong = "east: {preset: openai, fautls: []}\n";
    let folder = Folder::new("mock-wrong").with("wrong.yaml", wrong);
    for (arguments, says) in [
        (&["mock", "--providers", "wrong.yaml"][..], "fautls"),
        (&["mock", "--providers", "none.yaml"], "none.yaml"),
        (&["mock", "main", "--arm", "9999"], "arm 9999"),
        (&["mock", "--listen", "nowhere"], "nowhere"),
    ] {
        let left = folder.routelab(arguments);
        assert_eq!(left.code, Some(2), "{arguments:?}");
        assert!(left.stderr.contains(says), "{}", left.stderr);
    }
}
