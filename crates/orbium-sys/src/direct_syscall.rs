// SPDX-License-Identifier: MIT OR Apache-2.0
//! System calls on the path of a request: send, receive, `epoll_wait`. On Linux they
//! bypass the C library, in which they are cancellation points: that costs a
//! multi-threaded program some sixty instructions per call.
#![expect(unsafe_code, reason = "system calls that no small safe crate offers")]

use std::io::{self, IoSlice};
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::mem::zeroed;
use std::net::{SocketAddr, UdpSocket};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::{null, null_mut};

use libc::{c_void, sockaddr, socklen_t};
use socket2::SockAddr;

/// Sending to a peer that closed the connection raises no `SIGPIPE`.
#[cfg(not(target_vendor = "apple"))]
pub(crate) const NO_SIGNAL: i32 = libc::MSG_NOSIGNAL;
#[cfg(target_vendor = "apple")]
pub(crate) const NO_SIGNAL: i32 = 0;

#[cfg(all(
    target_os = "linux",
    any(
        all(target_arch = "x86_64", target_pointer_width = "64"),
        target_arch = "aarch64"
    ),
    not(miri)
))]
mod kernel {
    use std::arch::asm;
    use std::io;

    /// A system call by its number and by the C library's name. All arguments,
    /// pointers too, are machine words.
    macro_rules! system_call {
        ($number:ident, $function:ident($($argument:expr),+ $(,)?)) => {
            kernel::call(libc::$number, [$($argument as usize),+])
        };
    }
    pub(super) use system_call;

    /// Makes a system call. Those of its six arguments that are not given are 0.
    ///
    /// # Safety
    /// What the kernel does with these arguments must be allowed: it may read and
    /// write memory that they point to. Nothing else of the process may change.
    #[inline(always)]
    pub(super) unsafe fn call<const N: usize>(
        number: libc::c_long,
        given: [usize; N],
    ) -> io::Result<usize> {
        let mut arguments = [0; 6];
        arguments[..N].copy_from_slice(&given);
        let [a, b, c, d, e, f] = arguments;
        let result: isize;
        // SAFETY: the registers are those of the kernel's convention: `syscall`
        // changes rcx and r11 besides the result, gives the flags back and does
        // not touch the stack. Memory is not excluded, so the compiler expects
        // that some was changed. The rest is the caller's promise.
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
        // SAFETY: as above; the kernel of this processor gives back all registers
        // but that of the result.
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
}

#[cfg(not(all(
    target_os = "linux",
    any(
        all(target_arch = "x86_64", target_pointer_width = "64"),
        target_arch = "aarch64"
    ),
    not(miri)
)))]
mod kernel {
    macro_rules! system_call {
        ($number:ident, $function:ident($($argument:expr),+ $(,)?)) => {
            usize::try_from(libc::$function($($argument),+))
                .map_err(|_| io::Error::last_os_error())
        };
    }
    pub(super) use system_call;
}

use kernel::system_call;

const NO_FLAGS: i32 = 0;

/// Sends as much as the socket buffer takes.
#[inline]
pub(crate) fn send<S: AsFd>(socket: &S, octets: &[u8]) -> io::Result<usize> {
    let fd = socket.as_fd().as_raw_fd();
    let (at, len) = (octets.as_ptr().cast::<c_void>(), octets.len());
    let (to, to_len) = (null::<sockaddr>(), 0 as socklen_t);
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel reads
    // as many octets as there are, and no address.
    unsafe { system_call!(SYS_sendto, sendto(fd, at, len, NO_SIGNAL, to, to_len)) }
}

/// Sends as much of several slices as the socket buffer takes.
pub(crate) fn send_vectored<S: AsFd>(socket: &S, slices: &[IoSlice<'_>]) -> io::Result<usize> {
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: numbers and pointers, of which none point anywhere.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = slices.as_ptr().cast_mut().cast();
    message.msg_iovlen = slices.len() as _;
    let message = &raw const message;
    // SAFETY: the descriptor is open as long as it is borrowed; on Unix systems an
    // `IoSlice` lies in memory as an `iovec`, and the kernel reads as many of them
    // as there are, and what they lend.
    unsafe { system_call!(SYS_sendmsg, sendmsg(fd, message, NO_SIGNAL)) }
}

/// Receives the bytes that are available, up to the length of the buffer.
#[inline]
pub(crate) fn receive<S: AsFd>(socket: &S, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: no address is asked for.
    unsafe { receive_with(socket, buffer, null_mut(), null_mut()) }
}

/// Receives a datagram and the internet address of its sender.
pub(crate) fn receive_from(
    socket: &UdpSocket,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<SocketAddr>)> {
    // SAFETY: `try_init` provides storage for an address of any kind, all zeros at
    // first, and the place of its length; and the kernel says the length of what
    // it has written, which for a socket of the internet is an address that fits.
    let received = unsafe {
        SockAddr::try_init(|address, address_len| {
            receive_with(socket, buffer, address.cast(), address_len)
        })
    };
    let (received, sender) = received?;
    Ok((received, sender.as_socket()))
}

/// Receives, and writes the address of the sender.
///
/// # Safety
/// Both pointers are null, or the second is to the number of octets that may be
/// written at the first; no other thread uses either.
#[inline]
unsafe fn receive_with(
    socket: &impl AsFd,
    buffer: &mut [u8],
    from: *mut sockaddr,
    from_len: *mut socklen_t,
) -> io::Result<usize> {
    let fd = socket.as_fd().as_raw_fd();
    let (at, len) = (buffer.as_mut_ptr().cast::<c_void>(), buffer.len());
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes
    // at most as many bytes as the buffer holds, and an address as the caller
    // promises.
    unsafe {
        system_call!(
            SYS_recvfrom,
            recvfrom(fd, at, len, NO_FLAGS, from, from_len)
        )
    }
}

/// Waits for events of an epoll set; returns how many there are.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn wait<'e>(
    epoll: &OwnedFd,
    events: &'e mut [MaybeUninit<libc::epoll_event>],
    milliseconds: i32,
) -> io::Result<&'e [libc::epoll_event]> {
    let fd = epoll.as_fd().as_raw_fd();
    let capacity = i32::try_from(events.len()).unwrap_or(i32::MAX);
    let (at, masked) = (
        events.as_mut_ptr().cast::<libc::epoll_event>(),
        null::<libc::sigset_t>(),
    );
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes
    // at most `capacity` events, for which there is space; no signal is masked.
    let count = unsafe {
        system_call!(
            SYS_epoll_pwait,
            epoll_pwait(fd, at, capacity, milliseconds, masked)
        )
    }?;
    let reported = &events[..count];
    // SAFETY: the kernel has written the first `count` of them, and a
    // `MaybeUninit` lies in memory as what it may be.
    Ok(unsafe { &*(std::ptr::from_ref(reported) as *const [libc::epoll_event]) })
}
