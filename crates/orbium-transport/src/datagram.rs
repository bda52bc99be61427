// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets in pieces that arrive whole or not at all.

use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::time::Duration;

use crate::Peer;

/// A socket for datagrams: bound to receive, or opened to send.
pub trait Datagrams: Send + Sync + fmt::Debug {
    /// Receives the next datagram into `room`; returns its length and sender.
    /// The part that exceeds `room` is lost. After [`Datagrams::shutdown`]: an empty datagram from
    /// [`Peer::Unknown`].
    ///
    /// # Errors
    /// `WouldBlock` after the timeout; the system's error.
    fn receive(&self, room: &mut [u8]) -> io::Result<(usize, Peer)>;

    /// Sends one datagram made of the slices. Delivery is not guaranteed: a missing receiver is not
    /// an error.
    ///
    /// # Errors
    /// `WouldBlock` if the kernel has no room; the system's error, for example if the datagram is
    /// too large, or a bound socket has no destination.
    fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<()>;

    /// Octets of the largest datagram worth sending.
    fn largest(&self) -> usize;

    /// Bounds each receive; `None` means no limit.
    ///
    /// # Errors
    /// The system's error.
    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()>;

    /// Sets receiving and sending to blocking (the default) or non-blocking.
    ///
    /// # Errors
    /// The system's error.
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()>;

    /// Wakes the threads blocked in a receive, for good.
    fn shutdown(&self);

    /// The descriptor for readiness.
    fn source(&self) -> &dyn AsFd;

    /// The address to publish, with the actual port; for a sending socket, the address to which it
    /// sends.
    fn address(&self) -> &str;
}
