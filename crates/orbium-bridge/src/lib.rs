// SPDX-License-Identifier: MIT OR Apache-2.0
//! An in-line bridge: it forwards GIOP messages from one protocol to another.
//!
//! Each connection of a client has one connection to the server, and messages are forwarded
//! unchanged: object keys, request ids, service contexts with their priorities, code sets and
//! fragments. No body is unmarshalled. References are rewritten only if they can be found without
//! type information: in forwarding replies, and in references passed to the bridge.
//!
//! It has no notion of objects, adapters or calls: of the ORB it uses the configuration.

#![forbid(unsafe_code)]

mod pump;
mod refused;
mod rewrite;
mod shared;

use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use orbium_channel::Channel;
use orbium_channel::accepting::Accepting;
use orbium_core::{Config, OrbError};
use orbium_giop::Ior;
use orbium_sync::lock::Mutex;
use orbium_sys::{Poller, Waker};
use orbium_transport::ByteStream;

use pump::Pump;
use shared::Shared;

/// A bridge, which relays until it is dropped.
///
/// ```
/// use orbium_bridge::Bridge;
/// use orbium_core::{Config, Orb};
///
/// let server = Orb::builder().endpoint("uiop://")?.build()?;
/// let inside = &server.channels()?[0];
/// let config = Config {
///     endpoints: vec!["iiop://127.0.0.1:0".parse()?],
///     ..Config::default()
/// };
/// let bridge = Bridge::start(&config, inside.clone())?;
/// println!("clients find the server at {}", bridge.channels()[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Bridge {
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Bridge {
    /// Listens at the endpoints of a configuration and relays to `to`. Limits, protocols and
    /// properties of the configuration apply to both sides.
    ///
    /// # Errors
    ///
    /// [`OrbError`]: no endpoint, one at which it cannot listen, or a missing protocol.
    pub fn start(config: &Config, to: Channel) -> Result<Self, OrbError> {
        let config = config.clone().prepared()?;
        if config.endpoints.is_empty() {
            return Err(OrbError::Config("a bridge needs an endpoint to listen at"));
        }
        let connector = config
            .protocols
            .connector(&to, &config.channel_options())
            .map_err(|error| error.at(&to))?;
        let (accepting, listens) = Accepting::listen(
            &config.endpoints,
            &config.protocols,
            &config.channel_options(),
        )?;
        let endpoint = config.endpoints[0].to_string();
        let failed = move |error| OrbError::Listen(endpoint.clone(), error);
        let shared = Arc::new(Shared {
            listens,
            to,
            connector,
            stopping: AtomicBool::new(false),
            waker: Waker::new().map_err(&failed)?,
            streams: Mutex::default(),
            config,
        });
        let serving = Arc::clone(&shared);
        let poller = Poller::new().map_err(&failed)?;
        accepting
            .register(&poller, &shared.waker)
            .map_err(&failed)?;
        let accept = move || {
            let take_on = |stream, _| take_on(&serving, stream);
            let is_stopping = || serving.is_stopping();
            accepting.run(&poller, &serving.waker, &is_stopping, &take_on, &|| false);
        };
        let acceptor = orbium_sync::spawn("orbium-bridge", accept).map_err(&failed)?;
        Ok(Self {
            shared,
            acceptor: Some(acceptor),
        })
    }

    /// The channels by which clients reach the bridge.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.shared.listens
    }

    /// A reference that leads to the server over the bridge. Unchanged if no profile
    /// leads to the server.
    #[must_use]
    pub fn rewrite(&self, ior: &Ior) -> Ior {
        rewrite::rewrite(ior, &self.shared.to, &self.shared.listens)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.waker.wake();
        if let Some(acceptor) = self.acceptor.take() {
            // The thread returns no value.
            let _ = acceptor.join();
        }
        for (client, server) in self.shared.lock().open.values() {
            client.shutdown(Shutdown::Both);
            if let Some(server) = server {
                server.shutdown(Shutdown::Both);
            }
        }
    }
}

/// Relays the connection of a client on a thread of its own.
fn take_on(shared: &Arc<Shared>, client: Box<dyn ByteStream>) {
    let client: Arc<dyn ByteStream> = Arc::from(client);
    let id = {
        let mut streams = shared.lock();
        // There is one stream of datagrams for each such endpoint, for any number of clients.
        let is_full = streams.open.len() >= shared.config.limits.connections;
        if is_full && !client.has_many_peers() || shared.is_stopping() {
            orbium_trace::log::warn!(target: "orbium::bridge", "connection refused: the limit of connections is reached");
            return;
        }
        streams.next += 1;
        let id = streams.next;
        streams.open.insert(id, (Arc::clone(&client), None));
        id
    };
    let relayed = Arc::clone(shared);
    let spawned = orbium_sync::spawn("orbium-bridge", move || {
        Pump::requests(&relayed, id, &client);
        relayed.lock().open.remove(&id);
    });
    if let Err(error) = spawned {
        orbium_trace::log::warn!(target: "orbium::bridge", %error, "no thread for a connection");
        shared.lock().open.remove(&id);
    }
}
