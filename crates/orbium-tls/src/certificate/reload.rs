// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that change while the program runs.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use orbium_sync::lock::{Condvar, Mutex, RwLock};
use orbium_sys::fork::PerProcess;
use orbium_trace::log::EventLimit;

use crate::certificate::material::Material;
use crate::{TlsConfig, TlsError};

/// Maximum time for which a connection waits for a check of the files, for example on a hanging
/// file system.
const MAX_RELOAD_WAIT: Duration = Duration::from_millis(500);

/// Metadata by which a changed file is detected.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    /// Another file of the same name may have the same time.
    file: u64,
    /// The reason for a refusal may be the mode.
    mode: u32,
}

/// Checks of the files in progress.
#[derive(Debug, Default)]
struct Looks {
    begun: u64,
    ended: u64,
    /// The beginning of the check in progress.
    since: Option<Instant>,
}

/// The state of a process's checks of the files.
#[derive(Debug, Default)]
struct Watching {
    /// Of the files that were read last, valid or not. Locked while they are read.
    stamps: Mutex<Vec<Option<Stamp>>>,
    looks: Mutex<Looks>,
    looked: Condvar,
}

/// The configuration, and the material of the last reading of the files.
pub(crate) struct Shared {
    config: TlsConfig,
    /// A forked child has its own: the parent's lock, or that of a session cache within, may have
    /// been held by a thread that does not exist in the child.
    current: PerProcess<RwLock<Arc<Material>>>,
    /// The material when the transport was created.
    initial: Arc<Material>,
    /// A forked child checks the files itself: the threads of the parent that held these locks, or
    /// were checking, do not exist there.
    watching: PerProcess<Watching>,
    /// The rate limit of warnings that clients can cause at will.
    failed_handshakes: EventLimit,
    missing_threads: EventLimit,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(f)
    }
}

impl Shared {
    pub(crate) fn new(config: TlsConfig) -> Result<Arc<Self>, TlsError> {
        let stamps = stamps(&config);
        let material = Material::load(&config)?;
        let watching = PerProcess::new();
        watching.get_or_init(|| Watching {
            stamps: Mutex::new(stamps),
            ..Watching::default()
        });
        let initial = Arc::new(material);
        let current = PerProcess::new();
        current.get_or_init(|| RwLock::new(Arc::clone(&initial)));
        Ok(Arc::new(Self {
            config,
            current,
            initial,
            watching,
            failed_handshakes: EventLimit::default(),
            missing_threads: EventLimit::default(),
        }))
    }

    fn watching(&self) -> &Watching {
        self.watching.get_or_init(Watching::default)
    }

    /// The material in use. A forked child loads the files itself and falls back to the initial
    /// material: that loaded later by the parent is protected by the parent's lock.
    fn material(&self) -> &RwLock<Arc<Material>> {
        self.current.get_or_init(|| {
            let own = Material::load(&self.config).unwrap_or_else(|error| {
                tracing::warn!(target: "orbium::tls", %error, "a forked child cannot read the TLS files; it uses those that its parent read first");
                self.initial.without_sessions()
            });
            RwLock::new(Arc::new(own))
        })
    }

    /// The rate limit of failed handshakes with clients in the log.
    pub(crate) fn failed_handshakes(&self) -> &EventLimit {
        &self.failed_handshakes
    }

    pub(crate) fn config(&self) -> &TlsConfig {
        &self.config
    }

    /// The material of a new connection, from the current files. They are checked by a separate
    /// thread, for which the wait is bounded.
    pub(crate) fn current(self: &Arc<Self>) -> Arc<Material> {
        if self.config.watch_files {
            self.look_again();
        }
        Arc::clone(&self.material().read())
    }

    /// Has the files checked from now on, not earlier, and waits for the result.
    fn look_again(self: &Arc<Self>) {
        let limit = Instant::now() + MAX_RELOAD_WAIT;
        let mut looks = self.watching().looks.lock();
        // A check in progress may have read them before the change.
        let wanted = looks.begun + 1;
        while looks.ended < wanted {
            match looks.since {
                None => {
                    looks.begun += 1;
                    looks.since = Some(Instant::now());
                    let shared = Arc::clone(self);
                    let look = move || shared.look_once();
                    let spawned = orbium_sys::spawn_detached("tls files", None, Box::new(look));
                    if let Err(error) = spawned {
                        if let Some(suppressed) = self.missing_threads.admit() {
                            tracing::warn!(target: "orbium::tls", %error, suppressed, "no thread to look at the TLS files");
                        }
                        looks.ended = looks.begun;
                        looks.since = None;
                        return;
                    }
                }
                // It hangs: other callers do not wait for it, too.
                Some(since) if since.elapsed() >= MAX_RELOAD_WAIT => return,
                Some(_) => {
                    let left = limit.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return;
                    }
                    looks = self.watching().looked.wait_timeout(looks, left).0;
                }
            }
        }
    }

    fn look_once(&self) {
        self.look();
        let mut looks = self.watching().looks.lock();
        looks.ended = looks.begun;
        looks.since = None;
        drop(looks);
        self.watching().looked.notify_all();
    }

    /// Reads the files if they have changed.
    fn look(&self) {
        let mut known = self.watching().stamps.lock();
        let found = stamps(&self.config);
        if *known == found {
            return;
        }
        match self.read() {
            Ok(()) => tracing::info!(target: "orbium::tls", "TLS files read again"),
            Err(error) => {
                tracing::warn!(target: "orbium::tls", %error, "the changed TLS files cannot be used: the old ones stay");
            }
        }
        // Changes during the reading are detected by the next check.
        *known = found;
    }

    fn read(&self) -> Result<(), TlsError> {
        let material = Arc::new(Material::load(&self.config)?);
        *self.material().write() = material;
        Ok(())
    }
}

fn stamps(config: &TlsConfig) -> Vec<Option<Stamp>> {
    let files: [&Option<PathBuf>; 3] = [&config.certificate, &config.key, &config.authorities];
    let files = files.into_iter().flatten();
    files.chain(&config.revocation_lists).map(stamp).collect()
}

fn stamp(path: &PathBuf) -> Option<Stamp> {
    let about = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let (file, mode) = {
        use std::os::unix::fs::MetadataExt;
        (about.ino(), about.mode())
    };
    #[cfg(not(unix))]
    let (file, mode) = (0, 0);
    Some(Stamp {
        modified: about.modified().ok(),
        length: about.len(),
        file,
        mode,
    })
}

/// Reads the files of a [`Tls`](crate::Tls) again on demand.
#[derive(Clone, Debug)]
pub struct Reload(pub(crate) Arc<Shared>);

impl Reload {
    /// Reads the files now, whether they have changed or not. New connections use the new contents,
    /// and no earlier session is resumed; existing connections are not affected.
    ///
    /// # Errors
    /// The error in the files; the material is then unchanged.
    pub fn now(&self) -> Result<(), TlsError> {
        let mut known = self.0.watching().stamps.lock();
        let found = stamps(&self.0.config);
        self.0.read()?;
        *known = found;
        Ok(())
    }
}
