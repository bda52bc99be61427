// SPDX-License-Identifier: MIT OR Apache-2.0
//! Monitoring of a running ORB by its owner: an object on a Unix socket that other users cannot
//! access, served by a separate ORB and thread. So it answers even when every thread of the
//! monitored ORB hangs.
//!
//! [`Config::watch`](crate::Config), the configuration key `watch`, the argument `-ORBwatch true`
//! or [`Orb::watch`] turn it on; `orbium top` displays it, and any ORB can call it with
//! `idl/watch.idl`.

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

/// Dependencies of generated code; the names are those of the façade's module `codegen`.
mod runtime {
    pub(super) use crate::cdr::{Type, idl_struct, idl_typedef};
    pub(super) use crate::idl_interface;
}

// Made of `idl/watch.idl` by `ORBIUM_BLESS=1 cargo test -p orbium-codegen --test suite golden::`.
mod generated {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/generated/watch.rs"));
}

/// The servant of the watch object.
struct Watcher {
    orb: Weak<OrbCore>,
    since: Instant,
}

impl Watcher {
    /// The monitored ORB, as long as it is referenced.
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
    /// Shows the ORB to `orbium top` from now on, and turns metrics on. Returns the path of the
    /// socket: in `$XDG_RUNTIME_DIR/orbium`, or in a private folder of the user below the temporary
    /// directory, named for the process id, with permissions for the owner only; further ORBs of
    /// the process have sockets with numbers from 2. It is removed with the ORB. A second call
    /// returns the same path.
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
    /// [`OrbError::Listen`] if there is no private folder or the socket cannot be created,
    /// [`OrbError::Threads`] if its thread cannot be started.
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

    /// An ORB with one thread that serves the watch object at a path.
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
                // Requests have no arguments; few operators connect at once.
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
