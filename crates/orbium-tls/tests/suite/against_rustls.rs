// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams here against those of rustls: every cipher, new keys, both roles.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use orbium_testkit::PATIENCE;
use orbium_tls::{Tls, TlsConfig, TlsStream};
use orbium_transport::ByteStream;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    SupportedCipherSuite,
};

use crate::realm::{
    About, Realm, accept, connect_with, listen, plain_connection, receive_exact, send_all,
};

/// Two roundtrips of more than a record, and a small one.
const SIZES: [usize; 3] = [4, 40_000, 100];

fn each_suite(mut body: impl FnMut(Arc<CryptoProvider>, &Realm)) {
    let realm = Realm::new("authority");
    let mut count = 0;
    for suite in ring::ALL_CIPHER_SUITES {
        // The key of the server is an elliptic one.
        if format!("{:?}", suite.suite()).contains("RSA") {
            continue;
        }
        let provider = CryptoProvider {
            cipher_suites: vec![*suite],
            ..ring::default_provider()
        };
        body(Arc::new(provider), &realm);
        count += 1;
    }
    assert_eq!(count, 6, "three ciphers in two versions");
}

fn is_tls13(provider: &CryptoProvider) -> bool {
    matches!(provider.cipher_suites[0], SupportedCipherSuite::Tls13(_))
}

fn roots(realm: &Realm) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let file = BufReader::new(File::open(realm.ca()).unwrap());
    for certificate in CertificateDer::pem_reader_iter(file) {
        roots.add(certificate.unwrap()).unwrap();
    }
    roots
}

fn identity(config: &TlsConfig) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let certificate = config.certificate.as_ref().unwrap();
    let key = config.key.as_ref().unwrap();
    (
        vec![CertificateDer::from_pem_file(certificate).unwrap()],
        PrivateKeyDer::from_pem_file(key).unwrap(),
    )
}

fn octets(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 253) as u8).collect()
}

fn echo(stream: &TlsStream) {
    for size in SIZES {
        let mut room = vec![0; size];
        receive_exact(stream, &mut room).unwrap();
        send_all(stream, &room).unwrap();
    }
}

/// Sends octets and expects them back.
fn talk(stream: &mut (impl Read + Write), size: usize) {
    let sent = octets(size);
    stream.write_all(&sent).unwrap();
    stream.flush().unwrap();
    let mut received = vec![0; size];
    stream.read_exact(&mut received).unwrap();
    assert!(received == sent, "{size} octets came back changed");
}

#[test]
fn a_client_of_rustls_is_served() {
    each_suite(|provider, realm| {
        let suite = format!("{:?}", provider.cipher_suites[0].suite());
        let is_tls13 = is_tls13(&provider);
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots(realm))
            .with_no_client_auth();
        let acceptor = listen(realm.config(&About::named("server")));
        let socket = plain_connection(&acceptor);
        thread::scope(|scope| {
            scope.spawn(move || {
                let name = "localhost".try_into().unwrap();
                let connection = ClientConnection::new(Arc::new(config), name).unwrap();
                let mut stream = StreamOwned::new(connection, socket);
                for size in SIZES {
                    talk(&mut stream, size);
                    if is_tls13 {
                        // New keys for this direction, and ours on demand.
                        stream.conn.refresh_traffic_keys().unwrap();
                    }
                }
                stream.conn.send_close_notify();
                stream.flush().unwrap();
            });
            let stream = accept(&acceptor);
            echo(&stream);
            assert_eq!(stream.session().unwrap().suite, suite);
            assert_eq!(stream.receive(&mut [0; 4]).unwrap(), 0);
        });
    });
}

#[test]
fn a_server_of_rustls_is_called() {
    each_suite(|provider, realm| {
        let suite = format!("{:?}", provider.cipher_suites[0].suite());
        let is_tls13 = is_tls13(&provider);
        let (chain, key) = identity(&realm.config(&About::named("server")));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        thread::scope(|scope| {
            scope.spawn(|| {
                let socket = listener.accept().unwrap().0;
                socket.set_read_timeout(Some(PATIENCE)).unwrap();
                let connection = ServerConnection::new(Arc::new(config)).unwrap();
                let mut stream = StreamOwned::new(connection, socket);
                for size in SIZES {
                    let mut room = vec![0; size];
                    stream.read_exact(&mut room).unwrap();
                    stream.write_all(&room).unwrap();
                    if is_tls13 {
                        stream.conn.refresh_traffic_keys().unwrap();
                    }
                    stream.flush().unwrap();
                }
                // The end that the client says it is.
                assert_eq!(stream.read(&mut [0; 4]).unwrap(), 0);
            });
            let tls = Tls::new(realm.trusting()).unwrap();
            let stream = connect_with(&tls, &address, &Default::default()).unwrap();
            assert_eq!(stream.session().unwrap().suite, suite);
            for size in SIZES {
                let sent = octets(size);
                send_all(&stream, &sent).unwrap();
                let mut received = vec![0; size];
                receive_exact(&stream, &mut received).unwrap();
                assert!(received == sent, "{size} octets came back changed");
            }
        });
    });
}

/// A thread with other streams to receive from stayed with one as long as its peer sent records
/// without data, which cost the peer little.
#[test]
fn records_without_data_do_not_keep_a_receive_that_may_not_wait() {
    let realm = Realm::new("authority");
    let (chain, key) = identity(&realm.config(&About::named("server")));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    // Far more octets than one receive takes.
    config.send_tls13_tickets = 500;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sent, all_sent) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let socket = listener.accept().unwrap().0;
            let connection = ServerConnection::new(Arc::new(config)).unwrap();
            let mut stream = StreamOwned::new(connection, socket);
            stream.write_all(b"data").unwrap();
            stream.flush().unwrap();
            sent.send(stream).unwrap();
        });
        let tls = Tls::new(realm.trusting()).unwrap();
        let stream = connect_with(&tls, &address, &Default::default()).unwrap();
        let _peer = all_sent.recv_timeout(PATIENCE).unwrap();
        stream.set_nonblocking(true).unwrap();
        let mut room = [0; 4];
        let error = stream.receive(&mut room).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        let count = loop {
            match stream.receive(&mut room) {
                Ok(count) => break count,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        };
        assert_eq!(&room[..count], b"data");
    });
}
