//! Connections that can be broken: what is written after its fuse is blown never leaves, and the peer
//! sees a reset.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use axum::serve::{IncomingStream, Listener};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
};
use tower_service::Service;

use super::{desk::Desk, serve::Connection};

/// A listener whose connections have a fuse.
#[derive(Debug)]
pub(super) struct Door(pub(super) TcpListener);

/// Breaks one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Fuse(Arc<AtomicBool>);

impl Fuse {
    pub(super) fn blow(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct Wire {
    stream: TcpStream,
    fuse: Fuse,
}

impl Listener for Door {
    type Io = Wire;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // Each frame leaves at its moment. Where the system refuses, some come together.
        drop(stream.set_nodelay(true));
        let fuse = Fuse::default();
        (Wire { stream, fuse }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

/// Makes what answers each connection.
#[derive(Debug)]
pub(super) struct Reception(pub(super) Arc<Desk>);

impl Service<IncomingStream<'_, Door>> for Reception {
    type Response = Connection;
    type Error = Infallible;
    type Future = Ready<Result<Connection, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, stream: IncomingStream<'_, Door>) -> Self::Future {
        ready(Ok(Connection {
            desk: Arc::clone(&self.0),
            fuse: stream.io().fuse.clone(),
        }))
    }
}

impl Wire {
    fn check(&self) -> io::Result<()> {
        if self.fuse.0.load(Ordering::Relaxed) {
            self.stream.set_zero_linger()?;
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, buffer)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
