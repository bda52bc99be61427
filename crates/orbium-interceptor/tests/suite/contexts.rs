// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts between interceptors of both sides.

use std::sync::{Arc, Mutex};

use orbium::Orb;
use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, ReceiveReply, ReceiveRequest, SendRequest,
    ServerInterceptor,
};
use orbium::{Config, ExceptionKind, SystemException, config::GiopMinor};
use orbium_testkit::probe::Pair;

use crate::Tested;
use crate::recorder::{seen_by, serve};

const TAG: u32 = 0x4F52_4270;

/// Adds a context to each request, and records the contexts of replies.
#[derive(Default)]
struct Asking(Arc<Mutex<Vec<Vec<u8>>>>);

impl ClientInterceptor for Asking {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        request.add_service_context(TAG, b"question".to_vec(), false)?;
        let twice = request.add_service_context(TAG, b"again".to_vec(), false);
        let expected = SystemException::omg(ExceptionKind::BadInvOrder, 15, orbium::Completion::No);
        assert_eq!(twice, Err(expected));
        assert_eq!(request.service_context(TAG)?, b"question");
        Ok(())
    }

    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        let data = reply.reply_service_context(TAG)?.to_vec();
        self.0.lock().unwrap().push(data);
        Ok(())
    }
}

/// Answers the context of a request with one in the reply.
struct Answering;

impl ServerInterceptor for Answering {
    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        let asked = request.service_context(TAG)?.to_vec();
        request.add_reply_service_context(TAG, [&asked[..], b" answered"].concat(), false)?;
        Ok(())
    }
}

/// Conformance: PI - service contexts of requests and replies
#[test]
fn contexts_of_interceptors_travel_with_request_and_reply() -> Tested {
    let mut interceptors = Interceptors::new();
    interceptors.add_server(Answering)?;
    let server = serve(interceptors);
    let heard = Arc::default();
    let mut interceptors = Interceptors::new();
    interceptors.add_client(Asking(Arc::clone(&heard)))?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    assert_eq!(target.echo_long(7)?, 7);
    assert_eq!(target.echo_string("seven")?, "seven");
    assert_eq!(
        *heard.lock().unwrap(),
        [b"question answered", b"question answered"]
    );
    Ok(())
}

/// Before GIOP 1.2 the body of a reply follows its header without padding: contexts of any
/// length must leave its values aligned.
/// Conformance: PI - service contexts in every version of GIOP
#[test]
fn contexts_of_any_length_leave_the_values_of_old_replies_aligned() -> Tested {
    for minor in 0..=2 {
        for len in 0..9 {
            let mut interceptors = Interceptors::new();
            interceptors.add_server(Padding(len))?;
            let server = serve(interceptors);
            let orb = Orb::new(Config {
                giop_minor: GiopMinor::new(minor).ok_or("no such version")?,
                ..Config::default()
            })?;
            let target = seen_by(&orb, &server.target);
            let pair = Pair { o: 3, l: -5 };
            assert_eq!(
                target.echo_pair(&pair)?,
                pair,
                "GIOP 1.{minor}, {len} octets"
            );
        }
    }
    Ok(())
}

/// Adds a context of that length.
struct Padding(usize);

impl ServerInterceptor for Padding {
    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        request.add_reply_service_context(TAG, vec![1; self.0], false)?;
        Ok(())
    }
}
