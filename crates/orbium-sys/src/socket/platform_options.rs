// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options that not every system has.

#[cfg(target_os = "linux")]
mod platform {
    use std::io;
    use std::num::NonZeroU32;
    use std::os::fd::BorrowedFd;
    use std::time::Duration;

    use socket2::SockRef;

    pub(crate) use crate::host::interface_index;
    pub(crate) use crate::socket::sockopt::{pacing_rate, set_pacing_rate};

    pub(crate) fn set_quick_ack(socket: BorrowedFd<'_>, on: bool) -> io::Result<()> {
        SockRef::from(&socket).set_tcp_quickack(on)
    }

    pub(crate) fn quick_ack(socket: BorrowedFd<'_>) -> io::Result<Option<bool>> {
        SockRef::from(&socket).tcp_quickack().map(Some)
    }

    pub(crate) fn set_traffic_class(socket: BorrowedFd<'_>, class: u32) -> io::Result<()> {
        SockRef::from(&socket).set_tclass_v6(class)
    }

    pub(crate) fn traffic_class(socket: BorrowedFd<'_>) -> io::Result<Option<u32>> {
        SockRef::from(&socket).tclass_v6().map(Some)
    }

    pub(crate) fn set_priority(socket: BorrowedFd<'_>, priority: u32) -> io::Result<()> {
        SockRef::from(&socket).set_priority(priority)
    }

    pub(crate) fn priority(socket: BorrowedFd<'_>) -> io::Result<Option<u32>> {
        SockRef::from(&socket).priority().map(Some)
    }

    pub(crate) fn set_busy_poll(socket: BorrowedFd<'_>, time: Duration) -> io::Result<()> {
        let time = i32::try_from(time.as_micros()).map_err(|_| io::ErrorKind::InvalidInput)?;
        SockRef::from(&socket).set_busy_poll(time.cast_unsigned())
    }

    pub(crate) fn busy_poll(socket: BorrowedFd<'_>) -> io::Result<Option<Duration>> {
        let time = SockRef::from(&socket).busy_poll()?;
        Ok(Some(Duration::from_micros(time.into())))
    }

    pub(crate) fn set_mark(socket: BorrowedFd<'_>, mark: u32) -> io::Result<()> {
        SockRef::from(&socket).set_mark(mark)
    }

    pub(crate) fn mark(socket: BorrowedFd<'_>) -> io::Result<Option<u32>> {
        SockRef::from(&socket).mark().map(Some)
    }

    pub(crate) fn set_incoming_cpu(socket: BorrowedFd<'_>, cpu: u32) -> io::Result<()> {
        let cpu = i32::try_from(cpu).map_err(|_| io::ErrorKind::InvalidInput)?;
        let cpu = usize::try_from(cpu).map_err(|_| io::ErrorKind::InvalidInput)?;
        SockRef::from(&socket).set_cpu_affinity(cpu)
    }

    pub(crate) fn incoming_cpu(socket: BorrowedFd<'_>) -> io::Result<Option<u32>> {
        let cpu = SockRef::from(&socket).cpu_affinity()?;
        // A negative number, which is a large one interpreted as signed, means none so far.
        Ok(i32::try_from(cpu).ok().map(i32::cast_unsigned))
    }

    pub(crate) fn set_multicast_index_v4(
        socket: BorrowedFd<'_>,
        index: NonZeroU32,
    ) -> io::Result<()> {
        crate::socket::sockopt::set_multicast_index_v4(socket, index.get())
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::io;
    use std::num::NonZeroU32;
    use std::os::fd::BorrowedFd;
    use std::time::Duration;

    macro_rules! unsupported {
        ($($set:ident, $get:ident: $sort:ty;)*) => {
            $(
                pub(crate) fn $set(_socket: BorrowedFd<'_>, _value: $sort) -> io::Result<()> {
                    Err(io::ErrorKind::Unsupported.into())
                }

                pub(crate) fn $get(_socket: BorrowedFd<'_>) -> io::Result<Option<$sort>> {
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

    pub(crate) fn set_multicast_index_v4(
        _socket: BorrowedFd<'_>,
        _index: NonZeroU32,
    ) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn interface_index(_name: &str) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) use platform::*;
