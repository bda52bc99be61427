// SPDX-License-Identifier: MIT OR Apache-2.0
//! ClientProtocolPolicy and ServerProtocolPolicy (RT-CORBA 1.2, clause 5.15): the permitted
//! protocols in order of preference.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::Channel;
use super::protocol_names::listed;

/// Names of protocols in order of preference; others are not used.
///
/// A protocol is named by the scheme of its transport, followed by a slash and its messaging
/// protocols if it has others than GIOP: `uiop`, `iiop/giop-lite`, `iiop/checksum+giop-lite`.
///
/// ```
/// use orbium_channel::ProtocolPolicy;
///
/// let policy: ProtocolPolicy = "shmiop,uiop".parse()?;
/// assert_eq!(policy, ProtocolPolicy::new(["shmiop", "uiop"]));
/// # Ok::<(), orbium_channel::ProtocolPolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProtocolPolicy(Arc<[String]>);

/// Error of an invalid list of protocols.
#[derive(Clone, PartialEq, Eq)]
pub struct ProtocolPolicyError(String);

impl fmt::Display for ProtocolPolicyError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a list of protocols: expected names such as iiop or \
             uiop/giop-lite, separated by commas",
            self.0
        )
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ProtocolPolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ProtocolPolicyError {}

impl ProtocolPolicy {
    /// These protocols, in this order.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut all = Vec::new();
        for name in names {
            all.push(name.into());
        }
        Self::of(all)
    }

    pub(super) fn of(names: Vec<String>) -> Self {
        Self(names.into())
    }

    /// The names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The channels that are named, in the order of the names.
    pub fn choose(&self, channels: &[Channel]) -> Vec<Channel> {
        let mut chosen = Vec::new();
        for name in self.names() {
            for channel in channels {
                if channel.protocol() == *name {
                    chosen.push(channel.clone());
                }
            }
        }
        chosen
    }

    /// The rank of a channel's protocol; `None` if it is not permitted.
    pub fn rank(&self, channel: &Channel) -> Option<usize> {
        let protocol = channel.protocol();
        for (rank, name) in self.0.iter().enumerate() {
            if *name == protocol {
                return Some(rank);
            }
        }
        None
    }
}

impl FromStr for ProtocolPolicy {
    type Err = ProtocolPolicyError;

    fn from_str(text: &str) -> Result<Self, ProtocolPolicyError> {
        let in_name =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '/' | '_');
        let mut names = Vec::new();
        for name in text.split(',').map(str::trim) {
            if name.is_empty() || !name.chars().all(in_name) {
                return Err(ProtocolPolicyError(text.to_owned()));
            }
            names.push(name.to_owned());
        }
        Ok(Self(names.into()))
    }
}

impl fmt::Display for ProtocolPolicy {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&listed(&mut self.0.iter().map(String::as_str), ","))
    }
}
