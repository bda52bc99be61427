// SPDX-License-Identifier: MIT OR Apache-2.0
//! Implicit operations, and LocateRequests.

use std::sync::{Arc, Mutex};

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, ReceiveContexts, ReceiveReply, ReceiveRequest,
    SendReply, SendRequest, ServerInterceptor,
};
use orbium::{Interface, Orb, SystemException};

use crate::Tested;
use crate::recorder::{seen_by, serve};

/// Records the points, with the operation.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<String>>>);

impl Noting {
    fn note(&self, point: &str, operation: &str) {
        self.0.lock().unwrap().push(format!("{point} {operation}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl ClientInterceptor for Noting {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        self.note("send_request", request.operation());
        Ok(())
    }

    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        self.note("receive_reply", reply.operation());
        Ok(())
    }
}

impl ServerInterceptor for Noting {
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        self.note("receive_contexts", &request.operation());
        Ok(())
    }

    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        self.note("receive_request", &request.operation());
        Ok(())
    }

    fn send_reply(&self, reply: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        self.note("send_reply", &reply.operation());
        Ok(())
    }
}

/// The points of a request with results.
const POINTS: [&str; 5] = [
    "send_request",
    "receive_contexts",
    "receive_request",
    "send_reply",
    "receive_reply",
];

/// Conformance: PI - operations of every object are seen by both sides
/// Conformance: PI - a LocateRequest is no request: no point
#[test]
fn operations_of_every_object_are_seen_and_its_location_is_not() -> Tested {
    let noting = Noting::default();
    let mut interceptors = Interceptors::new();
    interceptors.add_server(noting.clone())?;
    let server = serve(interceptors);
    let mut interceptors = Interceptors::new();
    interceptors.add_client(noting.clone())?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    let object = target.as_object();
    noting.take();
    let points = |operation: &str| POINTS.map(|it| format!("{it} {operation}"));

    assert!(!object.non_existent()?);
    assert_eq!(noting.take(), points("_non_existent"));
    assert!(!object.is_a("IDL:Other:1.0")?);
    assert_eq!(noting.take(), points("_is_a"));
    object.repository_id()?;
    assert_eq!(noting.take(), points("_repository_id"));
    assert!(object.locate()?);
    assert!(noting.take().is_empty());
    Ok(())
}
