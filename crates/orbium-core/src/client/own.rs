// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that ask their server for something: a thread of their own, or the
//! one connection of a binding.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use orbium_giop::dedication::{DedicationReply, DedicationRequest};

use crate::{Channel, Priority};

/// What references have in common that share connections with nobody else.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) number: u64,
    /// The marker that the first request of each connection has.
    asks: Option<DedicationRequest>,
    /// There is one connection, and never another.
    is_once: bool,
    /// Decides how what is sent is marked for the network.
    pub(crate) priority: Option<Priority>,
    /// Where the one connection leads.
    leads: OnceLock<Channel>,
    said: Mutex<Option<DedicationReply>>,
}

/// Numbers of what has connections for itself.
pub(crate) fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

impl Own {
    fn new(
        asks: Option<DedicationRequest>,
        priority: Option<Priority>,
        is_once: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            number: next_number(),
            asks,
            is_once,
            priority,
            leads: OnceLock::new(),
            said: Mutex::default(),
        })
    }

    /// Connections that ask for a thread each.
    pub(crate) fn marked(priority: Option<Priority>) -> Arc<Self> {
        let asks = DedicationRequest {
            priority: priority.map(Priority::number),
        };
        Self::new(Some(asks), priority, false)
    }

    /// One connection.
    pub(crate) fn once(priority: Option<Priority>) -> Arc<Self> {
        Self::new(None, priority, true)
    }

    /// The marker that connections begin with, if they ask for something.
    pub(crate) fn asks(&self) -> Option<DedicationRequest> {
        self.asks
    }

    /// Whether there is one connection, and never another.
    pub(crate) fn is_once(&self) -> bool {
        self.is_once
    }

    /// Whether a connection may lead there.
    pub(crate) fn may_lead_to(&self, channel: Option<&Channel>) -> bool {
        let leads = self.leads.get();
        !self.is_once || leads.is_none() || leads == channel
    }

    /// A connection leads there.
    pub(crate) fn leads_to(&self, channel: Option<&Channel>) {
        if let Some(channel) = channel.filter(|_| self.is_once) {
            let _ = self.leads.set(channel.clone());
        }
    }

    /// What the server has said to the marker.
    pub(crate) fn note(&self, reply: DedicationReply) {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
    }

    pub(crate) fn said(&self) -> Option<DedicationReply> {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
