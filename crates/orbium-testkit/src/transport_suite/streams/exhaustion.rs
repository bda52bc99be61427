// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thousands of connections, and no descriptors.

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

/// What a process holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    descriptors: usize,
    threads: usize,
    heap: usize,
}

impl Held {
    fn now() -> Self {
        Self {
            descriptors: descriptors(),
            threads: threads(),
            heap: held_octets(),
        }
    }
}

/// Connections come and go, in order and not, and leave no descriptor, no
/// thread and no memory behind.
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
            // Whatever is set up once is set up by now, and half way what is
            // remembered of some connections has reached its bound.
            match (round, &mut before) {
                (20, _) => before = Some(Held::now()),
                (_, Some(before)) if round == total / 2 => {
                    before.heap = held_octets();
                    // One test may have ended just then, and the next not begun.
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
        let now = Held::now();
        // The thread that answered is gone, and its stream with it.
        now.descriptors <= before.descriptors + KEPT_READY && now.threads < before.threads
    });
    let grown = Held::now().heap.saturating_sub(before.heap);
    assert!(
        grown < 20 * rounds,
        "{grown} octets kept of {rounds} connections"
    );
    Ends::between(&*acceptor, &*connector);
}

/// A process without descriptors gets errors, keeps what it has, leaks nothing
/// and goes on when there are some again. Done in a process of its own: the
/// limit holds for all of it.
///
/// Conformance: streams - descriptors, threads and memory come back
pub fn descriptors_may_run_out(subject: &Subject) {
    // A transport within one process needs no peer elsewhere, and the child is
    // only there for its limit.
    let mut child = Process::start_alone(subject, "exhaust");
    assert_eq!(child.said(), "recovered");
}

/// All descriptors but a few, taken.
fn take_descriptors(spare: usize) -> Vec<File> {
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    assert!(files.len() >= spare, "no room to begin with");
    files.truncate(files.len() - spare);
    files
}

/// What became of a connection that was begun without descriptors to spare.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    /// It could not be begun.
    Refused,
    /// It works, at once or later.
    Connected,
    /// It was begun, and ended.
    Lost,
}

fn connect_with(spare: usize, acceptor: &dyn Acceptor, connector: &Arc<dyn Connector>) -> Came {
    let taken = take_descriptors(spare);
    let connector = Arc::clone(connector);
    let client = thread::spawn(move || greet(&*connector));
    let mut servers = Vec::new();
    for _ in 0..10 {
        servers.extend(answer_next(acceptor));
    }
    // Now there are descriptors again: it goes on, or has ended.
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
    let came = client.join().expect("no panic");
    assert_eq!(came == Came::Connected, welcomed == 1);
    came
}

/// Connects for a while, and greets.
fn greet(connector: &dyn Connector) -> Came {
    let deadline = Deadline::after(Some(Duration::from_secs(2)));
    let Ok(stream) = connector.connect(deadline) else {
        return Came::Refused;
    };
    patient(&*stream);
    let mut answer = [0];
    if stream.send(b"?").is_err() {
        return Came::Lost;
    }
    match receive_patiently(&*stream, &mut answer) {
        Ok(1) => Came::Connected,
        Err(error) if is_full(&error) => panic!("neither works nor ends"),
        _ => Came::Lost,
    }
}

/// Takes the next connection, if there is one within a moment, and answers on a
/// thread of its own.
fn answer_next(acceptor: &dyn Acceptor) -> Option<thread::JoinHandle<bool>> {
    let moment = Some(Duration::from_millis(10));
    let ready = wait_for([(acceptor.source(), Interest::Read)], moment);
    if !ready.is_ok_and(|[ready]| ready) {
        return None;
    }
    // Any error will do.
    let stream = acceptor.accept().ok()?;
    Some(thread::spawn(move || {
        patient(&*stream);
        try_welcome(&*stream).is_ok()
    }))
}

#[track_caller]
fn given_back(before: usize) {
    eventually("descriptors are given back", || {
        descriptors() <= before + KEPT_READY
    });
}

/// The child's part.
pub(in crate::transport_suite) fn run_out_of_descriptors(subject: &Subject) {
    let acceptor = subject.listen();
    let connector: Arc<dyn Connector> = Arc::from(subject.connector(acceptor.address()));
    // What is opened once is open by now.
    let old = Ends::between(&*acceptor, &*connector);
    let limit = getrlimit(Resource::Nofile);
    let lowered = Rlimit {
        current: Some(descriptors() as u64 + 80),
        ..limit
    };
    setrlimit(Resource::Nofile, lowered).expect("a lower limit");
    let before = descriptors();
    let mut came = Vec::new();
    for spare in 0..12 {
        came.push(connect_with(spare, &*acceptor, &connector));
        // Those that were there are not touched.
        send_all(&*old.client, b"old").expect("a connection");
        assert_eq!(receive_all(&*old.server, 3, 3), b"old");
        given_back(before);
        let new = Ends::between(&*acceptor, &*connector);
        send_all(&*new.server, b"new").expect("a connection");
        assert_eq!(receive_all(&*new.client, 3, 3), b"new");
    }
    // Eleven to spare are enough for both ends of a connection.
    assert_eq!(came.last(), Some(&Came::Connected), "{came:?}");
    // Listening fails in order too.
    let taken = take_descriptors(0);
    let refused = subject.try_listen(&subject.endpoint());
    drop(taken);
    if refused.is_err() {
        drop(subject.listen());
    }
    drop(refused);
    given_back(before);
    setrlimit(Resource::Nofile, limit).expect("the old limit");
    drop((old, acceptor));
    // Now the parent may end this process.
    say("recovered");
}
