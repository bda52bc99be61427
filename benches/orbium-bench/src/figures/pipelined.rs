// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous calls, many outstanding at once over one connection, compared with raw sockets that
//! exchange batches of messages of the same sizes. Client and server have separate processors.

use crate::peer::built::Programs;
use crate::peer::closed_loop::{Length, Serving, Work};
use crate::peer::contender::Peer;
use crate::peer::server::Under;
use crate::report::bound::Bound;
use crate::report::figures::{Report, Row, fraction_of_raw};
use crate::statistics::ratios::median;
use xtask::outcome::Outcome;

/// Number of outstanding calls.
const OUTSTANDING: u64 = 512;

/// Minimum number of calls per second.
const RATE: f64 = 400_000.0;

/// Measures orbium and raw sockets.
pub(crate) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let (repetitions, batches) = if quick { (3, 400) } else { (9, 2_000) };
    let work = Work::new("noop", 0, (64, 24));
    let [client, server] = [true, false].map(|upper| Under::Half { upper });
    let (mut raw, mut own) = (Vec::new(), Vec::new());
    for repetition in 0..repetitions {
        eprintln!("repetition {} of {repetitions}", repetition + 1);
        let serving = Serving::start(programs, Peer::Raw, &server)?;
        let length = Length {
            calls: batches,
            timed: true,
        };
        raw.push(serving.call(&work.batch_of(OUTSTANDING), length, &client)?);
        let serving = Serving::start(programs, Peer::Orbium, &server)?;
        let calls = batches * OUTSTANDING;
        own.push(serving.call_outstanding(&work, (calls, OUTSTANDING), &client)?);
    }
    let calls = (batches * OUTSTANDING) as f64;
    let rates: Vec<_> = own.iter().map(|it| calls / it.total * 1e9).collect();
    let mut row = Row::bounded(
        format!("asynchronous empty calls per second, {OUTSTANDING} outstanding"),
        Bound::AtLeast(RATE),
    );
    row.set(Peer::Orbium, median(&rates));
    report.rows.push(row);
    let mut row = Row::unbounded("the same, fraction of raw sockets that exchange batches");
    row.set(Peer::Orbium, fraction_of_raw(&own, &raw));
    report.rows.push(row);
    Ok(())
}
