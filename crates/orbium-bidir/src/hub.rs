// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bidirectional connections of an ORB, by where they lead.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::{Arc, OnceLock, Weak};

use orbium_channel::Channel;
use orbium_channel::connection::{Bounds, Connection, Role};
use orbium_channel::peer_memory::Budget;
use orbium_config::BidirectionalHosts;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_transport::{Acceptor, ByteStream};

use crate::acceptor::{Arrivals, OpenedAcceptor};
use crate::calling::CallingHalf;
use crate::listen_point::{ListenPoint, MAX_LISTEN_POINTS};
use crate::serving::{Announcements, ServingHalf};
use crate::trust::trusts;
use crate::wire::{Routes, Wire};

/// The ORB's own listen points, and the data of the service context with them.
type Announced = (Vec<ListenPoint>, Option<Arc<[u8]>>);

/// Bytes of the longest host name that is accepted: paths of sockets are shorter.
const MAX_HOST: usize = 1024;

type Paths = HashMap<String, Vec<Weak<Wire>>>;

/// The bidirectional connections of an ORB: those that it opened, by their channels, and those that
/// it accepted, by the listen points of their clients.
#[derive(Debug)]
pub struct Hub {
    hosts: BidirectionalHosts,
    bounds: Bounds,
    budget: Budget,
    paths: Mutex<Paths>,
    announced: Mutex<Announced>,
    arrivals: OnceLock<Arc<Arrivals>>,
}

impl Hub {
    /// No connections. A client may announce its own addresses and those of `hosts`. Memory of
    /// peers is charged to the budget; the bounds apply to each connection that the ORB opens.
    #[must_use]
    pub fn new(hosts: BidirectionalHosts, bounds: Bounds, budget: Budget) -> Arc<Self> {
        Arc::new(Self {
            hosts,
            bounds: bounds.of_both_sides(),
            budget,
            paths: Mutex::default(),
            announced: Mutex::default(),
            arrivals: OnceLock::new(),
        })
    }

    /// Adds channels at which the ORB listens: connections announce them, including those that have
    /// announced others before (CORBA 3.3 Part 2, clause 9.9: a peer adds them to those that it
    /// has).
    pub(crate) fn listen(&self, channels: &[Channel]) {
        let announced = {
            let mut announced = self.own_points();
            let (points, data) = &mut *announced;
            points.extend(channels.iter().filter_map(ListenPoint::of));
            points.truncate(MAX_LISTEN_POINTS);
            *data = ListenPoint::encode(points).map(Arc::from);
            data.clone()
        };
        let Some(announced) = announced else { return };
        let wires: Vec<_> = self.paths().values().flatten().cloned().collect();
        for wire in wires.iter().filter_map(Weak::upgrade) {
            wire.announce(Arc::clone(&announced));
        }
    }

    fn own_points(&self) -> MutexGuard<'_, Announced> {
        self.announced.lock()
    }

    /// The acceptor by which a lane takes over the connections that the ORB has opened; `None` if
    /// another lane has it.
    ///
    /// # Errors
    /// Out of descriptors.
    pub(crate) fn acceptor(&self) -> io::Result<Option<Box<dyn Acceptor>>> {
        if self.arrivals.get().is_some() {
            return Ok(None);
        }
        let arrivals = Arrivals::new()?;
        Ok(match self.arrivals.set(Arc::clone(&arrivals)) {
            Ok(()) => Some(Box::new(OpenedAcceptor(arrivals))),
            Err(_) => None,
        })
    }

    /// Wraps a connection that the ORB has accepted over that transport: it becomes bidirectional
    /// when its client announces listen points that the ORB trusts.
    pub(crate) fn accepted(
        self: &Arc<Self>,
        stream: Box<dyn ByteStream>,
        scheme: &str,
    ) -> ServingHalf {
        let wire = Wire::accepted(stream, &self.budget);
        ServingHalf::new(wire, self.announcements(), scheme)
    }

    fn announcements(self: &Arc<Self>) -> Weak<dyn Announcements> {
        let this: Weak<Self> = Arc::downgrade(self);
        this
    }

    fn paths(&self) -> MutexGuard<'_, Paths> {
        self.paths.lock()
    }

    /// A calling half of a connection that leads to a channel: of one that the ORB has opened to
    /// it, if there is any, otherwise of the one announced last.
    pub(crate) fn half_to(&self, channel: &Channel) -> Option<CallingHalf> {
        let paths = self.paths();
        let wires = paths.get(&key_of(channel))?;
        let known: Vec<_> = wires.iter().rev().filter_map(Weak::upgrade).collect();
        drop(paths);
        let (opened, accepted): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|wire| wire.is_opener());
        let mut known = opened.iter().chain(&accepted);
        known.find_map(CallingHalf::new)
    }

    /// Enters a connection under the key of a channel.
    fn enter(&self, key: String, wire: &Arc<Wire>) {
        routes_of(wire).keys.push(key.clone());
        let mut paths = self.paths();
        let wires = paths.entry(key).or_default();
        wires.push(Arc::downgrade(wire));
    }

    /// Enters a listen point that the client of a connection has announced, if it is trusted;
    /// `false` if the connection cannot be bidirectional.
    fn take(
        &self,
        point: &ListenPoint,
        (wire, scheme): (&Arc<Wire>, &str),
        share: &mut dyn FnMut() -> Connection,
    ) -> bool {
        let peer = wire.stream.peer();
        let (host, port) = (&point.host, point.port);
        let keys = keys_of(point, scheme);
        if routes_of(wire).keys.iter().any(|key| keys.contains(key)) {
            return true;
        }
        routes_of(wire).announced += 1;
        if keys.is_empty() || host.len() > MAX_HOST || !trusts(&self.hosts, &peer, point) {
            orbium_trace::log::info!(target: "orbium::conn", %peer, host = %shown(host), port, "a listen point that its client is not believed");
            return true;
        }
        if let Err(error) = wire.go_both_ways(share) {
            orbium_trace::log::debug!(target: "orbium::conn", %peer, %error, "the connection cannot go both ways");
            return false;
        }
        orbium_trace::log::debug!(target: "orbium::conn", %peer, host, port, "calls to this listen point go over the connection of its client");
        for key in keys {
            self.enter(key, wire);
        }
        true
    }

    /// A stream that was just opened to a channel, or a calling half of it if it can be
    /// bidirectional.
    pub(crate) fn adopt(
        self: &Arc<Self>,
        stream: Box<dyn ByteStream>,
        channel: &Channel,
    ) -> io::Result<Box<dyn ByteStream>> {
        let arrivals = self.arrivals.get().filter(|it| it.is_open());
        let announcement = self.own_points().1.clone();
        let (Some(arrivals), Some(announcement)) = (arrivals, announcement) else {
            return Ok(stream);
        };
        let giop = Connection::new(Role::Both, self.bounds, &self.budget);
        let wire = Wire::opened(stream, announcement, giop)?;
        let half = CallingHalf::new(&wire).ok_or(io::ErrorKind::ConnectionReset)?;
        self.enter(key_of(channel), &wire);
        orbium_trace::log::debug!(target: "orbium::conn", %channel, "listen points are announced");
        arrivals.put(ServingHalf::new(
            wire,
            self.announcements(),
            &channel.scheme,
        ));
        Ok(Box::new(half))
    }
}

impl Announcements for Hub {
    fn announced(
        &self,
        wire: &Arc<Wire>,
        scheme: &str,
        data: &[u8],
        share: &mut dyn FnMut() -> Connection,
    ) {
        let points = match ListenPoint::decode(data) {
            Ok(points) => points,
            Err(error) => {
                let peer = wire.stream.peer();
                orbium_trace::log::debug!(target: "orbium::conn", %peer, %error, "listen points cannot be read");
                return;
            }
        };
        for point in points {
            let is_full = routes_of(wire).announced >= MAX_LISTEN_POINTS;
            if is_full || !self.take(&point, (wire, scheme), share) {
                return;
            }
        }
    }

    fn ended(&self, wire: &Arc<Wire>) {
        let keys = std::mem::take(&mut routes_of(wire).keys);
        let mut paths = self.paths();
        for key in keys {
            if let Entry::Occupied(mut wires) = paths.entry(key) {
                wires
                    .get_mut()
                    .retain(|it| !it.ptr_eq(&Arc::downgrade(wire)));
                if wires.get().is_empty() {
                    wires.remove();
                }
            }
        }
    }
}

fn routes_of(wire: &Wire) -> MutexGuard<'_, Routes> {
    wire.routes.lock()
}

/// The part of a host name for the log.
fn shown(host: &str) -> String {
    host.chars().take(64).collect()
}

/// The key of a channel.
fn key_of(channel: &Channel) -> String {
    let at = ["iiop", "ssliop"].map(|scheme| channel.host_port_over(scheme));
    match at.into_iter().flatten().next() {
        Some(at) => internet(&channel.scheme, &at.host, at.port),
        None => channel.to_string(),
    }
}

fn internet(scheme: &str, host: &str, port: u16) -> String {
    let host = host.to_ascii_lowercase();
    format!("{scheme}://{host} {port}")
}

/// The keys of a listen point that was announced over that transport. A reference that requires TLS
/// is never called over a connection without it.
fn keys_of(point: &ListenPoint, scheme: &str) -> Vec<String> {
    if point.port != 0 {
        let schemes = match scheme {
            "ssliop" => &["iiop", "ssliop"][..],
            _ => &["iiop"],
        };
        let schemes = schemes.iter();
        return schemes
            .map(|scheme| internet(scheme, &point.host, point.port))
            .collect();
    }
    let channel = point.host.parse::<Channel>().ok();
    let channel = channel.filter(|it| !matches!(&*it.scheme, "iiop" | "ssliop"));
    channel.iter().map(key_of).collect()
}
