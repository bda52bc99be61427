// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wait on reactor: dispatch upcalls while a nested call waits for its reply.
//!
//! The reactor stays with its thread, which runs it within the call and polls for its own reply and
//! for the connections at once. So calls return in the reverse order of their beginning. That alone
//! cannot deadlock: a wait depends only on frames that began after it, never on those below it on
//! its stack. A request that does depend on those (held until another request releases it) is
//! handed off to another thread.

use std::cell::Cell;
use std::io;
use std::os::fd::AsFd;

use orbium_invocation::reactor::{Reactor, wait_alone};
use orbium_sync::ThreadCache;
use orbium_sys::{Interest, Ready};
use orbium_transport::Deadline;

use super::{Held, serve};
use crate::strategy::reactor::{NestedTurn, Turn};

/// A further nested wait on this stack.
struct Deeper<'h>(&'h Cell<u32>);

impl<'h> Deeper<'h> {
    fn new(depth: &'h Cell<u32>) -> Self {
        depth.set(depth.get() + 1);
        Self(depth)
    }
}

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Reactor for Held {
    fn is_kept(&self) -> bool {
        self.waits.has_kept()
    }

    fn is_within_a_wait(&self) -> bool {
        self.waits.depth.get() > 0
    }

    fn threads(&self) -> Option<ThreadCache> {
        let reactor = self.reactor.try_borrow().ok()?;
        Some(reactor.as_ref()?.shared.threads.clone())
    }

    fn wait(&self, source: &dyn AsFd, interest: Interest, deadline: Deadline) -> io::Result<()> {
        let mut ready: Vec<Ready> = Vec::new();
        loop {
            let left = deadline.remaining()?;
            let next = match &mut *self.reactor.borrow_mut() {
                Some(reactor) if reactor.shared.is_stopping() => None,
                Some(reactor) => Some(reactor.next_nested(source, interest, &mut ready, left)?),
                // Another thread has it: this one serves no further requests.
                None => return wait_alone(source, interest, deadline),
            };
            match next {
                // Another thread ends the requests served here, and waits for it.
                None if self.move_on() => {}
                None => return wait_alone(source, interest, deadline),
                Some(NestedTurn::Own) => return Ok(()),
                Some(NestedTurn::Nothing) => {}
                Some(NestedTurn::Served(id)) => {
                    let _deeper = Deeper::new(&self.waits.depth);
                    self.waits.let_go();
                    // A single message: then the own reply is checked.
                    serve(self, id, Turn::of(1));
                    self.waits.kept.set(true);
                }
            }
        }
    }
}
