// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exhaustion: thousands of connections in turn, and processes without free descriptors.

use std::fs::File;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use orbium_sys::{Interest, wait_for};
use orbium_transport::{Acceptor, Connector, Deadline};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::peer::receive_patiently;
use crate::transport_suite::Subject;
use crate::transport_suite::child::{Process, say};
use crate::transport_suite::ends::{
    Ends, accept, connect, is_full, patient, pattern, receive_all, send_all, try_welcome, welcome,
};
use crate::waiting::{PATIENCE, eventually};
use crate::{descriptors, held_octets, threads};

/// Descriptors that an acceptor may keep ready for the next connection.
const KEPT_READY: usize = 2;

/// Resources in use by this process.
#[derive(Clone, Copy, Debug)]
struct Resources {
    descriptors: usize,
    threads: usize,
    heap: usize,
}

impl Resources {
    fn now() -> Self {
        Self {
            descriptors: descriptors(),
            threads: threads(),
            heap: held_octets(),
        }
    }
}

/// Connections are opened and closed, orderly and not, without leaving descriptors, threads or
/// memory.
///
/// Conformance: streams - descriptors, threads and memory come back
/// Conformance: complaint 5 - 1,024 descriptors (`select`) - 3,000 connections at once
pub fn thousands_of_connections_leave_nothing(subject: &Subject) {
    let acceptor = subject.listen();
    let connector = subject.connector(acceptor.address());
    // One thread at the other end for all of them: threads are counted.
    let rounds = subject.connections;
    let before = thread::scope(|scope| {
        let total = rounds + 20;
        let acceptor = &acceptor;
        scope.spawn(move || {
            for round in 0..total {
                let stream = accept(&**acceptor);
                welcome(&*stream);
                if round % 3 == 0 {
                    let octets = receive_all(&*stream, 100, 100);
                    send_all(&*stream, &octets).expect("a connection");
                }
            }
        });
        let mut before = None;
        for round in 0..total {
            // After twenty rounds all lazy initialisation is complete; after half of them, caches
            // of connections have reached their bounds.
            match (round, &mut before) {
                (20, _) => before = Some(Resources::now()),
                (_, Some(before)) if round == total / 2 => {
                    before.heap = held_octets();
                    // Another test may just have ended, and the next not begun.
                    before.threads = before.threads.max(threads());
                }
                _ => {}
            }
            let stream = connect(&*connector);
            if round % 3 == 0 {
                send_all(&*stream, &pattern(round, 100)).expect("a connection");
                assert_eq!(receive_all(&*stream, 100, 100), pattern(round, 100));
            }
        }
        before.expect("more than twenty rounds")
    });
    eventually("descriptors and threads are given back", || {
        let now = Resources::now();
        // The replying thread has ended and closed its stream.
        now.descriptors <= before.descriptors + KEPT_READY && now.threads < before.threads
    });
    let grown = Resources::now().heap.saturating_sub(before.heap);
    assert!(
        grown < 20 * rounds,
        "{grown} bytes retained after {rounds} connections"
    );
    Ends::between(&*acceptor, &*connector);
}

/// A process without free descriptors gets errors, retains its connections, leaks no resources, and
/// continues once descriptors are free. The test runs in a child process, as the limit is that of a
/// whole process.
///
/// Conformance: streams - descriptors, threads and memory come back
pub fn descriptors_may_run_out(subject: &Subject) {
    // Both ends are in the child: a transport within one process has no other peers.
    let mut child = Process::start_alone(subject, "exhaust");
    assert_eq!(child.said(), "recovered");
}

/// Opens files until only so many descriptors are free.
fn take_descriptors(spare: usize) -> Vec<File> {
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    assert!(
        files.len() >= spare,
        "too few free descriptors to begin with"
    );
    files.truncate(files.len() - spare);
    files
}

/// Outcome of connecting while few descriptors are free.
#[derive(Debug, PartialEq, Eq)]
enum ConnectOutcome {
    /// `connect` failed.
    Refused,
    /// The connection works, immediately or later.
    Connected,
    /// The connection was opened, and closed by the other end.
    Lost,
}

fn connect_with(
    spare: usize,
    acceptor: &dyn Acceptor,
    connector: &Arc<dyn Connector>,
) -> ConnectOutcome {
    let taken = take_descriptors(spare);
    let connector = Arc::clone(connector);
    let client = thread::spawn(move || greet(&*connector));
    let mut servers = Vec::new();
    for _ in 0..10 {
        servers.extend(answer_next(acceptor));
    }
    // Descriptors are free again: the connection continues, or has ended.
    drop(taken);
    let limit = Instant::now() + PATIENCE;
    while !client.is_finished() {
        assert!(Instant::now() < limit, "neither works nor ends");
        servers.extend(answer_next(acceptor));
    }
    let welcomed = servers
        .into_iter()
        .map(|server| server.join().expect("no panic"));
    let welcomed = welcomed.filter(|welcomed| *welcomed).count();
    let outcome = client.join().expect("no panic");
    assert_eq!(outcome == ConnectOutcome::Connected, welcomed == 1);
    outcome
}

/// Connects, sends a greeting and waits for the reply.
fn greet(connector: &dyn Connector) -> ConnectOutcome {
    let deadline = Deadline::after(Some(Duration::from_secs(2)));
    let Ok(stream) = connector.connect(deadline) else {
        return ConnectOutcome::Refused;
    };
    patient(&*stream);
    let mut answer = [0];
    if stream.send(b"?").is_err() {
        return ConnectOutcome::Lost;
    }
    match receive_patiently(&*stream, &mut answer) {
        Ok(1) => ConnectOutcome::Connected,
        Err(error) if is_full(&error) => panic!("neither works nor ends"),
        _ => ConnectOutcome::Lost,
    }
}

/// Accepts a connection, if one arrives within 10 ms, and replies to it in a separate thread.
fn answer_next(acceptor: &dyn Acceptor) -> Option<thread::JoinHandle<bool>> {
    let moment = Some(Duration::from_millis(10));
    let ready = wait_for([(acceptor.source(), Interest::Read)], moment);
    if !ready.is_ok_and(|[ready]| ready) {
        return None;
    }
    // The kind of error does not matter here.
    let stream = acceptor.accept().ok()?;
    Some(thread::spawn(move || {
        patient(&*stream);
        try_welcome(&*stream).is_ok()
    }))
}

/// Waits until all descriptors but those of `before` are closed.
#[track_caller]
fn await_closed(before: usize) {
    eventually("descriptors are given back", || {
        descriptors() <= before + KEPT_READY
    });
}

/// Runs in the child process.
pub(in crate::transport_suite) fn run_out_of_descriptors(subject: &Subject) {
    let acceptor = subject.listen();
    let connector: Arc<dyn Connector> = Arc::from(subject.connector(acceptor.address()));
    // A first connection, so that lazy initialisation is complete.
    let old = Ends::between(&*acceptor, &*connector);
    let limit = getrlimit(Resource::Nofile);
    let lowered = Rlimit {
        current: Some(descriptors() as u64 + 80),
        ..limit
    };
    setrlimit(Resource::Nofile, lowered).expect("a lower limit");
    let before = descriptors();
    let mut outcomes = Vec::new();
    for spare in 0..12 {
        outcomes.push(connect_with(spare, &*acceptor, &connector));
        // The connection opened before is not affected.
        send_all(&*old.client, b"old").expect("a connection");
        assert_eq!(receive_all(&*old.server, 3, 3), b"old");
        await_closed(before);
        let new = Ends::between(&*acceptor, &*connector);
        send_all(&*new.server, b"new").expect("a connection");
        assert_eq!(receive_all(&*new.client, 3, 3), b"new");
    }
    // Eleven free descriptors suffice for both ends of a connection.
    assert_eq!(
        outcomes.last(),
        Some(&ConnectOutcome::Connected),
        "{outcomes:?}"
    );
    // Listening without a free descriptor fails with an error, or succeeds.
    let taken = take_descriptors(0);
    let refused = subject.try_listen(&subject.endpoint());
    drop(taken);
    if refused.is_err() {
        drop(subject.listen());
    }
    drop(refused);
    await_closed(before);
    setrlimit(Resource::Nofile, limit).expect("the old limit");
    drop((old, acceptor));
    // Now the parent may end this process.
    say("recovered");
}
