// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options that not every system has.

#[cfg(target_os = "linux")]
mod platform {
    use std::io;
    use std::num::NonZeroU32;
    use std::os::fd::AsFd;
    use std::time::Duration;

    use crate::sockopt::{self, NumberOption, number, set_number};
    use crate::syscall;

    const QUICK_ACK: NumberOption = (libc::IPPROTO_TCP, libc::TCP_QUICKACK);
    const TRAFFIC_CLASS: NumberOption = (libc::IPPROTO_IPV6, libc::IPV6_TCLASS);
    const PRIORITY: NumberOption = (libc::SOL_SOCKET, libc::SO_PRIORITY);
    const BUSY_POLL: NumberOption = (libc::SOL_SOCKET, libc::SO_BUSY_POLL);
    const MARK: NumberOption = (libc::SOL_SOCKET, libc::SO_MARK);
    const INCOMING_CPU: NumberOption = (libc::SOL_SOCKET, libc::SO_INCOMING_CPU);

    pub(crate) fn set_quick_ack(socket: &dyn AsFd, on: bool) -> io::Result<()> {
        set_number(socket, QUICK_ACK, on.into())
    }

    #[inline]
    pub(crate) fn quick_ack(socket: &dyn AsFd) -> io::Result<Option<bool>> {
        Ok(Some(number(socket, QUICK_ACK)? != 0))
    }

    pub(crate) fn set_traffic_class(socket: &dyn AsFd, class: u32) -> io::Result<()> {
        set_number(socket, TRAFFIC_CLASS, class.cast_signed())
    }

    #[inline]
    pub(crate) fn traffic_class(socket: &dyn AsFd) -> io::Result<Option<u32>> {
        Ok(Some(number(socket, TRAFFIC_CLASS)?.cast_unsigned()))
    }

    pub(crate) fn set_priority(socket: &dyn AsFd, priority: u32) -> io::Result<()> {
        set_number(socket, PRIORITY, priority.cast_signed())
    }

    #[inline]
    pub(crate) fn priority(socket: &dyn AsFd) -> io::Result<Option<u32>> {
        Ok(Some(number(socket, PRIORITY)?.cast_unsigned()))
    }

    pub(crate) fn set_pacing_rate(socket: &dyn AsFd, rate: u64) -> io::Result<()> {
        sockopt::set_pacing_rate(socket, rate)
    }

    #[inline]
    pub(crate) fn pacing_rate(socket: &dyn AsFd) -> io::Result<Option<u64>> {
        sockopt::pacing_rate(socket)
    }

    pub(crate) fn set_busy_poll(socket: &dyn AsFd, time: Duration) -> io::Result<()> {
        let time = i32::try_from(time.as_micros()).map_err(|_| io::ErrorKind::InvalidInput)?;
        set_number(socket, BUSY_POLL, time)
    }

    #[inline]
    pub(crate) fn busy_poll(socket: &dyn AsFd) -> io::Result<Option<Duration>> {
        let time = number(socket, BUSY_POLL)?.cast_unsigned();
        Ok(Some(Duration::from_micros(time.into())))
    }

    pub(crate) fn set_mark(socket: &dyn AsFd, mark: u32) -> io::Result<()> {
        set_number(socket, MARK, mark.cast_signed())
    }

    #[inline]
    pub(crate) fn mark(socket: &dyn AsFd) -> io::Result<Option<u32>> {
        Ok(Some(number(socket, MARK)?.cast_unsigned()))
    }

    pub(crate) fn set_incoming_cpu(socket: &dyn AsFd, cpu: u32) -> io::Result<()> {
        let cpu = i32::try_from(cpu).map_err(|_| io::ErrorKind::InvalidInput)?;
        set_number(socket, INCOMING_CPU, cpu)
    }

    #[inline]
    pub(crate) fn incoming_cpu(socket: &dyn AsFd) -> io::Result<Option<u32>> {
        // Negative: none so far.
        Ok(u32::try_from(number(socket, INCOMING_CPU)?).ok())
    }

    pub(crate) fn set_multicast_index_v4(socket: &dyn AsFd, index: NonZeroU32) -> io::Result<()> {
        sockopt::set_multicast_index_v4(socket, index.get())
    }

    pub(crate) fn interface_index(name: &str) -> io::Result<u32> {
        syscall::interface_index(name)
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::io;
    use std::num::NonZeroU32;
    use std::os::fd::AsFd;
    use std::time::Duration;

    macro_rules! unsupported {
        ($($set:ident, $get:ident: $sort:ty;)*) => {
            $(
                pub(crate) fn $set(_socket: &dyn AsFd, _value: $sort) -> io::Result<()> {
                    Err(io::ErrorKind::Unsupported.into())
                }

                pub(crate) fn $get(_socket: &dyn AsFd) -> io::Result<Option<$sort>> {
                    Ok(None)
                }
            )*
        };
    }

    unsupported! {
        set_quick_ack, quick_ack: bool;
        set_traffic_class, traffic_class: u32;
        set_priority, priority: u32;
        set_pacing_rate, pacing_rate: u64;
        set_busy_poll, busy_poll: Duration;
        set_mark, mark: u32;
        set_incoming_cpu, incoming_cpu: u32;
    }

    pub(crate) fn set_multicast_index_v4(_socket: &dyn AsFd, _index: NonZeroU32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn interface_index(_name: &str) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) use platform::*;
