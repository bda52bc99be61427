// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flood of oneways for a `Ttcp::Receiver`, such as that of `orbium demo serve`.

use std::time::{Duration, Instant};

use orbium::{ExceptionKind, Interface, ObjectRef, SystemException, policy::BufferingConstraint};

use crate::Outcome;

orbium::include_idl!("ttcp");

/// Time-out while the server does not receive.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends so many sequences of `size` bytes, in buffers of `buffer` bytes if set, and prints how
/// many of them the server received per second.
pub(crate) fn flood(
    object: Option<ObjectRef>,
    kind: &str,
    calls: usize,
    size: usize,
    buffer: Option<usize>,
) -> Outcome<()> {
    let receiver: ttcp::Receiver = orbium::narrow(object)?;
    let sender = match buffer {
        Some(_) => receiver.with_buffering(BufferingConstraint {
            message_bytes: buffer,
            ..BufferingConstraint::default()
        }),
        None => receiver.clone(),
    };
    let octets = vec![7; size];
    let structs = vec![ttcp::BinStruct::default(); size / 24];
    let send = || match kind {
        "structs" => sender.send_structs(&structs),
        _ => sender.send_octets(&octets),
    };
    receiver.start_timer()?;
    let begun = Instant::now();
    for _ in 0..calls {
        with_room(&sender, send)?;
    }
    let received = received(&sender)?;
    let rate = received as f64 / begun.elapsed().as_secs_f64();
    println!("{{\"sent\":{calls},\"received\":{received},\"per_second\":{rate:.0}}}");
    Ok(())
}

/// Waits for space if the buffer is full.
fn with_room(
    sender: &ttcp::Receiver,
    send: impl Fn() -> Result<(), SystemException>,
) -> Result<(), SystemException> {
    match send() {
        Err(full) if full.kind == ExceptionKind::Transient => {
            sender.flush_oneways(PATIENCE)?;
            send()
        }
        sent => sent,
    }
}

/// The number of calls that the server has received, after all buffered ones.
fn received(sender: &ttcp::Receiver) -> Result<u64, SystemException> {
    Ok(sender.stop_timer()?.calls)
}
