// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events sent as datagrams.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use orbium::lock::Mutex;
use orbium::transport::{
    DatagramTransport, Datagrams, Deadline, Multicast, ProtocolProperties, Udp,
};
use orbium::{ExceptionKind, Orb};
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::rtec::rtec_udp_admin::AddrServer;

use crate::addresses::{Addresses, Destination, ask};
use crate::datagram::{HEADER, encode, fragments};
use crate::gateway_config::{DatagramConfig, GatewayError};

/// Maximum bytes of a datagram of IPv4.
const MAX_DATAGRAM_LENGTH: usize = 65_507;
/// Number of datagrams of an event before a pause: a longer burst overruns the buffers of
/// receivers.
const BURST: usize = 16;
const BURST_PAUSE: Duration = Duration::from_micros(200);
/// Maximum number of sockets for the addresses of a server.
const MAX_SOCKETS: usize = 64;

/// Sends events to a group or one receiver, or each to the address of a table or a server.
pub(crate) struct DatagramSender {
    route: Route,
    config: DatagramConfig,
    next: AtomicU32,
}

/// The route of events.
enum Route {
    One(Box<dyn Datagrams>),
    Table(Addresses, BTreeMap<SocketAddr, Box<dyn Datagrams>>),
    Server(Box<AddressServer>),
}

/// A server that is called for the address of each event.
struct AddressServer {
    orb: Orb,
    reference: String,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    server: Option<AddrServer>,
    sockets: HashMap<SocketAddr, Arc<dyn Datagrams>>,
}

impl DatagramSender {
    pub(crate) fn open(
        orb: &Orb,
        address: &str,
        config: &DatagramConfig,
    ) -> Result<Self, GatewayError> {
        if !(HEADER + 8..=MAX_DATAGRAM_LENGTH).contains(&config.mtu) {
            return Err(GatewayError::Mtu(config.mtu));
        }
        let route = match address.parse()? {
            Destination::One(address) => Route::One(socket(&address, config)?),
            Destination::Table(addresses) => {
                let all = addresses.all().into_iter();
                let opened = all.map(|it| Ok((it, socket(&it.to_string(), config)?)));
                let opened: Result<_, GatewayError> = opened.collect();
                Route::Table(addresses, opened?)
            }
            Destination::Server(reference) => Route::Server(Box::new(AddressServer {
                orb: orb.clone(),
                reference,
                found: Mutex::default(),
            })),
        };
        Ok(Self {
            route,
            config: config.clone(),
            next: AtomicU32::new(1),
        })
    }

    /// Sends an event.
    ///
    /// # Errors
    /// It cannot be encoded or sent, or there is no address for it.
    pub(crate) fn send(&self, event: &Event) -> io::Result<()> {
        match &self.route {
            Route::One(socket) => self.send_over(&**socket, event),
            Route::Table(addresses, sockets) => {
                let socket = addresses.of(&event.header).and_then(|it| sockets.get(&it));
                let socket = socket.ok_or(io::ErrorKind::AddrNotAvailable)?;
                self.send_over(&**socket, event)
            }
            Route::Server(server) => {
                let socket = server.socket(event, &self.config).map_err(|why| {
                    tracing::debug!(target: "orbium::event", %why, "no address for an event");
                    io::Error::from(io::ErrorKind::AddrNotAvailable)
                })?;
                self.send_over(&*socket, event)
            }
        }
    }

    fn send_over(&self, socket: &dyn Datagrams, event: &Event) -> io::Result<()> {
        let message = encode(event);
        let message = message.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        for fragment in fragments(id, &message, self.config.mtu - HEADER) {
            if fragment.number > 0 && fragment.number.is_multiple_of(BURST) {
                thread::sleep(BURST_PAUSE);
            }
            let header = fragment.header(self.config.crc);
            let pieces = [IoSlice::new(&header), IoSlice::new(fragment.bytes)];
            socket.send(&pieces)?;
        }
        Ok(())
    }
}

impl AddressServer {
    /// The socket for an event. Only the thread of the gateway calls it.
    fn socket(&self, event: &Event, config: &DatagramConfig) -> Result<Arc<dyn Datagrams>, String> {
        let mut found = self.found.lock();
        let server = match &found.server {
            Some(server) => server.clone(),
            None => {
                let resolved: Result<AddrServer, _> = self.orb.resolve(&self.reference);
                let resolved = resolved.map_err(|it| it.to_string())?;
                found.server.insert(resolved).clone()
            }
        };
        let address = ask(&server, &event.header).map_err(|exception| {
            // One without an address for the event is there; another may have moved.
            found
                .server
                .take_if(|_| exception.kind != ExceptionKind::BadParam);
            exception.to_string()
        })?;
        if let Some(socket) = found.sockets.get(&address) {
            return Ok(Arc::clone(socket));
        }
        if found.sockets.len() >= MAX_SOCKETS {
            found.sockets.clear();
        }
        let opened = socket(&address.to_string(), config).map_err(|it| it.to_string())?;
        let opened = Arc::from(opened);
        found.sockets.insert(address, Arc::clone(&opened));
        Ok(opened)
    }
}

/// A socket that sends to an address.
fn socket(address: &str, config: &DatagramConfig) -> Result<Box<dyn Datagrams>, GatewayError> {
    let deadline = Deadline::NEVER;
    Ok(if is_group(address) {
        Multicast.open(address, &properties(config)?, deadline)?
    } else {
        Udp.open(address, &ProtocolProperties::default(), deadline)?
    })
}

/// Whether an address is that of a group.
pub(crate) fn is_group(address: &str) -> bool {
    let address = address.parse::<SocketAddr>();
    address.is_ok_and(|address| address.ip().is_multicast())
}

/// The properties of the sockets of a group.
pub(crate) fn properties(config: &DatagramConfig) -> Result<ProtocolProperties, GatewayError> {
    let mut properties = ProtocolProperties::default();
    if let Some(name) = &config.interface {
        let set = properties.set("multicast_interface", name);
        set.map_err(|_| GatewayError::Interface(name.clone()))?;
    }
    Ok(properties)
}
