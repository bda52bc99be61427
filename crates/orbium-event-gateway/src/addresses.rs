// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses of datagrams by the type or the source of an event.

mod addr_server;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use orbium_event::rtec::rtec_event_comm::EventHeader;

pub(crate) use addr_server::ask;

/// Maximum number of addresses of a table: a receiver has a socket and a thread for each.
const MAX_ADDRESSES: usize = 64;

/// The key by which addresses are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKey {
    /// The type of an event.
    Type,
    /// Its source.
    Source,
}

/// A table of the addresses to which events are sent as datagrams, by their type or source. It is
/// also a servant of `RtecUDPAdmin::AddrServer`, which gateways of orbium and TAO call.
///
/// ```
/// use orbium_event_gateway::{AddressKey, Addresses};
///
/// let table: Addresses = "type:16@239.255.7.1:5050,17@239.255.7.2:5050,*@239.255.7.9:5050".parse()?;
/// let same = Addresses::new(AddressKey::Type)
///     .with(16, "239.255.7.1:5050".parse()?)
///     .with(17, "239.255.7.2:5050".parse()?)
///     .others("239.255.7.9:5050".parse()?);
/// assert_eq!(table, same);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses {
    key: AddressKey,
    table: BTreeMap<i32, SocketAddr>,
    others: Option<SocketAddr>,
}

/// Error of reading a table of addresses: the invalid part.
#[derive(Clone, PartialEq, Eq)]
pub struct AddressError(String);

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no table of addresses as type:16@239.255.7.1:5050,*@239.255.7.9:5050: {}",
            self.0
        )
    }
}

impl std::error::Error for AddressError {}

impl Addresses {
    /// An empty table.
    #[must_use]
    pub const fn new(key: AddressKey) -> Self {
        Self {
            key,
            table: BTreeMap::new(),
            others: None,
        }
    }

    /// The same with the address for a type or source.
    #[must_use]
    pub fn with(mut self, key: i32, address: SocketAddr) -> Self {
        self.table.insert(key, address);
        self
    }

    /// The same with the address for all events without an entry.
    #[must_use]
    pub fn others(self, address: SocketAddr) -> Self {
        Self {
            others: Some(address),
            ..self
        }
    }

    /// The address for an event, if there is one.
    #[must_use]
    pub fn of(&self, header: &EventHeader) -> Option<SocketAddr> {
        let key = match self.key {
            AddressKey::Type => header.r#type,
            AddressKey::Source => header.source,
        };
        self.table.get(&key).copied().or(self.others)
    }

    /// All addresses, each once.
    #[must_use]
    pub fn all(&self) -> BTreeSet<SocketAddr> {
        self.table.values().copied().chain(self.others).collect()
    }
}

impl FromStr for Addresses {
    type Err = AddressError;

    /// `type:` or `source:`, and then `KEY@ADDRESS:PORT` with commas between them. Keys are
    /// decimal, or hexadecimal behind `0x`; `*` stands for all others.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let refused = |why: &str| AddressError(why.to_owned());
        let (key, table) = match text.split_once(':') {
            Some(("type", table)) => (AddressKey::Type, table),
            Some(("source", table)) => (AddressKey::Source, table),
            _ => return Err(refused(text)),
        };
        let mut addresses = Self::new(key);
        for entry in table.split(',') {
            let (key, address) = entry.split_once('@').ok_or_else(|| refused(entry))?;
            let address = address.parse().map_err(|_| refused(entry))?;
            addresses = match key {
                "*" if addresses.others.is_none() => addresses.others(address),
                key => {
                    let key = number(key).ok_or_else(|| refused(entry))?;
                    if addresses.table.contains_key(&key) {
                        return Err(refused(entry));
                    }
                    addresses.with(key, address)
                }
            };
        }
        if addresses.all().len() > MAX_ADDRESSES {
            return Err(AddressError(format!("more than {MAX_ADDRESSES} addresses")));
        }
        Ok(addresses)
    }
}

fn number(text: &str) -> Option<i32> {
    match text.strip_prefix("0x") {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The destination or source of datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// One host or group.
    One(String),
    Table(Addresses),
    /// An `RtecUDPAdmin::AddrServer`, by its reference.
    Server(String),
}

impl FromStr for Destination {
    type Err = AddressError;

    /// In the form of [`End::Datagrams`](crate::End::Datagrams).
    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Some(reference) = text.strip_prefix("server:")
            && ["IOR:", "corbaloc:", "corbaname:"]
                .iter()
                .any(|it| reference.starts_with(it))
        {
            return Ok(Self::Server(reference.to_owned()));
        }
        if text.contains('@') {
            return text.parse().map(Self::Table);
        }
        Ok(Self::One(text.to_owned()))
    }
}
