// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trust in announced listen points: the addresses that a peer may claim.

use std::net::IpAddr;

use orbium_config::BidirectionalHosts;
use orbium_transport::Peer;

use crate::listen_point::ListenPoint;

/// Whether calls to that listen point may be sent to that peer: the point has the source address of
/// the peer, the name in its certificate, a host in the configuration, or is a file of the user
/// according to the kernel.
///
/// Ports are not checked, as none is known to be the peer's: programs that share an address may
/// claim each other's. `BidirectionalHosts::Authenticated` is for networks with such programs.
pub(crate) fn trusts(hosts: &BidirectionalHosts, peer: &Peer, point: &ListenPoint) -> bool {
    if may_be_announced_by_any(hosts, &point.host) {
        return true;
    }
    match peer {
        Peer::Internet(address) => {
            *hosts != BidirectionalHosts::Authenticated && is_address(&point.host, address.ip())
        }
        Peer::Authenticated { address, name, .. } => {
            let is_name = |name: &String| name.eq_ignore_ascii_case(&point.host);
            is_address(&point.host, address.ip()) || name.as_ref().is_some_and(is_name)
        }
        Peer::Process { uid, .. } => owns(*uid, point),
        Peer::InProcess => true,
        _ => false,
    }
}

/// Whether any client may announce that host.
fn may_be_announced_by_any(hosts: &BidirectionalHosts, host: &str) -> bool {
    match hosts {
        BidirectionalHosts::Own | BidirectionalHosts::Authenticated => false,
        BidirectionalHosts::Listed(hosts) => hosts.iter().any(|it| it.eq_ignore_ascii_case(host)),
        BidirectionalHosts::Any => true,
    }
}

/// Whether the host is that address in numeric form: no name is looked up.
fn is_address(host: &str, address: IpAddr) -> bool {
    let parsed = host.trim_matches(['[', ']']).parse::<IpAddr>();
    parsed.is_ok_and(|it| it.to_canonical() == address.to_canonical())
}

/// Whether the point is a socket file of that user.
fn owns(uid: u32, point: &ListenPoint) -> bool {
    let Some((_, path)) = point.host.split_once("://") else {
        return false;
    };
    owner(path).is_some_and(|owner| owner == uid)
}

#[cfg(unix)]
fn owner(path: &str) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let path = path.split('@').next().unwrap_or(path);
    std::fs::symlink_metadata(path).ok().map(|it| it.uid())
}

#[cfg(not(unix))]
fn owner(_path: &str) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(host: &str) -> ListenPoint {
        let host = host.to_owned();
        ListenPoint { host, port: 2809 }
    }

    fn believed(hosts: &BidirectionalHosts, peer: &Peer, host: &str) -> bool {
        trusts(hosts, peer, &point(host))
    }

    #[test]
    fn a_peer_is_believed_its_own_address_alone() {
        let (own, peer) = (
            BidirectionalHosts::Own,
            Peer::Internet("192.0.2.7:4000".parse().unwrap()),
        );
        assert!(believed(&own, &peer, "192.0.2.7"));
        assert!(believed(&own, &peer, "::ffff:192.0.2.7"));
        for other in ["192.0.2.8", "localhost", "", "client.example"] {
            assert!(!believed(&own, &peer, other), "{other}");
        }
        let listed = BidirectionalHosts::Listed(vec!["Client.example".into()]);
        assert!(believed(&listed, &peer, "client.EXAMPLE"));
        assert!(!believed(&listed, &peer, "other.example"));
        assert!(believed(&BidirectionalHosts::Any, &peer, "other.example"));
        let authenticated = BidirectionalHosts::Authenticated;
        assert!(!believed(&authenticated, &peer, "192.0.2.7"));
    }

    #[test]
    fn a_peer_is_believed_the_name_of_its_certificate() {
        let peer = Peer::Authenticated {
            address: "192.0.2.7:4000".parse().unwrap(),
            certificates: Vec::new().into(),
            name: Some("client.example".into()),
        };
        let own = BidirectionalHosts::Own;
        assert!(believed(&own, &peer, "client.example"));
        assert!(believed(&own, &peer, "192.0.2.7"));
        assert!(!believed(&own, &peer, "other.example"));
        let authenticated = BidirectionalHosts::Authenticated;
        assert!(believed(&authenticated, &peer, "192.0.2.7"));
        assert!(believed(&authenticated, &peer, "client.example"));
    }

    #[test]
    fn a_process_is_believed_the_files_of_its_user() {
        let file = std::env::current_exe().unwrap();
        let url = format!("uiop://{}", file.display());
        let own = BidirectionalHosts::Own;
        let uid = owner(file.to_str().unwrap()).unwrap();
        let of = |uid| Peer::Process {
            pid: None,
            uid,
            gid: 0,
        };
        assert!(believed(&own, &of(uid), &url));
        assert!(!believed(&own, &of(uid + 1), &url));
        assert!(!believed(&own, &of(uid), "uiop:///nowhere/at/all"));
        assert!(!believed(&own, &of(uid), "127.0.0.1"));
        assert!(!believed(&own, &Peer::Unknown, &url));
    }
}
