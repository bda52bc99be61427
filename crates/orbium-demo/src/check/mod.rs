// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every operation of the three interfaces, with verification of every reply.
//!
//! The names of the checks are those of other ORBs' clients (see `interop/README.md`), so that one
//! list of expected failures serves all.

mod any;
mod asynchronous;
mod calls;
mod cubit;
mod echo;
mod facts;
mod object;
mod planned;
mod system;
mod ttcp;
mod union;
mod values;
mod verdict;

pub use facts::Facts;
pub use values::values;
pub use verdict::{Check, Outcome};

use orbium::Orb;

use planned::{World, run};
use verdict::{Failure, outcome};

use crate::{cubit::Cube, kitchen::Peer, ttcp::Receiver};

/// Checks all operations of a cube but `shutdown`.
#[must_use]
pub fn cube(cube: &Cube, facts: &Facts) -> Vec<Check> {
    run(cubit::ALL, cube, facts)
}

/// Checks `Cube::shutdown`; the server does not reply any more after it.
#[must_use]
pub fn shutdown(cube: &Cube) -> Check {
    Check {
        name: "cubit.shutdown",
        outcome: outcome(cube.shutdown().map_err(Failure::from)),
    }
}

/// Checks all operations of a receiver.
#[must_use]
pub fn receiver(receiver: &Receiver, facts: &Facts) -> Vec<Check> {
    run(ttcp::ALL, receiver, facts)
}

/// Checks all operations of a peer. Objects are activated in the root adapter of
/// `orb`, which belongs to the caller, so that the peer can call back.
#[must_use]
pub fn peer(orb: &Orb, peer: &Peer, facts: &Facts) -> Vec<Check> {
    // Fails for an ORB that was shut down; the checks will report that.
    let _ = orb.root_poa().manager().activate();
    let world = World {
        orb: orb.clone(),
        peer: peer.clone(),
        facts: *facts,
    };
    let kitchen = [echo::ALL, union::ALL, any::ALL, calls::ALL, object::ALL];
    let mut checks = Vec::new();
    for group in kitchen {
        checks.extend(run(group, &world, facts));
    }
    checks.extend(system::run(&world));
    checks
}

/// Checks the same operations with asynchronous calls.
#[must_use]
pub fn asynchronous(orb: &Orb, cube: &Cube, peer: &Peer, facts: &Facts) -> Vec<Check> {
    let _ = orb.root_poa().manager().activate();
    let world = World {
        orb: orb.clone(),
        peer: peer.clone(),
        facts: *facts,
    };
    let mut checks = run(asynchronous::CUBE, cube, facts);
    checks.extend(run(asynchronous::PEER, &world, facts));
    checks
}
