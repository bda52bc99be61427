// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object references on the command line.

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use orbium::giop::{Ior, ObjectUrl};
#[cfg(target_os = "linux")]
use orbium::transport::Transport;
use orbium::{
    Config, ObjectRef, Orb, SystemException,
    config::{ConnectTimeout, NamingTimeout},
    protocol::{Channel, ProtocolPolicy, Protocols},
    reference::ObjectError,
};
use orbium_config::file_url::path_of;

use crate::failure::Failure;
use crate::load::LoadArgs;
use crate::tls::TlsArgs;

/// The description of a reference in the help of every command that takes one.
pub(crate) const HELP: &str = "Object reference: IOR:…, corbaloc:…, corbaname:…, \
     a file that holds one (FILE, @FILE or file:///FILE), or - for standard input";

/// Maximum length of a reference from a file or standard input: far beyond any real one, so that a
/// wrong file name does not fill the memory.
const MAX_REFERENCE_LENGTH: u64 = 16 << 20;

/// The text of the reference of an argument.
pub(crate) fn text(argument: &str) -> Result<String, Failure> {
    let is_url = ["ior:", "corbaloc:", "corbaname:"].iter().any(|scheme| {
        argument
            .trim_start()
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    if is_url {
        return Ok(argument.trim().to_owned());
    }
    let (held, place) = if argument == "-" {
        let stdin = std::io::stdin().lock();
        (read(stdin), "standard input".to_owned())
    } else {
        let (path, is_named) = match (argument.strip_prefix('@'), path_of(argument)) {
            (Some(path), _) => (PathBuf::from(path), true),
            (None, Some(path)) => (path, true),
            (None, None) => (PathBuf::from(argument), false),
        };
        if !is_named && !path.exists() {
            return Err(Failure::because(format!(
                "`{argument}` is no object reference (it starts with none of IOR:, corbaloc:, \
                 corbaname: and file:), and there is no file of that name"
            )));
        }
        let held = std::fs::File::open(&path).and_then(read);
        (held, format!("`{}`", path.display()))
    };
    let held = held.map_err(|error| Failure::because(format!("cannot read {place}: {error}")))?;
    let mut lines = held.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next()) {
        (Some(line), None) => Ok(line.to_owned()),
        (None, _) => Err(Failure::because(format!("{place} is empty"))),
        (Some(_), Some(_)) => Err(Failure::because(format!(
            "{place} has several lines, where one object reference was expected"
        ))),
    }
}

fn read(from: impl Read) -> std::io::Result<String> {
    let mut octets = Vec::new();
    from.take(MAX_REFERENCE_LENGTH).read_to_end(&mut octets)?;
    String::from_utf8(octets)
        .map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not text"))
}

/// The parsed reference of an argument.
pub(crate) fn url(argument: &str) -> Result<ObjectUrl, Failure> {
    ObjectUrl::parse(&text(argument)?)
        .map_err(|error| Failure::because(format!("bad object reference: {error}")))
}

/// The reference of an argument.
pub(crate) fn ior(argument: &str) -> Result<Ior, Failure> {
    let bad = |error| Failure::because(format!("bad object reference: {error}"));
    match url(argument)? {
        ObjectUrl::Ior(ior) => Ok(ior),
        ObjectUrl::Corbaloc(corbaloc) => corbaloc.to_ior().map_err(bad),
        ObjectUrl::Corbaname(_) => Err(Failure::because(
            "a corbaname: has to be resolved by a naming service first",
        )),
    }
}

/// The protocols of this program.
pub fn protocols() -> Protocols {
    Protocols::default()
}

/// Selection of the protocols of calls.
#[derive(Clone, Debug, Default, Args)]
pub struct ProtocolArgs {
    /// Protocols to call with, best first, and no others: names such as shmiop,uiop,iiop/giop-lite
    /// [default: those of the reference, within this host first]
    #[arg(long, value_name = "LIST")]
    protocols: Option<ProtocolPolicy>,
    /// Spinning of a client of shared memory before it sleeps: none, so many microseconds, or
    /// adaptive:MICROSECONDS
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "SPIN", default_value_t)]
    shm_spin: orbium_shm::Spin,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
}

impl ProtocolArgs {
    /// The same with another way to spin, unless `spin` is empty.
    pub fn with_spin(&self, spin: &str) -> Result<Self, Failure> {
        #[cfg_attr(not(target_os = "linux"), expect(unused_mut))]
        let mut protocols = self.clone();
        #[cfg(target_os = "linux")]
        if !spin.is_empty() {
            let read = spin.parse();
            protocols.shm_spin =
                read.map_err(|error| Failure::because(format!("`{spin}`: {error}")))?;
        }
        Ok(protocols)
    }

    /// Sets the client protocols of a configuration.
    pub(crate) fn add_to(&self, config: &mut Config) -> Result<(), Failure> {
        config.client_protocols.clone_from(&self.protocols);
        #[cfg(target_os = "linux")]
        {
            let options = orbium_shm::ShmOptions {
                spin: self.shm_spin,
                ..orbium_shm::ShmOptions::default()
            };
            let transport = orbium_shm::ShmTransport::new(options);
            config.protocols.register(Transport::stream(transport));
        }
        self.load.add_to(config)?;
        self.tls.add_to(config)?;
        self.load.choose(config)
    }
}

/// An object to be called, and the ORB that calls it. `timeout` is the time-out of every call.
pub fn object(
    argument: &str,
    protocols: &ProtocolArgs,
    timeout: Option<Duration>,
) -> Result<ObjectRef, Failure> {
    let mut config = Config::default();
    complete(&mut config, protocols, timeout)?;
    let orb = Orb::new(config).map_err(|error| Failure::because(error.to_string()))?;
    resolve(&orb, argument)
}

/// Adds the protocols of this program, and the bound on the time of every call.
pub(crate) fn complete(
    config: &mut Config,
    protocols: &ProtocolArgs,
    timeout: Option<Duration>,
) -> Result<(), Failure> {
    config.protocols = self::protocols();
    config.call_timeout = timeout;
    if let Some(timeout) = timeout {
        config.connect_timeout = ConnectTimeout(timeout);
        config.naming_timeout = NamingTimeout(timeout);
    }
    protocols.add_to(config)
}

/// The object of an argument; a name in it is resolved.
pub(crate) fn resolve(orb: &Orb, argument: &str) -> Result<ObjectRef, Failure> {
    let object = orb.string_to_object(&text(argument)?);
    let object = object.map_err(|error| {
        Failure::because(match &error {
            // The reference is valid, and its name is not resolved.
            ObjectError::Naming(_) => error.to_string(),
            _ => format!("bad object reference: {error}"),
        })
    })?;
    object.ok_or_else(|| Failure::because("the reference is nil: it leads to no object"))
}

/// The address of the calls to an object, for people: a plain host and port over TCP, the whole
/// channel otherwise.
pub(crate) fn address(object: &ObjectRef) -> String {
    match object.channel() {
        Some(channel) if channel.protocol() == "iiop" => channel.address,
        Some(channel) => channel.to_string(),
        None => "no address that can be used".to_owned(),
    }
}

/// The reason for each protocol why the call that has just raised this exception reached no server;
/// `None` if it reached one.
pub(crate) fn refusals(exception: SystemException) -> Option<String> {
    let failure = orbium::diagnostics::explain(&exception).failure;
    let failure = failure.filter(|failure| !failure.offered.is_empty());
    failure.map(|failure| failure.reasons())
}

/// The `corbaloc:` of the object with a plain key at a channel; `None` for a channel that no
/// `corbaloc:` can express.
pub(crate) fn corbaloc(channel: &Channel, minor: u8, key: &str) -> Option<String> {
    if !channel.messaging.is_empty() {
        return None;
    }
    let Channel {
        scheme, address, ..
    } = channel;
    // A path has slashes of its own.
    let separator = if address.contains('/') { '|' } else { '/' };
    let url = format!("corbaloc:{scheme}:1.{minor}@{address}{separator}{key}");
    // Only a URL that parses to the same key.
    match ObjectUrl::parse(&url).ok()? {
        ObjectUrl::Corbaloc(parsed) if parsed.key == key.as_bytes() => {
            parsed.to_ior().ok().map(|_| url)
        }
        _ => None,
    }
}
