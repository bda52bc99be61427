// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of events that wait for the disk.

use std::sync::{Arc, OnceLock};

use orbium::lock::Condvar;

use crate::error::JetStreamError;
use crate::stream::message::Message;

/// Sets that wait for the disk, and the threads that push them.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) sets: Vec<Arc<[Message]>>,
    /// Their outcome.
    pub(super) outcome: Arc<Outcome>,
    /// Whether a thread writes the previous group.
    pub(super) is_writing: bool,
}

pub(super) type Outcome = OnceLock<Result<(), JetStreamError>>;

/// Notified when sets have been written, or writing has failed.
#[derive(Default)]
pub(super) struct Written(pub(super) Condvar);

impl Pending {
    /// Whether no set is being written or waits.
    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_empty() && !self.is_writing
    }
}
