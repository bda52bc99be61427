// SPDX-License-Identifier: MIT OR Apache-2.0
//! omniEvents: its channel with consumers and suppliers of orbium, and its clients with a channel
//! of orbium. Without its programs the tests say that they were skipped, unless
//! `ORBIUM_REQUIRE_PEERS=1` makes that a failure.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::{env, fs, thread};

use orbium::{Any, Interface};
use orbium_event::cos_event::cos_event_channel_admin::EventChannel;
use orbium_event::cos_event::cos_event_comm::{PullSupplier, PushConsumer};
use orbium_event::{CosHeader, Pattern, SharedEvent};
use orbium_testkit::{PATIENCE, eventually, skipped_peer};

use crate::cos::Reporter;
use crate::pull_suppliers::{Supplier, numbers, supplier_admin};
use crate::served::{Served, patient};

/// The path of a program; `None`, and a line that says so, where it is not installed.
fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = folders.map(|it| it.join(name)).find(|it| it.is_file());
    if found.is_none() {
        skipped_peer(&format!("{name} is missing"));
    }
    found
}

/// A process that is ended when it is dropped.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        Self(command.stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        // Two servers of omniEvents do not share one.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{name}-{}-{number}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// There is no naming service: what looks for one gets TRANSIENT at once.
const NO_NAMES: [&str; 2] = [
    "-ORBInitRef",
    "NameService=corbaloc::127.0.0.1:1/NameService",
];

/// A server of omniEvents with one channel, that does not wait between its cycles.
struct OmniEvents {
    _server: Process,
    _data: Folder,
    url: String,
}

impl OmniEvents {
    fn start() -> Option<Self> {
        let (server, creator) = (program("omniEvents")?, program("eventc")?);
        // omniEvents does not choose a port itself.
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let data = Folder::new("omni-events");
        let mut command = Command::new(server);
        command.args(["-f", "-p", &port.to_string(), "-l"]);
        command.arg(&data.0).arg("-t").arg(data.0.join("trace"));
        let server = Process::start(command.args(NO_NAMES).stdout(Stdio::null()));
        eventually("omniEvents listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        let mut creator = Command::new(creator);
        creator
            .args(["-c", "0", "-i", "orbium", "-v"])
            .args(NO_NAMES);
        creator.args(["-ORBclientCallTimeOutPeriod", "60000"]);
        creator.arg(format!("corbaloc::127.0.0.1:{port}/omniEvents"));
        let created = creator.output().unwrap();
        let printed = String::from_utf8_lossy(&created.stdout);
        assert!(printed.contains("IOR:"), "{created:?}");
        Some(Self {
            _server: server,
            _data: data,
            url: format!("corbaloc::127.0.0.1:{port}/orbium"),
        })
    }
}

/// Conformance: events - COS Event: push and pull consumers and push suppliers - omniEvents
#[test]
fn events_pass_through_a_channel_of_omni_events() {
    let Some(omni) = OmniEvents::start() else {
        return;
    };
    let served = Served::new(patient());
    let channel: EventChannel = served.orb.resolve(&omni.url).unwrap();
    let (reporter, pushed) = Reporter::new();
    let consumer: PushConsumer = served.orb.root_poa().activate(reporter).unwrap();
    let consumers = channel.for_consumers().unwrap().unwrap();
    let push = consumers.obtain_push_supplier().unwrap().unwrap();
    push.connect_push_consumer(Some(&consumer)).unwrap();
    let pull = consumers.obtain_pull_supplier().unwrap().unwrap();
    pull.connect_pull_consumer(None).unwrap();
    let suppliers = channel.for_suppliers().unwrap().unwrap();
    let supplier = suppliers.obtain_push_consumer().unwrap().unwrap();
    supplier.connect_push_supplier(None).unwrap();
    for number in 0..50i32 {
        supplier.push(&Any::from(number)).unwrap();
    }
    for number in 0..50i32 {
        let any = pushed.recv_timeout(PATIENCE).unwrap().unwrap();
        assert_eq!(any.extract::<i32>(), Ok(number));
        assert_eq!(pull.pull().unwrap().extract::<i32>(), Ok(number));
    }
    push.disconnect_push_supplier().unwrap();
    assert_eq!(pushed.recv_timeout(PATIENCE), Ok(None), "disconnection");
}

/// Conformance: events - COS Event: suppliers that are pulled from - omniEvents
#[test]
fn channels_of_omni_events_and_orbium_pull_from_suppliers_of_the_other() {
    let Some(omni) = OmniEvents::start() else {
        return;
    };
    let served = Served::new(patient());
    let theirs: EventChannel = served.orb.resolve(&omni.url).unwrap();
    let consumers = theirs.for_consumers().unwrap().unwrap();
    let (_subscription, seen) = numbers(&served);
    // The proxy of their channel is the supplier from which the channel of orbium pulls.
    let supplies = consumers.obtain_pull_supplier().unwrap().unwrap();
    supplies.connect_pull_consumer(None).unwrap();
    let supplies: PullSupplier = supplies.as_object().narrow().unwrap();
    let ours = supplier_admin(&served).obtain_pull_consumer();
    let ours = ours.unwrap().unwrap();
    ours.connect_pull_supplier(Some(&supplies)).unwrap();
    // Their channel pulls from a supplier of orbium.
    let (supplier, disconnected) = Supplier::of_numbers(50);
    let supplier: PullSupplier = served.orb.root_poa().activate(supplier).unwrap();
    let suppliers = theirs.for_suppliers().unwrap().unwrap();
    let proxy = suppliers.obtain_pull_consumer().unwrap().unwrap();
    proxy.connect_pull_supplier(Some(&supplier)).unwrap();
    for number in 0..50 {
        assert_eq!(seen.recv_timeout(PATIENCE), Ok(number));
    }
    proxy.disconnect_pull_consumer().unwrap();
    disconnected.recv_timeout(PATIENCE).unwrap();
    ours.disconnect_pull_consumer().unwrap();
}

/// What a process prints, in pieces.
fn printed(process: &mut Process) -> Receiver<Vec<u8>> {
    let mut output = process.0.stdout.take().unwrap();
    let (send, received) = mpsc::channel();
    thread::spawn(move || {
        let mut buf = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut buf) {
            if send.send(buf[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    received
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

/// Conformance: events - COS Event: a channel with push consumers and suppliers - omniEvents
#[test]
fn clients_of_omni_events_record_from_a_channel_and_play_back_into_one() {
    let Some(events) = program("events") else {
        return;
    };
    let served = Served::new(patient());
    let header = CosHeader {
        r#type: 20,
        source: 3,
    };
    let channel = served.local.serve_cos(&served.server, "Cos", header);
    let reference = served.server.object_to_string(&channel.unwrap());
    let consumers = || served.local.statistics().consumers.len();

    let mut command = Command::new(&events);
    command.args(NO_NAMES).arg(&reference);
    let mut recorder = Process::start(command.stdout(Stdio::piped()));
    let pieces = printed(&mut recorder);
    eventually("the recorder connects", || consumers() == 1);
    let publisher = served.local.connect_supplier(&[]).unwrap();
    let mut recording = Vec::new();
    // It writes full buffers.
    while !has(&recording, "altitude 3,000") {
        let mut event = orbium_event::new_event(16, 1);
        event.data.any_value = Any::from("altitude 3,000");
        for _ in 0..100 {
            publisher.push(std::slice::from_ref(&event));
        }
        recording.extend(pieces.recv_timeout(PATIENCE).unwrap());
    }
    drop(recorder);

    let (send, seen) = mpsc::channel();
    let sink = move |events: &[SharedEvent]| {
        let _ = send.send(events[0].data.any_value.extract::<String>());
    };
    let pattern = Pattern::of(header.r#type, header.source);
    let _subscription = served.local.subscribe(&pattern, sink).unwrap();
    let mut command = Command::new(&events);
    command.arg("-s").args(NO_NAMES).arg(&reference);
    let mut player = Process::start(command.stdin(Stdio::piped()).stdout(Stdio::null()));
    let mut input = player.0.stdin.take().unwrap();
    // It may end before it has read all.
    thread::spawn(move || input.write_all(&recording));
    let text = seen.recv_timeout(PATIENCE).unwrap();
    assert_eq!(text.as_deref(), Ok("altitude 3,000"));
}
