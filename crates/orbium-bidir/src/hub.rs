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
use crate::trust::believes;
use crate::wire::{Routes, Wire};

/// The ORB's own listen points, and the data of the service context with them.
type Announced = (Vec<ListenPoint>, Option<Arc<[u8]>>);

/// Bytes of the longest host name that is accepted: paths of sockets are shorter.
const MAX_HOST: usize = 1024;

type Paths = HashMap<String, Vec<Weak<Wire>>>;

/// The bidirectional connections of an ORB: those that it opened, by the channel that they
/// were opened to, and those that it accepted, by the listen points of their clients.
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
    /// Without connections. A client may announce its own addresses and those of
    /// `hosts`. What peers send is charged to the budget; the bounds are those of each
    /// connection that the ORB opens.
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

    /// The ORB listens at those channels too: connections announce them, and those that have
    /// announced others before do so again (CORBA 3.3 Part 2, clause 9.9: a peer adds them to
    /// those that it has).
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

    /// Where a lane takes on the connections that the ORB has opened; `None` if another does.
    ///
    /// # Errors
    /// No descriptors left.
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

    /// A connection that the ORB has accepted over that transport: it goes both ways as soon
    /// as its client announces listen points that the ORB trusts.
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

    /// A calling half of a connection that leads to a channel: of one that the ORB has opened
    /// to it, if there is any, and otherwise of the newest one that was announced.
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

    /// A connection leads to what that key stands for.
    fn enter(&self, key: String, wire: &Arc<Wire>) {
        routes_of(wire).keys.push(key.clone());
        let mut paths = self.paths();
        let wires = paths.entry(key).or_default();
        wires.push(Arc::downgrade(wire));
    }

    /// What a client has announced leads over its connection, if it is believed; `false` if
    /// that cannot go both ways.
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
        if keys.is_empty() || host.len() > MAX_HOST || !believes(&self.hosts, &peer, point) {
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

    /// A stream that was just opened to a channel, or a calling half of it if it can go both
    /// ways.
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

/// As much of a host as a log takes.
fn shown(host: &str) -> String {
    host.chars().take(64).collect()
}

/// What a channel is found by.
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

/// What a listen point is found by that was announced over that transport. A reference that
/// asks for TLS is never called over a connection without it.
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
