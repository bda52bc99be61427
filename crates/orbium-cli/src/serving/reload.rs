// SPDX-License-Identifier: MIT OR Apache-2.0
//! SIGHUP: the configuration of a serving command is read again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium::{Config, Orb, protocol::Protocols};
use orbium_configurator::{Configurator, OnHangup};
use signal_hook::consts::SIGHUP;
use signal_hook::{flag, low_level};

use crate::failure::Failure;
use crate::output;

/// SIGHUP before the ORB can be reconfigured: it is caught, and handled once it can.
pub(crate) struct EarlyHangups(Arc<AtomicBool>);

impl EarlyHangups {
    /// Catches them from now on, if there is a file to reload.
    pub(crate) fn caught(file: Option<&Path>) -> Result<Option<Self>, Failure> {
        if file.is_none() {
            return Ok(None);
        }
        let caught = Arc::new(AtomicBool::new(false));
        let registered = flag::register(SIGHUP, Arc::clone(&caught));
        registered.map_err(|error| unawaited(&error))?;
        Ok(Some(Self(caught)))
    }

    /// Raises SIGHUP again if it was caught.
    fn raise_again(&self) -> Result<(), Failure> {
        if self.0.swap(false, Ordering::Relaxed) {
            low_level::raise(SIGHUP).map_err(|error| unawaited(&error))?;
        }
        Ok(())
    }
}

fn unawaited(error: &std::io::Error) -> Failure {
    Failure::because(format!("cannot wait for SIGHUP: {error}"))
}

/// Reconfigures the ORB at each SIGHUP to what `read` returns, until the result is dropped. Changes and
/// refusals are reported on standard error. `built_with` is the configuration of the ORB, `unregistered`
/// are the protocols that `read` returned for it, before libraries added theirs.
pub(crate) fn on_hangup(
    early: &EarlyHangups,
    orb: &Orb,
    built_with: Config,
    unregistered: Protocols,
    read: impl Fn() -> Result<Config, Failure> + Send + 'static,
) -> Result<OnHangup, Failure> {
    let configurator = Configurator::new(orb, built_with);
    let reload =
        move |configurator: &Configurator| match reconfigure(configurator, &unregistered, &read) {
            Ok(report) => output::write_error(&report),
            Err(why) => output::error(&format!("not reconfigured, nothing is changed: {why}")),
        };
    let reloads = configurator
        .on_each_hangup(reload)
        .map_err(|error| unawaited(&error))?;
    early.raise_again()?;
    Ok(reloads)
}

/// The report of the changes, or of the reason why there are none.
fn reconfigure(
    configurator: &Configurator,
    unregistered: &Protocols,
    read: &impl Fn() -> Result<Config, Failure>,
) -> Result<String, String> {
    let config = read().map_err(|failure| failure.sentence().to_owned())?;
    // Libraries are not loaded again. Protocols that a file names in addition are registered.
    let changes = configurator.reconfigure_read(config, unregistered);
    let changes = changes.map_err(|error| error.to_string())?;
    if changes.is_empty() {
        return Ok("reconfigured: no key has another value\n".to_owned());
    }
    let lines = changes
        .iter()
        .map(|change| format!("reconfigured: {change}\n"));
    Ok(lines.collect())
}
