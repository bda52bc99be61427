// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading of the socket options in effect.

use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd};

use socket2::{Domain, SockRef, Type};

use crate::socket::any_family::family;
use crate::socket::platform_options as platform;
use crate::socket::sockopt;
use crate::{NetworkInterface, SocketOptions};

impl SocketOptions {
    /// The options in effect on a socket; those that its kind does not have are `None` or false.
    ///
    /// Linux includes its own overhead in the sizes of buffers: they read as twice the requested
    /// size. An interface of IPv4 multicast that was given by its index cannot be read.
    ///
    /// # Errors
    /// The system's error.
    pub fn read_from<S: AsFd>(socket: &S) -> io::Result<Self> {
        Self::read_all(socket.as_fd())
    }

    fn read_all(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let (family, socket) = (family(fd)?, SockRef::from(&fd));
        let mut options = Self {
            send_buffer: Some(socket.send_buffer_size()?),
            receive_buffer: Some(socket.recv_buffer_size()?),
            no_delay: false,
            keep_alive: false,
            ..Self::new()
        };
        if family != Domain::IPV6 && family != Domain::IPV4 {
            return Ok(options);
        }
        options.read_ip(fd, family == Domain::IPV6)?;
        if socket.r#type()? == Type::STREAM {
            options.no_delay = socket.tcp_nodelay()?;
            options.keep_alive = socket.keepalive()?;
            options.quick_ack = platform::quick_ack(fd)?;
            return Ok(options);
        }
        options.read_multicast(&socket, family == Domain::IPV6)?;
        Ok(options)
    }

    fn read_ip(&mut self, fd: BorrowedFd<'_>, v6: bool) -> io::Result<()> {
        let socket = SockRef::from(&fd);
        self.dont_route = sockopt::dont_route(fd)?;
        let class = if v6 {
            platform::traffic_class(fd)?
        } else {
            Some(socket.tos_v4()?)
        };
        self.dscp = class.and_then(|class| u8::try_from(class >> 2).ok());
        self.socket_priority = platform::priority(fd)?;
        self.pacing_rate = platform::pacing_rate(fd)?;
        self.busy_poll = platform::busy_poll(fd)?;
        self.mark = platform::mark(fd)?;
        self.incoming_cpu = platform::incoming_cpu(fd)?;
        self.reuse = socket.reuse_port()?;
        Ok(())
    }

    fn read_multicast(&mut self, socket: &SockRef<'_>, v6: bool) -> io::Result<()> {
        let ttl = if v6 {
            socket.multicast_hops_v6()?
        } else {
            socket.multicast_ttl_v4()?
        };
        self.multicast_ttl = u8::try_from(ttl).ok();
        self.multicast_loop = Some(if v6 {
            socket.multicast_loop_v6()?
        } else {
            socket.multicast_loop_v4()?
        });
        self.multicast_interface = if v6 {
            NonZeroU32::new(socket.multicast_if_v6()?).map(NetworkInterface::Index)
        } else {
            let address = socket.multicast_if_v4()?;
            (!address.is_unspecified()).then_some(NetworkInterface::Address(address))
        };
        Ok(())
    }
}
