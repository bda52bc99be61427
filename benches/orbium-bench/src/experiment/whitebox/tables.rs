// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables 1 and 2 of the paper: each step of the client and of the server.

use std::fmt::Write;

use orbium::probe::Point;

use super::measured::Measured;
use super::profile::Profile;

/// The steps of a client in their order, with the paper's names.
const CLIENT: [(&str, Point); 11] = [
    ("initialisation", Point::Initialisation),
    ("object reference", Point::ObjectReference),
    ("parameter marshal", Point::Marshal),
    ("messaging send", Point::MessagingSend),
    ("transport send", Point::TransportSend),
    ("I/O: send", Point::IoSend),
    ("I/O: receive, waiting", Point::IoReceive),
    ("transport receive", Point::TransportReceive),
    ("messaging receive", Point::MessagingReceive),
    ("parameter unmarshal", Point::Unmarshal),
    ("connection given back", Point::Release),
];

/// The steps of a server.
const SERVER: [(&str, Point); 13] = [
    ("I/O: receive, waiting", Point::IoReceive),
    ("transport receive", Point::TransportReceive),
    ("messaging receive", Point::MessagingReceive),
    ("parsing object key", Point::ObjectKey),
    ("POA demux", Point::PoaDemux),
    ("servant demux", Point::ServantDemux),
    ("operation demux", Point::OperationDemux),
    ("parameter unmarshal", Point::Unmarshal),
    ("user upcall", Point::Upcall),
    ("return value marshal", Point::Marshal),
    ("messaging send", Point::MessagingSend),
    ("transport send", Point::TransportSend),
    ("I/O: send", Point::IoSend),
];

const NAME_WIDTH: usize = 24;
const CELL_WIDTH: usize = 15;

/// Both tables, a column for each protocol.
pub(super) fn to_text(all: &[Measured]) -> String {
    let mut text = String::new();
    table(&mut text, "Client, µs of each step", &CLIENT, all, |of| {
        &of.client
    });
    table(&mut text, "Server, µs of each step", &SERVER, all, |of| {
        &of.server
    });
    let overhead = all.first().map_or(0.0, |of| of.client.overhead);
    let _ = writeln!(
        text,
        "\nMedians over the calls, less {overhead:.0} ns for each probe. Waiting for the other side is in\n\
         I/O; so is what TLS and shared memory do within a send and a receive. One step finds\n\
         adapter and object: the object key says where."
    );
    text
}

fn table(
    text: &mut String,
    title: &str,
    steps: &[(&str, Point)],
    all: &[Measured],
    side: impl Fn(&Measured) -> &Profile,
) {
    let _ = write!(text, "\n{title:NAME_WIDTH$}");
    for measured in all {
        let _ = write!(text, "{:>CELL_WIDTH$}", measured.protocol);
    }
    text.push('\n');
    for (name, point) in steps {
        let _ = write!(text, "{name:NAME_WIDTH$}");
        for measured in all {
            let micros = side(measured).step(*point) / 1e3;
            let _ = write!(text, "{micros:>CELL_WIDTH$.3}");
        }
        text.push('\n');
    }
}
