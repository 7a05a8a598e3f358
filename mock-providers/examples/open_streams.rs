//! Opens many streams at a mock server, holds them, and tells how far each pause between two tokens was
//! from the one that was ordered, once all of them are open.
//!
//! ```console
//! $ ulimit -n 65536
//! $ open_streams 127.0.0.1:4000 20000 60 2000    # streams, tokens of each, milliseconds between them
//! ```

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a tool measures real time and tells what it saw"
)]

use std::{
    env,
    error::Error,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout},
};

/// Streams that have begun and not ended.
static OPEN: AtomicUsize = AtomicUsize::new(0);
static MOST_OPEN: AtomicUsize = AtomicUsize::new(0);

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(all())
}

async fn all() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, streams, tokens, pause_ms] = &arguments[..] else {
        return Err("expected an address, streams, tokens and milliseconds".into());
    };
    let (streams, tokens, pause_ms): (usize, usize, u64) =
        (streams.parse()?, tokens.parse()?, pause_ms.parse()?);
    let mut under_way = JoinSet::new();
    for number in 0..streams {
        // Some 1,600 a second: callers do not all come at once.
        if number % OPENED_AT_ONCE == 0 {
            sleep(Duration::from_millis(5)).await;
        }
        under_way.spawn(one(address.clone(), tokens, pause_ms));
    }
    let (mut came, mut broken) = (Vec::new(), 0);
    while let Some(ended) = under_way.join_next().await {
        match ended? {
            Ok(tokens) => came.push(tokens),
            Err(error) => {
                broken += 1;
                if broken <= 3 {
                    eprintln!("{error}");
                }
            }
        }
    }
    // Every stream that began has its first token, so all are open from then on.
    let all_open = came.iter().filter_map(|tokens| tokens.first()).max();
    let ordered = i64::try_from(pause_ms * 1_000)?;
    let mut late_us: Vec<i64> = Vec::new();
    for two in came.iter().flat_map(|tokens| tokens.windows(2)) {
        if Some(&two[0]) >= all_open {
            let pause = (two[1] - two[0]).as_micros();
            late_us.push(i64::try_from(pause).unwrap_or(i64::MAX) - ordered);
        }
    }
    late_us.sort_unstable();
    let quantile = |share: f64| {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in a list"
        )]
        let place = (share * late_us.len().saturating_sub(1) as f64) as usize;
        late_us.get(place).copied().unwrap_or_default()
    };
    println!(
        "{{\"streams\": {streams}, \"most_open\": {}, \"broken\": {broken}, \"pauses\": {}, \"pause_ms\": {pause_ms}, \
         \"error_us\": {{\"p1\": {}, \"p50\": {}, \"p99\": {}, \"p99.9\": {}, \"max\": {}}}}}",
        MOST_OPEN.load(Ordering::Relaxed),
        late_us.len(),
        quantile(0.01),
        quantile(0.5),
        quantile(0.99),
        quantile(0.999),
        quantile(1.0),
    );
    Ok(())
}

/// One stream to its end: when each token came.
async fn one(
    address: String,
    tokens: usize,
    pause_ms: u64,
) -> Result<Vec<Instant>, Box<dyn Error + Send + Sync>> {
    let mut connection = TcpStream::connect(&address).await?;
    connection.set_nodelay(true)?;
    let body = r#"{"model":"m","messages":[{"role":"user","content":"say it"}],"stream":true}"#;
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         x-mock-first-token-ms: {pause_ms}\r\nx-mock-per-token-ms: {pause_ms}\r\n\
         x-mock-output-tokens: {tokens}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).await?;
    let open = OPEN.fetch_add(1, Ordering::Relaxed) + 1;
    MOST_OPEN.fetch_max(open, Ordering::Relaxed);
    let patience = Duration::from_millis(10 * pause_ms) + Duration::from_secs(30);
    let read = frames(&mut connection, tokens, patience).await;
    OPEN.fetch_sub(1, Ordering::Relaxed);
    read
}

/// When each token came.
async fn frames(
    connection: &mut TcpStream,
    tokens: usize,
    patience: Duration,
) -> Result<Vec<Instant>, Box<dyn Error + Send + Sync>> {
    let mut came = Vec::with_capacity(tokens);
    let mut buffer = [0; 2_048];
    // The end of what was read before, shorter than a mark: one may come in two pieces.
    let mut before = String::new();
    while came.len() < tokens {
        let read = timeout(patience, connection.read(&mut buffer)).await;
        let length = read.map_err(|_| format!("silence after {} tokens", came.len()))??;
        if length == 0 {
            return Err(format!("it ended after {} tokens", came.len()).into());
        }
        let now = Instant::now();
        before.push_str(&String::from_utf8_lossy(&buffer[..length]));
        came.extend(std::iter::repeat_n(now, before.matches(TOKEN).count()));
        let rest = before.len().saturating_sub(TOKEN.len() - 1);
        before.drain(..rest);
    }
    Ok(came)
}

/// What the frame of a token has and no other.
const TOKEN: &str = r#""delta":{"content":""#;
const OPENED_AT_ONCE: usize = 10;
