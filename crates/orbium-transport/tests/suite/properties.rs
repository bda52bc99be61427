// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties reach the sockets of both ends, by default and by endpoint.
#![cfg(target_os = "linux")]

use orbium_transport::{
    Deadline, Endpoint, EndpointError, ListenError, ProtocolProperties, StreamTransport, Tcp, Unix,
};

use crate::conformance::pair::accept;

/// Conformance: protocols - protocol properties reach the sockets, and what the kernel refuses is
/// named
#[test]
fn tcp_connections_have_them_at_both_ends() {
    let defaults = ProtocolProperties {
        pacing_rate: Some(1 << 30),
        dscp: Some(10),
        ..ProtocolProperties::default()
    };
    for host in ["127.0.0.1", "[::1]", ""] {
        let endpoint = format!("iiop://{host}:0?dscp=46&no_delay=0&receive_buffer=20000");
        let endpoint: Endpoint = endpoint.parse().unwrap();
        let acceptor = Tcp.listen(&endpoint, &defaults).unwrap();
        let connector = Tcp.connector(acceptor.address(), &defaults).unwrap();
        let client = connector.connect(Deadline::NEVER).unwrap();
        let server = accept(&*acceptor);

        let of_client = ProtocolProperties::read_from(&client.source()).unwrap();
        assert_eq!(of_client.dscp, Some(10));
        assert_eq!(of_client.pacing_rate, Some(1 << 30));
        assert!(of_client.no_delay && of_client.keep_alive);

        let of_server = ProtocolProperties::read_from(&server.source()).unwrap();
        assert_eq!(of_server.dscp, Some(46));
        assert_eq!(of_server.pacing_rate, Some(1 << 30));
        assert!(!of_server.no_delay && of_server.keep_alive);
        // The kernel doubles what it is asked for.
        assert_eq!(of_server.receive_buffer, Some(40_000));
        let of_listener = ProtocolProperties::read_from(&acceptor.source()).unwrap();
        assert_eq!(of_listener.receive_buffer, Some(40_000));
    }
}

#[test]
fn endpoints_that_share_a_port() {
    let defaults = ProtocolProperties::default();
    let first: Endpoint = "iiop://127.0.0.1:0?reuse=1".parse().unwrap();
    let first = Tcp.listen(&first, &defaults).unwrap();
    let address = first.address().to_owned();
    let alone: Endpoint = format!("iiop://{address}").parse().unwrap();
    assert!(Tcp.listen(&alone, &defaults).is_err());
    let shared: Endpoint = format!("iiop://{address}?reuse=1").parse().unwrap();
    Tcp.listen(&shared, &defaults).unwrap();
}

/// Conformance: protocols - protocol properties reach the sockets, and what the kernel refuses is
/// named
#[test]
fn unix_sockets_have_buffers_and_no_network() {
    let defaults = ProtocolProperties {
        send_buffer: Some(30_000),
        dscp: Some(46),
        ..ProtocolProperties::default()
    };
    let endpoint: Endpoint = "uiop://?send_buffer=20000".parse().unwrap();
    let acceptor = Unix.listen(&endpoint, &defaults).unwrap();
    let connector = Unix.connector(acceptor.address(), &defaults).unwrap();
    let client = connector.connect(Deadline::NEVER).unwrap();
    let server = accept(&*acceptor);
    let read = |stream: &dyn orbium_transport::ByteStream| {
        ProtocolProperties::read_from(&stream.source()).unwrap()
    };
    assert_eq!(read(&*client).send_buffer, Some(60_000));
    assert_eq!(read(&*server).send_buffer, Some(40_000));
    assert_eq!(read(&*server).dscp, None);
    let endpoint: Endpoint = "uiop://?dscp=46".parse().unwrap();
    let error = Unix.listen(&endpoint, &defaults);
    let Err(ListenError::Endpoint(EndpointError::UnknownParameter(_))) = error else {
        panic!("{error:?}");
    };
}

/// Conformance: protocols - protocol properties reach the sockets, and what the kernel refuses is
/// named
#[test]
fn options_that_the_kernel_refuses_are_named() {
    let endpoint: Endpoint = "iiop://127.0.0.1:0".parse().unwrap();
    let good = ProtocolProperties::default();
    let bad = ProtocolProperties {
        dscp: Some(64),
        ..good
    };
    let error = Tcp.listen(&endpoint, &bad).unwrap_err();
    assert!(error.to_string().contains("dscp"), "{error}");
    let acceptor = Tcp.listen(&endpoint, &good).unwrap();
    let connector = Tcp.connector(acceptor.address(), &bad).unwrap();
    let error = connector.connect(Deadline::NEVER).unwrap_err();
    assert!(error.to_string().contains("dscp"), "{error}");
}
