// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that greet wrongly, and peers that write nonsense to the memory.
#![cfg(target_os = "linux")]

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::pair::{accept, connect, listen, name, send_all};
use orbium_transport::ByteStream;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

const RING: u32 = 4096;
const SIZE: u64 = 4096 + 2 * RING as u64;
const GOOD: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

fn greeting(version: u32, ring: u32) -> Vec<u8> {
    [
        &b"orbiumSM"[..],
        &version.to_le_bytes(),
        &ring.to_le_bytes(),
    ]
    .concat()
}

fn memory(size: u64, seals: SealFlags) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = memfd_create("test", flags).unwrap();
    ftruncate(&memory, size).unwrap();
    fcntl_add_seals(&memory, seals).unwrap();
    memory
}

fn abstract_address(name: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(name.trim_start_matches('@')).unwrap()
}

/// Outcome for a client of a server that greets it with these octets and descriptors.
fn greeted(octets: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<Box<dyn ByteStream>> {
    let name = name();
    let listener = UnixListener::bind_addr(&abstract_address(&name)).unwrap();
    let client = thread::spawn(move || connect(&name));
    let (socket, _) = listener.accept().unwrap();
    let mut space = [MaybeUninit::uninit(); 256];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(descriptors)));
    }
    if !octets.is_empty() {
        let pieces = [IoSlice::new(octets)];
        sendmsg(&socket, &pieces, &mut control, SendFlags::NOSIGNAL).unwrap();
    }
    drop(socket);
    client.join().unwrap()
}

#[test]
fn greetings_that_are_none_are_refused() {
    let good = memory(SIZE, GOOD);
    let fd = good.as_fd();
    let right = greeting(1, RING);
    let mut magic = right.clone();
    magic[0] ^= 0x20;
    let short = memory(SIZE - 1, GOOD);
    let long = memory(SIZE + 4096, GOOD);
    let unsealed = memory(SIZE, SealFlags::empty());
    let half = memory(SIZE, SealFlags::SHRINK);
    let unwritable = memory(SIZE, GOOD | SealFlags::WRITE);
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    let cases: [(&str, &[u8], &[BorrowedFd<'_>]); 14] = [
        ("wrong magic", &magic, &[fd]),
        ("other version", &greeting(2, RING), &[fd]),
        ("cut short", &right[..15], &[fd]),
        ("one octet", &right[..1], &[fd]),
        ("no memory", &right, &[]),
        ("too much memory", &right, &[fd, fd]),
        ("far too much memory", &right, &[fd, fd, fd, fd]),
        ("no power of two", &greeting(1, RING + 8), &[fd]),
        ("huge rings", &greeting(1, 1 << 31), &[fd]),
        ("no rings", &greeting(1, 0), &[fd]),
        ("smaller than told", &right, &[short.as_fd()]),
        ("larger than told", &right, &[long.as_fd()]),
        ("not sealed", &right, &[unsealed.as_fd()]),
        ("sealed in part", &right, &[half.as_fd()]),
    ];
    for (what, octets, descriptors) in cases {
        let error = greeted(octets, descriptors).expect_err(what);
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{what}");
    }
    greeted(&right, &[file.as_fd()]).expect_err("not a memfd");
    greeted(&right, &[unwritable.as_fd()]).expect_err("not to be written to");
    let error = greeted(b"", &[]).expect_err("nothing at all");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    // What is right is taken, and what follows it means nothing.
    greeted(&right, &[fd]).expect("a greeting as it should be");
    let more = [&right[..], &[0xff; 100]].concat();
    let client = greeted(&more, &[fd]).expect("octets after the greeting");
    let error = client.receive(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

/// A client that can write anything anywhere.
struct Hostile {
    socket: UnixStream,
    base: *mut u8,
    size: usize,
}

/// Words of the ring that it sends to: where they are, in octets.
const TAIL: usize = 0;
const HEAD: usize = 128;
const READER: usize = 256;
/// Those of the other ring follow.
const OTHER: usize = 512;

impl Hostile {
    fn connect(name: &str) -> Self {
        let socket = UnixStream::connect_addr(&abstract_address(name)).unwrap();
        let mut octets = [0; 16];
        let mut space = [MaybeUninit::uninit(); 64];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut pieces = [IoSliceMut::new(&mut octets)];
        recvmsg(&socket, &mut pieces, &mut control, RecvFlags::empty()).unwrap();
        let mut memory = None;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
                memory = descriptors.next();
            }
        }
        let memory: OwnedFd = memory.unwrap();
        let size = rustix::fs::fstat(&memory).unwrap().st_size as usize;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of the size of the memory.
        let base = unsafe { mmap(ptr::null_mut(), size, access, MapFlags::SHARED, &memory, 0) };
        // It cannot be cut off under the server.
        assert!(ftruncate(&memory, 0).is_err());
        assert!(ftruncate(&memory, 1 << 30).is_err());
        Self {
            socket,
            base: base.unwrap().cast(),
            size,
        }
    }

    /// All words of the memory.
    fn words(&self) -> &[AtomicU32] {
        // SAFETY: within the mapping, aligned, and atomics.
        unsafe { slice::from_raw_parts(self.base.cast(), self.size / 4) }
    }

    fn set(&self, place: usize, value: u32) {
        self.words()[place / 4].store(value, Ordering::SeqCst);
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        // SAFETY: our own mapping; references into it borrow `self`.
        unsafe { munmap(self.base.cast(), self.size) }.unwrap();
    }
}

fn attacked() -> (Hostile, Box<dyn ByteStream>) {
    let name = name();
    let acceptor = listen(&format!("{name}?ring=4096&spin=none"));
    let client = thread::spawn(move || Hostile::connect(&name));
    let server = accept(&*acceptor);
    (client.join().unwrap(), server)
}

// SAFETY: the mapping belongs to no thread, and is seen as atomics only.
unsafe impl Send for Hostile {}
// SAFETY: as above.
unsafe impl Sync for Hostile {}

/// Conformance: protocols - shared memory: a peer that dies, or writes what it likes
#[test]
fn cursors_that_cannot_be_break_the_connection() {
    for wrong in [4097, u32::MAX, 1 << 31] {
        let (client, server) = attacked();
        client.set(TAIL, wrong);
        let error = server.receive(&mut [0; 100]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
        // For good, though it is mended.
        client.set(TAIL, 0);
        let error = server.send(&[0; 10]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
        let error = server.receive(&mut [0; 100]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionAborted);

        let (client, server) = attacked();
        assert_eq!(server.send(&[0; 4096]).unwrap(), 4096);
        client.set(OTHER + HEAD, wrong);
        let error = server.send(&[0; 10]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
    }
}

#[test]
fn a_wait_does_not_last_because_of_what_a_peer_writes() {
    let (client, server) = attacked();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // Undoes every announcement, without a system call.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                client.set(READER, 0);
            }
        });
        // Sooner or later it is distinguished from an honest one; before that it may time
        // out, like any silent one.
        let time = Some(Some(Duration::from_millis(200)));
        server.set_timeouts(time, time).unwrap();
        let error = server.receive(&mut [0; 8]).unwrap_err();
        let kinds = [ErrorKind::ConnectionAborted, ErrorKind::WouldBlock];
        assert!(kinds.contains(&error.kind()), "{error}");
        stop.store(true, Ordering::Relaxed);
    });

    // Undoes every wake-up: a shutdown is heard all the same.
    let (client, server) = attacked();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                client.set(READER, 1);
            }
        });
        let receiver = scope.spawn(|| server.receive(&mut [0; 8]));
        thread::sleep(Duration::from_millis(20));
        server.shutdown(std::net::Shutdown::Read);
        assert_eq!(receiver.join().unwrap().unwrap(), 0);
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_flood_through_the_socket_is_borne() {
    let (client, server) = attacked();
    server.set_nonblocking(true).unwrap();
    (&client.socket).write_all(&[7; 100_000]).unwrap();
    for _ in 0..100 {
        let error = server.receive(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
    // A process that another test starts has the descriptor too until it runs its program, so
    // that closing it here need not end the connection.
    client.socket.shutdown(std::net::Shutdown::Both).unwrap();
    let error = server.receive(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

/// The thread that watches for the death of peers may be late on a busy machine. Once a
/// wait of a millisecond that ended before it ran made a client send into a connection to a
/// server that had been killed.
#[test]
fn the_death_of_a_peer_is_seen_at_the_end_of_the_shortest_wait() {
    let (client, server) = attacked();
    let shortest = Duration::from_nanos(1);
    server.set_timeouts(Some(Some(shortest)), None).unwrap();
    client.socket.shutdown(std::net::Shutdown::Both).unwrap();
    let error = server.receive(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

/// Conformance: protocols - shared memory: a peer that dies, or writes what it likes
#[test]
fn garbage_everywhere_gives_errors_only() {
    let mut seed = 12345u32;
    let mut random = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed >> 8
    };
    for round in 0..200 {
        let (client, server) = attacked();
        server.set_nonblocking(round % 2 == 0).unwrap();
        let time = Some(Some(Duration::from_millis(1)));
        server.set_timeouts(time, time).unwrap();
        for _ in 0..20 {
            for _ in 0..random() % 4 {
                let place = (random() % 256) as usize;
                let value = [0, 1, 2, 3, random() % 5000, random()][(random() % 6) as usize];
                client.words()[place].store(value, Ordering::SeqCst);
            }
            let mut room = [0; 300];
            if let Ok(count) = server.receive(&mut room[..(random() % 300) as usize]) {
                assert!(count <= 300);
            }
            let _ = server.send(&room[..(random() % 300) as usize]);
        }
    }
}

#[test]
fn a_client_that_goes_at_once_leaves_nothing() {
    let name = name();
    let acceptor = listen(&name);
    for _ in 0..50 {
        let socket = UnixStream::connect_addr(&abstract_address(&name)).unwrap();
        // For the same reason as above.
        socket.shutdown(std::net::Shutdown::Both).unwrap();
        let error = acceptor.accept().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
    // Others are served.
    let client = thread::spawn(move || connect(&name).unwrap());
    let server = accept(&*acceptor);
    send_all(&*server, b"x").unwrap();
    assert_eq!(client.join().unwrap().receive(&mut [0; 8]).unwrap(), 1);
}
