// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object references on the command line.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use orbium::giop::{Ior, ObjectUrl};
use orbium::{ConnectTimeout, ObjectRef, Orb};

use crate::failure::Failure;

/// What is said of a reference in the help of every command that takes one.
pub(crate) const HELP: &str = "Object reference: IOR:…, corbaloc:…, corbaname:…, \
     a file that holds one (or @FILE), or - for standard input";

/// Longest reference read from a file or standard input: far beyond any real
/// one, so that a wrong file name does not fill the memory.
const LONGEST: u64 = 16 << 20;

/// The text of the reference that an argument means.
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
        let path = argument.strip_prefix('@').unwrap_or(argument);
        if !argument.starts_with('@') && !Path::new(path).exists() {
            return Err(Failure::because(format!(
                "`{argument}` is no object reference (it starts with none of IOR:, corbaloc: and \
                 corbaname:), and there is no file of that name"
            )));
        }
        let held = std::fs::File::open(path).and_then(read);
        (held, format!("`{path}`"))
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
    from.take(LONGEST).read_to_end(&mut octets)?;
    String::from_utf8(octets)
        .map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not text"))
}

/// The parsed reference that an argument means.
pub(crate) fn url(argument: &str) -> Result<ObjectUrl, Failure> {
    ObjectUrl::parse(&text(argument)?)
        .map_err(|error| Failure::because(format!("bad object reference: {error}")))
}

/// The reference that an argument means.
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

/// An object to be called, and the ORB that will call it. No call takes longer
/// than `timeout`.
pub(crate) fn object(argument: &str, timeout: Option<Duration>) -> Result<ObjectRef, Failure> {
    let mut config = orbium::Config {
        call_timeout: timeout,
        ..orbium::Config::default()
    };
    if let Some(timeout) = timeout {
        config.connect_timeout = ConnectTimeout(timeout);
    }
    let orb = Orb::new(config).map_err(|error| Failure::because(error.to_string()))?;
    let object = orb
        .string_to_object(&text(argument)?)
        .map_err(|error| Failure::because(format!("bad object reference: {error}")))?;
    object.ok_or_else(|| Failure::because("the reference is nil: it leads to no object"))
}

/// Where a reference leads, for people: its first address.
pub(crate) fn address(object: &ObjectRef) -> String {
    let profiles = object.ior().iiop_profiles();
    let mut addresses = profiles.flat_map(|profile| profile.addresses().collect::<Vec<_>>());
    match addresses.next() {
        Some(address) => address.to_string(),
        None => "no IIOP address".to_owned(),
    }
}
