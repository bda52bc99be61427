// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request information available at every point of a request, and the object of the request.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use orbium_cdr::Any;
use orbium_giop::{ResponseFlags, ServiceContexts, SystemException};

use crate::errors::{no_such_context, not_kept};
use crate::policy::Policy;
use crate::processing_mode::Locality;
use crate::registration::identity::OrbIdentity;
use crate::request::context_list::ContextList;
use crate::request::dynamic::DynamicInvocation;
use crate::request::reply_contexts::{ServedRequest, described};
use crate::request::slots::{InvalidSlot, PiCurrent, SlotAllocator, SlotId, SlotTable};

/// The object of a request, with information from its adapter.
pub trait InterceptedObject {
    /// Its id in its adapter.
    fn object_id(&self) -> &[u8];

    /// The path of its adapter, as `RootPOA/child`, and the stamp of this incarnation.
    fn adapter(&self) -> (String, u64);

    /// The identity of its adapter in the ORB, including its incarnation.
    fn adapter_id(&self) -> Vec<u8> {
        let (path, stamp) = self.adapter();
        [path.as_bytes(), &stamp.to_be_bytes()].concat()
    }

    /// The names of its adapter and the ancestors, `RootPOA` first.
    fn adapter_name(&self) -> Vec<String> {
        let (path, _) = self.adapter();
        path.split('/').map(str::to_owned).collect()
    }

    /// The identity of its ORB and server.
    fn identity(&self) -> Arc<OrbIdentity> {
        Arc::default()
    }

    /// Whether it has a servant in the active object map. Otherwise its adapter finds one for the
    /// request, if there is one: a client can make up the id.
    fn is_incarnated(&self) -> bool;

    /// Repository id of the servant's most derived interface.
    fn repository_id(&self) -> Cow<'_, str>;

    /// Whether the servant implements that interface.
    fn is_a(&self, repository_id: &str) -> bool;

    /// The name of an operation of its skeleton, or of an implicit operation.
    fn known_operation(&self, operation: &[u8]) -> Option<&'static str> {
        let _ = operation;
        None
    }

    /// The program-defined policies of its adapter.
    fn defined_policies(&self) -> &[Policy] {
        &[]
    }
}

/// A request as seen by its flow: the information for interceptors.
pub trait InterceptedMessage {
    /// Name of the operation on the wire.
    fn operation(&self) -> &[u8];

    /// Service contexts of the request.
    fn contexts(&self) -> ServiceContexts<'_>;

    /// The reply that the client expects.
    fn response(&self) -> ResponseFlags;

    /// Whether its client belongs to the same ORB.
    fn locality(&self) -> Locality;

    /// Its identity while it is served.
    fn served(&self) -> ServedRequest;
}

impl InterceptedMessage for RequestFacts<'_> {
    fn operation(&self) -> &[u8] {
        self.operation
    }

    fn contexts(&self) -> ServiceContexts<'_> {
        self.contexts
    }

    fn response(&self) -> ResponseFlags {
        self.response
    }

    fn locality(&self) -> Locality {
        self.locality
    }

    fn served(&self) -> ServedRequest {
        self.served
    }
}

/// Facts of a request without a message.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'r> {
    /// Name of the operation on the wire.
    pub operation: &'r [u8],
    /// Service contexts of the request.
    pub contexts: ServiceContexts<'r>,
    /// The reply that the client expects.
    pub response: ResponseFlags,
    /// Whether its client belongs to the same ORB.
    pub locality: Locality,
    /// Its identity while it is served.
    pub served: ServedRequest,
}

/// Request information available at every point of a request.
pub struct ServerRequest<'r> {
    id: u32,
    pub(super) message: &'r dyn InterceptedMessage,
    /// `None` if the request ended before its object was looked up.
    pub(super) object: Option<&'r dyn InterceptedObject>,
    slots: &'r SlotAllocator,
    kept: Rare<Kept>,
}

/// State that few requests have.
struct Rare<T>(Option<Box<T>>);

impl<T> Drop for Rare<T> {
    /// Out of line: few requests have state to drop.
    #[inline(always)]
    fn drop(&mut self) {
        if self.0.is_some() {
            drop_out_of_line(self.0.take());
        }
    }
}

#[cold]
fn drop_out_of_line<T>(kept: Option<Box<T>>) {
    drop(kept);
}

/// State set or added during a request.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) slots: SlotTable,
    /// The previous slots of the thread, while the servant has those of the request.
    pub(super) slots_before: SlotTable,
    pub(super) reply_contexts: ContextList,
}

impl<'r> ServerRequest<'r> {
    #[inline(always)]
    pub(super) fn new(
        id: u32,
        message: &'r dyn InterceptedMessage,
        object: &'r dyn InterceptedObject,
        slots: &'r SlotAllocator,
    ) -> Self {
        Self {
            id,
            message,
            object: Some(object),
            slots,
            kept: Rare(None),
        }
    }

    /// The slots of the ORB, as allocated so far.
    #[inline]
    pub(super) fn current(&self) -> PiCurrent {
        self.slots.current()
    }

    #[inline]
    pub(super) fn kept(&self) -> Option<&Kept> {
        self.kept.0.as_deref()
    }

    #[inline]
    pub(super) fn kept_if_any(&mut self) -> Option<&mut Kept> {
        self.kept.0.as_deref_mut()
    }

    pub(super) fn keep(&mut self) -> &mut Kept {
        self.kept.0.get_or_insert_default()
    }

    /// The facts of a request to a dynamic servant.
    ///
    /// # Errors
    /// NO_RESOURCES 1: its servant is not dynamic, or has not read the arguments.
    pub(super) fn dynamic(&self) -> Result<Arc<DynamicInvocation>, SystemException> {
        described(self.message.served()).ok_or(not_kept())
    }
}

impl ServerRequest<'_> {
    /// The id of the request in its message.
    #[must_use]
    pub fn request_id(&self) -> u32 {
        self.id
    }

    /// Name of the operation on the wire.
    #[must_use]
    pub fn operation(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.message.operation())
    }

    /// Whether the client expects a reply.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.message.response().expects_reply()
    }

    /// The confirmation of the request: `NONE` or `WITH_TRANSPORT` (both 1 here),
    /// `WITH_SERVER` 2, `WITH_TARGET` 3.
    #[must_use]
    pub fn sync_scope(&self) -> i16 {
        match self.message.response() {
            ResponseFlags::Full => 3,
            ResponseFlags::SyncWithServer => 2,
            _ => 1,
        }
    }

    /// A slot of the request.
    ///
    /// # Errors
    /// [`InvalidSlot`].
    pub fn get_slot(&self, slot: SlotId) -> Result<Any, InvalidSlot> {
        match self.kept() {
            Some(kept) => self.current().of_request(&kept.slots, slot),
            None => self.current().of_request(SlotTable::none(), slot),
        }
    }

    /// Sets a slot of the request.
    ///
    /// # Errors
    /// [`InvalidSlot`].
    pub fn set_slot(&mut self, slot: SlotId, value: Any) -> Result<(), InvalidSlot> {
        let current = self.current();
        current.set_of_request(&mut self.keep().slots, slot, value)
    }

    /// The data of a service context of the request.
    ///
    /// # Errors
    /// BAD_PARAM 26 if there is none with that id.
    pub fn service_context(&self, id: u32) -> Result<&[u8], SystemException> {
        self.message.contexts().find(id).ok_or(no_such_context())
    }

    /// Adds a service context to the reply.
    ///
    /// # Errors
    /// BAD_INV_ORDER 15 if there is one with that id, unless `replace` is set.
    pub fn add_reply_service_context(
        &mut self,
        id: u32,
        data: impl Into<Vec<u8>>,
        replace: bool,
    ) -> Result<(), SystemException> {
        self.keep().reply_contexts.add(id, data.into(), replace)
    }
}

impl fmt::Debug for ServerRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerRequest")
            .field("request_id", &self.request_id())
            .field("operation", &self.operation())
            .field("reply_contexts", &self.kept().map(|it| &it.reply_contexts))
            .finish_non_exhaustive()
    }
}
