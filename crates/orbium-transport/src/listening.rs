// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of listening.

use std::ops::Deref;
use std::os::fd::AsFd;

use orbium_sys as sys;
use sys::fork::{Held, Origin};

/// A listening socket that stops listening when it is dropped, even if another process has its
/// descriptor.
#[derive(Debug)]
pub(crate) struct Listening<L: AsFd> {
    _held: Held,
    begun_by: Origin,
    socket: L,
}

impl<L: AsFd> Listening<L> {
    pub(crate) fn new(socket: L) -> Self {
        Self {
            _held: Held::new(&socket),
            begun_by: Origin::here(),
            socket,
        }
    }
}

impl<L: AsFd> Deref for Listening<L> {
    type Target = L;

    fn deref(&self) -> &L {
        &self.socket
    }
}

impl<L: AsFd> Drop for Listening<L> {
    fn drop(&mut self) {
        // A forked child's copy is inactive; its parent continues to listen.
        if self.begun_by.is_here() {
            sys::stop_listening(&self.socket);
        }
    }
}
