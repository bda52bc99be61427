// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests and replies as the network sees them: the code point in every
//! packet, captured from the loopback, and the priority of their sockets.
#![cfg(target_os = "linux")]

use crate::common;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::common::{adapter, client_with, seen_by, server_with};
use orbium_core::{Config, Priority, ProtocolProperties};
use orbium_rt::{DscpMapping, NetworkPriorityMapping, PriorityModelPolicy, RtOrb, RtPolicies};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, eventually, skipped};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketType, recv, socket};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

/// Every packet, of whatever protocol (`ETH_P_ALL`).
const ALL: u16 = 3;
const TCP: u8 = 6;

/// A packet with octets of TCP: ports of sender and receiver, and its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    from: u16,
    to: u16,
    dscp: u8,
}

/// Reads packets until it is dropped.
struct Capture {
    seen: Arc<Mutex<BTreeSet<Packet>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Capture {
    /// `None` without the privilege.
    fn start() -> Option<Self> {
        let protocol = Protocol::from_raw(NonZeroU32::new(ALL.to_be().into())?);
        // Packets without what is below IP.
        let socket = socket(AddressFamily::PACKET, SocketType::DGRAM, Some(protocol)).ok()?;
        set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_millis(50))).ok()?;
        let (seen, over) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let (found, is_over) = (Arc::clone(&seen), Arc::clone(&over));
        let thread = thread::spawn(move || read(&socket, &found, &is_over));
        Some(Self {
            seen,
            over,
            thread: Some(thread),
        })
    }

    /// Classes of what was sent from one port to another.
    fn classes(&self, from: u16, to: u16) -> BTreeSet<u8> {
        let seen = self.seen.lock().unwrap();
        let between = seen.iter().filter(|it| (it.from, it.to) == (from, to));
        between.map(|it| it.dscp).collect()
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn read(socket: &OwnedFd, seen: &Mutex<BTreeSet<Packet>>, over: &AtomicBool) {
    let mut room = vec![0; 65536];
    while !over.load(Ordering::SeqCst) {
        let Ok((len, _)) = recv(socket, room.as_mut_slice(), RecvFlags::empty()) else {
            continue;
        };
        if let Some(packet) = packet(&room[..len]) {
            seen.lock().unwrap().insert(packet);
        }
    }
}

/// What is of interest in a packet; `None` for others than those of TCP that
/// carry something.
fn packet(ip: &[u8]) -> Option<Packet> {
    let (class, header, protocol) = match ip.first()? >> 4 {
        4 => (*ip.get(1)?, usize::from(ip[0] & 15) * 4, *ip.get(9)?),
        6 => (ip[0] << 4 | ip.get(1)? >> 4, 40, *ip.get(6)?),
        _ => return None,
    };
    let tcp = ip.get(header..)?;
    let port = |at: usize| Some(u16::from_be_bytes([*tcp.get(at)?, *tcp.get(at + 1)?]));
    let offset = usize::from(tcp.get(12)? >> 4) * 4;
    (protocol == TCP && tcp.len() > offset).then_some(Packet {
        from: port(0)?,
        to: port(2)?,
        dscp: class >> 2,
    })
}

/// What is asked of the socket of this process at that local port, as the kernel
/// has it.
fn properties_at(local: u16, peer: u16) -> Option<ProtocolProperties> {
    let this = pidfd_open(getpid(), PidfdFlags::empty()).ok()?;
    for entry in std::fs::read_dir("/proc/self/fd").ok()?.flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        let Ok(copy) = pidfd_getfd(&this, number, PidfdGetfdFlags::empty()) else {
            continue;
        };
        let own = rustix::net::getsockname(&copy).ok();
        let other = rustix::net::getpeername(&copy).ok().flatten();
        let ends = [own, other].map(|address| SocketAddr::try_from(address?).ok());
        let ends = ends.map(|address| address.map(|it| it.port()));
        if ends == [Some(local), Some(peer)] {
            return ProtocolProperties::read_from(&copy.as_fd()).ok();
        }
    }
    None
}

/// Conformance: RT - network priority - the code point in every captured packet of requests and
/// replies, IPv4 and IPv6, and the priority of the socket as the kernel has it
#[test]
fn packets_have_the_mark_of_the_priority() {
    let Some(capture) = Capture::start() else {
        skipped("marks of packets: reading packets takes CAP_NET_RAW");
        return;
    };
    for host in ["127.0.0.1", "[::1]"] {
        // Replies are marked as the endpoint says: AF11.
        let mut config = Config::default();
        let endpoint = format!("iiop://{host}:0?dscp=10");
        config.endpoints.push(endpoint.parse().unwrap());
        let (server_orb, server_rt) = server_with(config, RtOrb::builder().soft());
        let addresses = server_orb.addresses().unwrap();
        // `server_with` listens at 127.0.0.1 too, and that without a mark.
        let policies = RtPolicies {
            priority_model: Some(PriorityModelPolicy::client_propagated(0)),
            ..RtPolicies::default()
        };
        let state = Arc::new(TargetState::default());
        state.on_act(|call, _| {
            let peer = call.peer().map(ToString::to_string).unwrap_or_default();
            let port = peer.rsplit(':').next().and_then(|it| it.parse().ok());
            Ok(port.unwrap_or(-1))
        });
        let object: Target = adapter(&server_orb, &server_rt, "a", &policies)
            .activate(state)
            .unwrap();
        let marking = RtOrb::builder().soft().network_priorities(DscpMapping);
        let (client_orb, client_rt) = client_with(marking);
        let target = seen_by(&client_orb, &server_orb, &object);
        let at = addresses[0].port;
        for number in [0, 4096, 20_480, 32_767] {
            let mark = DscpMapping.to_network(Priority::new(number).unwrap());
            let mark = mark.unwrap();
            let (rt, target) = (client_rt.clone(), target.clone());
            let call = move || {
                rt.current().set_the_priority(number).unwrap();
                target.act(0).unwrap()
            };
            let mut from = 0;
            // Other packets may have left no room for ours.
            eventually("a request and its reply are seen", || {
                from = u16::try_from(common::on_a_thread(call.clone())).unwrap();
                let both = [(from, at), (at, from)].map(|(a, b)| capture.classes(a, b));
                both.iter().all(|classes| !classes.is_empty())
            });
            let expected = [mark.dscp].into();
            assert_eq!(capture.classes(from, at), expected, "priority {number}");
            assert_eq!(capture.classes(at, from), [10].into(), "the reply");
            let Some(properties) = properties_at(from, at) else {
                skipped("priorities of sockets: pidfd_getfd is not permitted");
                continue;
            };
            assert_eq!(properties.dscp, Some(mark.dscp));
            assert_eq!(properties.socket_priority, mark.socket_priority);
        }
        server_orb.shutdown(true).unwrap();
    }
}
