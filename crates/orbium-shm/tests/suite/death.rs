// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that are killed, and what is left behind.
//!
//! The children are this very program, run for one test that does what the
//! environment says so and is empty otherwise.
#![cfg(target_os = "linux")]

use std::io::ErrorKind;
use std::net::Shutdown;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::pair::{
    LONG, accept, connect, connector, listen, name, pair, receive_all, send_all, until,
};
use orbium_shm::ShmOptions;
use orbium_sys::{Interest, wait_for};
use orbium_testkit::{in_own_process, spawn_blocked_in};
use orbium_transport::{ByteStream, Deadline};
use rustix::process::{Resource, getrlimit, setrlimit};

const ROLE: &str = "ORBIUM_SHM_ROLE";
const ADDRESS: &str = "ORBIUM_SHM_ADDRESS";

/// Descriptors, mappings of rings, and threads that watch.
fn held() -> (usize, usize, usize) {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mappings = maps.matches("/memfd:orbium").count();
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let watchers = tasks.filter(|task| {
        let name = task.as_ref().unwrap().path().join("comm");
        std::fs::read_to_string(name).is_ok_and(|name| name.trim() == "orbium-shm")
    });
    (descriptors, mappings, watchers.count())
}

/// Waits until no more is held than before.
fn all_is_given_back(before: (usize, usize, usize)) {
    let deadline = Instant::now() + LONG;
    loop {
        let now = held();
        if now == before {
            return;
        }
        assert!(Instant::now() < deadline, "held {now:?}, before {before:?}");
        thread::sleep(Duration::from_millis(2));
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn child(role: &str, address: &str) -> Killed {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "death::role_of_a_child", "--nocapture"]);
    command.env(ROLE, role).env(ADDRESS, address);
    command.stdout(Stdio::null()).stdin(Stdio::null());
    Killed(command.spawn().unwrap())
}

#[test]
fn role_of_a_child() {
    let (Ok(role), Ok(address)) = (std::env::var(ROLE), std::env::var(ADDRESS)) else {
        return;
    };
    match role.as_str() {
        "echo" => echo(&*connect(&address).unwrap()),
        "serve" => {
            let acceptor = listen(&address);
            echo(&*accept(&*acceptor));
        }
        "silent" => {
            let _stream = connect(&address).unwrap();
            thread::sleep(LONG);
        }
        "poor" => poor(&address),
        other => panic!("{other}"),
    }
}

/// Gives back what comes, until it is killed.
fn echo(stream: &dyn ByteStream) {
    let mut room = [0; 3000];
    while let Ok(count @ 1..) = stream.receive(&mut room) {
        if send_all(stream, &room[..count]).is_err() {
            break;
        }
    }
}

/// Talks until the peer is gone; the last error, or the end.
fn talk(stream: &dyn ByteStream, size: usize) -> Option<ErrorKind> {
    let octets = vec![5; size];
    let mut room = vec![0; size];
    loop {
        if let Err(error) = send_all(stream, &octets) {
            return Some(error.kind());
        }
        let mut received = 0;
        while received < size {
            match stream.receive(&mut room[received..]) {
                Ok(0) => return None,
                Ok(count) => {
                    assert!(room[received..received + count].iter().all(|o| *o == 5));
                    received += count;
                }
                Err(error) => return Some(error.kind()),
            }
        }
    }
}

/// Conformance: protocols - shared memory: a peer that dies, or writes what it likes
#[test]
fn a_peer_killed_at_any_instant_is_an_error() {
    in_own_process!(|| {
        let before = held();
        let address = name();
        let acceptor = listen(&format!("{address}?ring=4096"));
        for round in 0..40u64 {
            let mut peer = child("echo", &address);
            let stream = accept(&*acceptor);
            let size = [1, 100, 4000][round as usize % 3];
            let ended = thread::scope(|scope| {
                let talking = scope.spawn(|| talk(&*stream, size));
                thread::sleep(Duration::from_micros(round * 317 % 9000));
                peer.0.kill().unwrap();
                talking.join().unwrap()
            });
            let kinds = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
            assert!(ended.is_some_and(|kind| kinds.contains(&kind)), "{ended:?}");
        }
        drop(acceptor);
        all_is_given_back(before);
    });
}

#[test]
fn a_server_killed_is_an_error_to_its_client() {
    in_own_process!(|| {
        for round in 0..20u64 {
            let address = name();
            let mut server = child("serve", &address);
            let connector = connector(&address);
            let mut stream = None;
            until("the server listens", || {
                stream = connector.connect(Deadline::after(Some(LONG))).ok();
                stream.is_some()
            });
            let stream = stream.unwrap();
            let ended = thread::scope(|scope| {
                let talking = scope.spawn(|| talk(&*stream, 200));
                thread::sleep(Duration::from_micros(round * 613 % 5000));
                server.0.kill().unwrap();
                talking.join().unwrap()
            });
            assert!(ended.is_some());
        }
    });
}

#[test]
fn death_ends_every_wait() {
    in_own_process!(|| {
        let address = name();
        let acceptor = listen(&format!("{address}?ring=4096"));
        let dies = |wait: &(dyn Fn(&dyn ByteStream) -> ErrorKind + Sync)| {
            let mut peer = child("silent", &address);
            let stream = accept(&*acceptor);
            thread::scope(|scope| {
                let waiting = spawn_blocked_in(scope, || wait(&*stream));
                peer.0.kill().unwrap();
                waiting.join().unwrap()
            })
        };
        let error = dies(&|stream| stream.receive(&mut [0; 8]).unwrap_err().kind());
        assert_eq!(error, ErrorKind::ConnectionReset);
        let error = dies(&|stream| send_all(stream, &[0; 10_000]).unwrap_err().kind());
        assert_eq!(error, ErrorKind::BrokenPipe);
        let error = dies(&|stream| {
            stream.set_nonblocking(true).unwrap();
            let source = stream.source();
            while stream.receive(&mut [0; 8]).unwrap_err().kind() == ErrorKind::WouldBlock {
                assert_eq!(
                    wait_for([(&source, Interest::Read)], Some(LONG)).unwrap(),
                    [true]
                );
            }
            stream.receive(&mut [0; 8]).unwrap_err().kind()
        });
        assert_eq!(error, ErrorKind::ConnectionReset);
    });
}

#[test]
fn thousands_of_connections_leave_nothing() {
    in_own_process!(|| {
        let before = held();
        let address = name();
        let acceptor = listen(&address);
        let rounds = 3000;
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let client = connect(&address).unwrap();
                    send_all(&*client, b"question").unwrap();
                    assert_eq!(receive_all(&*client, 6).unwrap(), b"answer");
                    if client.receive(&mut [0; 8]).unwrap() == 0 {
                        client.shutdown(Shutdown::Both);
                    }
                }
            });
            for _ in 0..rounds {
                let server = accept(&*acceptor);
                assert_eq!(receive_all(&*server, 8).unwrap(), b"question");
                send_all(&*server, b"answer").unwrap();
            }
        });
        drop(acceptor);
        all_is_given_back(before);
    });
}

/// Runs out of descriptors with a connection waiting, a connection asleep and a
/// connection being made.
fn poor(address: &str) {
    let acceptor = listen(address);
    let (client, server) = pair(ShmOptions::default());
    let waiting = connector(address);
    thread::scope(|scope| {
        let late = scope.spawn(|| {
            let deadline = Deadline::after(Some(LONG));
            waiting.connect(deadline)
        });
        let source = acceptor.source();
        wait_for([(&source, Interest::Read)], Some(LONG)).unwrap();
        let mut hoard = Vec::new();
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = Some(100);
        setrlimit(Resource::Nofile, limit).unwrap();
        while let Ok(descriptor) = rustix::io::dup(client.source()) {
            hoard.push(descriptor);
        }
        // Nothing is accepted and nothing is lost.
        for _ in 0..3 {
            let error = acceptor.accept().unwrap_err();
            assert_eq!(
                error.raw_os_error(),
                Some(rustix::io::Errno::MFILE.raw_os_error())
            );
        }
        assert!(connect(address).is_err());
        // There is no peer to be watched, and a wait ends all the same.
        let asleep = spawn_blocked_in(scope, || server.receive(&mut [0; 8]));
        assert_eq!(client.send(b"x").unwrap(), 1);
        assert_eq!(asleep.join().unwrap().unwrap(), 1);
        let asleep = spawn_blocked_in(scope, || server.receive(&mut [0; 8]));
        client.shutdown(Shutdown::Both);
        assert_eq!(asleep.join().unwrap().unwrap(), 0);
        hoard.clear();
        let accepted = accept(&*acceptor);
        let late = late.join().unwrap().unwrap();
        send_all(&*late, b"late").unwrap();
        assert_eq!(receive_all(&*accepted, 4).unwrap(), b"late");
    });
}

#[test]
fn without_descriptors_nothing_is_lost() {
    in_own_process!(|| {
        let mut child = child("poor", &name());
        assert!(child.0.wait().unwrap().success());
    });
}
