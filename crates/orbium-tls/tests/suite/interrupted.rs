// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals that the program handles, such as SIGHUP to read its configuration again.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use orbium_testkit::{eventually, in_own_process};
use orbium_tls::Tls;
use orbium_transport::Acceptor;
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::SIGUSR1;

use crate::realm::{About, Realm, accept, connect_with, listen, receive_exact, send_all};

/// Relays a connection, the server's octets after many signals to this process.
fn relay(listener: &TcpListener, server: &str, handled: &AtomicBool) {
    let mut client = listener.accept().unwrap().0;
    let mut server = TcpStream::connect(server).unwrap();
    let mut hello = [0; 4096];
    let count = client.read(&mut hello).unwrap();
    for _ in 0..100 {
        handled.store(false, Ordering::SeqCst);
        kill_process(getpid(), Signal::USR1).unwrap();
        eventually("the signal is handled", || handled.load(Ordering::SeqCst));
    }
    server.write_all(&hello[..count]).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| io::copy(&mut &server, &mut &client));
        let _ = io::copy(&mut &client, &mut &server);
        let _ = server.shutdown(std::net::Shutdown::Both);
    });
}

/// The connection failed as if the server were slow.
#[test]
fn a_signal_does_not_end_a_handshake() {
    in_own_process!(|| {
        let handled = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGUSR1, Arc::clone(&handled)).unwrap();
        let realm = Realm::new("authority");
        let acceptor = listen(realm.config(&About::named("server")));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        thread::scope(|scope| {
            scope.spawn(|| relay(&listener, acceptor.address(), &handled));
            scope.spawn(|| {
                let stream = accept(&acceptor);
                let mut room = [0; 4];
                receive_exact(&stream, &mut room).unwrap();
                send_all(&stream, &room).unwrap();
            });
            let tls = Tls::new(realm.trusting()).unwrap();
            // On the main thread, which the system has handle signals.
            let stream = connect_with(&tls, &address, &Default::default()).unwrap();
            send_all(&stream, b"ping").unwrap();
            let mut room = [0; 4];
            receive_exact(&stream, &mut room).unwrap();
            assert_eq!(&room, b"ping");
        });
    });
}
