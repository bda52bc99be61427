// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel says of a socket.

use std::io;
use std::num::NonZeroU32;
use std::os::fd::AsFd;

use socket2::{Domain, SockRef, Type};

use crate::platform_options as platform;
use crate::{NetworkInterface, SocketOptions, raw};

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
        let s = SockRef::from(socket);
        let domain = s.local_addr()?.domain();
        let mut options = Self {
            send_buffer: Some(s.send_buffer_size()?),
            receive_buffer: Some(s.recv_buffer_size()?),
            no_delay: false,
            keep_alive: false,
            ..Self::new()
        };
        if domain != Domain::IPV4 && domain != Domain::IPV6 {
            return Ok(options);
        }
        options.read_ip(socket, domain == Domain::IPV6)?;
        match s.r#type()? {
            Type::STREAM => {
                options.no_delay = s.tcp_nodelay()?;
                options.keep_alive = s.keepalive()?;
                options.quick_ack = platform::quick_ack(socket)?;
            }
            _ => options.read_multicast(socket, domain == Domain::IPV6)?,
        }
        Ok(options)
    }

    fn read_ip<S: AsFd>(&mut self, socket: &S, v6: bool) -> io::Result<()> {
        let s = SockRef::from(socket);
        self.dont_route = raw::dont_route(socket)?;
        let class = match v6 {
            true => platform::traffic_class(socket)?,
            false => Some(s.tos_v4()?),
        };
        self.dscp = class.and_then(|class| u8::try_from(class >> 2).ok());
        self.socket_priority = platform::priority(socket)?;
        self.pacing_rate = platform::pacing_rate(socket)?;
        self.busy_poll = platform::busy_poll(socket)?;
        self.mark = platform::mark(socket)?;
        self.incoming_cpu = platform::incoming_cpu(socket)?;
        self.reuse = s.reuse_port()?;
        Ok(())
    }

    fn read_multicast<S: AsFd>(&mut self, socket: &S, v6: bool) -> io::Result<()> {
        let s = SockRef::from(socket);
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
