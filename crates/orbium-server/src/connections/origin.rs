// SPDX-License-Identifier: MIT OR Apache-2.0
//! Origin of a connection: the host, network or user for which connections are counted.

use std::net::{IpAddr, Ipv6Addr};

use orbium_transport::Peer;

/// A host, an IPv6 network, which belongs to one customer, or a user of this host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    Host(IpAddr),
    User(u32),
    Unknown,
}

impl Origin {
    pub(crate) fn of(peer: &Peer) -> Self {
        match peer {
            Peer::Internet(address) | Peer::Authenticated { address, .. } => {
                Self::Host(network(address.ip()))
            }
            Peer::Process { uid, .. } => Self::User(*uid),
            _ => Self::Unknown,
        }
    }
}

/// The address of an IPv4 host; of an IPv6 host the first 64 bits, as each host can choose any
/// number of addresses with that prefix.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let network = v6.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_host_are_one_origin() {
        let of = |text: &str| Origin::of(&Peer::Internet(text.parse().unwrap()));
        assert_eq!(of("192.0.2.1:1"), of("192.0.2.1:2"));
        assert_eq!(of("192.0.2.1:1"), of("[::ffff:192.0.2.1]:2"));
        assert_ne!(of("192.0.2.1:1"), of("192.0.2.2:1"));
        assert_eq!(of("[2001:db8::1]:1"), of("[2001:db8::2]:1"));
        assert_ne!(of("[2001:db8::1]:1"), of("[2001:db8:0:1::1]:1"));
    }
}
