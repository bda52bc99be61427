// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of listening.

use std::ops::Deref;
use std::os::fd::AsFd;

use orbium_sys as sys;

/// A listening socket that listens no more once it is dropped, even if another
/// process has its descriptor by then.
#[derive(Debug)]
pub(crate) struct Listening<L: AsFd>(pub(crate) L);

impl<L: AsFd> Deref for Listening<L> {
    type Target = L;

    fn deref(&self) -> &L {
        &self.0
    }
}

impl<L: AsFd> Drop for Listening<L> {
    fn drop(&mut self) {
        sys::stop_listening(&self.0);
    }
}
