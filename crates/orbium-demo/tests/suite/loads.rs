// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loads, against servants of our own.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use orbium::giop::profile::OrbiumProfile;
use orbium::giop::{Ior, Version};
use orbium::{Config, ObjectRef, Orb, config::ForwardBoundKeys};
use orbium_demo::load::Load;
use orbium_demo::{raw, serve};

fn server() -> Result<Orb, Box<dyn std::error::Error>> {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    serve(&orb)?;
    Ok(orb)
}

/// The object that has the operation, found by its plain key.
fn object(server: &Orb, client: &Orb, load: Load) -> Result<ObjectRef, Box<dyn std::error::Error>> {
    let at = &server.addresses()?[0];
    let url = format!(
        "corbaloc:iiop:1.2@{}:{}/{}",
        at.host,
        at.port,
        load.object_key()
    );
    Ok(client.string_to_object(&url)?.ok_or("nil")?)
}

#[test]
fn every_load_is_verified_and_runs() -> Result<(), Box<dyn std::error::Error>> {
    let (server, client) = (server()?, Orb::builder().build()?);
    for load in Load::ALL {
        let object = object(&server, &client, *load)?;
        for size in [0, 1, 100, 3000] {
            load.verify(&object, size)
                .map_err(|reason| format!("{load} of {size}: {reason}"))?;
            load.run(&object, size, 5, None)?;
        }
        let mut samples = 0;
        load.run(&object, 10, 7, Some(&mut |_| samples += 1))?;
        assert_eq!(samples, 7, "{load}");
    }
    client.shutdown(true)?;
    server.shutdown(true)?;
    Ok(())
}

/// The reference of an object over messaging protocols of those names; over GIOP alone if
/// there are none.
pub(super) fn over(names: &[String], address: &str, key: &[u8]) -> String {
    let profile = OrbiumProfile {
        version: Version::V1_2,
        scheme: "iiop".into(),
        messaging: names.to_vec(),
        address: address.into(),
        object_key: key.into(),
        components: Vec::new(),
    };
    Ior {
        type_id: String::new(),
        profiles: vec![profile.encode()],
    }
    .to_string()
}

/// Short headers, numbers for names, compressed, and structs as they lie in memory.
#[test]
fn every_load_is_verified_over_each_messaging_protocol() -> Result<(), Box<dyn std::error::Error>> {
    let client = Orb::builder().build()?;
    for messaging in ["giop-lite", "native", "fixed", "ziop"] {
        let endpoint = format!("iiop://127.0.0.1:0?messaging={messaging}");
        let server = Orb::builder().endpoint(&endpoint)?.build()?;
        serve(&server)?;
        let channel = &server.channels()?[0];
        let (names, at) = (&channel.messaging, &channel.address);
        for load in Load::ALL {
            let reference = over(names, at, load.object_key().as_bytes());
            let object = client.string_to_object(&reference)?.ok_or("nil")?;
            for size in [0, 1, 100, 3000] {
                load.verify(&object, size)
                    .map_err(|reason| format!("{load} of {size}, {messaging}: {reason}"))?;
                load.run(&object, size, 5, None)?;
            }
        }
        server.shutdown(true)?;
    }
    client.shutdown(true)?;
    Ok(())
}

/// The name in the reference says which layout the server's structs have.
#[test]
fn a_native_representation_of_another_layout_is_not_spoken()
-> Result<(), Box<dyn std::error::Error>> {
    let client = Orb::builder().build()?;
    let server = Orb::builder()
        .endpoint("iiop://127.0.0.1:0?messaging=native")?
        .build()?;
    serve(&server)?;
    let channel = &server.channels()?[0];
    assert_eq!(channel.protocol(), "iiop/native");
    assert!(channel.messaging[0].starts_with("native-1-"), "{channel}");
    let at = &channel.address;
    for other in ["native", "native-1-be-2488-9-9-9", "native-2-le-2488-0-1-0"] {
        let object = client.string_to_object(&over(&[other.to_owned()], at, b"Cube"))?;
        let object = object.ok_or("nil")?;
        let refusal = object.protocols()[0].refusal.clone().unwrap_or_default();
        assert!(refusal.contains("there is no messaging"), "{refusal}");
        let exception = object.locate().unwrap_err();
        assert_eq!(exception.kind, orbium::ExceptionKind::InvPolicy, "{other}");
    }
    client.shutdown(true)?;
    server.shutdown(true)?;
    Ok(())
}

#[test]
fn loads_are_found_by_the_names_of_operations() {
    for load in Load::ALL {
        assert_eq!(load.name().parse(), Ok(*load));
    }
    let unknown = "cube".parse::<Load>().unwrap_err();
    assert!(unknown.to_string().contains("send_structs"), "{unknown}");
}

#[test]
fn a_flood_over_plain_sockets_is_answered_once() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = std::thread::spawn(move || raw::serve_one(&listener));
    let mut client = raw::Client::connect(address, raw::Exchange::flood(70_000, 20))?;
    let mut samples = 0;
    client.run(3, Some(&mut |_| samples += 1))?;
    assert_eq!(samples, 3);
    drop(client);
    server.join().map_err(|_| "the server panicked")??;
    Ok(())
}

/// The same exchange over any stream.
#[cfg(unix)]
#[test]
fn octets_are_exchanged_over_unix_sockets_too() -> Result<(), Box<dyn std::error::Error>> {
    let (near, far) = std::os::unix::net::UnixStream::pair()?;
    let server = std::thread::spawn(move || raw::answer(far));
    let mut client = raw::Client::over(near, raw::Exchange::twoway(70_000, 3))?;
    let mut samples = 0;
    client.run(5, Some(&mut |_| samples += 1))?;
    assert_eq!(samples, 5);
    drop(client);
    server.join().map_err(|_| "the server panicked")??;
    Ok(())
}

#[test]
fn empty_messages_cannot_be_exchanged() {
    let refused = raw::Client::connect("127.0.0.1:9", raw::Exchange::twoway(0, 1));
    let error = refused.map(drop).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

/// Passes octets on until there are no more, and counts them.
fn relay(mut from: TcpStream, mut to: TcpStream, passed: &AtomicUsize) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        passed.fetch_add(length, Ordering::SeqCst);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// A relay to a port of this host: its own port, and the octets that passed to
/// and from there.
pub(super) fn counting_relay(port: u16) -> std::io::Result<(u16, Arc<[AtomicUsize; 2]>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let own = listener.local_addr()?.port();
    let passed: Arc<[AtomicUsize; 2]> = Arc::default();
    let counters = Arc::clone(&passed);
    thread::spawn(move || -> std::io::Result<()> {
        loop {
            let (near, _) = listener.accept()?;
            let far = TcpStream::connect(("127.0.0.1", port))?;
            let (up, down) = (Arc::clone(&counters), Arc::clone(&counters));
            let (near_again, far_again) = (near.try_clone()?, far.try_clone()?);
            thread::spawn(move || relay(near, far, &up[0]));
            thread::spawn(move || relay(far_again, near_again, &down[1]));
        }
    });
    Ok((own, passed))
}

#[test]
fn messages_have_the_sizes_foretold() -> Result<(), Box<dyn std::error::Error>> {
    const CALLS: u64 = 8;
    // Not sent to the whole reference, which leads past the relay.
    let server = Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse()?],
        forward_bound_keys: ForwardBoundKeys(false),
        ..Config::default()
    })?;
    serve(&server)?;
    let client = Orb::builder().build()?;
    let (port, passed) = counting_relay(server.addresses()?[0].port)?;
    for load in Load::ALL {
        let key = load.object_key();
        let url = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/{key}");
        let object = client.string_to_object(&url)?.ok_or("nil")?;
        for size in [0, 1, 2, 3, 1000] {
            let mut counts = Vec::new();
            // The second run is longer, so that the difference is calls alone.
            for calls in [1, 1 + CALLS] {
                let before = [0, 1].map(|way: usize| passed[way].load(Ordering::SeqCst));
                load.run(&object, size, calls, None)?;
                let after = [0, 1].map(|way: usize| passed[way].load(Ordering::SeqCst));
                counts.push([after[0] - before[0], after[1] - before[1]]);
            }
            let each = |way: usize| (counts[1][way] - counts[0][way]) / CALLS as usize;
            let foretold = load.message_sizes(size, key.len());
            assert_eq!((each(0), each(1)), foretold, "{load} of {size}");
        }
    }
    client.shutdown(true)?;
    server.shutdown(true)?;
    Ok(())
}
