// SPDX-License-Identifier: MIT OR Apache-2.0
//! A relay that keeps a copy of what passes it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// Who sent something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// What was received at once on one connection.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) connection: usize,
    pub(crate) from: Side,
    pub(crate) octets: Vec<u8>,
}

#[derive(Debug, Default)]
struct Log {
    chunks: Mutex<Vec<Chunk>>,
    ending: AtomicBool,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Vec<Chunk>> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stands in for a server on the loopback.
#[derive(Debug)]
pub(crate) struct Relay {
    address: SocketAddr,
    log: Arc<Log>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// In front of the server at that port of the loopback.
    pub(crate) fn before(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let log = Arc::new(Log::default());
        let kept = Arc::clone(&log);
        let thread = thread::spawn(move || serve(&listener, port, &kept));
        Ok(Self {
            address,
            log,
            thread: Some(thread),
        })
    }

    /// The port to connect to in place of the server's.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// What passed so far.
    pub(crate) fn passed(&self) -> Vec<Chunk> {
        self.log.lock().clone()
    }

    /// Takes no more connections, waits for the end of those there are, and
    /// returns all that passed.
    pub(crate) fn end(mut self) -> Vec<Chunk> {
        self.stop();
        self.passed()
    }

    fn stop(&mut self) {
        self.log.ending.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts; if it is gone, so much the better.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, port: u16, log: &Arc<Log>) {
    let mut pumps = Vec::new();
    for (connection, client) in listener.incoming().enumerate() {
        if log.ending.load(Ordering::SeqCst) {
            break;
        }
        let server = TcpStream::connect(("127.0.0.1", port));
        let (Ok(client), Ok(server)) = (client, server) else {
            continue;
        };
        let sockets = (client.try_clone(), server.try_clone());
        let (Ok(to_client), Ok(to_server)) = sockets else {
            continue;
        };
        for (from, source, sink) in [
            (Side::Client, client, to_server),
            (Side::Server, server, to_client),
        ] {
            let log = Arc::clone(log);
            pumps.push(thread::spawn(move || {
                pump(connection, from, &source, &sink, &log);
            }));
        }
    }
    for pump in pumps {
        let _ = pump.join();
    }
}

/// Carries one direction of a connection to its end.
fn pump(connection: usize, from: Side, mut source: &TcpStream, mut sink: &TcpStream, log: &Log) {
    let mut room = vec![0; 1 << 16];
    while let Ok(count @ 1..) = source.read(&mut room) {
        let octets = room[..count].to_vec();
        // Kept before it is passed on, so that nothing stands behind its answer.
        log.lock().push(Chunk {
            connection,
            from,
            octets,
        });
        if sink.write_all(&room[..count]).is_err() {
            // The other end is gone; what is still sent is kept all the same.
            let _ = source.shutdown(Shutdown::Write);
        }
    }
    let _ = sink.shutdown(Shutdown::Write);
}
