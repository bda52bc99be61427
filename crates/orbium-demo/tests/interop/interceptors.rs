// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts that interceptors of orbium and of JacORB exchange. A call goes from orbium by
//! way of JacORB to orbium; each interceptor writes its name behind what it has received.

use std::sync::{Arc, Mutex};

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, ReceiveContexts, ReceiveException, ReceiveReply,
    SendRequest, ServerInterceptor,
};
use orbium::{ExceptionKind, Interface as _, Orb, SystemException};
use orbium_demo::cubit::{Cube, TooBigError};
use orbium_demo::serve;

use crate::Tested;
use crate::programs::{Scratch, Server, available};

/// The service context of `interop/jacorb`'s interceptors.
const TAG: u32 = 0x4F52_4273;

/// Sends a context with each request, and keeps that of each reply.
#[derive(Clone, Default)]
struct Caller(Arc<Mutex<Vec<String>>>);

impl Caller {
    fn note(&self, context: Result<&[u8], SystemException>) {
        let text = context.map_or_else(|it| it.to_string(), |it| text(it).to_owned());
        self.0.lock().unwrap().push(text);
    }

    fn replies(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl ClientInterceptor for Caller {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        request.add_service_context(TAG, b"orbium", false)?;
        Ok(())
    }

    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        self.note(reply.reply_service_context(TAG));
        Ok(())
    }

    fn receive_exception(&self, reply: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        self.note(reply.reply_service_context(TAG));
        Ok(())
    }
}

/// Answers the context of a request with one of the reply.
struct Answering;

impl ServerInterceptor for Answering {
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        let received = text(request.service_context(TAG).unwrap_or(b"nothing"));
        let answer = format!("{received}, orbium");
        request.add_reply_service_context(TAG, answer, false)?;
        Ok(())
    }
}

fn text(data: &[u8]) -> &str {
    std::str::from_utf8(data).unwrap_or("no text")
}

fn orb(interceptors: Interceptors) -> Result<Orb, Box<dyn std::error::Error>> {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?;
    Ok(orb.interceptors(interceptors).build()?)
}

/// Conformance: PI - service contexts: with interceptors of JacORB, in both roles, with results and exceptions
#[test]
fn contexts_are_exchanged_with_interceptors_of_jacorb() -> Tested {
    if !available(&["jacorb-interceptors"]) {
        return Ok(());
    }
    let mut interceptors = Interceptors::new();
    interceptors.add_server(Answering)?;
    let serving = orb(interceptors)?;
    let served = serve(&serving)?;
    let scratch = Scratch::new()?;
    let path = scratch.write(
        "target.ior",
        serving.object_to_string(served.cube.as_object()),
    )?;
    let peer = Server::start("jacorb-interceptors", &["--cube", &path, "--ior-dir"])?;

    let caller = Caller::default();
    let mut interceptors = Interceptors::new();
    interceptors.add_client(caller.clone())?;
    let calling = orb(interceptors)?;
    let cube: Cube = calling.resolve(peer.reference("cube")?.trim())?;
    caller.replies();

    // There, and back: JacORB's server, JacORB's client, orbium's server, then the replies.
    let exchanged = "orbium, JacORB, orbium, JacORB";
    assert_eq!(cube.cube_long(3)?, 27);
    assert_eq!(caller.replies(), [exchanged]);
    assert!(matches!(cube.cube_long(2000), Err(TooBigError::TooBig(_))));
    assert_eq!(caller.replies(), [exchanged]);
    serving.shutdown(true)?;
    let refused = cube.cube_long(3);
    assert!(
        matches!(&refused, Err(TooBigError::System(it)) if it.kind == ExceptionKind::Transient),
        "{refused:?}"
    );
    // JacORB's client had no reply.
    assert_eq!(caller.replies(), ["nothing, JacORB"]);
    calling.shutdown(true)?;
    Ok(())
}
