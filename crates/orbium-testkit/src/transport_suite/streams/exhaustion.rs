// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thousands of connections, and no descriptors.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use orbium_sys::{Interest, wait_for};
use orbium_transport::{Acceptor, ByteStream, Connector, Deadline};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::transport_suite::Subject;
use crate::transport_suite::child::{Process, say};
use crate::transport_suite::ends::{
    Ends, accept, connect, is_full, pattern, receive_all, send_all, try_welcome, welcome,
};
use crate::waiting::{eventually, within};
use crate::{descriptors, held_octets, threads};

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
            // Whatever is set up once is set up by now.
            if round == 20 {
                before = Some(Held::now());
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
        now.descriptors <= before.descriptors && now.threads < before.threads
    });
    let grown = Held::now().heap.saturating_sub(before.heap);
    assert!(
        grown < 100 * rounds,
        "{grown} octets kept of {rounds} connections"
    );
    Ends::between(&*acceptor, &*connector);
}

/// A process without descriptors gets errors, keeps what it has, leaks nothing
/// and goes on when there are some again. Done in a process of its own: the
/// limit holds for all of it.
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
    let connecting = {
        let connector = Arc::clone(connector);
        // Long enough to see what the acceptor makes of it.
        thread::spawn(move || connector.connect(Deadline::after(Some(Duration::from_secs(2)))))
    };
    let mut accepted = None;
    for _ in 0..10 {
        let ready = wait_for(
            [(acceptor.source(), Interest::Read)],
            Some(Duration::from_millis(10)),
        );
        if !ready.is_ok_and(|[ready]| ready) {
            continue;
        }
        match acceptor.accept() {
            Ok(stream) => {
                accepted = Some(stream);
                break;
            }
            // Any error will do but one that is not an error.
            Err(error) => assert_ne!(error.kind(), io::ErrorKind::Interrupted),
        }
    }
    drop(taken);
    let connected = within("a connect without descriptors", move || {
        connecting.join().expect("no panic")
    });
    let Ok(client) = connected else {
        return Came::Refused;
    };
    finish(client, accepted, acceptor)
}

/// Now that there are descriptors again, the connection works or has ended.
fn finish(
    client: Box<dyn ByteStream>,
    accepted: Option<Box<dyn ByteStream>>,
    acceptor: &dyn Acceptor,
) -> Came {
    crate::transport_suite::ends::patient(&*client);
    thread::scope(|scope| {
        let greeted = scope.spawn(move || {
            let mut answer = [0];
            if client.send(b"?").is_err() {
                return None;
            }
            match client.receive(&mut answer) {
                Ok(1) => Some(client),
                Err(error) if is_full(&error) => panic!("neither works nor ends"),
                _ => None,
            }
        });
        let server = match accepted {
            Some(stream) => Some(stream),
            None => waiting(acceptor),
        };
        let welcomed = server.is_some_and(|stream| {
            crate::transport_suite::ends::patient(&*stream);
            try_welcome(&*stream).is_ok()
        });
        match greeted.join().expect("an end or an answer") {
            Some(_) => {
                assert!(welcomed);
                Came::Connected
            }
            None => Came::Lost,
        }
    })
}

/// A connection that waits already.
fn waiting(acceptor: &dyn Acceptor) -> Option<Box<dyn ByteStream>> {
    for _ in 0..20 {
        let time = Some(Duration::from_millis(50));
        let ready = wait_for([(acceptor.source(), Interest::Read)], time);
        if ready.is_ok_and(|[ready]| ready)
            && let Ok(stream) = acceptor.accept()
        {
            return Some(stream);
        }
    }
    None
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
        eventually("descriptors are given back", || descriptors() <= before);
        let new = Ends::between(&*acceptor, &*connector);
        send_all(&*new.server, b"new").expect("a connection");
        assert_eq!(receive_all(&*new.client, 3, 3), b"new");
    }
    // Eleven descriptors are enough for both ends of a connection.
    assert_eq!(came.last(), Some(&Came::Connected), "{came:?}");
    // Listening fails in order too.
    let taken = take_descriptors(0);
    let refused = subject.try_listen(&subject.endpoint());
    drop(taken);
    if refused.is_err() {
        drop(subject.listen());
    }
    drop(refused);
    eventually("descriptors are given back", || descriptors() <= before);
    setrlimit(Resource::Nofile, limit).expect("the old limit");
    say("recovered");
}
