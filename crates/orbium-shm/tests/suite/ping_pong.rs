// SPDX-License-Identifier: MIT OR Apache-2.0
//! Correctness of the ping-pong peer that the transport is measured against.
#![cfg(target_os = "linux")]

use std::io::{self, Read, Write};
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::Duration;

use orbium_shm::ShmTransport;
use orbium_shm::ping_pong::PingPong;
use orbium_sys::{Interest, wait_for};
use orbium_transport::{ProtocolProperties, StreamTransport};

fn exchange(spin: Duration) -> io::Result<()> {
    let path = std::env::temp_dir().join(format!(
        "orbium-ping-pong-{}-{}.sock",
        std::process::id(),
        spin.as_micros()
    ));
    let listener = UnixListener::bind(&path)?;
    let server = thread::spawn(move || -> io::Result<u32> {
        let mut side = PingPong::accept(&listener, spin)?;
        let mut rounds = 0;
        let mut message = vec![0; 70_000];
        while side.read(&mut message)? > 0 {
            message.iter_mut().for_each(|octet| *octet = !*octet);
            side.write_all(&message)?;
            rounds += 1;
        }
        Ok(rounds)
    });
    let side = PingPong::connect(&path, spin);
    std::fs::remove_file(&path)?;
    let mut side = side?;
    for round in 0..50_u8 {
        let mut got = vec![0; 70_000];
        side.write_all(&vec![round; 70_000])?;
        side.read_exact(&mut got)?;
        assert!(got.iter().all(|octet| *octet == !round));
    }
    drop(side);
    // Gone: the server sees the end.
    let rounds = server.join().map_err(|_| io::ErrorKind::Other)??;
    assert_eq!(rounds, 50);
    Ok(())
}

#[test]
fn messages_go_to_and_fro() {
    exchange(Duration::ZERO).unwrap();
    exchange(Duration::from_micros(20)).unwrap();
}

/// Once a message was copied beyond the end of smaller rings, which panicked.
#[test]
fn a_server_of_another_kind_is_refused() {
    let path = std::env::temp_dir().join(format!("orbium-no-ping-pong-{}", std::process::id()));
    let endpoint = format!("shmiop://{}?ring=4096", path.display());
    let transport = ShmTransport::default();
    let acceptor = transport
        .listen(&endpoint.parse().unwrap(), &ProtocolProperties::default())
        .unwrap();
    let refused = thread::scope(|scope| {
        let client = scope.spawn(|| PingPong::connect(&path, Duration::ZERO));
        let source = acceptor.source();
        wait_for([(&source, Interest::Read)], None).unwrap();
        let _stream = acceptor.accept().unwrap();
        client.join().unwrap()
    });
    assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidData);
}
