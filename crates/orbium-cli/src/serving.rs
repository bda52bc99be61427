// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common part of commands that serve an object until a signal ends them.

pub(crate) mod reload;

use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::Args;
use orbium::interceptor::Interceptors;
use orbium::{Config, ObjectRef, Orb, config::Configure as _, transport::Endpoint};
use orbium_configurator::OnHangup;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use self::reload::EarlyHangups;
use crate::failure::Failure;
use crate::output;

#[derive(Clone, Debug, Args)]
pub(crate) struct ServingArgs {
    /// Endpoint for clients; may be repeated [default: of the configuration, else
    /// iiop://localhost:0]
    #[arg(long = "endpoint", value_name = "URL")]
    endpoints: Vec<Endpoint>,
    /// Read this configuration (docs/configuration.md), and again at each SIGHUP; options take
    /// precedence over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Write the reference to this file too
    #[arg(long, value_name = "FILE")]
    ior_file: Option<PathBuf>,
    /// End at the end of standard input, as it ends with the parent process.
    #[arg(long, hide = true)]
    until_input_ends: bool,
}

impl ServingArgs {
    /// The configuration of the file, with the options applied.
    fn config(&self) -> Result<Config, Failure> {
        let mut config = match &self.config {
            Some(file) => Config::from_file(file).map_err(because)?,
            None => Config::default(),
        };
        if !self.endpoints.is_empty() {
            config.endpoints.clone_from(&self.endpoints);
        }
        // Clients of an earlier process call while the objects are being activated.
        config.awaits_adapters = true;
        if config.endpoints.is_empty() {
            config
                .endpoints
                .push("iiop://localhost:0".parse().map_err(because)?);
        }
        Ok(config)
    }

    /// Reads the file again at each SIGHUP, if there is one.
    fn reload(
        &self,
        early: Option<EarlyHangups>,
        orb: &Orb,
        config: Config,
    ) -> Result<Option<OnHangup>, Failure> {
        let Some(early) = early else {
            return Ok(None);
        };
        let args = self.clone();
        let unregistered = config.protocols.clone();
        let reloads = reload::on_hangup(&early, orb, config, unregistered, move || args.config())?;
        Ok(Some(reloads))
    }
}

/// The service of a command.
pub(crate) struct Served<T> {
    /// Kept until the ORB has ended.
    pub(crate) service: T,
    pub(crate) object: ObjectRef,
    /// Lines that are printed behind the reference; may be empty.
    pub(crate) further: String,
}

impl<T> Served<T> {
    pub(crate) fn new(service: T, object: ObjectRef) -> Self {
        Self {
            service,
            object,
            further: String::new(),
        }
    }
}

pub(crate) fn because(error: impl std::fmt::Display) -> Failure {
    Failure::because(error.to_string())
}

/// Serves the service that `make` returns, prints its reference, and waits for a signal.
pub(crate) fn serve<T>(
    args: &ServingArgs,
    make: impl FnOnce(&Orb) -> Result<Served<T>, Failure>,
) -> Result<(), Failure> {
    serve_intercepted(args, Interceptors::new(), make)
}

/// As [`serve`], by an ORB with interceptors.
pub(crate) fn serve_intercepted<T>(
    args: &ServingArgs,
    interceptors: Interceptors,
    make: impl FnOnce(&Orb) -> Result<Served<T>, Failure>,
) -> Result<(), Failure> {
    let ending = Ending::new()?;
    let hangups = EarlyHangups::caught(args.config.as_deref())?;
    let config = args.config()?;
    let orb = Orb::new(Config {
        interceptors,
        ..config.clone()
    });
    let orb = orb.map_err(because)?;
    let served = make(&orb)?;
    let reloads = args.reload(hangups, &orb, config)?;
    let reference = orb.object_to_string(&served.object);
    if let Some(file) = &args.ior_file {
        let failed = |error| Failure::because(format!("{}: {error}", file.display()));
        orbium_sys::write_whole(file, reference.as_bytes()).map_err(failed)?;
    }
    let further = &served.further;
    output::announce(&format!("{reference}\n{further}READY\n"))?;
    ending.wait(args.until_input_ends)?;
    drop(reloads);
    let ended = orb.shutdown(true).map_err(because);
    drop(served.service);
    ended
}

/// The signals that end a command, caught from the creation of this. The first ends it in order, and is
/// pending until the command waits for it; a further one ends the process at once. A client creates
/// this once it has connected: until then a signal ends it as it does any other program.
pub(crate) struct Ending {
    signals: Signals,
    /// Whether the next signal ends the process.
    at_once: Arc<AtomicBool>,
}

impl Ending {
    pub(crate) fn new() -> Result<Self, Failure> {
        Self::caught()
            .map_err(|error| Failure::because(format!("cannot wait for signals: {error}")))
    }

    fn caught() -> io::Result<Self> {
        let at_once = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal only sets the flag.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&at_once))?;
            flag::register(signal, Arc::clone(&at_once))?;
        }
        let signals = Signals::new([SIGINT, SIGTERM])?;
        Ok(Self { signals, at_once })
    }

    /// Waits for a signal, or for the end of standard input.
    pub(crate) fn wait(mut self, until_input_ends: bool) -> Result<(), Failure> {
        if until_input_ends {
            let handle = self.signals.handle();
            in_thread("input", move || {
                wait_for_end_of_input();
                handle.close();
            })?;
        }
        self.pause();
        Ok(())
    }

    /// Runs a closure in another thread when a signal arrives.
    pub(crate) fn then(mut self, act: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
        in_thread("signals", move || {
            self.pause();
            act();
        })
    }

    /// Waits for the first signal, or until there are none any more.
    fn pause(&mut self) {
        let _ = self.signals.forever().next();
        self.at_once.store(true, Ordering::SeqCst);
    }
}

/// Reads and discards standard input up to its end.
pub(crate) fn wait_for_end_of_input() {
    let mut ignored = [0; 64];
    let mut input = std::io::stdin().lock();
    while matches!(input.read(&mut ignored), Ok(1..)) {}
}

/// Starts a thread.
pub(crate) fn in_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let failed = |error| Failure::because(format!("cannot start a thread: {error}"));
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop).map_err(failed)
}
