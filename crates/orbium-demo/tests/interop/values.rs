// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values exchanged with other ORBs, in both roles.

use orbium::Config;
use orbium_demo::values::Echo;
use orbium_demo::{check, serve_values};

use crate::as_server::line;
use crate::expected::Expected;
use crate::programs::{self, Scratch, Server, available};
use crate::{Line, Tested, judge, listening};

/// Checks that at least pass in every run.
const AT_LEAST: usize = 25;

/// orbium's checks against the server of another ORB.
fn as_client(peer: &str) -> Tested {
    let program = format!("{peer}-values");
    if !available(&[&program]) {
        return Ok(());
    }
    let server = Server::start(&program, &["server", "--ior-dir"])?;
    let orb = listening(Config::default())?;
    let echo: Echo = orb.resolve(server.reference("echo")?.trim())?;
    let lines: Vec<_> = check::values(&orb, &echo)
        .into_iter()
        .map(Line::from)
        .collect();
    let name = format!("values, orbium → {peer}");
    judge(
        &name,
        &lines,
        &Expected::read("orbium", peer, "1.2")?,
        AT_LEAST,
    )?;
    echo.shutdown()?;
    server.ends_well()
}

/// The checks of another ORB against orbium's server.
fn as_server(peer: &str) -> Tested {
    let program = format!("{peer}-values");
    if !available(&[&program]) {
        return Ok(());
    }
    let orb = listening(Config::default())?;
    let echo = serve_values(&orb)?;
    let scratch = Scratch::new()?;
    let file = scratch.write("echo.ior", orb.object_to_string(&echo))?;
    let arguments = ["client", "--echo", &file].map(str::to_owned);
    let (_, output) = programs::run(&program, &arguments)?;
    let lines: Vec<_> = output.lines().filter_map(line).collect();
    let name = format!("values, {peer} → orbium");
    judge(
        &name,
        &lines,
        &Expected::read(peer, "orbium", "1.2")?,
        AT_LEAST,
    )?;
    Ok(orb.shutdown(true)?)
}

/// Conformance: client of omniORB - values: null, derived, shared, cyclic, truncated, boxed, in anys, in
/// exceptions, through an abstract interface, events of IDL 3
#[test]
fn values_to_omniorb() -> Tested {
    as_client("omni")
}

/// Conformance: server of omniORB - values: null, derived, shared, cyclic, truncated, boxed, in anys, in
/// exceptions, through an abstract interface, events of IDL 3
#[test]
fn values_from_omniorb() -> Tested {
    as_server("omni")
}

/// Conformance: client of JacORB - values: null, derived, shared, cyclic, truncated, boxed, in anys, in
/// exceptions, through an abstract interface, events of IDL 3
/// Conformance: CDR - values: custom - JacORB's
#[test]
fn values_to_jacorb() -> Tested {
    as_client("jacorb")
}

/// Conformance: server of JacORB - values: null, derived, shared, cyclic, truncated, boxed, in anys, in
/// exceptions, through an abstract interface, events of IDL 3
/// Conformance: CDR - values: custom - JacORB's
#[test]
fn values_from_jacorb() -> Tested {
    as_server("jacorb")
}

/// A third opinion: null, derived, shared, cyclic, boxed, in anys, in exceptions, through an abstract
/// interface.
#[test]
fn values_from_glassfish() -> Tested {
    as_server("glassfish")
}

/// The same third opinion of a server. What fails was judged by the octets of each message: see
/// `interop/EXPECTED.md`.
#[test]
fn values_to_glassfish() -> Tested {
    as_client("glassfish")
}
