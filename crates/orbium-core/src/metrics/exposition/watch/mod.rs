// SPDX-License-Identifier: MIT OR Apache-2.0
//! A running ORB shows itself to its owner: an object that answers on a Unix socket
//! which other users cannot reach, by an ORB and a thread of its own. So it answers
//! when every thread of the ORB it shows hangs.
//!
//! [`Config::watch`](crate::Config), the configuration key `watch`, the argument
//! `-ORBwatch true` or [`Orb::watch`] turn it on; `orbium top` shows what it says, and
//! any ORB can ask it with `idl/watch.idl`.

mod snapshot;

use std::path::PathBuf;
use std::sync::Weak;
use std::time::Instant;

use orbium_exposition::watch_folder;
use orbium_trace::log::recent;
use orbium_transport::Endpoint;

use crate::orb::{OrbCore, OrbError};
use crate::{Call, Config, ForwardBoundKeys, Limits, Orb, ServerStrategy, SystemException};

pub use generated::orbium_watch as idl;
pub use orbium_exposition::watch_folder::{KEY, Watched, alive, watched};

/// What generated code needs; the names are those of the façade's module `codegen`.
mod runtime {
    pub(super) use crate::cdr::{Type, idl_struct, idl_typedef};
    pub(super) use crate::idl_interface;
}

// Made of `idl/watch.idl` by `ORBIUM_BLESS=1 cargo test -p orbium-codegen --test suite golden::`.
mod generated {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/generated/watch.rs"));
}

/// The servant.
struct Watcher {
    orb: Weak<OrbCore>,
    since: Instant,
}

impl Watcher {
    /// The ORB that it shows, as long as that is held.
    fn orb(&self) -> Option<Orb> {
        self.orb.upgrade()?.handle()
    }
}

impl idl::WatchServant for Watcher {
    fn look(&self, _: &Call<'_>) -> Result<idl::Snapshot, SystemException> {
        let orb = self.orb();
        let orb = orb.ok_or_else(orbium_invocation::exceptions::already_shut_down)?;
        Ok(snapshot::snapshot(&orb, self.since.elapsed()))
    }

    fn prometheus_text(&self, _: &Call<'_>) -> Result<String, SystemException> {
        let metrics = self.orb().and_then(|orb| orb.metrics());
        Ok(metrics.map_or_else(String::new, |it| it.prometheus_text()))
    }

    fn orb_id(&self, _: &Call<'_>) -> Result<String, SystemException> {
        let orb = self.orb();
        Ok(orb.map_or_else(String::new, |it| it.config().identity.orb_id.clone()))
    }
}

impl Orb {
    /// Shows the ORB to `orbium top` from now on, and turns metrics on. Returns the
    /// socket: in `$XDG_RUNTIME_DIR/orbium`, or in a folder of the user's own below the
    /// temporary directory, named for the process id, with permissions for the owner
    /// alone; further ORBs of the process have sockets with numbers from 2. It goes with the
    /// ORB. A second call returns the same.
    ///
    /// ```no_run
    /// # fn f() -> Result<(), Box<dyn std::error::Error>> {
    /// let orb = orbium_core::Orb::builder().build()?;
    /// println!("orbium top {}", orb.watch()?.display());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`OrbError::Listen`] if there is no private folder or nothing can listen there,
    /// [`OrbError::Threads`] without a thread for it.
    pub fn watch(&self) -> Result<PathBuf, OrbError> {
        let watching = &self.core().watching.0;
        let mut watching = watching.lock();
        if let Some((_, path)) = &*watching {
            return Ok(path.clone());
        }
        recent::keep();
        let folder = watch_folder::private()
            .map_err(|(path, error)| OrbError::Listen(path.display().to_string(), error))?;
        let mut refused = None;
        for path in watch_folder::names(&folder) {
            match self.watch_at(&path) {
                Ok(orb) => {
                    self.enable_metrics();
                    *watching = Some((orb, path.clone()));
                    return Ok(path);
                }
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or(OrbError::Config("no name is free for the watch's socket")))
    }

    /// An ORB of one thread that serves the watch object at a path.
    fn watch_at(&self, path: &std::path::Path) -> Result<Self, OrbError> {
        let orb = Self::new(Config {
            endpoints: vec![Endpoint {
                scheme: "uiop".into(),
                address: path.display().to_string(),
                parameters: vec![("mode".into(), "600".into())],
            }],
            strategy: ServerStrategy::Reactive,
            forward_bound_keys: ForwardBoundKeys(false),
            limits: Limits {
                // Requests have no arguments; a few operators look at once.
                message_size: 64 << 20,
                connections: 16,
                ..Limits::default()
            },
            ..Config::default()
        })?;
        let watcher = Watcher {
            orb: self.downgrade(),
            since: Instant::now(),
        };
        let root = orb.root_poa();
        let served = root.manager().activate().map_err(|error| error.to_string());
        let served = served.and_then(|()| {
            let watch: idl::Watch = root.activate(watcher).map_err(|it| it.to_string())?;
            orb.bind_key(KEY, &watch).map_err(|it| it.to_string())
        });
        match served {
            Ok(()) => Ok(orb),
            Err(why) => Err(OrbError::Protocol(path.display().to_string(), why)),
        }
    }
}
