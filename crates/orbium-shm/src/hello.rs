// SPDX-License-Identifier: MIT OR Apache-2.0
//! Greeting of a server after accepting: a magic, a version, the size of the rings, and the memory
//! itself. The client sends none.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use orbium_sys::{Deadline, Interest, wait_for};
use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Octets of a greeting.
const LENGTH: usize = 16;

const MAGIC: [u8; 8] = *b"orbiumSM";

/// The layout of the memory and the meaning of its words.
const VERSION: u32 = 1;

/// The greeting for rings of that size.
pub(crate) fn greeting(ring: u32) -> [u8; LENGTH] {
    let mut octets = [0; LENGTH];
    octets[..8].copy_from_slice(&MAGIC);
    octets[8..12].copy_from_slice(&VERSION.to_le_bytes());
    octets[12..].copy_from_slice(&ring.to_le_bytes());
    octets
}

/// The size of the rings, out of a greeting; it is not checked.
///
/// # Errors
/// `InvalidData`: not a greeting of this version.
pub fn read_greeting(octets: &[u8]) -> io::Result<u32> {
    let bad = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let (Some(b"orbiumSM"), Ok([v0, v1, v2, v3, r0, r1, r2, r3])) = (
        octets.first_chunk::<8>(),
        <[u8; 8]>::try_from(octets.get(8..).unwrap_or_default()),
    ) else {
        return bad("shared memory: the greeting is none");
    };
    if u32::from_le_bytes([v0, v1, v2, v3]) != VERSION {
        return bad("shared memory: another version of the protocol");
    }
    Ok(u32::from_le_bytes([r0, r1, r2, r3]))
}

/// Sends the greeting and the memory without waiting: a fresh socket has room.
///
/// # Errors
/// `ConnectionAborted`: the client has disconnected; the system's error.
pub(crate) fn greet(socket: &OwnedFd, ring: u32, memory: &OwnedFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let memory = [memory.as_fd()];
    let fits = control.push(SendAncillaryMessage::ScmRights(&memory));
    debug_assert!(fits);
    let greeting = greeting(ring);
    let pieces = [IoSlice::new(&greeting)];
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    match sendmsg(socket, &pieces, &mut control, flags) {
        Ok(LENGTH) => Ok(()),
        Ok(_) | Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => {
            Err(io::ErrorKind::ConnectionAborted.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Receives the greeting and the memory before the deadline.
///
/// # Errors
/// `ConnectionRefused`: the server ended the connection; `TimedOut`; `InvalidData`: it sent other
/// data; the system's error.
pub(crate) fn receive_greeting(socket: &OwnedFd, deadline: Deadline) -> io::Result<(u32, OwnedFd)> {
    let mut octets = [0; LENGTH];
    loop {
        let left = deadline.remaining()?;
        wait_for([(socket, Interest::Read)], left)?;
        match receive_once(socket, &mut octets) {
            Ok((0, _)) => return Err(io::ErrorKind::ConnectionRefused.into()),
            Ok((count, memory)) => {
                let ring = read_greeting(&octets[..count])?;
                let without = "shared memory: none, or too much of it, came with the greeting";
                let without = || io::Error::new(io::ErrorKind::InvalidData, without);
                return Ok((ring, memory.ok_or_else(without)?));
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {}
                io::ErrorKind::ConnectionReset => {
                    return Err(io::ErrorKind::ConnectionRefused.into());
                }
                _ => return Err(error),
            },
        }
    }
}

/// One receive: the octets, and the descriptor if there is exactly one. Others are closed.
fn receive_once(socket: &OwnedFd, octets: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut pieces = [IoSliceMut::new(octets)];
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(socket, &mut pieces, &mut control, flags)?;
    let mut memory = None;
    let mut count = 0;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            for descriptor in descriptors {
                count += 1;
                memory = Some(descriptor);
            }
        }
    }
    Ok((received.bytes, memory.filter(|_| count == 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_read_as_written_and_nothing_else_is() {
        let good = greeting(4096);
        assert_eq!(read_greeting(&good).unwrap(), 4096);
        for (place, _) in good.iter().enumerate().take(12) {
            let mut wrong = good;
            wrong[place] ^= 1;
            assert!(read_greeting(&wrong).is_err());
            assert!(read_greeting(&good[..place]).is_err());
        }
        assert!(read_greeting(&[&good[..], &[0]].concat()).is_err());
    }
}
