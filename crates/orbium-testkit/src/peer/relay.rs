// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network between two programs, which tests interrupt.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use orbium::lock::{Condvar, Mutex, MutexGuard};

/// Treatment of the bytes of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Open,
    /// Bytes wait, as those that TCP retransmits.
    Cut,
}

#[derive(Debug)]
struct State {
    link: Link,
    /// Connections of an earlier generation never transmit again.
    generation: u64,
    /// Connections with waiting bytes, by direction.
    waiting: usize,
}

#[derive(Clone, Debug)]
struct Network(Arc<(Mutex<State>, Condvar)>);

/// Forwards the bytes of connections to a server, until the network is interrupted.
#[derive(Debug)]
pub struct Relay {
    url: String,
    network: Network,
}

impl Relay {
    /// A relay for the server at `scheme://host:port`. Its threads end with the process.
    ///
    /// # Panics
    /// The address is invalid, or there is no free port.
    #[must_use]
    pub fn new(url: &str) -> Self {
        let (scheme, server) = url.split_once("://").expect("an address with a scheme");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of the loopback");
        let address = listener.local_addr().expect("an address");
        let (server, url) = (server.to_owned(), format!("{scheme}://{address}"));
        let state = State {
            link: Link::Open,
            generation: 0,
            waiting: 0,
        };
        let network = Network(Arc::new((Mutex::new(state), Condvar::new())));
        let of_listener = network.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                of_listener.join(client.expect("a client"), &server);
            }
        });
        Self { url, network }
    }

    /// The address of the server through the network.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Interrupts the network, without an error.
    pub fn cut(&self) {
        self.network.change(|state| state.link = Link::Cut);
    }

    /// Whether bytes were sent since the network was interrupted.
    #[must_use]
    pub fn holds_bytes(&self) -> bool {
        self.network.lock().waiting > 0
    }

    /// Restores the network, and forwards bytes that were sent since the interruption.
    pub fn heal(&self) {
        self.network.change(|state| state.link = Link::Open);
    }

    /// Forwards new connections only; existing ones stay open without forwarding.
    pub fn forget(&self) {
        self.network.change(|state| state.generation += 1);
    }
}

impl Network {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.0.lock()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.0.1.notify_all();
    }

    /// Waits until bytes of a connection may be forwarded; `false` if none ever will be.
    fn passes(&self, generation: u64) -> bool {
        let mut state = self.lock();
        state.waiting += 1;
        let waits = |it: &mut State| it.generation == generation && it.link == Link::Cut;
        let mut state = self.0.1.wait_while(state, waits);
        state.waiting -= 1;
        state.generation == generation
    }

    fn join(&self, client: TcpStream, server: &str) {
        // The server may have been killed: the client retries.
        let Ok(server) = TcpStream::connect(server) else {
            return;
        };
        let generation = self.lock().generation;
        for stream in [&client, &server] {
            // Otherwise small messages wait for acknowledgements. It may have ended already.
            let _ = stream.set_nodelay(true);
        }
        let (Ok(to_server), Ok(to_client)) = (server.try_clone(), client.try_clone()) else {
            panic!("no descriptor left");
        };
        let back = (to_server, to_client);
        for (from, to) in [(client, server), back] {
            let network = self.clone();
            thread::spawn(move || network.pass_on(generation, from, to));
        }
    }

    fn pass_on(&self, generation: u64, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = vec![0; 65_536];
        loop {
            let count = from.read(&mut bytes).unwrap_or(0);
            let passes = self.passes(generation);
            if count == 0 {
                if passes {
                    // It may have ended already.
                    let _ = to.shutdown(Shutdown::Both);
                }
                return;
            }
            if passes && to.write_all(&bytes[..count]).is_err() {
                return;
            }
        }
    }
}
