// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium demo serve`.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use orbium::{
    Config, Interface, Orb,
    config::{ConfigError, Configure as _, GiopMinor, ServerStrategy},
    protocol::Protocols,
    transport::{Endpoint, EndpointError, HostPort},
};
use orbium_configurator::OnHangup;
use orbium_demo::Served;

use crate::failure::Failure;
use crate::load::LoadArgs;
use crate::object::reference;
use crate::output::announce;
use crate::serving::reload::{self, EarlyHangups};
use crate::serving::{Ending, in_thread, wait_for_end_of_input};
use crate::stage::pin::PinArgs;
use crate::tls::TlsArgs;

#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    /// Endpoint to listen at: iiop://HOST:PORT (port 0 for a free one), uiop://PATH and so on; may
    /// be repeated, to be reached over several protocols [default: a free port of all interfaces]
    #[arg(long = "endpoint", value_name = "URL", value_parser = endpoint)]
    endpoints: Vec<Endpoint>,
    /// Read this configuration (docs/configuration.md), and again at each SIGHUP; options take
    /// precedence over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Begin with a named profile: default, embedded, avionics, medical-imaging
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    profile: Option<String>,
    /// Set a key of the configuration: --set limits.connections=12; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Server strategy: thread-per-connection, reactive, leader-followers[:THREADS] or
    /// worker-pool[:WORKERS[/QUEUE]]; without numbers a thread per processor, and 256 requests in
    /// the queue
    #[arg(long, value_name = "NAME")]
    strategy: Option<ServerStrategy>,
    /// Let Receiver be a member of this group at each miop:// endpoint: domain
    /// and number, as in lab-7
    #[arg(long, value_name = "DOMAIN-NUMBER")]
    join: Option<String>,
    /// Show the ORB to `orbium top`
    #[arg(long)]
    watch: bool,
    /// Write cube.ior, receiver.ior and peer.ior to this folder
    #[arg(long, value_name = "DIR")]
    ior_dir: Option<PathBuf>,
    /// Speak GIOP 1.0 (0), 1.1 (1) or 1.2 (2)
    #[arg(long, value_name = "N", value_parser = giop_minor)]
    giop_minor: Option<GiopMinor>,
    /// Send messages above this many octets in fragments (GIOP 1.2)
    #[arg(long, value_name = "OCTETS")]
    fragment_size: Option<usize>,
    #[command(flatten)]
    pin: PinArgs,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    tls: TlsArgs,
    /// End at the end of standard input, as it ends with the parent process.
    #[arg(long, hide = true)]
    until_input_ends: bool,
}

/// An endpoint with a valid host and port, if it has any.
fn endpoint(text: &str) -> Result<Endpoint, EndpointError> {
    let endpoint: Endpoint = text.parse()?;
    if matches!(endpoint.scheme.as_str(), "iiop" | "ssliop" | "diop") {
        endpoint.address.parse::<HostPort>()?;
    }
    Ok(endpoint)
}

/// Checks that the protocols of all endpoints are available.
fn check_endpoints(config: &Config) -> Result<(), Failure> {
    let unknown = |endpoint: &&Endpoint| config.protocols.transport(&endpoint.scheme).is_none();
    match config.endpoints.iter().find(unknown) {
        Some(endpoint) => {
            let error = EndpointError::UnknownScheme(endpoint.to_string());
            Err(Failure::wrong_usage(error.to_string()))
        }
        None => Ok(()),
    }
}

fn giop_minor(text: &str) -> Result<GiopMinor, String> {
    let minor = text.parse().ok().and_then(GiopMinor::new);
    minor.ok_or_else(|| "expected 0, 1 or 2".to_owned())
}

/// Ends the reloading of the file when it is dropped, if there is a file.
type Reloads = Option<OnHangup>;

impl ServeArgs {
    /// The configuration of the file or the profile, with the options applied.
    fn config(&self) -> Result<Config, Failure> {
        let config = match (&self.config, &self.profile) {
            (Some(file), _) => Config::from_file(file),
            (None, Some(name)) => Config::profile(name),
            (None, None) => Ok(Config::default()),
        };
        let wrong = |error: ConfigError| Failure::wrong_usage(error.to_string());
        let mut config = config.map_err(wrong)?;
        for setting in &self.settings {
            let Some((key, value)) = setting.split_once('=') else {
                let text = format!("`{setting}` sets nothing: write --set KEY=VALUE");
                return Err(Failure::wrong_usage(text));
            };
            config.set(key.trim(), value.trim()).map_err(wrong)?;
        }
        if !self.endpoints.is_empty() {
            config.endpoints.clone_from(&self.endpoints);
        }
        config.strategy = self.strategy.unwrap_or(config.strategy);
        config.giop_minor = self.giop_minor.unwrap_or(config.giop_minor);
        config.fragment_size = self.fragment_size.or(config.fragment_size);
        config.watch |= self.watch;
        self.tls.set_keys(&mut config)?;
        Ok(config)
    }

    /// Reads the file again at each SIGHUP, if there is one.
    fn reload(
        &self,
        early: Option<EarlyHangups>,
        orb: &Orb,
        (config, unregistered): (Config, Protocols),
    ) -> Result<Reloads, Failure> {
        let Some(early) = early else {
            return Ok(None);
        };
        let args = self.clone();
        reload::on_hangup(&early, orb, config, unregistered, move || args.config()).map(Some)
    }
}

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    // The handlers of signals are installed before the first line of output invites a signal.
    let ending = Ending::new()?;
    let hangups = EarlyHangups::caught(args.config.as_deref())?;
    let mut config = args.config()?;
    let unregistered = config.protocols.clone();
    args.load.add_to(&mut config)?;
    args.tls.add_to(&mut config)?;
    args.load.choose(&mut config)?;
    check_endpoints(&config)?;
    let orb = Orb::new(config.clone()).map_err(|error| Failure::because(error.to_string()))?;
    let served = orbium_demo::serve(&orb)
        .map_err(|error| Failure::because(format!("cannot serve: {error}")))?;
    // Not earlier: no object can be activated once the ORB ends. An earlier signal is pending.
    let ended = orb.clone();
    // The requests in progress may finish; a second signal does not wait for them.
    ending.then(move || end(&ended))?;
    if args.until_input_ends {
        end_with_input(orb.clone())?;
    }
    let _reloads = args.reload(hangups, &orb, (config, unregistered))?;
    let groups = match &args.join {
        Some(group) => join(&orb, &served, group)?,
        None => Vec::new(),
    };
    let references = References::of(&orb, &served);
    if let Some(folder) = &args.ior_dir {
        references.write(folder)?;
    }
    announce(&references.announcement(&orb, &groups))?;
    match orb.run() {
        Ok(()) => {}
        // Shut down between READY and here.
        Err(exception) if exception.kind == orbium::ExceptionKind::BadInvOrder => {}
        Err(exception) => return Err(Failure::because(exception.to_string())),
    }
    Ok(())
}

/// Makes the receiver a member of a group at all its multicast addresses; returns their references.
fn join(orb: &Orb, served: &Served, group: &str) -> Result<Vec<String>, Failure> {
    let channels = orb.channels().unwrap_or_default();
    let at = channels.iter().filter(|channel| channel.scheme == "miop");
    let urls: Vec<_> = at
        .map(|channel| format!("corbaloc:miop:1.0@1.0-{group}/{}", channel.address))
        .collect();
    if urls.is_empty() {
        return Err(Failure::wrong_usage(
            "there is no miop:// endpoint to join a group at",
        ));
    }
    for url in &urls {
        let object = orb.string_to_object(url).ok().flatten();
        let object = object.ok_or_else(|| {
            Failure::wrong_usage(format!("`{group}` is no group: expected DOMAIN-NUMBER"))
        })?;
        orb.join_group(&object, &served.receiver)
            .map_err(|exception| Failure::because(format!("cannot join {url}: {exception}")))?;
    }
    Ok(urls)
}

/// Ends the ORB.
fn end(orb: &Orb) {
    if orb.shutdown(false).is_err() {
        // No thread is available: it ends on this one. That fails only within a request.
        let _ = orb.shutdown(true);
    }
}

fn end_with_input(orb: Orb) -> Result<(), Failure> {
    in_thread("input", move || {
        wait_for_end_of_input();
        end(&orb);
    })
}

/// The stringified references, by object key.
struct References([(&'static str, String); 3]);

impl References {
    fn of(orb: &Orb, served: &Served) -> Self {
        fn text(orb: &Orb, object: &impl Interface) -> String {
            orb.object_to_string(object)
        }
        Self([
            ("Cube", text(orb, &served.cube)),
            ("Receiver", text(orb, &served.receiver)),
            ("Peer", text(orb, &served.peer)),
        ])
    }

    /// The text that is printed once requests are served.
    fn announcement(&self, orb: &Orb, groups: &[String]) -> String {
        let mut text = String::new();
        for (key, reference) in &self.0 {
            text.push_str(&format!("{key} {reference}\n"));
        }
        let minor = orb.config().giop_minor.number();
        for channel in orb.channels().unwrap_or_default() {
            for (key, _) in &self.0 {
                match reference::corbaloc(&channel, minor, key) {
                    Some(url) => text.push_str(&format!("{key} {url}\n")),
                    // Only the stringified references have these.
                    None => text.push_str(&format!("{key} at {channel}\n")),
                }
            }
        }
        for group in groups {
            text.push_str(&format!("Group {group}\n"));
        }
        text.push_str("READY\n");
        text
    }

    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let failed = |path: &Path, error: &io::Error| {
            Failure::because(format!("cannot write `{}`: {error}", path.display()))
        };
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        for (key, reference) in &self.0 {
            let path = folder.join(format!("{}.ior", key.to_ascii_lowercase()));
            let written = orbium_sys::write_whole(&path, format!("{reference}\n").as_bytes());
            written.map_err(|error| failed(&path, &error))?;
        }
        Ok(())
    }
}
