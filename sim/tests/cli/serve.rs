//! `routelab serve`: it tells whom it serves and no key, ends when it is told to, and refuses what it
//! cannot serve.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::Stdio,
};

use super::*;

const CONFIG: &str = "
model_list:
  - model_name: chat
    litellm_params:
      model: openai/gpt-4o
      api_base: http://127.0.0.1:9/v1
      api_key: os.environ/SERVE_TEST_KEY
    model_info: {id: east}
router_settings: {num_retries: 0}
general_settings: {master_key: sk-master-of-this-test}
";

#[cfg(unix)]
#[test]
fn it_serves_until_it_is_told_to_stop_and_prints_no_key() {
    let folder = Folder::new("serve").with("config.yaml", CONFIG);
    let mut command = folder.command(&[
        "serve",
        "--config",
        "config.yaml",
        "--listen",
        "127.0.0.1:0",
    ]);
    command.env("SERVE_TEST_KEY", "sk-upstream-of-this-test");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap();

    let mut stream = TcpStream::connect(address).unwrap();
    let body = r#"{"model": "chat", "messages": []}"#;
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
         authorization: Bearer sk-master-of-this-test\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &id]).status().unwrap();
    let mut said = answer.clone();
    stdout.read_to_string(&mut said).unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();

    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    assert!(answer.contains("litellm.InternalServerError"), "{answer}");
    assert!(
        said.contains("chat  east  openai/gpt-4o at http://127.0.0.1:9/v1"),
        "{said}"
    );
    assert!(!said.contains("sk-"), "{said}");
}

#[test]
fn what_cannot_be_served_is_told_with_its_place() {
    let bedrock = CONFIG.replace("openai/gpt-4o", "bedrock/claude");
    let bedrock = bedrock.replace("os.environ/SERVE_TEST_KEY", "sk-literal");
    let number = CONFIG.replace("os.environ/SERVE_TEST_KEY", "4711");
    let base = CONFIG.replace("http://127.0.0.1:9/v1", "nowhere");
    let base = base.replace("os.environ/SERVE_TEST_KEY", "sk-literal");
    let folder = Folder::new("serve-wrong")
        .with("config.yaml", CONFIG)
        .with("bedrock.yaml", &bedrock)
        .with("number.yaml", &number)
        .with("base.yaml", &base)
        .with("text.yaml", "just a text");
    for (file, says) in [
        ("config.yaml", "SERVE_TEST_KEY"),
        ("bedrock.yaml", "bedrock"),
        ("number.yaml", "api_key: it is no text"),
        ("base.yaml", "`nowhere` is no http or https address"),
        ("text.yaml", "model_list"),
        ("none.yaml", "cannot read none.yaml"),
    ] {
        let told = told(
            &folder,
            &["serve", "--config", file, "--listen", "127.0.0.1:0"],
        );
        assert!(told.contains(says), "{file}: {told}");
        assert!(!told.contains("sk-"), "{file}: {told}");
    }
}

#[test]
fn an_address_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let literal = CONFIG.replace("os.environ/SERVE_TEST_KEY", "sk-literal");
    let folder = Folder::new("serve-taken").with("config.yaml", &literal);

    let told = told(
        &folder,
        &["serve", "--config", "config.yaml", "--listen", &address],
    );

    assert!(told.contains("cannot listen on"), "{told}");
}
