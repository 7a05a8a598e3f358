//! A bare axum handler: reads the body of a request and answers with the bytes of a file, whatever is
//! asked. `benches/http/load.py` holds the mock server against it.
//!
//! ```console
//! $ bare 127.0.0.1:0 answer.txt      # headers, an empty line, the body
//! listening on http://127.0.0.1:40123
//! ```

#![expect(clippy::print_stdout, reason = "a tool tells its address")]

use std::{env, error::Error, fs, sync::Arc};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue},
    response::Response,
};
use tokio::net::TcpListener;

/// A thread for each core, as `routelab mock` has.
fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve())
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(address), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("expected an address and a file".into());
    };
    let text = fs::read_to_string(file)?;
    let (head, body) = text.split_once("\n\n").ok_or("expected an empty line")?;
    let mut headers = HeaderMap::new();
    for line in head.lines() {
        let (name, value) = line.split_once(": ").ok_or("expected `name: value`")?;
        headers.append(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
    }
    let answer = Arc::new((headers, Bytes::from(body.to_owned())));
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let service = Router::new().fallback(same).with_state(answer);
    axum::serve(listener, service).await?;
    Ok(())
}

async fn same(State(answer): State<Arc<(HeaderMap, Bytes)>>, asked: Bytes) -> Response {
    drop(asked);
    let (headers, body) = &*answer;
    let mut response = Response::new(Body::from(body.clone()));
    *response.headers_mut() = headers.clone();
    response
}
