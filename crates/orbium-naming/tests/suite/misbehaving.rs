// SPDX-License-Identifier: MIT OR Apache-2.0
//! Name services that answer what they should not.

use std::thread;

use orbium::cdr::CdrWriter;
use orbium::giop::{Ior, ReplyStatus};
use orbium::names::NameError;
use orbium::{ExceptionKind, Interface, Orb, reference::ObjectError};
use orbium_naming::{Name, NamingContext, NamingError};
use orbium_testkit::{FakeServer, reference};

use crate::Tested;

/// Answers one `resolve` with a user exception.
fn resolved(id: &'static str, members: fn(&mut CdrWriter<'_>)) -> Result<NameError, String> {
    let server = FakeServer::listen();
    let url = format!("corbaname::127.0.0.1:{}#a/b", server.port());
    let answering = thread::spawn(move || {
        let mut peer = server.accept();
        let request = peer.expect_request("resolve");
        peer.answer_with(&request, ReplyStatus::UserException, |writer| {
            writer.write_name(id);
            members(writer);
        });
        peer.expect_end();
    });
    let orb = orbium_testkit::client();
    let error = match orb.string_to_object(&url) {
        Err(ObjectError::Naming(error)) => Ok(error),
        other => Err(format!("{other:?}")),
    };
    orb.shutdown(true).map_err(|error| error.to_string())?;
    drop(orb);
    answering.join().map_err(|_| "the server panicked")?;
    error
}

fn b() -> Name {
    "b".parse().unwrap()
}

/// A name of one component, as the specification marshals it.
fn write_b(writer: &mut CdrWriter<'_>) {
    writer.write_u32(1);
    writer.write_name("b");
    writer.write_name("");
}

/// A reference, as the specification marshals it.
fn write_reference(ior: &Ior, writer: &mut CdrWriter<'_>) {
    writer.write_name(&ior.type_id);
    writer.write_count(ior.profiles.len());
    for profile in &ior.profiles {
        writer.write_u32(profile.tag);
        writer.write_octets(&profile.data);
    }
}

/// Conformance: references - `corbaname:` - exceptions of the context, also malformed ones
#[test]
fn exceptions_of_resolve_are_read_with_care() -> Tested {
    let proceed = "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0";
    let error = resolved(proceed, |writer| {
        write_reference(&Ior::NIL, writer);
        write_b(writer);
    })?;
    assert_eq!(error, NameError::CannotProceed { rest: b() });
    let invalid = "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0";
    assert_eq!(resolved(invalid, |_| ())?, NameError::InvalidName);
    let not_found = "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0";
    let malformed: [(_, fn(&mut CdrWriter<'_>)); 3] = [
        // An enumerator that is none; a count without components; nothing at all.
        (not_found, |writer| {
            writer.write_u32(3);
            write_b(writer);
        }),
        (not_found, |writer| {
            writer.write_u32(0);
            writer.write_u32(u32::MAX);
        }),
        (proceed, |_| ()),
    ];
    for (id, members) in malformed {
        let NameError::System(exception) = resolved(id, members)? else {
            return Err("read what is malformed".into());
        };
        assert_eq!(exception.kind, ExceptionKind::Marshal);
    }
    let NameError::System(unknown) = resolved("IDL:Other:1.0", |_| ())? else {
        return Err("read what is not declared".into());
    };
    assert_eq!(unknown.kind, ExceptionKind::Unknown);
    Ok(())
}

fn context(orb: &Orb, port: u16) -> NamingContext {
    let mut ior = reference(2, &[port], b"names", &[]);
    ior.type_id = NamingContext::REPOSITORY_ID.to_owned();
    NamingContext::from_object(orb.plain_reference(ior))
}

/// A server that says there is more, and sends nothing, is not asked for ever.
#[test]
fn a_listing_without_progress_ends() -> Tested {
    let server = FakeServer::listen();
    let port = server.port();
    let answering = thread::spawn(move || {
        let mut peer = server.accept();
        let request = peer.expect_request("list");
        let mut iterator = reference(2, &[port], b"iterator", &[]);
        iterator.type_id = "IDL:omg.org/CosNaming/BindingIterator:1.0".to_owned();
        let more = |writer: &mut CdrWriter<'_>| {
            writer.write_u32(1);
            // The name has no component.
            writer.write_u32(0);
            writer.write_u32(0);
            write_reference(&iterator, writer);
        };
        peer.answer(&request, more);
        let request = peer.expect_request("next_n");
        peer.answer(&request, |writer| {
            writer.write_bool(true);
            writer.write_u32(0);
        });
        let request = peer.expect_request("destroy");
        peer.answer(&request, |_| ());
        peer.expect_end();
    });
    let orb = orbium_testkit::client();
    let listed: Result<Vec<_>, _> = context(&orb, port).list()?.collect();
    let listed = listed?;
    assert_eq!(listed.len(), 1);
    assert!(listed[0].name.is_empty());
    orb.shutdown(true)?;
    drop(orb);
    answering.join().map_err(|_| "the server panicked")?;
    Ok(())
}

/// A typed CannotProceed leads on: the context in it has the deadlines of the first.
#[test]
fn cannot_proceed_says_where_to_go_on() -> Tested {
    let server = FakeServer::listen();
    let port = server.port();
    let answering = thread::spawn(move || {
        let mut peer = server.accept();
        let request = peer.expect_request("unbind");
        let next = reference(2, &[port], b"next", &[]);
        peer.answer_with(&request, ReplyStatus::UserException, |writer| {
            writer.write_name("IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0");
            write_reference(&next, writer);
            write_b(writer);
        });
        let request = peer.expect_request("unbind");
        peer.answer(&request, |_| ());
        peer.expect_end();
    });
    let orb = orbium_testkit::client();
    let first = context(&orb, port).with_timeout(orbium_testkit::PATIENCE);
    let NamingError::CannotProceed {
        context: Some(next),
        rest,
    } = first.unbind("a/b").unwrap_err()
    else {
        return Err("another exception".into());
    };
    assert_eq!(rest, b());
    let next = NamingContext::from_object(next);
    assert_eq!(
        next.as_object().time_policies(),
        first.as_object().time_policies()
    );
    next.unbind(rest)?;
    orb.shutdown(true)?;
    drop((first, next, orb));
    answering.join().map_err(|_| "the server panicked")?;
    Ok(())
}
