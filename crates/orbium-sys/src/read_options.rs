// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel says of a socket.

use std::io;
use std::os::fd::AsFd;

use crate::platform_options as platform;
use crate::socket::family;
use crate::socket_options::*;
use crate::sockopt::{NumberOption, number};

const SORT: NumberOption = (libc::SOL_SOCKET, libc::SO_TYPE);

#[inline]
fn is_on(socket: &dyn AsFd, option: NumberOption) -> io::Result<bool> {
    Ok(number(socket, option)? != 0)
}

#[inline]
fn size(socket: &dyn AsFd, option: NumberOption) -> io::Result<Option<usize>> {
    Ok(usize::try_from(number(socket, option)?).ok())
}

impl SocketOptions {
    /// The options in effect on a socket; those that its sort does not have are
    /// `None` or false.
    ///
    /// Linux counts its own overhead to the sizes of buffers: they read as twice
    /// what was asked. An interface of IPv4 multicast that was given by its index
    /// cannot be read.
    ///
    /// # Errors
    /// The system's error.
    pub fn read_from<S: AsFd>(socket: &S) -> io::Result<Self> {
        Self::read_all(socket)
    }

    #[inline]
    fn read_all(socket: &dyn AsFd) -> io::Result<Self> {
        let family = family(socket)?;
        let is_v6 = family == libc::AF_INET6;
        let mut options = Self {
            send_buffer: size(socket, SEND_BUFFER)?,
            receive_buffer: size(socket, RECEIVE_BUFFER)?,
            no_delay: false,
            keep_alive: false,
            ..Self::new()
        };
        if !is_v6 && family != libc::AF_INET {
            return Ok(options);
        }
        options.read_ip(socket, is_v6)?;
        if number(socket, SORT)? == libc::SOCK_STREAM {
            options.no_delay = is_on(socket, NO_DELAY)?;
            options.keep_alive = is_on(socket, KEEP_ALIVE)?;
            options.quick_ack = platform::quick_ack(socket)?;
            return Ok(options);
        }
        options.read_multicast(socket, is_v6)?;
        Ok(options)
    }

    #[inline]
    fn read_ip(&mut self, socket: &dyn AsFd, v6: bool) -> io::Result<()> {
        self.dont_route = is_on(socket, DONT_ROUTE)?;
        let class = match v6 {
            true => platform::traffic_class(socket)?,
            false => Some(number(socket, TYPE_OF_SERVICE)?.cast_unsigned()),
        };
        self.dscp = class.and_then(|class| u8::try_from(class >> 2).ok());
        self.socket_priority = platform::priority(socket)?;
        self.pacing_rate = platform::pacing_rate(socket)?;
        self.busy_poll = platform::busy_poll(socket)?;
        self.mark = platform::mark(socket)?;
        self.incoming_cpu = platform::incoming_cpu(socket)?;
        self.reuse = is_on(socket, REUSE_PORT)?;
        Ok(())
    }

    fn read_multicast(&mut self, socket: &dyn AsFd, v6: bool) -> io::Result<()> {
        use std::num::NonZeroU32;

        use crate::NetworkInterface;

        let socket = socket.as_fd();
        let s = socket2::SockRef::from(&socket);
        let ttl = match v6 {
            true => s.multicast_hops_v6()?,
            false => s.multicast_ttl_v4()?,
        };
        self.multicast_ttl = u8::try_from(ttl).ok();
        self.multicast_loop = Some(match v6 {
            true => s.multicast_loop_v6()?,
            false => s.multicast_loop_v4()?,
        });
        self.multicast_interface = if v6 {
            NonZeroU32::new(s.multicast_if_v6()?).map(NetworkInterface::Index)
        } else {
            let address = s.multicast_if_v4()?;
            (!address.is_unspecified()).then_some(NetworkInterface::Address(address))
        };
        Ok(())
    }
}
