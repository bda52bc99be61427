// SPDX-License-Identifier: MIT OR Apache-2.0
//! LOCATION_FORWARD from the server.

use std::sync::Arc;

use orbium::giop::{
    LocateReplyHeader, LocateStatus, MessageKind, ReplyStatus, Target as Addressed, Version,
    write_locate_request,
};
use orbium::{
    Servant,
    poa::{ForwardRequest, Poa, ServantActivator, ServantError, ServantRetention},
};
use orbium_cdr::{ByteOrder, CdrWriter, Decode, Format};
use orbium_testkit::probe::Target;
use orbium_testkit::{Peer, RequestLine, Served, client, each_strategy, request};

use crate::fixture::{child, managed, remote};
use crate::locators::Forwarding;

struct Elsewhere(ForwardRequest);

impl ServantActivator for Elsewhere {
    fn incarnate(&self, _: &[u8], _: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        Err(self.0.clone().into())
    }

    fn locate(&self, _: &[u8], _: &Poa) -> Option<ForwardRequest> {
        Some(self.0.clone())
    }
}

fn forwards(to: &Target) -> [ForwardRequest; 2] {
    [ForwardRequest::to(to), ForwardRequest::permanently_to(to)]
}

/// Conformance: POA - ForwardRequest of a servant manager: LOCATION_FORWARD, LOCATION_FORWARD_PERM
/// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM sent by orbium's server
#[test]
fn a_servant_manager_sends_clients_to_another_object() {
    each_strategy(|strategy| {
        let (served, other) = (Served::new(strategy), Served::new(strategy));
        for (number, forward) in forwards(&other.target).into_iter().enumerate() {
            let client = client();
            let retaining = child(
                &served,
                &format!("a{number}"),
                managed(ServantRetention::Retain),
            );
            retaining
                .set_servant_activator(Elsewhere(forward.clone()))
                .unwrap();
            let passing = child(
                &served,
                &format!("l{number}"),
                managed(ServantRetention::NonRetain),
            );
            passing
                .set_servant_locator(Forwarding(Some(forward)))
                .unwrap();
            for poa in [retaining, passing] {
                let before = other.state.calls();
                let target = remote(&served, &client, &poa, b"gone");
                assert_eq!(target.echo_long(3), Ok(3));
                assert_eq!(target.echo_string("once more"), Ok("once more".into()));
                // Within the process too.
                let local: Target = poa.create_reference_with_id(b"gone").unwrap();
                assert_eq!(local.echo_long(4), Ok(4));
                assert_eq!(other.state.calls() - before, 3);
                assert_eq!(served.state.calls(), 0);
            }
        }
        other.end();
        served.end();
    });
}

/// Conformance: POA - ForwardRequest of a servant manager: LOCATION_FORWARD, LOCATION_FORWARD_PERM
/// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM sent by orbium's server
#[test]
fn replies_and_locate_replies_have_the_status_that_the_version_has() {
    let (served, other) = (
        Served::new(Default::default()),
        Served::new(Default::default()),
    );
    for (number, forward) in forwards(&other.target).into_iter().enumerate() {
        let (permanent, ior) = (forward.permanent, forward.to.ior().clone());
        let poa = child(
            &served,
            &number.to_string(),
            managed(ServantRetention::Retain),
        );
        poa.set_servant_activator(Elsewhere(forward)).unwrap();
        let gone: Target = poa.create_reference_with_id(b"gone").unwrap();
        let key = format!("Gone{number}");
        served.orb.bind_key_in_place(&key, &gone).unwrap();
        for minor in 0..=2 {
            let mut peer = Peer::connect(served.port());
            let line = RequestLine {
                minor,
                key: key.as_bytes(),
                ..RequestLine::new(7, "noop")
            };
            peer.send(&request(line, |_| {}));
            let (_, status, _) = peer.expect(MessageKind::Reply).reply();
            let addressed = Addressed::Key(key.as_bytes());
            let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, minor));
            let version = Version { major: 1, minor };
            write_locate_request(&mut writer, version, 9, &addressed);
            peer.send(&writer.finish().unwrap());
            let message = peer.expect(MessageKind::LocateReply);
            let (located, to) = message.read(|reader| {
                let header = LocateReplyHeader::read(reader, minor).unwrap();
                (header.status, orbium::giop::Ior::decode(reader).unwrap())
            });
            let expected = if permanent && minor == 2 {
                (
                    ReplyStatus::LocationForwardPerm,
                    LocateStatus::ObjectForwardPerm,
                )
            } else {
                (ReplyStatus::LocationForward, LocateStatus::ObjectForward)
            };
            assert_eq!((status, located), expected);
            assert_eq!(to, ior);
        }
    }
    other.end();
    served.end();
}
