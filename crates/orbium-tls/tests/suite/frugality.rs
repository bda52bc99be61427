// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of a message over an established connection: rustls's allocations for each record, one
//! system call to send it and one to receive it.

use std::fs;
use std::io::IoSlice;
use std::process::{Command, Stdio};

use orbium_testkit::{count_allocations, in_own_process};
use orbium_tls::{TlsStream, TlsVersion};
use orbium_transport::ByteStream;

use crate::realm::{self, About, Realm, each_version, only, pair, receive_exact};

/// The one test here.
const TEST: &str = "frugality::messages_cost_two_system_calls_and_a_few_allocations_of_rustls";

/// Set for the process that is watched from outside.
const WATCHED: &str = "ORBIUM_TLS_TEST_ROUNDTRIPS";

fn connected(version: TlsVersion) -> (TlsStream, TlsStream) {
    let realm = Realm::new("authority");
    let server = only(realm.config(&About::named("server")), version);
    pair(server, realm.trusting())
}

fn roundtrips(server: &TlsStream, client: &TlsStream, octets: &[u8], count: usize) {
    let mut room = [0; 64 * 1024];
    let (head, body) = octets.split_at(octets.len() / 2);
    for _ in 0..count {
        assert_eq!(client.send(octets).unwrap(), octets.len());
        receive_exact(server, &mut room[..octets.len()]).unwrap();
        let pieces = [IoSlice::new(head), IoSlice::new(body)];
        assert_eq!(server.send_vectored(&pieces).unwrap(), octets.len());
        receive_exact(client, &mut room[..octets.len()]).unwrap();
    }
}

#[test]
fn messages_cost_two_system_calls_and_a_few_allocations_of_rustls() {
    if let Ok(count) = std::env::var(WATCHED) {
        each_version(|version| {
            let (server, client) = connected(version);
            roundtrips(&server, &client, &[7; 100], count.parse().unwrap());
        });
        return;
    }
    in_own_process!(|| {
        each_version(|version| {
            let (server, client) = connected(version);
            // To encrypt a record and to decrypt it, and to gather pieces for it.
            const PER_RECORD: usize = 4;
            for (octets, records) in [(&[7; 100][..], 1), (&[7; 50_000], 4)] {
                // Buffers grow to what is needed.
                roundtrips(&server, &client, octets, 10);
                let counted = count_allocations(|| roundtrips(&server, &client, octets, 100));
                let bound = 100 * 2 * records * PER_RECORD;
                let allocations = counted.allocations;
                assert!(
                    allocations <= bound,
                    "{} octets: {allocations}",
                    octets.len()
                );
            }
        });
        if let (Some(few), Some(many)) = (system_calls(10), system_calls(1010)) {
            // Of both sides and in both versions; two handshakes may differ by the
            // pieces in which they arrive.
            let calls = many - few;
            assert!(calls.abs_diff(2 * 1000 * 4) < 100, "{calls} system calls");
        }
    });
}

/// System calls on sockets, and waits, of so many roundtrips; `None` where
/// nothing counts them.
fn system_calls(roundtrips: usize) -> Option<usize> {
    let folder = realm::Folder::new();
    let trace = folder.path("trace");
    let status = Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-e",
            "trace=network,poll,ppoll,epoll_wait,futex",
            "-o",
        ])
        .arg(&trace)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--test-threads=1"])
        .env(WATCHED, roundtrips.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // Not there, or not allowed.
    let Ok(status) = status else {
        return None;
    };
    let text = fs::read_to_string(&trace).ok()?;
    if !status.success() && text.is_empty() {
        return None;
    }
    assert!(status.success(), "the watched process failed");
    let of_streams = |line: &&str| {
        [
            "sendto(",
            "recvfrom(",
            "sendmsg(",
            "recvmsg(",
            "poll(",
            "epoll_wait(",
        ]
        .iter()
        .any(|call| line.contains(call))
    };
    let calls = text.lines().filter(|line| !line.contains("resumed>"));
    Some(calls.filter(of_streams).count())
}
