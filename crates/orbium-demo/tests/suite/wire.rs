// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets of each messaging protocol on the wire, as docs/protocols.md states them.

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use orbium::giop::Ior;
use orbium::{Interface, ObjectRef, Orb};
use orbium_demo::load::Load;
use orbium_demo::serve;

use super::loads::{counting_relay, over};

/// Calls of one column: the operation and its elements.
const COLUMNS: [(Load, usize); 4] = [
    (Load::Noop, 0),
    (Load::EchoOctets, 1024),
    (Load::EchoManys, 256),
    (Load::EchoStructs, 256),
];

/// Calls until names have their numbers.
const FIRST: u64 = 4;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The rows of the table, from calls through a relay that counts.
fn rows() -> Outcome<String> {
    let client = Orb::builder().build()?;
    let mut rows = String::new();
    for messaging in ["GIOP", "giop-lite", "fixed", "native"] {
        let endpoint = match messaging {
            "GIOP" => "iiop://127.0.0.1:0".to_owned(),
            other => format!("iiop://127.0.0.1:0?messaging={other}"),
        };
        let server = Orb::builder().endpoint(&endpoint)?.build()?;
        let served = serve(&server)?;
        let channel = &server.channels()?[0];
        let (_, port) = channel.address.rsplit_once(':').ok_or("a port")?;
        let (port, passed) = counting_relay(port.parse()?)?;
        let at = format!("127.0.0.1:{port}");
        let names = &channel.messaging;
        match names.first() {
            None => write!(rows, "| GIOP |")?,
            Some(_) => write!(rows, "| `{messaging}` |")?,
        }
        for (load, size) in COLUMNS {
            let object = match load {
                Load::EchoStructs => server.object_to_string(served.receiver.as_object()),
                _ => server.object_to_string(served.cube.as_object()),
            };
            let key = object.parse::<Ior>()?.profiles[0].object_key();
            let key = key.ok_or("a key")?;
            assert_eq!(key.len(), 20, "as the page says");
            let object = client.string_to_object(&over(names, &at, &key))?;
            let octets = of_one_call(load, &object.ok_or("nil")?, size, &passed)?;
            write!(rows, " {}, {} |", octets[0], octets[1])?;
        }
        rows.push('\n');
        server.shutdown(true)?;
    }
    client.shutdown(true)?;
    Ok(rows)
}

/// Octets to and from the server.
fn of_one_call(
    load: Load,
    object: &ObjectRef,
    size: usize,
    passed: &[AtomicUsize; 2],
) -> Outcome<[usize; 2]> {
    load.run(object, size, FIRST, None)?;
    let count = || [0, 1].map(|way: usize| passed[way].load(Ordering::SeqCst));
    let before = count();
    load.run(object, size, 1, None)?;
    let after = count();
    Ok([after[0] - before[0], after[1] - before[1]])
}

#[test]
fn the_page_has_the_octets_that_pass() -> Outcome<()> {
    let page = include_str!("../../../../docs/protocols.md");
    let rows = rows()?;
    assert!(page.contains(&rows), "docs/protocols.md has not:\n{rows}");
    Ok(())
}
