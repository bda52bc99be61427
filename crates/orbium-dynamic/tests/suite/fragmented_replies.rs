// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies in fragments that are aligned separately, as GIOP 1.1 has them.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use orbium_cdr::{Any, ByteOrder, Type, TypeCode};
use orbium_core::{ObjectRef, Orb};
use orbium_dynamic::{Request, RequestError};
use orbium_giop::{
    HEADER_LEN, IiopProfile, Ior, MessageHeader, MessageKind, ReplyStatus, RequestHeader, Version,
};

fn fragment(kind: MessageKind, more_fragments: bool, data: &[u8]) -> Vec<u8> {
    let header = MessageHeader {
        version: Version::V1_1,
        order: ByteOrder::NATIVE,
        more_fragments,
        kind,
        size: data.len() as u32,
    };
    [&header.encode(), data].concat()
}

/// A server that answers one request: with the body up to an octet, and in another fragment with a
/// double, for which a fragment has other padding than the whole message would have.
fn server(status: ReplyStatus, body: Vec<u8>, double: f64) -> Ior {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let profile = IiopProfile {
        version: Version::V1_1,
        host: Ipv4Addr::LOCALHOST.to_string(),
        port: listener.local_addr().unwrap().port(),
        object_key: b"Key".to_vec(),
        components: Vec::new(),
    };
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; HEADER_LEN];
        stream.read_exact(&mut head).unwrap();
        let header = MessageHeader::parse(&head).unwrap();
        let mut rest = vec![0; header.size as usize];
        stream.read_exact(&mut rest).unwrap();
        let request = RequestHeader::read(&mut header.reader(&mut rest), 1).unwrap();
        let mut first = 0u32.to_ne_bytes().to_vec();
        first.extend(request.request_id.to_ne_bytes());
        first.extend((status as u32).to_ne_bytes());
        first.extend(body);
        let mut second = vec![0; 4];
        second.extend(double.to_ne_bytes());
        let reply = fragment(MessageKind::Reply, true, &first);
        stream.write_all(&reply).unwrap();
        let reply = fragment(MessageKind::Fragment, false, &second);
        stream.write_all(&reply).unwrap();
        // Open until the client has read it.
        let _ = stream.read(&mut head);
    });
    Ior::with_profile("", &profile)
}

fn object(orb: &Orb, ior: &Ior) -> ObjectRef {
    orb.string_to_object(&ior.to_string()).unwrap().unwrap()
}

/// A reply that is collected later was read as if it had come in one message.
#[test]
fn a_reply_in_fragments_may_be_collected_later() {
    let ior = server(ReplyStatus::NoException, vec![7], 2.5);
    let orb = Orb::builder().build().unwrap();
    let mut request = Request::new(&object(&orb, &ior), "measure").unwrap();
    request.set_return_type(Type::OCTET).unwrap();
    request.add_out("level", Type::DOUBLE).unwrap();
    request.send().unwrap();
    request.get_response().unwrap();
    assert_eq!(request.return_value(), &Any::from(7u8));
    assert_eq!(request.arguments()[0].value(), &Any::from(2.5));
}

/// As were the members of an exception.
#[test]
fn an_exception_in_fragments_is_read() {
    let members = [("at", Type::OCTET.into()), ("level", Type::DOUBLE.into())];
    let full = TypeCode::exception("IDL:Full:1.0", "Full", members);
    let mut body = 13u32.to_ne_bytes().to_vec();
    body.extend(b"IDL:Full:1.0\0\x07");
    let ior = server(ReplyStatus::UserException, body, 2.5);
    let orb = Orb::builder().build().unwrap();
    let mut request = Request::new(&object(&orb, &ior), "measure").unwrap();
    request.add_exception(full).unwrap();
    let Err(RequestError::User(exception)) = request.invoke() else {
        panic!("the exception was raised");
    };
    assert_eq!(format!("{exception:?}"), "Any(Full: { at: 7, level: 2.5 })");
}
