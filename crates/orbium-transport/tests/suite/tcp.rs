// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP keeps the contract of streams, over IPv4 and IPv6.

mod v4 {
    use crate::conformance;
    use orbium_transport::Tcp;

    conformance!(Tcp, "iiop://127.0.0.1:0");
}

mod v6 {
    use crate::conformance;
    use orbium_transport::Tcp;

    conformance!(Tcp, "iiop://[::1]:0");
}

mod sends {
    use orbium_transport::{
        Acceptor as _, ByteStream as _, Deadline, ProtocolProperties, TcpAcceptor, TcpByteStream,
        TcpConnector,
    };
    use socket2::SockRef;

    fn connected(properties: ProtocolProperties) -> (TcpAcceptor, TcpByteStream) {
        let endpoint = "iiop://127.0.0.1:0".parse().unwrap();
        let acceptor = TcpAcceptor::listen(&endpoint, &ProtocolProperties::default()).unwrap();
        let connector = TcpConnector::new(acceptor.address().parse().unwrap(), properties);
        let stream = connector.connect_tcp(Deadline::NEVER).unwrap();
        (acceptor, stream)
    }

    fn send_buffer(stream: &TcpByteStream) -> usize {
        SockRef::from(&stream.source()).send_buffer_size().unwrap()
    }

    /// Where the congestion control paces what is sent; elsewhere the buffer is the kernel's.
    #[test]
    fn the_first_large_send_bounds_the_send_buffer() {
        let (_acceptor, stream) = connected(ProtocolProperties::default());
        let before = send_buffer(&stream);
        stream.send(&[7; 1000]).unwrap();
        assert_eq!(send_buffer(&stream), before);
        let is_bounded = orbium_sys::paces_within_host(&stream.source());
        stream.send(&[7; 16 << 10]).unwrap();
        assert_eq!(send_buffer(&stream) == 1 << 20, is_bounded);
    }

    #[test]
    fn a_send_buffer_that_was_asked_for_stays_as_it_is() {
        let properties = ProtocolProperties {
            send_buffer: Some(50_000),
            ..ProtocolProperties::default()
        };
        let (_acceptor, stream) = connected(properties);
        let before = send_buffer(&stream);
        stream.send(&[7; 16 << 10]).unwrap();
        assert_eq!(send_buffer(&stream), before);
    }
}
