// SPDX-License-Identifier: MIT OR Apache-2.0
//! System calls on the way of a request. On Linux they are made without the C
//! library around them where that is worth it: there they are cancellation
//! points, which costs a multi-threaded program some sixty instructions each.
#![expect(unsafe_code, reason = "system calls that no small safe crate offers")]

use std::io;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
#[cfg(feature = "datagrams")]
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};

#[cfg(feature = "datagrams")]
use socket2::SockAddr;

/// No signal for whoever sends to a peer that is gone.
#[cfg(not(target_vendor = "apple"))]
pub(crate) const QUIETLY: i32 = libc::MSG_NOSIGNAL;
#[cfg(target_vendor = "apple")]
pub(crate) const QUIETLY: i32 = 0;

#[cfg(all(
    target_os = "linux",
    any(
        all(target_arch = "x86_64", target_pointer_width = "64"),
        target_arch = "aarch64"
    )
))]
mod platform {
    use std::arch::asm;
    use std::io;

    /// Makes a system call.
    ///
    /// # Safety
    /// What the kernel does with these arguments must be allowed: it may read and
    /// write memory that they point to.
    #[inline]
    unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> io::Result<usize> {
        let [a, b, c, d, e, f] = arguments;
        let result: isize;
        // SAFETY: the registers are those of the kernel's convention, and all
        // that it may change are given; the rest is the caller's to promise.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "syscall",
                inlateout("rax") number as isize => result,
                in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
                lateout("rcx") _, lateout("r11") _,
                options(nostack, preserves_flags),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                "svc 0",
                in("x8") number,
                inlateout("x0") a => result,
                in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
                options(nostack, preserves_flags),
            );
        }
        match usize::try_from(result) {
            Ok(result) => Ok(result),
            // The kernel's errors are -1 to -4095.
            Err(_) => Err(io::Error::from_raw_os_error(-result as i32)),
        }
    }

    #[inline]
    pub(super) unsafe fn send(fd: i32, at: *const u8, len: usize, flags: i32) -> io::Result<usize> {
        let arguments = [fd as usize, at as usize, len, flags as usize, 0, 0];
        // SAFETY: the caller's promise.
        unsafe { call(libc::SYS_sendto, arguments) }
    }

    #[inline]
    pub(super) unsafe fn receive(
        fd: i32,
        at: *mut u8,
        len: usize,
        sender: *mut libc::sockaddr,
        sender_len: *mut libc::socklen_t,
    ) -> io::Result<usize> {
        let sender = [sender as usize, sender_len as usize];
        let arguments = [fd as usize, at as usize, len, 0, sender[0], sender[1]];
        // SAFETY: the caller's promise.
        unsafe { call(libc::SYS_recvfrom, arguments) }
    }

    #[inline]
    pub(super) unsafe fn wait(
        epoll: i32,
        events: *mut libc::epoll_event,
        room: i32,
        milliseconds: i32,
    ) -> io::Result<usize> {
        let timeout = milliseconds as usize;
        let arguments = [
            epoll as usize,
            events as usize,
            room as usize,
            timeout,
            0,
            0,
        ];
        // SAFETY: the caller's promise; no signal is masked.
        unsafe { call(libc::SYS_epoll_pwait, arguments) }
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(
        all(target_arch = "x86_64", target_pointer_width = "64"),
        target_arch = "aarch64"
    )
)))]
mod platform {
    use std::io;

    fn checked(result: isize) -> io::Result<usize> {
        usize::try_from(result).map_err(|_| io::Error::last_os_error())
    }

    pub(super) unsafe fn send(fd: i32, at: *const u8, len: usize, flags: i32) -> io::Result<usize> {
        // SAFETY: the caller's promise.
        checked(unsafe { libc::send(fd, at.cast(), len, flags) })
    }

    pub(super) unsafe fn receive(
        fd: i32,
        at: *mut u8,
        len: usize,
        sender: *mut libc::sockaddr,
        sender_len: *mut libc::socklen_t,
    ) -> io::Result<usize> {
        // SAFETY: the caller's promise.
        checked(unsafe { libc::recvfrom(fd, at.cast(), len, 0, sender, sender_len) })
    }

    #[cfg(target_os = "linux")]
    pub(super) unsafe fn wait(
        epoll: i32,
        events: *mut libc::epoll_event,
        room: i32,
        milliseconds: i32,
    ) -> io::Result<usize> {
        // SAFETY: the caller's promise.
        checked(unsafe { libc::epoll_wait(epoll, events, room, milliseconds) } as isize)
    }
}

/// Sends what fits.
#[inline]
pub(crate) fn send<S: AsFd>(socket: &S, octets: &[u8]) -> io::Result<usize> {
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel reads
    // as many octets as there are.
    unsafe { platform::send(fd, octets.as_ptr(), octets.len(), QUIETLY) }
}

/// Receives what is there.
#[inline]
pub(crate) fn receive<S: AsFd>(socket: &S, room: &mut [u8]) -> io::Result<usize> {
    let fd = socket.as_fd().as_raw_fd();
    let (at, len) = (room.as_mut_ptr(), room.len());
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes
    // at most as many octets as there is room for, and no address.
    unsafe { platform::receive(fd, at, len, std::ptr::null_mut(), std::ptr::null_mut()) }
}

/// Receives a datagram, and from whom it is, if from an address of the internet.
#[cfg(feature = "datagrams")]
pub(crate) fn receive_from(
    socket: &UdpSocket,
    room: &mut [u8],
) -> io::Result<(usize, Option<SocketAddr>)> {
    let fd = socket.as_raw_fd();
    let (at, len) = (room.as_mut_ptr(), room.len());
    // SAFETY: the kernel writes at most as many octets as there is room for, and
    // an address of at most `address_len` octets, of which it tells how many.
    let received = unsafe {
        SockAddr::try_init(|address, address_len| {
            platform::receive(fd, at, len, address.cast(), address_len)
        })
    };
    let (received, sender) = received?;
    Ok((received, sender.as_socket()))
}

/// Waits for events of an epoll set; returns how many there are.
#[cfg(target_os = "linux")]
pub(crate) fn wait<'e, const N: usize>(
    epoll: &impl AsFd,
    events: &'e mut [MaybeUninit<libc::epoll_event>; N],
    milliseconds: i32,
) -> io::Result<&'e [libc::epoll_event]> {
    let fd = epoll.as_fd().as_raw_fd();
    let room = i32::try_from(N).unwrap_or(i32::MAX);
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes
    // at most `room` events.
    let count = unsafe { platform::wait(fd, events.as_mut_ptr().cast(), room, milliseconds)? };
    let told = &events[..count];
    // SAFETY: the kernel has written the first `count` of them.
    Ok(unsafe { &*(std::ptr::from_ref(told) as *const [libc::epoll_event]) })
}
