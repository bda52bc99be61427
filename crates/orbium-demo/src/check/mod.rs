// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every operation of the three interfaces, with every answer verified.
//!
//! The checks have the names that the clients of other ORBs give theirs (see
//! `interop/README.md`), so that one list of expected failures serves all.

mod any;
mod asynchronous;
mod calls;
mod cubit;
mod echo;
mod facts;
mod object;
mod system;
mod ttcp;
mod union;

pub use facts::Facts;

use std::fmt;

use orbium::giop::{Ior, OrbiumProfile, TaggedProfile, Version};
use orbium::{Channel, ExceptionKind, Interface, Orb, SystemException};

use crate::{cubit::Cube, kitchen::Peer, ttcp::Receiver};

/// What came of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked, such as `cubit.cube_long`.
    pub name: &'static str,
    /// Whether it was as it should be.
    pub outcome: Outcome,
}

/// Whether a check passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every answer was right.
    Passed,
    /// What was wrong.
    Failed(String),
    /// Why it could not be made with this peer.
    Skipped(String),
}

impl fmt::Display for Check {
    /// As the other clients print it: `ok NAME`, `FAIL NAME: why` or
    /// `skip NAME: why`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Passed => write!(f, "ok {}", self.name),
            Outcome::Failed(why) => write!(f, "FAIL {}: {why}", self.name),
            Outcome::Skipped(why) => write!(f, "skip {}: {why}", self.name),
        }
    }
}

/// Checks all operations of a cube but `shutdown`.
#[must_use]
pub fn cube(cube: &Cube, facts: &Facts) -> Vec<Check> {
    run(cubit::ALL, cube, facts)
}

/// Checks `Cube::shutdown`, after which nobody answers.
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
    // Fails for an ORB that was shut down; the checks will say so.
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

/// Checks the same operations called without waiting.
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

/// What the checks of a peer work with.
struct World {
    orb: Orb,
    peer: Peer,
    facts: Facts,
}

/// Why a check did not pass.
enum Failure {
    Failed(String),
    Skipped(String),
}

/// Whatever is raised where nothing should be.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

type Verdict = Result<(), Failure>;

/// What a message has to carry for a check to make sense.
#[derive(Clone, Copy)]
enum Needs {
    Nothing,
    /// `wchar` or `wstring`.
    Wide,
    /// Characters beyond ASCII in strings.
    CodeSet,
}

/// A check that has not been made: its name, what it needs, how it is made.
type Planned<W> = (&'static str, Needs, fn(&W) -> Verdict);

fn run<W>(planned: &[Planned<W>], world: &W, facts: &Facts) -> Vec<Check> {
    let one = |(name, needs, check): &Planned<W>| Check {
        name,
        outcome: match missing(*needs, facts) {
            Some(why) => Outcome::Skipped(why.to_owned()),
            None => outcome(check(world)),
        },
    };
    planned.iter().map(one).collect()
}

fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Ok(()) => Outcome::Passed,
        Err(Failure::Failed(why)) => Outcome::Failed(why),
        Err(Failure::Skipped(why)) => Outcome::Skipped(why),
    }
}

fn missing(needs: Needs, facts: &Facts) -> Option<&'static str> {
    match needs {
        Needs::Wide if !facts.wide => Some("wide characters cannot be sent to this peer"),
        Needs::CodeSet if !facts.code_sets => Some("no code sets are negotiated with this peer"),
        _ => None,
    }
}

fn failed(why: impl Into<String>) -> Failure {
    Failure::Failed(why.into())
}

fn require(condition: bool, otherwise: &str) -> Verdict {
    if condition {
        Ok(())
    } else {
        Err(failed(otherwise))
    }
}

fn expect<T: PartialEq + fmt::Debug>(what: &str, got: &T, want: &T) -> Verdict {
    if got == want {
        return Ok(());
    }
    Err(failed(format!(
        "{what} is {got:.200?} instead of {want:.200?}"
    )))
}

/// Requires a call to end in a system exception of that kind.
fn expect_raised<T: fmt::Debug>(
    got: Result<T, SystemException>,
    kind: ExceptionKind,
) -> Result<SystemException, Failure> {
    match got {
        Err(exception) if exception.kind == kind => Ok(exception),
        Err(exception) => Err(failed(format!("{exception} was raised instead of {kind}"))),
        Ok(value) => Err(failed(format!("{value:?} was returned, {kind} not raised"))),
    }
}

/// An object reference without a type, as a corbaloc gives it, to the object
/// with that key at the address of another.
fn at_address_of(
    orb: &Orb,
    object: &impl Interface,
    key: impl FnOnce(Vec<u8>) -> Vec<u8>,
) -> Result<orbium::ObjectRef, Failure> {
    let object = object.as_object();
    let offered = object.protocols().into_iter();
    let mut usable = offered.filter(|offered| offered.refusal.is_none());
    let channel = usable.find_map(|offered| offered.channel);
    let Channel {
        scheme,
        messaging,
        address,
    } = channel.ok_or_else(|| failed("no protocol that can be used"))?;
    let mut keys = object.ior().profiles.iter();
    let object_key = keys.find_map(TaggedProfile::object_key);
    let object_key = object_key.ok_or_else(|| failed("no object key"))?;
    let internet = object.ior().iiop_profiles().next();
    let minor = internet.map_or(2, |profile| profile.version.minor);
    if !messaging.is_empty() {
        // No URL says that another messaging half than GIOP is spoken there.
        let profile = OrbiumProfile {
            version: Version { major: 1, minor },
            scheme,
            messaging,
            address,
            object_key: key(object_key),
            components: Vec::new(),
        };
        let ior = Ior {
            type_id: String::new(),
            profiles: vec![profile.encode()],
        };
        let object = orb.string_to_object(&ior.to_string())?;
        return object.ok_or_else(|| failed("a reference gave nil"));
    }
    // A path has slashes of its own.
    let separator = if address.contains('/') { '|' } else { '/' };
    let mut url = format!("corbaloc:{scheme}:1.{minor}@{address}{separator}");
    for octet in key(object_key) {
        url.push_str(&format!("%{octet:02x}"));
    }
    let object = orb.string_to_object(&url)?;
    object.ok_or_else(|| failed("a corbaloc gave nil"))
}
