// SPDX-License-Identifier: MIT OR Apache-2.0
//! Listen points of a client (BiDirIIOPServiceContext).

use orbium_cdr::{CdrError, CdrReader};
use orbium_channel::Channel;
use orbium_giop::{decode_encapsulation, encode_encapsulation};

/// Maximum number of listen points of one connection; further ones are ignored.
pub const MAX_LISTEN_POINTS: usize = 64;

/// A host and a port, as in the client's references.
///
/// An endpoint of a transport without ports is announced as a whole, `scheme://address` with port
/// 0: other ORBs have no reference with such a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListenPoint {
    /// Host name or address, or a whole endpoint.
    pub host: String,
    /// Port; 0 for a whole endpoint.
    pub port: u16,
}

impl ListenPoint {
    /// The listen point of a channel; `None` if peers cannot use it in reverse: only GIOP itself is
    /// bidirectional.
    #[must_use]
    pub fn of(channel: &Channel) -> Option<Self> {
        if !channel.messaging.is_empty() {
            return None;
        }
        for scheme in ["iiop", "ssliop"] {
            if let Some(at) = channel.host_port_over(scheme) {
                let (host, port) = (at.host, at.port);
                return Some(Self { host, port });
            }
        }
        let host = channel.to_string();
        Some(Self { host, port: 0 })
    }

    /// The data of the service context; `None` for no points.
    #[must_use]
    pub fn encode(points: &[Self]) -> Option<Vec<u8>> {
        if points.is_empty() {
            return None;
        }
        let written = encode_encapsulation(|writer| {
            writer.write_count(points.len());
            for point in points {
                writer.write_name(&point.host);
                writer.write_u16(point.port);
            }
        });
        written.ok()
    }

    /// The listen points in a service context, up to [`MAX_LISTEN_POINTS`].
    ///
    /// # Errors
    /// The data are not a list of listen points.
    pub fn decode(data: &[u8]) -> Result<Vec<Self>, CdrError> {
        decode_encapsulation(data, |reader: &mut CdrReader<'_>| {
            // A string of one byte, and a port.
            let count = reader.read_count(7)?;
            let mut points = Vec::new();
            for _ in 0..count.min(MAX_LISTEN_POINTS) {
                let host = reader.read_owned_name()?;
                let port = reader.read_u16()?;
                points.push(Self { host, port });
            }
            Ok(points)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(host: &str, port: u16) -> ListenPoint {
        let host = host.to_owned();
        ListenPoint { host, port }
    }

    #[test]
    fn points_are_read_as_they_are_written() {
        let points = vec![
            point("192.0.2.7", 2809),
            point("client.example", 1),
            point("uiop:///run/client.sock", 0),
        ];
        let data = ListenPoint::encode(&points).unwrap();
        assert_eq!(ListenPoint::decode(&data), Ok(points));
        assert_eq!(ListenPoint::encode(&[]), None);
    }

    /// Big-endian.
    #[test]
    fn points_of_the_other_byte_order_are_read() {
        let data = b"\0\0\0\0\0\0\0\x01\0\0\0\x02a\0\x0a\xf9";
        assert_eq!(ListenPoint::decode(data), Ok(vec![point("a", 2809)]));
    }

    #[test]
    fn malformed_lists_are_refused_and_long_ones_are_cut() {
        assert!(ListenPoint::decode(b"").is_err());
        assert!(ListenPoint::decode(b"\x01\0\0\0\xff\xff\xff\xff").is_err());
        let many = vec![point("a", 1); MAX_LISTEN_POINTS + 9];
        let data = ListenPoint::encode(&many).unwrap();
        assert_eq!(ListenPoint::decode(&data).unwrap().len(), MAX_LISTEN_POINTS);
    }

    #[test]
    fn a_channel_without_ports_is_announced_whole() {
        let unix = Channel::giop("uiop", "/run/x".into());
        assert_eq!(ListenPoint::of(&unix), Some(point("uiop:///run/x", 0)));
        let tcp = Channel::giop("iiop", "[::1]:7".into());
        assert_eq!(ListenPoint::of(&tcp), Some(point("::1", 7)));
        let zipped = Channel {
            messaging: vec!["ziop".into()],
            ..tcp
        };
        assert_eq!(ListenPoint::of(&zipped), None);
    }
}
