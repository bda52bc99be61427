// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object references and the operations of every object.

use orbium::giop::{Ior, OrbiumProfile, TaggedProfile, Version};
use orbium::{
    Completion, ExceptionKind, Interface, ObjectRef, Orb, protocol::Channel, reference::NarrowError,
};

use super::planned::Needs::Nothing;
use super::planned::{Planned, World};
use super::verdict::{Failure, Verdict, expect, expect_raised, failed, require};
use crate::cubit::Cube;
use crate::kitchen::Peer;
use crate::{CubeServant, PeerServant};

pub(super) const ALL: &[Planned<World>] = &[
    ("object.echo", Nothing, echo_object),
    ("object.echo_nil", Nothing, |w| {
        expect("the reference", &w.peer.echo_object(None)?, &None)
    }),
    ("object.echo_peer", Nothing, |w| {
        let got = w.peer.echo_peer(Some(&w.peer))?;
        let got = got.ok_or_else(|| failed("the reference is nil"))?;
        equivalent(&got, &w.peer)?;
        Ok(got.ping()?)
    }),
    ("object.echo_peer_nil", Nothing, |w| {
        expect("the reference", &w.peer.echo_peer(None)?, &None)
    }),
    ("object.echo_peer_own", Nothing, echo_peer_own),
    ("object.is_a", Nothing, |w| {
        is_a(w, "IDL:orbium.test/Kitchen/Peer:1.0", true)
    }),
    ("object.is_a_base", Nothing, |w| {
        is_a(w, "IDL:orbium.test/Kitchen/Base:1.0", true)
    }),
    ("object.is_a_other", Nothing, |w| {
        is_a(w, "IDL:orbium.test/Kitchen/Other:1.0", true)
    }),
    ("object.is_a_object", Nothing, |w| {
        is_a(w, "IDL:omg.org/CORBA/Object:1.0", true)
    }),
    ("object.is_a_wrong", Nothing, |w| {
        is_a(w, "IDL:Cubit/Cube:1.0", false)
    }),
    ("object.narrow", Nothing, |w| {
        let peer: Peer = untyped(w)?.narrow()?;
        Ok(peer.ping()?)
    }),
    ("object.narrow_wrong", Nothing, |w| {
        expect(
            "the outcome",
            &untyped(w)?.narrow::<Cube>(),
            &Err(NarrowError::WrongType),
        )
    }),
    ("object.repository_id", Nothing, repository_id),
    ("object.existent", Nothing, |w| {
        let gone = w.peer.as_object().non_existent()?;
        require(!gone, "_non_existent is true")
    }),
    ("object.locate", Nothing, |w| {
        let there = w.peer.as_object().locate()?;
        require(there, "the object is not there")
    }),
    ("object.locate_stranger", Nothing, |w| {
        let there = stranger(w, false)?.locate()?;
        require(!there, "an object exists that was not made")
    }),
    ("object.non_existent_key", Nothing, |w| {
        let gone = stranger(w, false)?.non_existent()?;
        require(gone, "_non_existent is false")
    }),
    ("object.non_existent_id", Nothing, |w| {
        let gone = stranger(w, true)?.non_existent()?;
        require(gone, "_non_existent is false")
    }),
    ("object.not_exist_key", Nothing, |w| not_exist(w, false)),
    ("object.not_exist_id", Nothing, |w| not_exist(w, true)),
    ("object.corbaloc_call", Nothing, |w| {
        let peer = Peer::from_object(untyped(w)?);
        expect("the sum", &peer.r#match(2, 3)?, &5)
    }),
    ("object.unknown_operation_peer", Nothing, unknown_operation),
];

fn equivalent(got: &impl Interface, want: &impl Interface) -> Verdict {
    let same = got.as_object().is_equivalent(want.as_object());
    require(same, "the reference differs")
}

/// An object of this process, with an interface that the peer does not expect.
fn echo_object(world: &World) -> Verdict {
    let poa = world.orb.root_poa();
    let own: Cube = poa.activate(CubeServant::default())?;
    let got = world.peer.echo_object(Some(own.as_object()));
    let verdict = got.map_err(Failure::from).and_then(|got| {
        let got = got.ok_or_else(|| failed("the reference is nil"))?;
        equivalent(&got, &own)?;
        let cube: Cube = got.narrow()?;
        Ok(cube.noop()?)
    });
    poa.deactivate(&poa.reference_to_id(&own)?)?;
    verdict
}

/// An object of this process is returned as itself.
fn echo_peer_own(world: &World) -> Verdict {
    let poa = world.orb.root_poa();
    let own: Peer = poa.activate(PeerServant::default())?;
    own.set_label("own")?;
    let got = world.peer.echo_peer(Some(&own));
    let label = got.map(|got| got.map(|got| got.label()));
    poa.deactivate(&poa.reference_to_id(&own)?)?;
    let label = label?.ok_or_else(|| failed("the reference is nil"))??;
    expect("the label", &label.as_str(), &"own")
}

/// The peer by a reference without its type.
fn untyped(world: &World) -> Result<ObjectRef, Failure> {
    at_address_of(&world.orb, &world.peer, |key| key)
}

fn is_a(world: &World, id: &str, want: bool) -> Verdict {
    expect("the answer", &untyped(world)?.is_a(id)?, &want)
}

fn repository_id(world: &World) -> Verdict {
    let got = untyped(world)?.repository_id();
    // Added by CORBA 3.0; older ORBs do not have it.
    let unknown = got.as_ref().err().map(|e| e.kind) == Some(ExceptionKind::BadOperation);
    if unknown && !world.facts.complete {
        return Err(Failure::Skipped("the peer has no _repository_id".into()));
    }
    expect(
        "the id",
        &got?.as_str(),
        &"IDL:orbium.test/Kitchen/Peer:1.0",
    )
}

/// A nonexistent object: with an unknown key, or a known one with octets appended.
fn stranger(world: &World, known: bool) -> Result<ObjectRef, Failure> {
    at_address_of(&world.orb, &world.peer, |mut key| {
        if !known {
            return b"NoSuchObject".to_vec();
        }
        key.extend_from_slice(b"gone");
        key
    })
}

fn not_exist(world: &World, known: bool) -> Verdict {
    let peer = Peer::from_object(stranger(world, known)?);
    let got = peer.r#match(1, 2);
    expect_raised(got, ExceptionKind::ObjectNotExist).map(drop)
}

/// A peer has no operation of a cube.
fn unknown_operation(world: &World) -> Verdict {
    let cube = Cube::from_object(world.peer.as_object().clone());
    let exception = expect_raised(cube.noop(), ExceptionKind::BadOperation)?;
    expect(
        "the completion status",
        &exception.completed,
        &Completion::No,
    )?;
    // The connection remains usable.
    Ok(world.peer.ping()?)
}

/// An object reference without a type, as from a corbaloc, to the object with that key at the
/// address of another.
fn at_address_of(
    orb: &Orb,
    object: &impl Interface,
    key: impl FnOnce(Vec<u8>) -> Vec<u8>,
) -> Result<ObjectRef, Failure> {
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
        // No URL can express that a messaging protocol other than GIOP is used there.
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
