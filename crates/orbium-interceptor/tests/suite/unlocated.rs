// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that end before their object is located.

use orbium::interceptor::{Interceptors, Interrupt, SendException, ServerInterceptor};
use orbium::{Completion, ExceptionKind, SystemException};

use crate::recorder::{Journal, REFUSED, Recorder, client_orb, raise, seen_by, serve};

const NO_SUCH_POLICY: u32 = 0x4F52_42FE;

/// Queries the object at the end of a request that has not located it.
struct Unlocated(Journal);

impl ServerInterceptor for Unlocated {
    fn send_exception(&self, it: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        let is_unknown = it.object_id().is_empty()
            && it.adapter_id().is_empty()
            && it.adapter_name().is_empty()
            && it.orb_id().is_empty()
            && it.server_id().is_empty();
        let policy = it.server_policy(NO_SUCH_POLICY).err();
        let policy = policy
            == Some(SystemException::omg(
                ExceptionKind::InvPolicy,
                2,
                Completion::No,
            ));
        self.0.note(format!("{is_unknown} {policy}"));
        Ok(())
    }
}

/// Conformance: PI - RequestInfo: what each point of a call and of a request gives - of an object that is not located: nothing
#[test]
fn a_request_that_ends_before_its_object_is_located_has_none() {
    let journal = Journal::default();
    let mut interceptors = Interceptors::new();
    interceptors.add_server(Unlocated(journal.clone())).unwrap();
    let raising = Recorder::new("2", &Journal::default()).at("receive_contexts", raise);
    interceptors.add_server(raising).unwrap();
    let server = serve(interceptors);
    let orb = client_orb([]);
    let target = seen_by(&orb, &server.target);
    assert_eq!(target.noop(), Err(REFUSED));
    assert_eq!(journal.take(), ["true true"]);
}
