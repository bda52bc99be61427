// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processing modes: whether an interceptor sees collocated calls, remote calls, or all.

use std::sync::Arc;

use crate::chain::{Chain, Entry, Linked};

/// Whether client and servant of a call belong to the same ORB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// The same ORB: the request does not leave it.
    Local,
    /// The request is sent over a connection, or was received from one.
    Remote,
}

/// The calls that an interceptor sees (policy 61 of CORBA 3.3 Part 1, clause 16.10.2:
/// `PROCESSING_MODE_POLICY_TYPE`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessingMode {
    /// All calls (`LOCAL_AND_REMOTE`).
    #[default]
    LocalAndRemote,
    /// Calls that leave or enter the ORB (`REMOTE_ONLY`).
    RemoteOnly,
    /// Calls with client and servant in this ORB (`LOCAL_ONLY`).
    LocalOnly,
}

impl ProcessingMode {
    /// Whether an interceptor of that mode sees such calls.
    #[must_use]
    pub const fn includes(self, locality: Locality) -> bool {
        match self {
            Self::LocalAndRemote => true,
            Self::RemoteOnly => matches!(locality, Locality::Remote),
            Self::LocalOnly => matches!(locality, Locality::Local),
        }
    }
}

/// The interceptors of a kind, and the subsets for calls of each locality.
pub(crate) struct Chains<I: Linked + ?Sized> {
    all: Chain<I>,
    local: Chain<I>,
    remote: Chain<I>,
    /// Whether an interceptor does not see calls of both localities.
    are_different: bool,
}

impl<I: Linked + ?Sized> Chains<I> {
    /// Adds an interceptor.
    pub(crate) fn push(&mut self, mode: ProcessingMode, entry: Arc<Entry<I>>) {
        self.are_different |= mode != ProcessingMode::LocalAndRemote;
        if mode.includes(Locality::Local) {
            self.local.push(Arc::clone(&entry));
        }
        if mode.includes(Locality::Remote) {
            self.remote.push(Arc::clone(&entry));
        }
        self.all.push(entry);
    }

    /// All interceptors.
    pub(crate) fn all(&self) -> &Chain<I> {
        &self.all
    }

    /// Whether the localities have different interceptors.
    #[inline]
    pub(crate) fn are_different(&self) -> bool {
        self.are_different
    }

    /// The interceptors of such calls.
    #[inline]
    pub(crate) fn of(&self, locality: Locality) -> &Chain<I> {
        match locality {
            Locality::Local => &self.local,
            Locality::Remote => &self.remote,
        }
    }
}

impl<I: Linked + ?Sized> Clone for Chains<I> {
    fn clone(&self) -> Self {
        Self {
            all: self.all.clone(),
            local: self.local.clone(),
            remote: self.remote.clone(),
            are_different: self.are_different,
        }
    }
}

impl<I: Linked + ?Sized> Default for Chains<I> {
    fn default() -> Self {
        Self {
            all: Chain::default(),
            local: Chain::default(),
            remote: Chain::default(),
            are_different: false,
        }
    }
}
