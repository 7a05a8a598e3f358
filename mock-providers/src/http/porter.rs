//! Takes connections: how many at once, how long a peer may take, and how it stops. `routelab serve`
//! has the same at its door.

use std::{convert::Infallible, pin::pin, sync::Arc, time::Duration};

use axum::{body::Body, extract::Request, response::Response};
use futures_util::future::{Either, select};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{
    connection::{Fuse, Wire},
    limits::Limits,
};

/// Takes the connections of a listener until it is dropped or stopped.
#[derive(Debug)]
pub struct Porter {
    most: u32,
    places: Arc<Semaphore>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Porter {
    /// Takes connections from now on, in the tokio runtime that it is called in. `answer` is called for
    /// each request; the fuse that it gets resets the request's connection.
    pub fn open<A, F>(listener: TcpListener, limits: Limits, answer: A) -> Self
    where
        A: Fn(Request, Fuse) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response> + Send + 'static,
    {
        let (stop, stopped) = watch::channel(false);
        let places = Arc::new(Semaphore::new(limits.connections as usize));
        let receiving = receive(listener, limits, Arc::clone(&places), stopped, answer);
        Self {
            most: limits.connections,
            places,
            stop,
            task: tokio::spawn(receiving),
        }
    }

    /// Becomes true when it is to stop.
    #[must_use]
    pub fn stopped(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Takes no more connections and no more requests on those that are open, and waits so long for
    /// requests under way to end. `false`: some have not. It may be called again.
    pub async fn stop(&mut self, patience: Duration) -> bool {
        self.stop.send_replace(true);
        let all = async {
            if !self.task.is_finished() {
                drop((&mut self.task).await);
            }
            self.places.acquire_many(self.most).await.is_ok()
        };
        timeout(patience, all).await == Ok(true)
    }
}

impl Drop for Porter {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        self.task.abort();
    }
}

async fn receive<A, F>(
    listener: TcpListener,
    limits: Limits,
    places: Arc<Semaphore>,
    stopped: watch::Receiver<bool>,
    answer: A,
) where
    A: Fn(Request, Fuse) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
{
    loop {
        let stopping = pin!(told(stopped.clone()));
        let taking = pin!(async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            Some((listener.accept().await, place))
        });
        match select(stopping, taking).await {
            Either::Left(_) | Either::Right((None, _)) => return,
            Either::Right((Some((Ok((stream, _)), place)), _)) => {
                let serving = serve(stream, limits, stopped.clone(), answer.clone());
                tokio::spawn(held(place, serving));
            }
            // Mostly too many open files: some will be closed.
            Either::Right((Some((Err(_), _)), _)) => sleep(REST_AFTER_ERROR).await,
        }
    }
}

async fn held(place: OwnedSemaphorePermit, serving: impl Future<Output = ()>) {
    serving.await;
    drop(place);
}

async fn serve<A, F>(stream: TcpStream, limits: Limits, stopped: watch::Receiver<bool>, answer: A)
where
    A: Fn(Request, Fuse) -> F,
    F: Future<Output = Response> + Send + 'static,
{
    // Each frame leaves at its moment. Where the system refuses, some come together.
    drop(stream.set_nodelay(true));
    let fuse = Fuse::default();
    let wire = Wire::new(stream, fuse.clone(), limits.write_timeout);
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let answered = answer(request.map(Body::new), fuse.clone());
        async { Ok::<_, Infallible>(answered.await) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_timeout)
            .max_headers(MOST_HEADERS)
            .serve_connection(TokioIo::new(wire), service)
    );
    let stopping = pin!(told(stopped));
    // How a connection ends is its peer's affair.
    match select(connection.as_mut(), stopping).await {
        Either::Left(_) => {}
        Either::Right(_) => {
            connection.as_mut().graceful_shutdown();
            drop(connection.await);
        }
    }
}

/// Comes back when the server is to stop.
async fn told(mut stopped: watch::Receiver<bool>) {
    drop(stopped.wait_for(|stopped| *stopped).await);
}

const REST_AFTER_ERROR: Duration = Duration::from_millis(50);
/// As many as hyper takes by itself.
const MOST_HEADERS: usize = 100;
