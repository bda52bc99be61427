// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network between a channel and its NATS server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// What becomes of the bytes of the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Open,
    /// Bytes wait, as those that TCP sends again.
    Cut,
}

struct State {
    link: Link,
    /// Connections that are older are never heard of again.
    generation: u64,
}

#[derive(Clone)]
struct Network(Arc<(Mutex<State>, Condvar)>);

/// Passes on the bytes of connections to a server, until the network is cut.
pub(crate) struct Relay {
    pub(crate) url: String,
    network: Network,
}

impl Relay {
    /// In front of the server at `nats://host:port`. Its threads end with the process.
    pub(crate) fn new(url: &str) -> Self {
        let server = url.trim_start_matches("nats://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("nats://{}", listener.local_addr().unwrap());
        let state = State {
            link: Link::Open,
            generation: 0,
        };
        let network = Network(Arc::new((Mutex::new(state), Condvar::new())));
        let of_listener = network.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                of_listener.join(client.unwrap(), &server);
            }
        });
        Self { url, network }
    }

    /// Nothing passes from now on, without an error.
    pub(crate) fn cut(&self) {
        self.network.change(|state| state.link = Link::Cut);
    }

    /// Everything passes, also what was sent since.
    pub(crate) fn heal(&self) {
        self.network.change(|state| state.link = Link::Open);
    }

    /// New connections pass; those that there are stay open, and nothing passes on them any more.
    pub(crate) fn forget(&self) {
        self.network.change(|state| state.generation += 1);
    }
}

impl Network {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
    }

    /// Waits until bytes of a connection may pass; `false` if none ever will.
    fn passes(&self, generation: u64) -> bool {
        let state = self.0.0.lock().unwrap();
        let waits = |it: &mut State| it.generation == generation && it.link == Link::Cut;
        self.0.1.wait_while(state, waits).unwrap().generation == generation
    }

    fn join(&self, client: TcpStream, server: &str) {
        // The server may have been killed: the client tries again.
        let Ok(server) = TcpStream::connect(server) else {
            return;
        };
        let generation = self.0.0.lock().unwrap().generation;
        let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
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
