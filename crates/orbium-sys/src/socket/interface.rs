// SPDX-License-Identifier: MIT OR Apache-2.0
//! Network interfaces, as options name them.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::socket::platform_options::interface_index;

/// A network interface of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkInterface {
    /// By its index.
    Index(NonZeroU32),
    /// By one of its IPv4 addresses; for IPv4 only.
    Address(Ipv4Addr),
}

impl NetworkInterface {
    /// Its index.
    ///
    /// # Errors
    /// `InvalidInput`: it was given by an address.
    pub fn index(self) -> io::Result<u32> {
        match self {
            Self::Index(index) => Ok(index.get()),
            Self::Address(_) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "IPv6 needs the name or index of an interface, not an IPv4 address",
            )),
        }
    }
}

impl FromStr for NetworkInterface {
    type Err = io::Error;

    /// An index, an IPv4 address, or the name of an existing interface.
    fn from_str(text: &str) -> io::Result<Self> {
        if let Ok(index) = text.parse() {
            return Ok(Self::Index(index));
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::Address(address));
        }
        let index = interface_index(text)?;
        let index = NonZeroU32::new(index).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self::Index(index))
    }
}

impl fmt::Display for NetworkInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => index.fmt(f),
            Self::Address(address) => address.fmt(f),
        }
    }
}
