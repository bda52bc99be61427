// SPDX-License-Identifier: MIT OR Apache-2.0
//! An in-line bridge: what comes in over one protocol goes out over another.
//!
//! Each connection of a client has one connection to the server, and messages pass as
//! they are: object keys, request ids, service contexts with their priorities, code
//! sets and fragments. No body is unmarshalled. References are rewritten only where
//! they can be found without knowing the types: in replies that forward, and in
//! references given to the bridge.

mod pump;
mod rewrite;

use std::collections::HashMap;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use orbium_channel::accepting::Accepting;
use orbium_giop::Ior;
use orbium_sys::{Poller, Waker};
use orbium_transport::{ByteStream, Connector};

use crate::{Channel, Config, OrbError};
use pump::Pump;

/// A bridge that relays until it is dropped.
///
/// ```
/// use orbium_core::{Bridge, Config, Orb};
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

/// What all threads of a bridge share.
#[derive(Debug)]
struct Shared {
    config: Config,
    listens: Vec<Channel>,
    to: Channel,
    connector: Box<dyn Connector>,
    stopping: AtomicBool,
    waker: Waker,
    streams: Mutex<Streams>,
}

/// The streams that are open, to be ended with the bridge.
#[derive(Debug, Default)]
struct Streams {
    next: u64,
    open: HashMap<u64, Pair>,
}

/// A client's stream and, once it is there, the server's.
type Pair = (Arc<dyn ByteStream>, Option<Arc<dyn ByteStream>>);

impl Bridge {
    /// Listens at the endpoints of a configuration and relays to `to`. Limits,
    /// protocols and properties of the configuration hold for both sides.
    ///
    /// # Errors
    ///
    /// [`OrbError`]: no endpoint, one that cannot be listened at, or a missing
    /// protocol.
    pub fn start(config: &Config, to: Channel) -> Result<Self, OrbError> {
        config.check().map_err(OrbError::Config)?;
        #[cfg(feature = "tls")]
        let config = &config.clone().with_tls()?;
        if config.endpoints.is_empty() {
            return Err(OrbError::Config(
                "a bridge without an endpoint has nobody to relay for",
            ));
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
        let failed = |error| OrbError::Listen(config.endpoints[0].to_string(), error);
        let shared = Arc::new(Shared {
            listens,
            to,
            connector,
            stopping: AtomicBool::new(false),
            waker: Waker::new().map_err(failed)?,
            streams: Mutex::default(),
            config: config.clone(),
        });
        let serving = Arc::clone(&shared);
        let poller = Poller::new().map_err(failed)?;
        accepting.register(&poller, &shared.waker).map_err(failed)?;
        let accept = move || {
            accepting.run(&poller, &|| serving.is_stopping(), &|stream, _| {
                serving.take_on(stream);
            });
        };
        let acceptor = orbium_sync::spawn("orbium-bridge", accept).map_err(failed)?;
        Ok(Self {
            shared,
            acceptor: Some(acceptor),
        })
    }

    /// Where clients find the bridge.
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
            // It has nothing to say.
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

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    fn take_on(self: &Arc<Self>, client: Box<dyn ByteStream>) {
        let client: Arc<dyn ByteStream> = Arc::from(client);
        let id = {
            let mut streams = self.lock();
            if streams.open.len() >= self.config.limits.connections || self.is_stopping() {
                crate::log::warn!(target: "orbium::bridge", "connection refused: the limit of connections is reached");
                return;
            }
            streams.next += 1;
            let id = streams.next;
            streams.open.insert(id, (Arc::clone(&client), None));
            id
        };
        let shared = Arc::clone(self);
        let spawned = orbium_sync::spawn("orbium-bridge", move || {
            Pump::requests(&shared, id, &client);
            shared.lock().open.remove(&id);
        });
        if let Err(error) = spawned {
            crate::log::warn!(target: "orbium::bridge", %error, "no thread for a connection");
            self.lock().open.remove(&id);
        }
    }
}
