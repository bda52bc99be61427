// SPDX-License-Identifier: MIT OR Apache-2.0
//! The watch object of a process.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use orbium::metrics::exposition::watch::{self, Watched};

use crate::error::TopError;
use crate::processes::{Selection, WATCH_ADVICE};
use crate::watch_object;

/// Time-out of a reply: the thread that sends it has no other work.
const PATIENCE: Duration = Duration::from_secs(10);

/// A snapshot, with its time.
#[derive(Clone, Debug)]
pub struct Look {
    pub(crate) snapshot: watch::idl::Snapshot,
    pub(crate) at: Instant,
    pub(crate) identity: Identity,
}

/// The identity of an ORB.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    /// Its number among those of its process, if that publishes several.
    pub(crate) number: Option<usize>,
    /// Its name; empty if it has none.
    pub(crate) orb_id: String,
    /// The socket, unless it was found by a reference.
    pub(crate) socket: Option<PathBuf>,
}

/// The watch object of an ORB, the source of snapshots.
pub struct Source {
    watch: watch::idl::Watch,
    url: String,
    identity: Identity,
}

impl Source {
    /// The only selected ORB among those that the processes of this user publish.
    ///
    /// # Errors
    ///
    /// There is none, or there are several, which the error lists.
    pub fn selected(selection: &Selection) -> Result<Self, TopError> {
        let (watched, number) = selection.only()?;
        Self::found(Watched::url_of(&watched.path), number, Some(watched.path))
    }

    /// The ORB that is published at a socket.
    ///
    /// # Errors
    ///
    /// The calling ORB cannot be created.
    pub fn at_socket(socket: &Path) -> Result<Self, TopError> {
        Self::found(Watched::url_of(socket), None, Some(socket.to_owned()))
    }

    /// The watch object of a reference.
    ///
    /// # Errors
    ///
    /// It is not a valid reference, or refers to no object.
    pub fn at(url: &str) -> Result<Self, TopError> {
        Self::found(url.to_owned(), None, None)
    }

    fn found(
        url: String,
        number: Option<usize>,
        socket: Option<PathBuf>,
    ) -> Result<Self, TopError> {
        let watch = watch_object::at(&url, PATIENCE)?;
        let identity = Identity {
            number,
            orb_id: watch_object::orb_id(&watch),
            socket,
        };
        Ok(Self {
            watch,
            url,
            identity,
        })
    }

    /// Requests one snapshot.
    ///
    /// # Errors
    ///
    /// There is no reply.
    pub fn look(&self) -> Result<Look, TopError> {
        let snapshot = self.watch.look().map_err(|error| {
            let url = &self.url;
            TopError::because(format!("`{url}` does not answer: {error}; {WATCH_ADVICE}"))
        })?;
        Ok(Look {
            snapshot: watch_object::bounded(snapshot),
            at: Instant::now(),
            identity: self.identity.clone(),
        })
    }
}
