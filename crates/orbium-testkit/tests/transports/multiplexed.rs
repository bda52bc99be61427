// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conformance of every transport with multiplexed connections and with one per thread: over
//! TCP, Unix sockets, shared memory, and within the process.
#![cfg(target_os = "linux")]

use orbium::config::ClientStrategy::{self, ExclusivePerThread, IoThread, LeaderFollowers};
use orbium_shm::{ShmOptions, ShmTransport};
use orbium_testkit::transport_suite::{Subject, loopback};
use orbium_transport::{InProcess, StreamTransport, Tcp, Unix};

fn subject(
    transport: impl StreamTransport + 'static,
    strategy: ClientStrategy,
    endpoint: impl Fn(&str) -> String + Send + Sync + 'static,
) -> Subject {
    Subject::new(transport, endpoint)
        .strategies_elsewhere()
        .configure(move |config| config.client_strategy = strategy)
}

fn iiop(strategy: ClientStrategy) -> Subject {
    subject(Tcp, strategy, |unique| {
        format!("iiop://{}:0", loopback(unique))
    })
}

fn uiop(strategy: ClientStrategy) -> Subject {
    subject(Unix, strategy, |unique| {
        let path = std::env::temp_dir().join(format!("orbium-shared-{unique}.sock"));
        format!("uiop://{}", path.display())
    })
}

fn shmiop(strategy: ClientStrategy) -> Subject {
    let transport = ShmTransport::new(ShmOptions::default());
    subject(transport, strategy, |unique| {
        let path = std::env::temp_dir().join(format!("orbium-shared-{unique}.shm"));
        format!("shmiop://{}", path.display())
    })
}

fn inproc(strategy: ClientStrategy) -> Subject {
    subject(InProcess, strategy, |unique| {
        format!("inproc://shared-{unique}")
    })
    .within_one_process()
    .named_endpoints()
}

orbium_testkit::transport_suite! { @clients
    iiop_leader_followers => iiop(LeaderFollowers),
    iiop_io_thread => iiop(IoThread),
    iiop_per_thread => iiop(ExclusivePerThread),
    shmiop_leader_followers => shmiop(LeaderFollowers),
    shmiop_io_thread => shmiop(IoThread),
    uiop_leader_followers => uiop(LeaderFollowers),
    inproc_io_thread => inproc(IoThread),
}
