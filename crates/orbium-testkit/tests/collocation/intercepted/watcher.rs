// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors that note all that they can ask at each point, and do something at one of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use orbium::interceptor::{
    ClientInterceptor, ClientRequest, Interrupt, ReceiveContexts, ReceiveException, ReceiveOther,
    ReceiveReply, ReceiveRequest, SendException, SendOther, SendPoll, SendReply, SendRequest,
    ServerInterceptor, ServerRequest, SlotId,
};
use orbium::{Any, Completion, ExceptionKind, ObjectRef, SystemException};

/// What happened, in order.
#[derive(Clone, Default)]
pub(super) struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    pub(super) fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// What is done at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Nothing,
    Raise,
    /// Forwards once.
    Forward,
    Panic,
}

/// What interceptors raise.
const REFUSED: SystemException =
    SystemException::new(ExceptionKind::NoPermission, 7, Completion::No);

/// Service contexts of requests and replies.
pub(super) const TAGS: [u32; 4] = [0x4F52_4300, 0x4F52_4301, 0x4F52_4302, 0x4F52_4303];

#[derive(Clone)]
pub(super) struct Watcher {
    pub(super) name: &'static str,
    pub(super) journal: Journal,
    /// Where it does what.
    pub(super) at: &'static str,
    pub(super) act: Act,
    pub(super) armed: Arc<AtomicBool>,
    pub(super) elsewhere: Arc<OnceLock<ObjectRef>>,
    pub(super) slot: SlotId,
}

/// The service contexts that there are, as text.
fn shown<'c>(find: impl Fn(u32) -> Result<&'c [u8], SystemException>) -> String {
    let shown = TAGS.map(|tag| find(tag).map_or("-".into(), <[u8]>::escape_ascii_text));
    shown.join(" ")
}

trait Text {
    fn escape_ascii_text(&self) -> String;
}

impl Text for [u8] {
    fn escape_ascii_text(&self) -> String {
        self.escape_ascii().to_string()
    }
}

impl Watcher {
    fn point(&self, point: &str, operation: &str, seen: &str) -> Result<(), Interrupt> {
        if operation.starts_with('_') {
            return Ok(());
        }
        let name = self.name;
        self.journal
            .note(format!("{name} {point} {operation} {seen}"));
        if name != "2" || point != self.at || !self.armed.swap(false, Ordering::SeqCst) {
            return Ok(());
        }
        match self.act {
            Act::Nothing => Ok(()),
            Act::Raise => Err(REFUSED.into()),
            Act::Forward => Err(Interrupt::forward(self.elsewhere.get().unwrap().ior())),
            Act::Panic => panic!("on purpose"),
        }
    }

    fn client(&self, point: &str, it: &ClientRequest<'_>, seen: &str) -> Result<(), Interrupt> {
        let slot = it.get_slot(self.slot).unwrap().extract::<i32>().ok();
        let seen = format!(
            "{} {} {slot:?} {} {} | {seen}",
            it.request_id(),
            it.response_expected(),
            it.target() == it.effective_target(),
            it.effective_profile().is_some(),
        );
        self.point(point, it.operation(), &seen)
    }

    fn server(&self, point: &str, it: &ServerRequest<'_>, seen: &str) -> Result<(), Interrupt> {
        let slot = it.get_slot(self.slot).unwrap().extract::<i32>().ok();
        let contexts = shown(|tag| it.service_context(tag));
        let seen = format!(
            "{} {} {} {slot:?} {contexts} | {seen}",
            it.request_id(),
            it.response_expected(),
            it.sync_scope(),
        );
        self.point(point, &it.operation(), &seen)
    }

    /// What the first and the last interceptor add to a reply.
    fn add_to_reply(&self, it: &mut ServerRequest<'_>, tag: u32) {
        if self.name != "2" {
            let data = format!("of {}", self.name);
            it.add_reply_service_context(tag, data, true).unwrap();
        }
    }
}

fn raised(outcome: Result<(), Interrupt>) -> Result<(), SystemException> {
    outcome.map_err(|interrupt| match interrupt {
        Interrupt::Raise(exception) => exception,
        Interrupt::Forward(_) => panic!("this point cannot forward"),
    })
}

impl ClientInterceptor for Watcher {
    fn name(&self) -> &str {
        self.name
    }

    fn send_request(&self, it: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        let number = it.get_slot(self.slot)?.extract::<i32>().unwrap_or_default();
        if self.name == "1" {
            it.add_service_context(TAGS[0], number.to_be_bytes(), false)?;
        }
        let seen = format!(
            "{} {}",
            it.sync_scope(),
            shown(|tag| it.service_context(tag))
        );
        self.client("send_request", it, &seen)
    }

    fn send_poll(&self, it: &mut SendPoll<'_>) -> Result<(), SystemException> {
        raised(self.client("send_poll", it, ""))
    }

    fn receive_reply(&self, it: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        let replied = shown(|tag| it.reply_service_context(tag));
        let seen = format!("{} {replied}", shown(|tag| it.service_context(tag)));
        raised(self.client("receive_reply", it, &seen))
    }

    fn receive_exception(&self, it: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        let replied = shown(|tag| it.reply_service_context(tag));
        let raised = (it.received_exception(), it.received_exception_id());
        let seen = format!("{:?} {raised:?} {replied}", it.reply_status());
        self.client("receive_exception", it, &seen)
    }

    fn receive_other(&self, it: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        let replied = shown(|tag| it.reply_service_context(tag));
        let is_forwarded = it.forward_reference().is_some();
        let seen = format!("{:?} {is_forwarded} {replied}", it.reply_status());
        self.client("receive_other", it, &seen)
    }
}

impl ServerInterceptor for Watcher {
    fn name(&self) -> &str {
        self.name
    }

    fn receive_request_service_contexts(
        &self,
        it: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        let number = it
            .service_context(TAGS[0])
            .ok()
            .and_then(<[u8]>::first_chunk)
            .copied();
        if let Some(number) = number.filter(|_| self.name == "1") {
            it.set_slot(self.slot, Any::from(i32::from_be_bytes(number) + 1))?;
        }
        self.add_to_reply(it, TAGS[1]);
        self.server("receive_contexts", it, "")
    }

    fn receive_request(&self, it: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        let seen = format!(
            "{:?} {:?} {} {}",
            it.object_id(),
            it.adapter_name(),
            it.target_most_derived_interface(),
            it.target_is_a("IDL:Watched:1.0"),
        );
        self.server("receive_request", it, &seen)
    }

    fn send_reply(&self, it: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        self.add_to_reply(it, TAGS[2]);
        let seen = shown(|tag| it.reply_service_context(tag));
        raised(self.server("send_reply", it, &seen))
    }

    fn send_exception(&self, it: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        self.add_to_reply(it, TAGS[2]);
        let raised = (it.sending_exception(), it.sending_exception_id());
        let replied = shown(|tag| it.reply_service_context(tag));
        let seen = format!("{:?} {raised:?} {replied}", it.reply_status());
        self.server("send_exception", it, &seen)
    }

    fn send_other(&self, it: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        self.add_to_reply(it, TAGS[2]);
        let is_forwarded = it.forward_reference().is_some();
        let replied = shown(|tag| it.reply_service_context(tag));
        let seen = format!("{:?} {is_forwarded} {replied}", it.reply_status());
        self.server("send_other", it, &seen)
    }
}
