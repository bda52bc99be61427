// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors that record the points called, and run an action of the test at one of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use orbium::interceptor::{
    ClientInterceptor, ClientRequest, Interceptors, Interrupt, ReceiveContexts, ReceiveException,
    ReceiveOther, ReceiveReply, ReceiveRequest, SendException, SendOther, SendPoll, SendReply,
    SendRequest, ServerInterceptor, ServerRequest,
};
use orbium::{Completion, ExceptionKind, Interface, Orb, SystemException};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, reach};

/// The recorded events, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    pub(crate) fn note(&self, what: String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(what);
    }

    /// The number of recorded events.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes the recorded events.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The result of interceptors.
pub(crate) const REFUSED: SystemException =
    SystemException::new(ExceptionKind::NoPermission, 7, Completion::No);

/// Raises that exception.
pub(crate) fn raise() -> Result<(), Interrupt> {
    Err(REFUSED.into())
}

/// Forwards once to that object.
pub(crate) fn forward_to(
    server: &Server,
) -> impl Fn() -> Result<(), Interrupt> + Send + Sync + 'static {
    let to = Interrupt::forward(server.target.as_object().ior());
    let done = AtomicBool::new(false);
    move || {
        if done.swap(true, Ordering::SeqCst) {
            Ok(())
        } else {
            Err(to.clone())
        }
    }
}

/// A served object without interceptors.
pub(crate) fn plain_server() -> Server {
    serve(Interceptors::new())
}

/// Two interceptors, named `1` and `2`.
pub(crate) fn recorders(journal: &Journal) -> [Recorder; 2] {
    [Recorder::new("1", journal), Recorder::new("2", journal)]
}

type Act = Arc<dyn Fn() -> Result<(), Interrupt> + Send + Sync>;

/// Records the points called, with the operation.
#[derive(Clone)]
pub(crate) struct Recorder {
    name: &'static str,
    journal: Journal,
    at: &'static str,
    act: Act,
}

impl Recorder {
    pub(crate) fn new(name: &'static str, journal: &Journal) -> Self {
        Self {
            name,
            journal: journal.clone(),
            at: "",
            act: Arc::new(|| Ok(())),
        }
    }

    /// Runs an action at the point with that name.
    pub(crate) fn at(
        self,
        point: &'static str,
        act: impl Fn() -> Result<(), Interrupt> + Send + Sync + 'static,
    ) -> Self {
        Self {
            at: point,
            act: Arc::new(act),
            ..self
        }
    }

    fn point(&self, point: &str, operation: &str, detail: &str) -> Result<(), Interrupt> {
        // Requests made by the ORB itself are not part of a test.
        if operation.starts_with('_') {
            return Ok(());
        }
        self.journal.note(format!("{} {point}{detail}", self.name));
        if point == self.at {
            (self.act)()
        } else {
            Ok(())
        }
    }

    fn client(
        &self,
        point: &str,
        request: &ClientRequest<'_>,
        detail: &str,
    ) -> Result<(), Interrupt> {
        self.point(point, request.operation(), detail)
    }

    fn server(
        &self,
        point: &str,
        request: &ServerRequest<'_>,
        detail: &str,
    ) -> Result<(), Interrupt> {
        self.point(point, &request.operation(), detail)
    }
}

fn raised(outcome: Result<(), Interrupt>) -> Result<(), SystemException> {
    outcome.map_err(|interrupt| match interrupt {
        Interrupt::Raise(exception) => exception,
        Interrupt::Forward(_) => panic!("this point cannot forward"),
    })
}

impl ClientInterceptor for Recorder {
    fn name(&self) -> &str {
        self.name
    }

    fn send_request(&self, it: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        self.client("send_request", it, "")
    }

    fn send_poll(&self, it: &mut SendPoll<'_>) -> Result<(), SystemException> {
        raised(self.client("send_poll", it, ""))
    }

    fn receive_reply(&self, it: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        raised(self.client("receive_reply", it, ""))
    }

    fn receive_exception(&self, it: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        let detail = format!(" {}", it.received_exception_id());
        self.client("receive_exception", it, &detail)
    }

    fn receive_other(&self, it: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        let detail = format!(" {:?}", it.reply_status());
        self.client("receive_other", it, &detail)
    }
}

impl ServerInterceptor for Recorder {
    fn name(&self) -> &str {
        self.name
    }

    fn receive_request_service_contexts(
        &self,
        it: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        self.server("receive_contexts", it, "")
    }

    fn receive_request(&self, it: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        self.server("receive_request", it, "")
    }

    fn send_reply(&self, it: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        raised(self.server("send_reply", it, ""))
    }

    fn send_exception(&self, it: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        let detail = format!(" {}", it.sending_exception_id());
        self.server("send_exception", it, &detail)
    }

    fn send_other(&self, it: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        let detail = format!(" {:?}", it.reply_status());
        self.server("send_other", it, &detail)
    }
}

/// An ORB with interceptors of calls.
pub(crate) fn client_orb(all: impl IntoIterator<Item = Recorder>) -> Orb {
    let mut interceptors = Interceptors::new();
    for one in all {
        interceptors.add_client(one).unwrap();
    }
    Orb::builder().interceptors(interceptors).build().unwrap()
}

/// A served object of an ORB with interceptors of requests.
pub(crate) struct Server {
    /// The server's ORB, which serves as long as it is held.
    pub orb: Orb,
    pub state: Arc<TargetState>,
    pub target: Target,
}

/// An ORB with interceptors of requests, and an object.
pub(crate) fn server_orb(all: impl IntoIterator<Item = Recorder>) -> Server {
    let mut interceptors = Interceptors::new();
    for one in all {
        interceptors.add_server(one).unwrap();
    }
    serve(interceptors)
}

/// An ORB with those interceptors, and an object.
pub(crate) fn serve(interceptors: Interceptors) -> Server {
    let orb = Orb::builder()
        .endpoint("iiop://127.0.0.1:0")
        .unwrap()
        .interceptors(interceptors)
        .build()
        .unwrap();
    let state = Arc::new(TargetState::default());
    let target = orb.serve("Target", Arc::clone(&state)).unwrap();
    Server { orb, state, target }
}

/// The same object for another ORB.
pub(crate) fn seen_by(orb: &Orb, target: &Target) -> Target {
    reach(orb, &orb.object_to_string(target))
}
