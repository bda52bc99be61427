// SPDX-License-Identifier: MIT OR Apache-2.0
//! The choices of bidirectional GIOP.

use std::fmt;
use std::str::FromStr;

/// Directions of the requests over a connection (BidirectionalPolicy, type 37).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BidirectionalPolicy {
    /// Requests are sent only by the side that opened the connection. The default.
    #[default]
    Normal,
    /// Both sides send requests: opened connections announce the ORB's endpoints, and calls to
    /// endpoints announced by a client use the client's connection.
    Both,
}

impl BidirectionalPolicy {
    /// Whether both sides send requests.
    #[must_use]
    pub const fn is_both(self) -> bool {
        matches!(self, Self::Both)
    }
}

impl fmt::Display for BidirectionalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::Both => "both",
        })
    }
}

impl FromStr for BidirectionalPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "normal" => Ok(Self::Normal),
            "both" => Ok(Self::Both),
            other => Err(format!(
                "`{other}` is not a BidirectionalPolicy: write normal or both"
            )),
        }
    }
}

/// Hosts that a client may announce as its own.
///
/// The host name in the client's certificate is always among them, and so are the Unix sockets of
/// its user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum BidirectionalHosts {
    /// Also the address that the client connects from, at any port. The default: clients that
    /// share an address trust one another.
    #[default]
    Own,
    /// Only authenticated hosts: the address that the client connects from counts only
    /// if the client presents a certificate.
    Authenticated,
    /// The address of the client and these names and addresses, compared as text without regard to case.
    /// A client behind a network address translation announces an address that the server
    /// does not see.
    Listed(Vec<String>),
    /// Any host: a client can announce the endpoint of another one and receive its calls.
    Any,
}

impl fmt::Display for BidirectionalHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("own"),
            Self::Authenticated => f.write_str("authenticated"),
            Self::Listed(hosts) => f.write_str(&hosts.join(",")),
            Self::Any => f.write_str("any"),
        }
    }
}

impl FromStr for BidirectionalHosts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_host = |host: &str| {
            let allowed = |c: char| c.is_alphanumeric() || ".-_:/".contains(c);
            !host.is_empty() && host.chars().all(allowed)
        };
        match text {
            "own" => Ok(Self::Own),
            "authenticated" => Ok(Self::Authenticated),
            "any" => Ok(Self::Any),
            list => {
                let hosts: Vec<_> = list.split(',').map(|it| it.trim().to_owned()).collect();
                match hosts.iter().find(|host| !is_host(host)) {
                    None => Ok(Self::Listed(hosts)),
                    Some(host) => Err(format!(
                        "`{host}` is no host: write own, authenticated, any, or names and addresses separated by commas"
                    )),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_as_they_are_shown() {
        for policy in [BidirectionalPolicy::Normal, BidirectionalPolicy::Both] {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        let listed = BidirectionalHosts::Listed(vec!["a.example".into(), "10.0.0.1".into()]);
        let (own, any) = (BidirectionalHosts::Own, BidirectionalHosts::Any);
        for hosts in [own, any, BidirectionalHosts::Authenticated, listed] {
            assert_eq!(hosts.to_string().parse(), Ok(hosts));
        }
        assert!("?!".parse::<BidirectionalPolicy>().is_err());
        assert!("?!".parse::<BidirectionalHosts>().is_err());
    }
}
