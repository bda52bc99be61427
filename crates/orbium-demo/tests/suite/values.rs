// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of values, orbium against orbium: over TCP, and within one ORB.

use std::error::Error;

use orbium::Orb;
use orbium_demo::check::{self, Check, Outcome};
use orbium_demo::serve_values;
use orbium_demo::values::Echo;

fn judge(checks: &[Check]) {
    let bad = checks.iter().filter(|it| it.outcome != Outcome::Passed);
    let bad: Vec<String> = bad.map(ToString::to_string).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

fn server() -> Result<Orb, Box<dyn Error>> {
    Ok(Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?)
}

#[test]
fn values_over_tcp() -> Result<(), Box<dyn Error>> {
    let (server, client) = (server()?, server()?);
    let echo = serve_values(&server)?;
    let echo: Echo = client.resolve(&server.object_to_string(&echo))?;
    judge(&check::values(&client, &echo));
    client.shutdown(true)?;
    Ok(server.shutdown(true)?)
}

#[test]
fn values_within_one_orb() -> Result<(), Box<dyn Error>> {
    let orb = server()?;
    let echo = serve_values(&orb)?;
    judge(&check::values(&orb, &echo));
    Ok(orb.shutdown(true)?)
}
