// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points around dynamic servants: their order, and requests that interceptors end there.

use std::sync::Arc;

use orbium::interceptor::Interceptors;
use orbium::{Any, ExceptionKind, Servant, SystemException};
use orbium_cdr::Type;
use orbium_dynamic::{
    DynamicImplementation, Request, RequestError, ServerRequest, dynamic_servant,
};

use crate::Tested;
use crate::dynamic::{Asking, Dynamic, lost, of_requests};
use crate::recorder::{Journal, Recorder, Server, forward_to, plain_server, raise};

/// The behaviour of a servant for a request.
struct Acting<F>(F);

impl<F> DynamicImplementation for Acting<F>
where
    F: Fn(&mut ServerRequest<'_, '_>) -> Result<(), SystemException> + Send + Sync + 'static,
{
    fn primary_interface(&self) -> String {
        "IDL:test/Acting:1.0".to_owned()
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        (self.0)(request)
    }
}

fn acting<F>(act: F) -> Arc<dyn Servant>
where
    F: Fn(&mut ServerRequest<'_, '_>) -> Result<(), SystemException> + Send + Sync + 'static,
{
    dynamic_servant(Acting(act)).unwrap()
}

/// Conformance: PI - RequestInfo of dynamic calls and servants: `receive_request` runs when the arguments are read, or an exception is set before
#[test]
fn receive_request_runs_when_the_servant_reads_the_arguments() -> Tested {
    let server = Asking::default();
    let journal = server.journal.clone();
    let servant = acting(move |request| {
        journal.note("invoked".to_owned());
        if request.operation() == "early" {
            request.set_exception(Any::with_type(lost(), &1_i32)?)?;
            journal.note("set".to_owned());
            return Ok(());
        }
        request.arguments(&[])?;
        journal.note("read".to_owned());
        request.set_result(Any::from(7))
    });
    let both = Dynamic::new(Interceptors::new(), of_requests(&server, None), &servant);
    let mut request = Request::new(&both.object, "read")?;
    request.set_return_type(Type::LONG)?;
    request.invoke()?;
    let points = [
        "invoked",
        "read receive_request () refused refused refused",
        "read",
        "read send_reply () refused refused refused 7",
    ];
    assert_eq!(server.taken(), points);
    let mut request = Request::new(&both.object, "early")?;
    request.add_exception(lost())?;
    assert!(matches!(request.invoke(), Err(RequestError::User(_))));
    let points = [
        "invoked",
        "early receive_request () refused refused refused",
        "set",
        "early send_exception refused refused 1",
    ];
    assert_eq!(server.taken(), points);
    Ok(())
}

/// Conformance: PI - RequestInfo of dynamic calls and servants: an interceptor that raises, or forwards, at `receive_request`, whatever the servant makes of that
#[test]
fn an_interceptor_ends_the_request_of_a_dynamic_servant() -> Tested {
    // It does not return errors of reading the arguments.
    let servant = acting(|request| {
        let _ = request.arguments(&[]);
        request.set_result(Any::from(7))
    });
    let server = Asking::default();
    let raising = Recorder::new("2", &Journal::default()).at("receive_request", raise);
    let all = of_requests(&server, Some(raising));
    let both = Dynamic::new(Interceptors::new(), all, &servant);
    let raised = Request::new(&both.object, "noop")?.invoke();
    let is_refused = |it: &RequestError| matches!(it, RequestError::System(it) if it.kind == ExceptionKind::NoPermission);
    assert!(raised.as_ref().is_err_and(is_refused), "{raised:?}");
    let points = [
        "noop receive_request () refused refused refused",
        "noop send_exception refused refused refused",
    ];
    assert_eq!(server.taken(), points);

    let second: Server = plain_server();
    let forwarding = Recorder::new("2", &Journal::default());
    let forwarding = forwarding.at("receive_request", forward_to(&second));
    let all = of_requests(&server, Some(forwarding));
    let both = Dynamic::new(Interceptors::new(), all, &servant);
    Request::new(&both.object, "noop")?.invoke()?;
    assert_eq!(second.state.calls(), 1);
    let points = [
        "noop receive_request () refused refused refused",
        "noop send_other refused refused",
    ];
    assert_eq!(server.taken(), points);
    Ok(())
}
