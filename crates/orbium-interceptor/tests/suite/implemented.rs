// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selection of interception points: only those that an interceptor implements are called
//! after the first time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, ReceiveReply, ReceiveRequest, SendReply,
    SendRequest, ServerInterceptor,
};
use orbium::{Orb, SystemException};

use crate::Tested;
use crate::recorder::{seen_by, serve};

const CALLS: usize = 5;

/// Implements no point.
struct Nothing;

impl ClientInterceptor for Nothing {}
impl ServerInterceptor for Nothing {}

/// Counts calls, and delegates to another interceptor that implements no point.
struct Counting(Arc<AtomicUsize>);

impl Counting {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl ClientInterceptor for Counting {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        self.count();
        Nothing.send_request(request)
    }

    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        self.count();
        Nothing.receive_reply(reply)
    }
}

impl ServerInterceptor for Counting {
    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        self.count();
        Nothing.receive_request(request)
    }

    fn send_reply(&self, reply: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        self.count();
        Nothing.send_reply(reply)
    }
}

/// The ORB detects for each type which points it does not implement; an interceptor that delegates
/// calls must not be confused with the one it delegates to.
#[test]
fn an_interceptor_is_called_at_what_it_implements_whatever_others_leave_out() -> Tested {
    let (of_client, of_server) = (Arc::<AtomicUsize>::default(), Arc::default());
    let mut interceptors = Interceptors::new();
    interceptors.add_server(Nothing)?;
    interceptors.add_server(Counting(Arc::clone(&of_server)))?;
    interceptors.add_server(Nothing)?;
    let server = serve(interceptors);
    let mut interceptors = Interceptors::new();
    interceptors.add_client(Nothing)?;
    interceptors.add_client(Counting(Arc::clone(&of_client)))?;
    interceptors.add_client(Nothing)?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    let before = [&of_client, &of_server].map(|it| it.load(Ordering::Relaxed));
    for _ in 0..CALLS {
        assert_eq!(target.echo_long(7)?, 7);
    }
    let after = [&of_client, &of_server].map(|it| it.load(Ordering::Relaxed));
    assert_eq!([0, 1].map(|at| after[at] - before[at]), [2 * CALLS; 2]);
    Ok(())
}
