// SPDX-License-Identifier: MIT OR Apache-2.0
//! One trace from a client through two servers.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use trace_context::relay::Station;
use trace_context::{Stop, tracing_orb};

/// What was reported, as text.
#[derive(Clone, Default)]
struct Report(Arc<Mutex<Vec<u8>>>);

impl Write for Report {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Report {
    /// The lines of calls and requests, each as message, trace, span and parent.
    fn lines(&self) -> Vec<[String; 4]> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let field = |line: &str, name: &str| {
            let value = line.split(&format!("{name}=")).nth(1)?;
            Some(value.split_whitespace().next()?.to_owned())
        };
        let parsed = |line: &str| {
            let message = line.split_whitespace().nth(1)?.to_owned();
            let [trace, span, parent] = ["trace_id", "span_id", "parent_id"];
            Some([
                message,
                field(line, trace)?,
                field(line, span)?,
                field(line, parent)?,
            ])
        };
        text.lines().filter_map(parsed).collect()
    }
}

#[test]
fn both_servers_see_the_trace_of_the_client() -> Result<(), Box<dyn std::error::Error>> {
    let report = Report::default();
    let writer = report.clone();
    tracing_subscriber::fmt()
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    let (client, front, back) = (tracing_orb()?, tracing_orb()?, tracing_orb()?);
    let (name, next) = ("back", None);
    let last: Station = back.serve("Station", Stop { name, next })?;
    let next = front.resolve(&back.object_to_string(&last))?;
    let (name, next) = ("front", Some(next));
    let first: Station = front.serve("Station", Stop { name, next })?;
    let station: Station = client.resolve(&front.object_to_string(&first))?;

    for _ in 0..2 {
        assert_eq!(station.pass("by")?, "by front back");
    }

    let lines = report.lines();
    let messages: Vec<_> = lines.iter().map(|line| line[0].as_str()).collect();
    assert_eq!(messages, ["call", "request"].repeat(4));
    for one in lines.chunks(4) {
        assert_eq!(one[0][3], "0000000000000000");
        for pair in one.windows(2) {
            assert_eq!((&pair[1][1], &pair[1][3]), (&pair[0][1], &pair[0][2]));
        }
    }
    assert_ne!(lines[0][1], lines[4][1]);
    Ok(())
}
