// SPDX-License-Identifier: MIT OR Apache-2.0
//! Availability of request information at each point: the two tables of `RequestInfo` (CORBA 3.3
//! Part 1, 16.4.13 and 16.4.14). Each point queries all attributes of its type; attributes
//! forbidden by the tables do not compile, as shown by the documentation tests of
//! `orbium_interceptor::{client, server}`.

use orbium::interceptor::{
    ClientInterceptor, ClientRequest, Interceptors, Interrupt, OrbIdentity, ReceiveContexts,
    ReceiveException, ReceiveOther, ReceiveReply, ReceiveRequest, RequestStatus, SendException,
    SendOther, SendPoll, SendReply, SendRequest, ServerInterceptor, ServerRequest, SlotId,
};
use orbium::{Any, Completion, Config, ExceptionKind, Interface, Orb, SystemException};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, reach};

use crate::recorder::{Journal, Recorder, forward_to, plain_server};

static ECHO: Operation = Operation::new("echo_long");

const CONTEXT: u32 = 0x4F52_4290;
const REPLY_CONTEXT: u32 = 0x4F52_4291;
const NO_SUCH_ID: u32 = 0x4F52_42FF;
const NO_SUCH_POLICY: u32 = 0x4F52_42FE;

/// Queries everything at every point, and records the points and unexpected results.
#[derive(Clone)]
struct Asking {
    journal: Journal,
    slot: SlotId,
}

fn refused(kind: ExceptionKind, minor: u32) -> SystemException {
    SystemException::omg(kind, minor, Completion::No)
}

/// The refusal of information that compiled stubs and skeletons do not retain.
fn is_not_kept<T>(asked: Result<T, SystemException>) -> bool {
    asked.err().is_some_and(|it| (it.kind, it.minor) == kept(1))
}

const fn kept(minor: u32) -> (ExceptionKind, u32) {
    (ExceptionKind::NoResources, 0x4F4D_0000 | minor)
}

impl Asking {
    fn client(&self, point: &str, it: &ClientRequest<'_>, further: &[(&str, bool)]) {
        if it.operation().starts_with('_') {
            return;
        }
        let policy = it.request_policy(NO_SUCH_POLICY).err();
        let all = [
            ("request_id", it.request_id() < u32::MAX),
            ("operation", !it.operation().is_empty()),
            ("response_expected", it.response_expected()),
            (
                "get_slot",
                it.get_slot(self.slot).is_ok_and(|any| is_null(&any)),
            ),
            ("target", !it.target().is_nil()),
            ("effective_target", !it.effective_target().is_nil()),
            ("effective_profile", it.effective_profile().is_some()),
            (
                "request_policy",
                policy == Some(refused(ExceptionKind::InvPolicy, 2)),
            ),
        ];
        self.note(point, all.iter().chain(further));
    }

    fn server(&self, point: &str, it: &mut ServerRequest<'_>, further: &[(&str, bool)]) {
        if it.operation().starts_with('_') {
            return;
        }
        let unknown = it.service_context(NO_SUCH_ID).err();
        let set = it.set_slot(self.slot, Any::new(&1_i32).unwrap());
        let is_set = it.get_slot(self.slot).is_ok_and(|any| !is_null(&any));
        let unset = it.set_slot(self.slot, Any::default());
        let added = it.add_reply_service_context(REPLY_CONTEXT, b"reply".to_vec(), true);
        let again = it.add_reply_service_context(REPLY_CONTEXT, b"other".to_vec(), false);
        let taken = Err(refused(ExceptionKind::BadInvOrder, 15));
        let all = [
            ("request_id", it.request_id() < u32::MAX),
            ("operation", !it.operation().is_empty()),
            ("response_expected", it.response_expected()),
            ("set_slot", set.is_ok() && is_set && unset.is_ok()),
            ("add_reply_service_context", added.is_ok()),
            ("context twice", again == taken),
            ("sync_scope", (0..=3).contains(&it.sync_scope())),
            (
                "get_slot",
                it.get_slot(self.slot).is_ok_and(|any| is_null(&any)),
            ),
            (
                "service_context",
                it.service_context(CONTEXT) == Ok(b"request"),
            ),
            (
                "no such context",
                unknown == Some(refused(ExceptionKind::BadParam, 26)),
            ),
        ];
        self.note(point, all.iter().chain(further));
    }

    fn note<'a>(&self, point: &str, all: impl Iterator<Item = &'a (&'a str, bool)>) {
        let mut line = point.to_owned();
        for (wrong, _) in all.filter(|(_, is_right)| !is_right) {
            line.push_str(&format!(" !{wrong}"));
        }
        self.journal.note(line);
    }
}

fn is_null(any: &Any) -> bool {
    *any == Any::default()
}

/// The queries of all points of a client but `send_poll`.
macro_rules! of_call {
    ($it:ident) => {{
        let unknown = $it.service_context(NO_SUCH_ID).err();
        let component = $it.effective_component(NO_SUCH_ID).err();
        [
            (
                "service_context",
                $it.service_context(CONTEXT) == Ok(b"request"),
            ),
            (
                "no such context",
                unknown == Some(refused(ExceptionKind::BadParam, 26)),
            ),
            (
                "no such component",
                component == Some(refused(ExceptionKind::BadParam, 28)),
            ),
            ("components", $it.effective_components(NO_SUCH_ID).is_err()),
            ("code sets", $it.effective_component(1).is_ok()),
            ("exceptions", is_not_kept($it.exceptions())),
            ("contexts", is_not_kept($it.contexts())),
            ("operation_context", is_not_kept($it.operation_context())),
            ("sync_scope", $it.sync_scope() == 3),
        ]
    }};
}

impl ClientInterceptor for Asking {
    fn send_request(&self, it: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        it.add_service_context(CONTEXT, b"request".to_vec(), false)?;
        let again = it.add_service_context(CONTEXT, b"other".to_vec(), false);
        let replaced = it.add_service_context(CONTEXT, b"request".to_vec(), true);
        let mut all = of_call!(it).to_vec();
        let taken = Err(refused(ExceptionKind::BadInvOrder, 15));
        all.push(("arguments", is_not_kept(it.arguments())));
        all.push(("context twice", again == taken && replaced.is_ok()));
        self.client("send_request", it, &all);
        Ok(())
    }

    fn send_poll(&self, it: &mut SendPoll<'_>) -> Result<(), SystemException> {
        self.client("send_poll", it, &[]);
        Ok(())
    }

    fn receive_reply(&self, it: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        let mut all = of_call!(it).to_vec();
        let context = it.reply_service_context(REPLY_CONTEXT);
        all.push(("reply_service_context", context == Ok(b"reply")));
        all.push(("arguments", is_not_kept(it.arguments())));
        all.push(("result", is_not_kept(it.result())));
        let point = format!("receive_reply {:?}", it.reply_status());
        self.client(&point, it, &all);
        Ok(())
    }

    fn receive_exception(&self, it: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        let mut all = of_call!(it).to_vec();
        let unknown = it.reply_service_context(NO_SUCH_ID).err();
        let id = it.received_exception_id();
        all.push((
            "no such reply context",
            unknown == Some(refused(ExceptionKind::BadParam, 26)),
        ));
        all.push(("received_exception", it.received_exception().is_some()));
        all.push((
            "received_exception_id",
            id.starts_with("IDL:omg.org/CORBA/"),
        ));
        let point = format!("receive_exception {:?}", it.reply_status());
        self.client(&point, it, &all);
        Ok(())
    }

    fn receive_other(&self, it: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        let mut all = of_call!(it).to_vec();
        let is_forward = it.reply_status() == RequestStatus::LocationForward;
        let forward = it.forward_reference();
        all.push(("forward_reference", forward.is_some() == is_forward));
        let point = format!("receive_other {:?}", it.reply_status());
        self.client(&point, it, &all);
        Ok(())
    }
}

/// The queries on the object at the points of a server after the first.
macro_rules! of_object {
    ($it:ident) => {{
        let policy = $it.server_policy(NO_SUCH_POLICY).err();
        [
            ("object_id", !$it.object_id().is_empty()),
            ("adapter_id", $it.adapter_id().starts_with(b"RootPOA")),
            ("adapter_name", $it.adapter_name() == ["RootPOA"]),
            ("orb_id", $it.orb_id() == "flight"),
            ("server_id", $it.server_id() == "avionics-1"),
            (
                "server_policy",
                policy == Some(refused(ExceptionKind::InvPolicy, 2)),
            ),
            ("exceptions", is_not_kept($it.exceptions())),
            ("contexts", is_not_kept($it.contexts())),
        ]
    }};
}

impl ServerInterceptor for Asking {
    fn receive_request_service_contexts(
        &self,
        it: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        let added = it.add_reply_service_context(REPLY_CONTEXT, b"reply".to_vec(), false);
        let again = it.add_reply_service_context(REPLY_CONTEXT, b"other".to_vec(), false);
        let all = [
            ("add_reply_service_context", added.is_ok()),
            (
                "context twice",
                again == Err(refused(ExceptionKind::BadInvOrder, 15)),
            ),
        ];
        self.server("receive_contexts", it, &all);
        Ok(())
    }

    fn receive_request(&self, it: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        let mut all = of_object!(it).to_vec();
        let interface = it.target_most_derived_interface();
        all.push(("arguments", is_not_kept(it.arguments())));
        all.push(("operation_context", is_not_kept(it.operation_context())));
        all.push(("interface", interface == Target::REPOSITORY_ID));
        all.push(("target_is_a", it.target_is_a(Target::REPOSITORY_ID)));
        all.push(("target_is_a another", !it.target_is_a("IDL:Other:1.0")));
        self.server("receive_request", it, &all);
        Ok(())
    }

    fn send_reply(&self, it: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        let mut all = of_object!(it).to_vec();
        let context = it.reply_service_context(REPLY_CONTEXT);
        all.push(("reply_service_context", context == Ok(b"reply")));
        all.push(("arguments", is_not_kept(it.arguments())));
        all.push(("operation_context", is_not_kept(it.operation_context())));
        all.push(("result", is_not_kept(it.result())));
        let point = format!("send_reply {:?}", it.reply_status());
        self.server(&point, it, &all);
        Ok(())
    }

    fn send_exception(&self, it: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        let mut all = of_object!(it).to_vec();
        let id = it.sending_exception_id();
        all.push(("sending_exception", it.sending_exception().is_some()));
        all.push(("sending_exception_id", id.starts_with("IDL:omg.org/CORBA/")));
        let point = format!("send_exception {:?}", it.reply_status());
        self.server(&point, it, &all);
        Ok(())
    }

    fn send_other(&self, it: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        let mut all = of_object!(it).to_vec();
        all.push(("forward_reference", it.forward_reference().is_some()));
        let point = format!("send_other {:?}", it.reply_status());
        self.server(&point, it, &all);
        Ok(())
    }
}

/// A server and a client, each with a querying interceptor.
struct Both {
    journals: [Journal; 2],
    /// The ORBs, which serve and call as long as they are held.
    _orbs: [Orb; 2],
    target: Target,
}

impl Both {
    /// With further interceptors of requests, after the querying one.
    fn new(further: impl FnOnce(&mut Interceptors)) -> Self {
        let journals = [Journal::default(), Journal::default()];
        let [of_client, of_server] = [0, 1].map(|at| {
            let mut all = Interceptors::new();
            let (journal, slot) = (journals[at].clone(), all.allocate_slot());
            (all, Asking { journal, slot })
        });
        let (mut interceptors, asking) = of_server;
        interceptors.add_server(asking).unwrap();
        further(&mut interceptors);
        let server = Orb::new(Config {
            endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
            identity: OrbIdentity {
                orb_id: "flight".into(),
                server_id: "avionics-1".into(),
            },
            interceptors,
            ..Config::default()
        });
        let server = server.unwrap();
        let state = std::sync::Arc::new(TargetState::default());
        let served: Target = server.serve("Target", state).unwrap();
        let (mut interceptors, asking) = of_client;
        interceptors.add_client(asking).unwrap();
        let client = Orb::builder().interceptors(interceptors).build().unwrap();
        let target = reach(&client, &server.object_to_string(&served));
        Self {
            journals,
            _orbs: [client, server],
            target,
        }
    }

    fn taken(&self) -> [Vec<String>; 2] {
        [0, 1].map(|at| self.journals[at].take())
    }
}

/// Conformance: PI - RequestInfo: what each point of a call and of a request gives - with results; refusals of unknown ids: BAD_PARAM 26, 28, BAD_INV_ORDER 15, INV_POLICY 2, NO_RESOURCES 1
#[test]
fn points_around_results_give_what_the_tables_have() {
    let both = Both::new(|_| {});
    both.target.echo_long(1).unwrap();
    let [client, server] = both.taken();
    assert_eq!(client, ["send_request", "receive_reply Successful"]);
    let points = [
        "receive_contexts",
        "receive_request",
        "send_reply Successful",
    ];
    assert_eq!(server, points);
}

/// Conformance: PI - RequestInfo: what each point of a call and of a request gives - with an exception
#[test]
fn points_around_exceptions_give_what_the_tables_have() {
    let both = Both::new(|_| {});
    both.target.raise_system("NO_MEMORY").unwrap_err();
    let [client, server] = both.taken();
    assert_eq!(
        client,
        ["send_request", "receive_exception SystemException"]
    );
    let points = [
        "receive_contexts",
        "receive_request",
        "send_exception SystemException",
    ];
    assert_eq!(server, points);
}

/// Conformance: PI - RequestInfo: what each point of a call and of a request gives - with a forward
#[test]
fn points_around_forwards_give_what_the_tables_have() {
    let second = plain_server();
    let forwarding = Recorder::new("2", &Journal::default());
    let forwarding = forwarding.at("receive_request", forward_to(&second));
    let both = Both::new(|all| all.add_server(forwarding).unwrap());
    both.target.noop().unwrap();
    assert_eq!(second.state.calls(), 1);
    let [client, server] = both.taken();
    // The other server's interceptors add nothing to the reply.
    let last = "receive_reply Successful !reply_service_context";
    let points = [
        "send_request",
        "receive_other LocationForward",
        "send_request",
        last,
    ];
    assert_eq!(client, points);
    let points = [
        "receive_contexts",
        "receive_request",
        "send_other LocationForward",
    ];
    assert_eq!(server, points);
}

/// Conformance: PI - RequestInfo: what each point of a call and of a request gives - of an asynchronous call: `send_poll` among them
#[test]
fn points_of_asynchronous_calls_give_what_the_tables_have() {
    let both = Both::new(|_| {});
    let object = both.target.as_object();
    let call: orbium::asynchronous::Asynchronous<i32> =
        object.call_async(&ECHO, 1, Encode::encode, i32::decode);
    call.wait().unwrap();
    let [client, _] = both.taken();
    let points = [
        "send_request",
        "receive_other Unknown",
        "send_poll",
        "receive_reply Successful",
    ];
    assert_eq!(client, points);
}
