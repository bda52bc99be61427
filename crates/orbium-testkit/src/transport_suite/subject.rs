// SPDX-License-Identifier: MIT OR Apache-2.0
//! Subject of the suite: a transport, and its use in the tests.

use std::any::Any;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium::{Config, Orb, config::ServerStrategy};
use orbium_core::Protocols;
use orbium_giop::messaging::{Messaging, Stack};
use orbium_transport::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, ListenError, ProtocolProperties,
    StreamTransport, Transport,
};

use crate::Served;
use crate::waiting::PATIENCE;

type Configure = dyn Fn(&mut Config) + Send + Sync;

/// A transport to be tested. Its options exclude features; by default it supports all of them.
pub struct Subject {
    server: Arc<dyn StreamTransport>,
    client: Arc<dyn StreamTransport>,
    endpoint: Box<dyn Fn(&str) -> String + Send + Sync>,
    configure: Vec<Box<Configure>>,
    /// The path of the test module.
    pub(super) module: &'static str,
    pub(super) other_processes: bool,
    named_endpoints: bool,
    /// Whether servers of every strategy are tested with every operation.
    pub(super) all_strategies: bool,
    /// The outermost first.
    messaging: Vec<Arc<dyn Messaging>>,
    /// The environment of child processes.
    pub(super) environment: Vec<(String, OsString)>,
    _kept: Vec<Box<dyn Any + Send + Sync>>,
    pub(super) allocations: usize,
    pub(super) connections: usize,
}

/// An address of the loopback that is most likely unused: its ports stay free when they are
/// released, whatever other tests connect to.
#[must_use]
pub fn loopback(unique: &str) -> Ipv4Addr {
    if !cfg!(target_os = "linux") {
        // Other systems have only one loopback address.
        return Ipv4Addr::LOCALHOST;
    }
    let hash = unique
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, octet| {
            (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01B3)
        });
    let [a, b, c, ..] = (hash >> 16).to_le_bytes();
    Ipv4Addr::new(127, 1 + a % 200, b, 1 + c % 250)
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

impl Subject {
    /// A transport, and a function that creates endpoints to listen at: its argument is a word that
    /// is unique among all endpoints of all processes. Each endpoint must be free.
    pub fn new(
        transport: impl StreamTransport + 'static,
        endpoint: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        let transport: Arc<dyn StreamTransport> = Arc::new(transport);
        Self {
            client: Arc::clone(&transport),
            server: transport,
            endpoint: Box::new(endpoint),
            configure: Vec::new(),
            module: "",
            other_processes: true,
            named_endpoints: false,
            all_strategies: true,
            messaging: Vec::new(),
            environment: Vec::new(),
            _kept: Vec::new(),
            allocations: 0,
            connections: 3000,
        }
    }

    /// Sets another value of the transport for clients. It can listen too, and servers can connect
    /// to it.
    #[must_use]
    pub fn client(mut self, transport: impl StreamTransport + 'static) -> Self {
        self.client = Arc::new(transport);
        self
    }

    /// Restricts peers to one process.
    #[must_use]
    pub fn within_one_process(mut self) -> Self {
        self.other_processes = false;
        self
    }

    /// Listens again at the same endpoint, rather than at the published address.
    #[must_use]
    pub fn named_endpoints(mut self) -> Self {
        self.named_endpoints = true;
        self
    }

    /// For a transport that is tested with servers of every strategy elsewhere: here every
    /// operation is sent to one that reads and serves in one thread and to one that hands requests
    /// over.
    #[must_use]
    pub fn strategies_elsewhere(mut self) -> Self {
        self.all_strategies = false;
        self
    }

    /// Adds a messaging protocol below the earlier ones.
    #[must_use]
    pub fn messaging(mut self, layer: impl Messaging + 'static) -> Self {
        self.messaging.push(Arc::new(layer));
        self
    }

    /// Adds a variable to the environment of child processes, which create a subject themselves: to
    /// locate common resources.
    #[must_use]
    pub fn environment(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Keeps a value until the test ends.
    #[must_use]
    pub fn keeping(mut self, kept: impl Any + Send + Sync) -> Self {
        self._kept.push(Box::new(kept));
        self
    }

    /// Changes the configuration of every ORB.
    #[must_use]
    pub fn configure(mut self, change: impl Fn(&mut Config) + Send + Sync + 'static) -> Self {
        self.configure.push(Box::new(change));
        self
    }

    /// Sets the number of allocations that a call may need, of both sides together.
    #[must_use]
    pub fn allocations_per_call(mut self, allocations: usize) -> Self {
        self.allocations = allocations;
        self
    }

    /// Sets the number of connections in tests with thousands of them.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// For the macro: the path of the tests.
    #[doc(hidden)]
    #[must_use]
    pub fn named(mut self, module: &'static str) -> Self {
        self.module = module;
        self
    }

    /// A unique endpoint.
    pub(super) fn endpoint(&self) -> Endpoint {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let text = (self.endpoint)(&format!("{}-{number}", std::process::id()));
        text.parse().expect("the subject's endpoint")
    }

    /// The endpoint for listening at the published address again.
    pub(super) fn same_place(&self, endpoint: Endpoint, address: &str) -> Endpoint {
        if self.named_endpoints {
            return endpoint;
        }
        Endpoint {
            address: address.to_owned(),
            ..endpoint
        }
    }

    pub(super) fn try_listen(&self, at: &Endpoint) -> Result<Box<dyn Acceptor>, ListenError> {
        self.server.listen(at, &ProtocolProperties::default())
    }

    /// Listens at a unique endpoint.
    #[track_caller]
    pub(super) fn listen(&self) -> Box<dyn Acceptor> {
        self.try_listen(&self.endpoint()).expect("a free endpoint")
    }

    /// Listens at a unique endpoint; returns the endpoint for listening there again.
    #[track_caller]
    pub(super) fn listen_somewhere(&self) -> (Box<dyn Acceptor>, Endpoint) {
        let endpoint = self.endpoint();
        let acceptor = self.try_listen(&endpoint).expect("a free endpoint");
        let at = self.same_place(endpoint, acceptor.address());
        (acceptor, at)
    }

    pub(super) fn try_connector(
        &self,
        address: &str,
    ) -> Result<Box<dyn Connector>, orbium_transport::EndpointError> {
        self.client
            .connector(address, &ProtocolProperties::default())
    }

    #[track_caller]
    pub(super) fn connector(&self, address: &str) -> Box<dyn Connector> {
        self.try_connector(address).expect("a published address")
    }

    /// The messaging protocols as one; `None` for GIOP alone.
    pub(super) fn layers(&self) -> Option<Arc<dyn Messaging>> {
        match self.messaging.as_slice() {
            [] => None,
            [one] => Some(Arc::clone(one)),
            several => Some(Arc::new(
                Stack::new(several.to_vec()).expect("layers that fit"),
            )),
        }
    }

    fn configured(&self, transport: &Arc<dyn StreamTransport>) -> Config {
        let mut protocols = Protocols::none();
        protocols.register(Transport::Stream(Arc::clone(transport)));
        for layer in &self.messaging {
            protocols.register_messaging(Arc::clone(layer));
        }
        let mut config = Config {
            protocols,
            ..Config::default()
        };
        self.configure.iter().for_each(|change| change(&mut config));
        config
    }

    /// The configuration of a server at an endpoint.
    pub(super) fn server_config(&self, mut at: Endpoint, strategy: ServerStrategy) -> Config {
        if !self.messaging.is_empty() {
            let names: Vec<_> = self.messaging.iter().map(|layer| layer.name()).collect();
            at.parameters.push(("messaging".into(), names.join(",")));
        }
        Config {
            endpoints: vec![at],
            strategy,
            ..self.configured(&self.server)
        }
    }

    /// The configuration of a client that serves objects too: with the transport of clients.
    pub(super) fn peer_config(&self, at: Endpoint, strategy: ServerStrategy) -> Config {
        Config {
            protocols: self.client_config().protocols,
            ..self.server_config(at, strategy)
        }
    }

    /// The configuration of a client: with this transport only.
    pub(super) fn client_config(&self) -> Config {
        self.configured(&self.client)
    }

    pub(super) fn client_orb(&self) -> Orb {
        Orb::new(self.client_config()).expect("an ORB")
    }

    pub(super) fn serve(&self, strategy: ServerStrategy) -> Served {
        Served::with(self.server_config(self.endpoint(), strategy))
    }

    /// A connection to a listening ORB, in one attempt.
    pub(super) fn try_connection(&self, server: &Orb) -> io::Result<Box<dyn ByteStream>> {
        let address = &server.channels().expect("a listening ORB")[0].address;
        let connector = self.connector(address);
        connector.connect(Deadline::after(Some(PATIENCE)))
    }
}
