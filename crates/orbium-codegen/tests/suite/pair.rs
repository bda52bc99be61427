// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object with the two kinds of callers that it may have.

use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use orbium::Interface;
use orbium::stub::ServedBy;

use crate::orbs::Orbs;

/// The object as a caller of the same ORB has it, and as a remote one.
pub(crate) struct Pair<I> {
    /// Before the thread: that ends with the servant, which ends with the ORB.
    _orbs: Orbs,
    pub(crate) stores: [I; 2],
    /// What its oneways were given.
    pub(crate) posted: Receiver<i32>,
    _answering: Joined,
}

impl<I: Interface> Pair<I> {
    /// `answering` is a thread that ends with the servant.
    pub(crate) fn new<S>(servant: S, posted: Receiver<i32>, answering: JoinHandle<()>) -> Self
    where
        I: ServedBy<S>,
    {
        let orbs = Orbs::new();
        Self {
            stores: orbs.both(servant),
            _orbs: orbs,
            posted,
            _answering: Joined(Some(answering)),
        }
    }
}

/// A thread that is waited for when this is dropped.
struct Joined(Option<JoinHandle<()>>);

impl Drop for Joined {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            thread.join().unwrap();
        }
    }
}
