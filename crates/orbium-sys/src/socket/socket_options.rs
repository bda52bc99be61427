// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options, and their application.

use std::io;
use std::num::NonZeroU8;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use socket2::SockRef;

use crate::NetworkInterface;
use crate::socket::any_family::is_v6;
use crate::socket::platform_options as platform;
use crate::socket::sockopt;

/// Options of a socket. `None` leaves the system's default.
///
/// Each kind of socket uses the applicable ones and ignores the others: see the methods that apply
/// them. A refusal of the kernel is an error that names the option; on systems other than Linux the
/// options specific to Linux are refused as unsupported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// Octets of the kernel's send buffer (`SO_SNDBUF`). The kernel may limit it without an error,
    /// Linux by `net.core.wmem_max`. By default a connection within a Linux host that is paced by
    /// BBR has the kernel's buffer until its first send of 16 KiB, and 512 KiB from then on, if
    /// `net.core.wmem_max` permits as much.
    pub send_buffer: Option<usize>,
    /// Octets of the kernel's receive buffer (`SO_RCVBUF`), bounded likewise.
    pub receive_buffer: Option<usize>,
    /// TCP: send small segments at once (`TCP_NODELAY`). Default: true, since a request that waits
    /// for the acknowledgement of the previous one is late.
    pub no_delay: bool,
    /// TCP: probe silent peers (`SO_KEEPALIVE`). Default: true.
    pub keep_alive: bool,
    /// TCP on Linux: acknowledge at once (`TCP_QUICKACK`). The kernel may reset it during the
    /// connection.
    pub quick_ack: Option<bool>,
    /// IP: reach hosts on attached networks only (`SO_DONTROUTE`).
    pub dont_route: bool,
    /// IP: the differentiated services code point of sent packets, 0 to 63 (`IP_TOS`,
    /// `IPV6_TCLASS`).
    pub dscp: Option<u8>,
    /// IP on Linux: the priority of sent packets among the queues of this host (`SO_PRIORITY`).
    /// Above 6 it needs privileges.
    pub socket_priority: Option<u32>,
    /// IP on Linux: maximum octets per second that are sent (`SO_MAX_PACING_RATE`); for UDP if the
    /// queue discipline is `fq`.
    pub pacing_rate: Option<u64>,
    /// IP on Linux: time for which a receive polls the device before it sleeps (`SO_BUSY_POLL`), in
    /// whole microseconds. May need privileges.
    pub busy_poll: Option<Duration>,
    /// IP on Linux: a mark for routing and filters (`SO_MARK`). Needs
    /// privileges.
    pub mark: Option<u32>,
    /// IP on Linux, sockets to which others connect or send: of the sockets that share the port,
    /// this one gets the packets that the given processor receives (`SO_INCOMING_CPU`).
    pub incoming_cpu: Option<u32>,
    /// IP, sockets to which others connect or send: share the port with other sockets with this
    /// option (`SO_REUSEPORT`).
    pub reuse: bool,
    /// Multicast: the maximum number of networks, 1 for the attached one, the default.
    pub multicast_ttl: Option<u8>,
    /// Multicast: whether receivers on this host receive sent messages. Default: true.
    pub multicast_loop: Option<bool>,
    /// Multicast: the interface for sending and receiving; by default the routing table selects it.
    pub multicast_interface: Option<NetworkInterface>,
    /// Multicast: the number of copies of each message. Receivers identify messages by their ids,
    /// and discard duplicates. Default: one. Not an option of the kernel: the sender of messages
    /// implements it.
    pub multicast_copies: Option<NonZeroU8>,
}

impl SocketOptions {
    /// No options except `no_delay` and `keep_alive`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            send_buffer: None,
            receive_buffer: None,
            no_delay: true,
            keep_alive: true,
            quick_ack: None,
            dont_route: false,
            dscp: None,
            socket_priority: None,
            pacing_rate: None,
            busy_poll: None,
            mark: None,
            incoming_cpu: None,
            reuse: false,
            multicast_ttl: None,
            multicast_loop: None,
            multicast_interface: None,
            multicast_copies: None,
        }
    }
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Sets an option if it has a value; an error names it.
#[inline(always)]
fn ask<T>(name: &str, value: Option<T>, apply: impl FnOnce(T) -> io::Result<()>) -> io::Result<()> {
    match value {
        Some(value) => named(name, apply(value)),
        None => Ok(()),
    }
}

/// The result of setting an option; an error names it.
fn named(name: &str, asked: io::Result<()>) -> io::Result<()> {
    match asked {
        Ok(()) => Ok(()),
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!("socket option {name}: {error}"),
        )),
    }
}

impl SocketOptions {
    /// Applies to a TCP socket, connected or to be connected: buffers, `no_delay`, `keep_alive`,
    /// `quick_ack` and the IP options, except those for sockets to which others connect.
    ///
    /// # Errors
    /// A refusal by the kernel.
    pub fn apply_tcp<S: AsFd>(&self, stream: &S) -> io::Result<()> {
        self.apply_tcp_to(stream.as_fd())
    }

    // The generic function delegates the common part, which is compiled once.
    fn apply_tcp_to(&self, stream: BorrowedFd<'_>) -> io::Result<()> {
        let socket = SockRef::from(&stream);
        named("no_delay", socket.set_tcp_nodelay(self.no_delay))?;
        named("keep_alive", socket.set_keepalive(self.keep_alive))?;
        self.apply_quick_ack(stream)?;
        self.apply_buffers(stream)?;
        self.apply_ip(stream)
    }

    /// The option that connecting undoes.
    pub(crate) fn apply_quick_ack(&self, stream: BorrowedFd<'_>) -> io::Result<()> {
        ask("quick_ack", self.quick_ack, |on| {
            platform::set_quick_ack(stream, on)
        })
    }

    /// Applies to a TCP socket that is to listen and has no address yet: buffers, IP options,
    /// `incoming_cpu` and `reuse`. Accepted sockets may inherit some, and have all of them set
    /// separately.
    ///
    /// # Errors
    /// A refusal by the kernel.
    pub fn apply_listener<S: AsFd>(&self, socket: &S) -> io::Result<()> {
        let socket = socket.as_fd();
        self.apply_buffers(socket)?;
        self.apply_ip(socket)?;
        self.apply_shared(socket)
    }

    /// Applies to a Unix socket: buffers.
    ///
    /// # Errors
    /// A refusal by the kernel.
    pub fn apply_unix<S: AsFd>(&self, socket: &S) -> io::Result<()> {
        self.apply_buffers(socket.as_fd())
    }

    /// Applies to a UDP socket: buffers and IP options, except those for sockets to which others
    /// send.
    ///
    /// # Errors
    /// A refusal by the kernel.
    pub fn apply_udp<S: AsFd>(&self, socket: &S) -> io::Result<()> {
        let socket = socket.as_fd();
        self.apply_buffers(socket)?;
        self.apply_ip(socket)
    }

    /// Applies to a UDP socket that sends to a group: `multicast_ttl`, `multicast_loop`,
    /// `multicast_interface`.
    ///
    /// # Errors
    /// A refusal by the kernel.
    pub fn apply_multicast<S: AsFd>(&self, socket: &S) -> io::Result<()> {
        self.apply_multicast_to(socket.as_fd())
    }

    fn apply_multicast_to(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let v6 = is_v6(socket)?;
        let s = SockRef::from(&socket);
        ask("multicast_ttl", self.multicast_ttl, |ttl| {
            if v6 {
                s.set_multicast_hops_v6(ttl.into())
            } else {
                s.set_multicast_ttl_v4(ttl.into())
            }
        })?;
        ask("multicast_loop", self.multicast_loop, |on| {
            if v6 {
                s.set_multicast_loop_v6(on)
            } else {
                s.set_multicast_loop_v4(on)
            }
        })?;
        ask(
            "multicast_interface",
            self.multicast_interface,
            |at| match (v6, at) {
                (true, at) => s.set_multicast_if_v6(at.index()?),
                (false, NetworkInterface::Address(address)) => s.set_multicast_if_v4(&address),
                (false, NetworkInterface::Index(index)) => {
                    platform::set_multicast_index_v4(socket, index)
                }
            },
        )
    }

    fn apply_buffers(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let socket = SockRef::from(&socket);
        ask("send_buffer", self.send_buffer, |bytes| {
            socket.set_send_buffer_size(signed(bytes)?)
        })?;
        ask("receive_buffer", self.receive_buffer, |bytes| {
            socket.set_recv_buffer_size(signed(bytes)?)
        })
    }

    fn apply_ip(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        ask("dont_route", self.dont_route.then_some(true), |on| {
            sockopt::set_dont_route(socket, on)
        })?;
        // Linux changes the priority with the code point, so the code point is set first.
        ask("dscp", self.dscp, |dscp| set_dscp(socket, dscp))?;
        ask("socket_priority", self.socket_priority, |priority| {
            platform::set_priority(socket, priority)
        })?;
        ask("pacing_rate", self.pacing_rate, |rate| {
            platform::set_pacing_rate(socket, rate)
        })?;
        ask("busy_poll", self.busy_poll, |time| {
            platform::set_busy_poll(socket, time)
        })?;
        ask("mark", self.mark, |mark| platform::set_mark(socket, mark))
    }

    /// Applies the options of sockets to which others connect or send.
    pub(crate) fn apply_shared(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        ask("incoming_cpu", self.incoming_cpu, |cpu| {
            platform::set_incoming_cpu(socket, cpu)
        })?;
        ask("reuse", self.reuse.then_some(true), |on| {
            SockRef::from(&socket).set_reuse_port(on)
        })
    }
}

/// A size in the signed type of the kernel, checked against overflow.
fn signed(bytes: usize) -> io::Result<usize> {
    match i32::try_from(bytes) {
        Ok(_) => Ok(bytes),
        Err(_) => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn set_dscp(socket: BorrowedFd<'_>, dscp: u8) -> io::Result<()> {
    if dscp > 63 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // The lower two bits are for congestion notification.
    let class = u32::from(dscp) << 2;
    let s = SockRef::from(&socket);
    if is_v6(socket)? {
        platform::set_traffic_class(socket, class)?;
        if s.only_v6()? {
            return Ok(());
        }
        // It may also carry IPv4.
    }
    s.set_tos_v4(class)
}
