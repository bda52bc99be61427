// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options that not every system has.

#[cfg(target_os = "linux")]
mod platform {
    use std::io;
    use std::num::NonZeroU32;
    use std::os::fd::AsFd;
    use std::time::Duration;

    use socket2::SockRef;

    use crate::raw;

    pub(crate) fn set_quick_ack<S: AsFd>(socket: &S, on: bool) -> io::Result<()> {
        SockRef::from(socket).set_tcp_quickack(on)
    }

    pub(crate) fn quick_ack<S: AsFd>(socket: &S) -> io::Result<Option<bool>> {
        SockRef::from(socket).tcp_quickack().map(Some)
    }

    pub(crate) fn set_traffic_class<S: AsFd>(socket: &S, class: u32) -> io::Result<()> {
        SockRef::from(socket).set_tclass_v6(class)
    }

    pub(crate) fn traffic_class<S: AsFd>(socket: &S) -> io::Result<Option<u32>> {
        SockRef::from(socket).tclass_v6().map(Some)
    }

    pub(crate) fn set_priority<S: AsFd>(socket: &S, priority: u32) -> io::Result<()> {
        SockRef::from(socket).set_priority(priority)
    }

    pub(crate) fn priority<S: AsFd>(socket: &S) -> io::Result<Option<u32>> {
        SockRef::from(socket).priority().map(Some)
    }

    pub(crate) fn set_pacing_rate<S: AsFd>(socket: &S, rate: u64) -> io::Result<()> {
        raw::set_pacing_rate(socket, rate)
    }

    pub(crate) fn pacing_rate<S: AsFd>(socket: &S) -> io::Result<Option<u64>> {
        raw::pacing_rate(socket)
    }

    pub(crate) fn set_busy_poll<S: AsFd>(socket: &S, time: Duration) -> io::Result<()> {
        let time = i32::try_from(time.as_micros()).ok();
        let time = time.and_then(|time| u32::try_from(time).ok());
        SockRef::from(socket).set_busy_poll(time.ok_or(io::ErrorKind::InvalidInput)?)
    }

    pub(crate) fn busy_poll<S: AsFd>(socket: &S) -> io::Result<Option<Duration>> {
        let time = SockRef::from(socket).busy_poll()?;
        Ok(Some(Duration::from_micros(time.into())))
    }

    pub(crate) fn set_mark<S: AsFd>(socket: &S, mark: u32) -> io::Result<()> {
        SockRef::from(socket).set_mark(mark)
    }

    pub(crate) fn mark<S: AsFd>(socket: &S) -> io::Result<Option<u32>> {
        SockRef::from(socket).mark().map(Some)
    }

    pub(crate) fn set_incoming_cpu<S: AsFd>(socket: &S, cpu: u32) -> io::Result<()> {
        raw::set_incoming_cpu(socket, cpu)
    }

    pub(crate) fn incoming_cpu<S: AsFd>(socket: &S) -> io::Result<Option<u32>> {
        let cpu = raw::incoming_cpu(socket)?;
        // All ones: none so far.
        Ok((cpu != u32::MAX).then_some(cpu))
    }

    pub(crate) fn set_multicast_index_v4<S: AsFd>(socket: &S, index: NonZeroU32) -> io::Result<()> {
        raw::set_multicast_index_v4(socket, index.get())
    }

    pub(crate) fn interface_index(name: &str) -> io::Result<u32> {
        raw::interface_index(name)
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
                pub(crate) fn $set<S: AsFd>(_socket: &S, _value: $sort) -> io::Result<()> {
                    Err(io::ErrorKind::Unsupported.into())
                }

                pub(crate) fn $get<S: AsFd>(_socket: &S) -> io::Result<Option<$sort>> {
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

    pub(crate) fn set_multicast_index_v4<S: AsFd>(
        _socket: &S,
        _index: NonZeroU32,
    ) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn interface_index(_name: &str) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(crate) use platform::*;
