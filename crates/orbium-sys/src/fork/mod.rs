// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes that fork.
//!
//! A child has a copy of its parent's memory and descriptors, and of all its threads only the one
//! that forked. The copy of a descriptor still refers to the parent's file: an octet sent there
//! arrives in the middle of the parent's messages, a reply received there is one that the parent
//! waits for, an epoll set changed there is the parent's. So the child disconnects itself before
//! `fork` returns, in a handler of `pthread_atfork`:
//!
//! * Each descriptor that is [`Held`] becomes one of a disconnected socket. Nothing is sent or shut
//!   down; the number remains in use until its owner closes it.
//! * Each [`Mapped`] memory becomes private and zero.
//! * The [`generation`] is incremented. [`PerProcess`] values are created again on the next access,
//!   and those with an [`Origin`] detect that they are copies.
//!
//! `vfork`, `posix_spawn` and processes created by `clone` without the C library run no such
//! handlers; they are for programs that execute another program at once.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

mod held;
mod installation;
mod per_process;
mod table;

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use installation::Installation;

pub use held::{Held, Mapped};
pub use per_process::PerProcess;

/// Forks between this process and the first that used this crate.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The number of forks between this process and the first of its ancestors that used this crate: a
/// changed number means another process.
#[must_use]
#[inline(always)]
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// The process that created a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin(u32);

impl Origin {
    /// This process.
    #[must_use]
    #[inline]
    pub fn here() -> Self {
        watch();
        Self(generation())
    }

    /// Whether it is still this process; `false` in a child that was forked since.
    #[must_use]
    #[inline]
    pub fn is_here(self) -> bool {
        self.0 == generation()
    }
}

static HANDLERS: Installation = Installation::new();

/// Installs the handlers, once.
#[inline]
pub(crate) fn watch() {
    // Miri neither forks nor has `pthread_atfork`.
    if cfg!(miri) || HANDLERS.is_done() {
        return;
    }
    HANDLERS.perform(process::id(), &|| {
        // SAFETY: the handlers are functions without arguments that live as long as
        // this code does, and unwind nowhere. Without memory for them, which is the
        // only error, forks are not seen.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

/// Increments the generation, in a forked child.
fn raise() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn before() {
    table::lock_for_fork();
}

extern "C" fn in_parent() {
    drop(table::locked_for_fork());
}

extern "C" fn in_child() {
    raise();
    HANDLERS.note_done();
    if let Some(mut table) = table::locked_for_fork() {
        table.cut_off();
    }
}
