// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each option is applied and read back from the kernel.
#![cfg(target_os = "linux")]

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use orbium_sys::{
    NetworkInterface, SocketOptions, bound_send_buffer, connect, listen, paces_within_host,
    receive_at, send_to,
};

const V4: &str = "127.0.0.1:0";
const V6: &str = "[::1]:0";

/// A new socket to which options were applied.
type Applied<'a> = &'a dyn Fn(&SocketOptions) -> io::Result<OwnedFd>;

fn with(name: &str, value: &str) -> SocketOptions {
    let mut options = SocketOptions::new();
    options.set(name, value).unwrap();
    options
}

/// What is in effect once an option was applied.
fn effective(apply: Applied<'_>, name: &str, value: &str) -> SocketOptions {
    let socket = apply(&with(name, value)).unwrap();
    SocketOptions::read_from(&socket).unwrap()
}

/// The same for an option that may take privileges: without them the error must
/// name it.
fn privileged(apply: Applied<'_>, name: &str, value: &str) -> Option<SocketOptions> {
    match apply(&with(name, value)) {
        Ok(socket) => Some(SocketOptions::read_from(&socket).unwrap()),
        Err(error) => {
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
            assert!(error.to_string().contains(name), "{error}");
            eprintln!("skipped: {name} is not read back, for it takes privileges");
            None
        }
    }
}

/// What is wrong with an option for every socket that has it.
fn refused(apply: Applied<'_>, options: SocketOptions, name: &str) {
    let error = apply(&options).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
    assert!(error.to_string().contains(name), "{error}");
}

fn buffers(apply: Applied<'_>) {
    // The kernel doubles what it is asked for.
    let found = effective(apply, "send_buffer", "20000");
    assert_eq!(found.send_buffer, Some(40_000));
    let found = effective(apply, "receive_buffer", "30000");
    assert_eq!(found.receive_buffer, Some(60_000));
    let options = SocketOptions {
        send_buffer: Some(usize::MAX),
        ..SocketOptions::new()
    };
    refused(apply, options, "send_buffer");
}

fn internet(apply: Applied<'_>) {
    for dscp in [0, 46, 63] {
        let found = effective(apply, "dscp", &dscp.to_string());
        assert_eq!(found.dscp, Some(dscp));
    }
    let options = SocketOptions {
        dscp: Some(64),
        ..SocketOptions::new()
    };
    refused(apply, options, "dscp");
    for rate in [125_000, 5_000_000_000] {
        let found = effective(apply, "pacing_rate", &rate.to_string());
        assert_eq!(found.pacing_rate, Some(rate));
    }
    assert!(effective(apply, "dont_route", "1").dont_route);
    assert!(!effective(apply, "dont_route", "0").dont_route);
    for priority in [1, 6, 7] {
        let found = privileged(apply, "socket_priority", &priority.to_string());
        assert!(found.is_none_or(|found| found.socket_priority == Some(priority)));
    }
    // Though the code point changes it too.
    let both = SocketOptions {
        dscp: Some(46),
        socket_priority: Some(2),
        ..SocketOptions::new()
    };
    let found = SocketOptions::read_from(&apply(&both).unwrap()).unwrap();
    assert_eq!((found.dscp, found.socket_priority), (Some(46), Some(2)));
    let found = privileged(apply, "busy_poll", "50");
    let time = Some(Duration::from_micros(50));
    assert!(found.is_none_or(|found| found.busy_poll == time));
    let found = privileged(apply, "mark", "7");
    assert!(found.is_none_or(|found| found.mark == Some(7)));
}

fn incoming(apply: Applied<'_>) {
    assert!(effective(apply, "reuse", "1").reuse);
    assert!(!effective(apply, "reuse", "0").reuse);
    let found = effective(apply, "incoming_cpu", "0");
    assert_eq!(found.incoming_cpu, Some(0));
}

fn tcp(apply: Applied<'_>) {
    buffers(apply);
    internet(apply);
    for (value, on) in [("0", false), ("1", true)] {
        assert_eq!(effective(apply, "no_delay", value).no_delay, on);
        assert_eq!(effective(apply, "keep_alive", value).keep_alive, on);
        let found = effective(apply, "quick_ack", value);
        assert_eq!(found.quick_ack, Some(on));
    }
    let found = effective(apply, "send_buffer", "20000");
    assert!(found.no_delay && found.keep_alive && !found.reuse);
    assert_eq!((found.multicast_ttl, found.multicast_loop), (None, None));
}

/// Unless the system grants less. Without pacing a bounded buffer made floods of small messages
/// three times slower.
#[test]
fn send_buffers_within_the_host_are_bounded_where_sending_is_paced() {
    /// The kernel reports twice what was asked for.
    const BOUND: usize = 1 << 20;
    let algorithm = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    let most = std::fs::read_to_string("/proc/sys/net/core/wmem_max").unwrap_or_default();
    let is_granted = most
        .trim()
        .parse()
        .is_ok_and(|most: usize| 2 * most >= BOUND);
    let is_paced = is_granted && algorithm.is_ok_and(|name| name.starts_with("bbr"));
    for at in [V4, V6] {
        let listener = TcpListener::bind(at).unwrap();
        let address = listener.local_addr().unwrap();
        let size = |options: &SocketOptions, octets: usize| {
            let stream = connect(address, options, orbium_sys::Deadline::NEVER).unwrap();
            let (mut far, _) = listener.accept().unwrap();
            if options.send_buffer.is_none() {
                assert_eq!(paces_within_host(&stream), is_paced);
                if is_paced {
                    bound_send_buffer(&stream);
                }
            }
            // As much as the other side takes, without a pause.
            let sender = stream.try_clone().unwrap();
            let sending = std::thread::spawn(move || (&sender).write_all(&vec![1; octets]));
            io::copy(
                &mut Read::by_ref(&mut far).take(octets as u64),
                &mut io::sink(),
            )
            .unwrap();
            sending.join().unwrap().unwrap();
            SocketOptions::read_from(&stream).unwrap().send_buffer
        };
        let found = size(&SocketOptions::new(), 16 << 20);
        let is_bounded = found.is_some_and(|found| found <= BOUND);
        assert!(is_bounded || !is_paced, "{found:?}");
        assert!(is_paced || found != Some(BOUND), "{found:?}");
        let asked = with("send_buffer", "30000");
        // A small buffer takes long: each few messages change threads.
        assert_eq!(size(&asked, 1 << 20), Some(60_000));
    }
}

#[test]
fn tcp_connections() {
    for at in [V4, V6] {
        tcp(&|options| {
            let listener = TcpListener::bind(at)?;
            let never = orbium_sys::Deadline::NEVER;
            Ok(connect(listener.local_addr()?, options, never)?.into())
        });
        // An end that has come changes how it acknowledges.
        let clients = RefCell::new(Vec::new());
        tcp(&|options| {
            let listener = TcpListener::bind(at)?;
            let client = TcpStream::connect(listener.local_addr()?)?;
            clients.borrow_mut().push(client);
            let (accepted, _) = listener.accept()?;
            options.apply_tcp(&accepted)?;
            Ok(accepted.into())
        });
    }
}

#[test]
fn tcp_listeners() {
    for at in [V4, V6, "[::]:0", "0.0.0.0:0"] {
        let apply = |options: &SocketOptions| Ok(listen(at.parse().unwrap(), options)?.into());
        buffers(&apply);
        internet(&apply);
        incoming(&apply);
    }
}

#[test]
fn both_families_of_a_socket_are_marked() {
    let listener = listen("[::]:0".parse().unwrap(), &with("dscp", "46")).unwrap();
    assert_eq!(socket2::SockRef::from(&listener).tos_v4().unwrap(), 46 << 2);
}

#[test]
fn unix_sockets() {
    let apply = |options: &SocketOptions| {
        let (one, _) = UnixStream::pair()?;
        options.apply_unix(&one)?;
        Ok(one.into())
    };
    buffers(&apply);
    // Nothing else is asked of them, and nothing is refused.
    for name in [SocketOptions::TCP_NAMES, SocketOptions::MULTICAST_NAMES].concat() {
        if !SocketOptions::UNIX_NAMES.contains(&name) {
            effective(&apply, name, "1");
        }
    }
}

fn new_udp(at: &str) -> io::Result<socket2::Socket> {
    let at: std::net::SocketAddr = at.parse().unwrap();
    socket2::Socket::new(socket2::Domain::for_address(at), socket2::Type::DGRAM, None)
}

#[test]
fn udp_sockets() {
    for at in [V4, V6] {
        let at = at.parse().unwrap();
        let receiver = |options: &SocketOptions| Ok(receive_at(at, options)?.into());
        buffers(&receiver);
        internet(&receiver);
        incoming(&receiver);
        let to = receive_at(at, &SocketOptions::new()).unwrap();
        let to = to.local_addr().unwrap();
        let sender = |options: &SocketOptions| Ok(send_to(to, options)?.into());
        buffers(&sender);
        internet(&sender);
    }
}

#[test]
fn multicast_sockets() {
    for at in [V4, V6] {
        let apply = |options: &SocketOptions| {
            let socket = new_udp(at)?;
            options.apply_multicast(&socket)?;
            Ok(socket.into())
        };
        for ttl in [0, 1, 255] {
            let found = effective(&apply, "multicast_ttl", &ttl.to_string());
            assert_eq!(found.multicast_ttl, Some(ttl));
        }
        for (value, on) in [("0", false), ("1", true)] {
            let found = effective(&apply, "multicast_loop", value);
            assert_eq!(found.multicast_loop, Some(on));
        }
        let by_name = with("multicast_interface", "lo");
        let found = SocketOptions::read_from(&apply(&by_name).unwrap()).unwrap();
        if at == V6 {
            assert_eq!(found.multicast_interface, by_name.multicast_interface);
        }
        let nowhere = SocketOptions {
            multicast_interface: std::num::NonZeroU32::new(999_999).map(NetworkInterface::Index),
            ..SocketOptions::new()
        };
        let error = apply(&nowhere).unwrap_err();
        assert!(error.to_string().contains("multicast_interface"), "{error}");
    }
    let loopback = with("multicast_interface", "127.0.0.1");
    let v4 = UdpSocket::bind(V4).unwrap();
    loopback.apply_multicast(&v4).unwrap();
    assert_eq!(
        SocketOptions::read_from(&v4.as_fd())
            .unwrap()
            .multicast_interface,
        Some(NetworkInterface::Address(Ipv4Addr::LOCALHOST))
    );
    // An IPv4 address says nothing to IPv6.
    let v6 = UdpSocket::bind(V6).unwrap();
    let error = loopback.apply_multicast(&v6).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}
