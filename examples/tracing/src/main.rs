// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client and two servers, each with an ORB of its own, connected over TCP.

use trace_context::relay::Station;
use trace_context::{Stop, tracing_orb};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt()
        .without_time()
        .with_target(false)
        .init();
    let (client, front, back) = (tracing_orb()?, tracing_orb()?, tracing_orb()?);
    let last: Station = back.serve(
        "Station",
        Stop {
            name: "back",
            next: None,
        },
    )?;
    let next: Station = front.resolve(&back.object_to_string(&last))?;
    let first: Station = front.serve(
        "Station",
        Stop {
            name: "front",
            next: Some(next),
        },
    )?;
    let station: Station = client.resolve(&front.object_to_string(&first))?;
    println!("{}", station.pass("hello by way of")?);
    Ok(())
}
