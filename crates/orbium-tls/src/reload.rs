// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that change while the program runs.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::material::Material;
use crate::{TlsConfig, TlsError};

/// The files are looked at this often at most.
const PAUSE: Duration = Duration::from_secs(1);

/// By what a file is known to be another than before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    /// Another file of the same name may bear the same time.
    file: u64,
}

/// The configuration, and what its files came to when they were last read.
pub(crate) struct Shared {
    config: TlsConfig,
    current: RwLock<Arc<Material>>,
    /// Of the files that were read last, be they good or not. Locked while
    /// they are read.
    stamps: Mutex<Vec<Option<Stamp>>>,
    started: Instant,
    /// Milliseconds from `started` to when the files were last looked at.
    looked: AtomicU64,
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
        Ok(Arc::new(Self {
            config,
            current: RwLock::new(Arc::new(material)),
            stamps: Mutex::new(stamps),
            started: Instant::now(),
            looked: AtomicU64::new(0),
        }))
    }

    pub(crate) fn config(&self) -> &TlsConfig {
        &self.config
    }

    /// What new connections use. If it is time, the files are looked at, by a
    /// thread of their own: a file system that hangs holds nobody up.
    pub(crate) fn current(self: &Arc<Self>) -> Arc<Material> {
        if self.config.watch_files && self.is_time() {
            let shared = Arc::clone(self);
            let look = move || shared.look();
            let spawned = thread::Builder::new().name("tls files".into()).spawn(look);
            if let Err(error) = spawned {
                tracing::warn!(%error, "no thread to look at the TLS files");
            }
        }
        let current = self.current.read();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    fn is_time(&self) -> bool {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.looked.load(Ordering::Relaxed);
        now.saturating_sub(last) >= PAUSE.as_millis() as u64
            && self
                .looked
                .compare_exchange(last, now, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
    }

    /// Reads the files if they have changed.
    fn look(&self) {
        // One look at a time; the next will do as well.
        let Ok(mut known) = self.stamps.try_lock() else {
            return;
        };
        let found = stamps(&self.config);
        if *known == found {
            return;
        }
        match self.read() {
            Ok(()) => tracing::info!("TLS files read again"),
            Err(error) => {
                tracing::warn!(%error, "the changed TLS files cannot be used: the old ones stay");
            }
        }
        // What changed while it was read is read again next time.
        *known = found;
    }

    fn read(&self) -> Result<(), TlsError> {
        let material = Arc::new(Material::load(&self.config)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = material;
        Ok(())
    }
}

fn stamps(config: &TlsConfig) -> Vec<Option<Stamp>> {
    let files: [&Option<PathBuf>; 3] = [&config.certificate, &config.key, &config.authorities];
    files.into_iter().flatten().map(stamp).collect()
}

fn stamp(path: &PathBuf) -> Option<Stamp> {
    let about = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let file = std::os::unix::fs::MetadataExt::ino(&about);
    #[cfg(not(unix))]
    let file = 0;
    Some(Stamp {
        modified: about.modified().ok(),
        length: about.len(),
        file,
    })
}

/// Reads the files of a [`Tls`](crate::Tls) again on demand.
#[derive(Clone, Debug)]
pub struct Reload(pub(crate) Arc<Shared>);

impl Reload {
    /// Reads the files now, whether they have changed or not. Connections made
    /// from now on use what they hold, and no session from before is taken up
    /// again; those that are there stay as they are.
    ///
    /// # Errors
    /// What is wrong with the files; then everything stays as it was.
    pub fn now(&self) -> Result<(), TlsError> {
        let mut known = self.0.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        let found = stamps(&self.0.config);
        self.0.read()?;
        *known = found;
        Ok(())
    }
}
