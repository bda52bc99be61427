// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ends of `orbium events tail`, other than those by its arguments.

use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};

use orbium::Orb;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_testkit::{eventually, within};

use crate::program::{Served, orbium, signal};

fn tail(reference: &str) -> Child {
    let mut command = orbium(["events", "tail", reference]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The exit status, and what was written to standard error.
fn ended(tail: Child) -> (Option<i32>, String) {
    let output = within("the tail ends", || tail.wait_with_output().unwrap());
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

/// Regression: the consumer was deactivated, and the command waited for events for ever.
#[test]
fn a_tail_ends_with_its_connection() {
    let served = Served::new("events", []);
    let disconnected = tail(served.reference());
    eventually("the consumer", || served.consumers() == 1);
    let orb = Orb::builder().build().unwrap();
    let channel: EventChannel = orb.resolve(served.reference()).unwrap();
    channel.destroy().unwrap();
    let (status, said) = ended(disconnected);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("has disconnected this consumer"), "{said}");

    // A process that dies disconnects no consumer.
    let mut served = Served::new("events", []);
    let orphaned = tail(served.reference());
    eventually("the consumer", || served.consumers() == 1);
    served.kill();
    let (status, said) = ended(orphaned);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("cannot be called any more"), "{said}");
}

#[test]
fn a_signal_ends_a_tail_well() {
    let served = Served::new("events", []);
    let ending = tail(served.reference());
    eventually("the consumer", || served.consumers() == 1);
    // Not SIGINT: a process in the background of a shell ignores it, and so do its children.
    signal(&ending, "TERM");
    assert_eq!(ended(ending), (Some(0), String::new()));
    eventually("the disconnection", || served.consumers() == 0);
}

/// Regression: the signal was noted, and looked at after all calls to a silent channel had timed out.
#[test]
fn a_signal_ends_a_tail_that_waits_for_its_channel() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let mut waiting = tail(&format!("corbaloc::{address}/EventService"));
    let _connection = silent.accept().unwrap();
    signal(&waiting, "TERM");
    let status = within("the tail ends", move || waiting.wait().unwrap());
    assert_eq!(status.signal(), Some(15), "{status}");
}
