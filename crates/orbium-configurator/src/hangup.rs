// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reconfiguration by SIGHUP.

use std::io;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use orbium_trace::log;
use signal_hook::consts::SIGHUP;
use signal_hook::iterator::{Handle, Signals};

use crate::{Change, Configurator, ReconfigureError};

/// Reconfigures an ORB at each SIGHUP, until this is dropped.
#[derive(Debug)]
#[must_use = "dropped, it ends"]
pub struct OnHangup {
    signals: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Configurator {
    /// Reads the file again at each SIGHUP, and reconfigures the ORB as
    /// [`reconfigure_from`](Self::reconfigure_from) does. Changes and refusals are logged with the
    /// target `orbium::config`.
    ///
    /// ```no_run
    /// # use orbium_configurator::Configurator;
    /// # use orbium_core::{Config, Orb};
    /// # use orbium_settings::Configure as _;
    /// let config = Config::from_file("/etc/flight.toml")?;
    /// let orb = Orb::new(config.clone())?;
    /// let _reloads = Configurator::new(&orb, config).on_hangup("/etc/flight.toml")?;
    /// orb.run()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The system refuses the handler or the thread.
    pub fn on_hangup(&self, path: impl Into<PathBuf>) -> io::Result<OnHangup> {
        let path = path.into();
        self.on_each_hangup(move |configurator| {
            let changed = configurator.reconfigure_from(&path);
            report(&changed);
        })
    }

    /// Calls `reload` at each SIGHUP, on a separate thread: for programs that read more than a
    /// file.
    ///
    /// # Errors
    /// The system refuses the handler or the thread.
    pub fn on_each_hangup(
        &self,
        mut reload: impl FnMut(&Self) + Send + 'static,
    ) -> io::Result<OnHangup> {
        let mut caught = Signals::new([SIGHUP])?;
        let signals = caught.handle();
        let configurator = self.clone();
        let thread = thread::Builder::new().name("orbium-sighup".into());
        let thread = thread.spawn(move || {
            for _ in caught.forever() {
                reload(&configurator);
            }
        })?;
        Ok(OnHangup {
            signals,
            thread: Some(thread),
        })
    }
}

fn report(changed: &Result<Vec<Change>, ReconfigureError>) {
    match changed {
        Ok(changes) => {
            log::info!(target: "orbium::config", changes = changes.len(), "configuration read again");
        }
        Err(error) => {
            log::error!(target: "orbium::config", %error, "not reconfigured: nothing is changed");
        }
    }
}

impl Drop for OnHangup {
    fn drop(&mut self) {
        self.signals.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // Its result is empty.
            let _ = thread.join();
        }
    }
}
