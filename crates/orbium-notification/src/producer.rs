// SPDX-License-Identifier: MIT OR Apache-2.0
//! A supplier for its channel: a proxy consumer.

pub(crate) mod notice;
pub(crate) mod puller;
pub(crate) mod source;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use orbium::ObjectRef;
use orbium::lock::Mutex;
use orbium_event::Pulling;

use crate::admin::Admin;
use crate::event::event_types::Types;
use crate::event::updates::Subscriber;
use crate::filter::filter_group::FilterGroup;
use crate::idl::cos_notify_comm::NotifySubscribe;
use crate::proxy_kind::ProxyKind;
use crate::qos::{self, Level};

/// A supplier's connection.
pub(crate) struct Producer {
    pub(crate) id: i32,
    pub(crate) kind: ProxyKind,
    pub(crate) admin: Arc<Admin>,
    pub(crate) level: Arc<Level>,
    pub(crate) filters: FilterGroup,
    pub(crate) types: Types,
    pub(crate) subscriber: Subscriber<NotifySubscribe>,
    /// The state of pulling, for a pull supplier.
    pub(crate) pulling: Pulling,
    phase: AtomicU8,
    /// The reference of the supplier, if it has passed one.
    peer: Mutex<Option<ObjectRef>>,
    /// Notifies the supplier that it was disconnected.
    notify: Mutex<Option<Notify>>,
}

pub(crate) type Notify = Box<dyn FnOnce() + Send>;

const UNCONNECTED: u8 = 0;
const CONNECTED: u8 = 1;
const ENDED: u8 = 2;

impl Producer {
    pub(crate) fn new((id, kind): (i32, ProxyKind), admin: Arc<Admin>, level: Arc<Level>) -> Self {
        Self {
            id,
            kind,
            admin,
            level,
            filters: FilterGroup::default(),
            types: Types::default(),
            subscriber: Subscriber::default(),
            pulling: Pulling::default(),
            phase: AtomicU8::new(UNCONNECTED),
            peer: Mutex::default(),
            notify: Mutex::default(),
        }
    }

    /// Connects a supplier, with the closure that notifies it; false if one is connected.
    pub(crate) fn connect(&self, peer: Option<&ObjectRef>, notify: Option<Notify>) -> bool {
        let order = Ordering::AcqRel;
        let connected =
            self.phase
                .compare_exchange(UNCONNECTED, CONNECTED, order, Ordering::Acquire);
        if connected.is_ok() {
            *self.peer.lock() = peer.cloned();
            *self.notify.lock() = notify;
        }
        connected.is_ok()
    }

    /// Whether its connection is persistent.
    pub(crate) fn is_persistent(&self) -> bool {
        self.level.get(qos::CONNECTION) != 0
    }

    pub(crate) fn peer(&self) -> Option<ObjectRef> {
        self.peer.lock().clone()
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.phase.load(Ordering::Acquire) == CONNECTED
    }

    /// Whether its connection has ended for good.
    pub(crate) fn has_ended(&self) -> bool {
        self.phase.load(Ordering::Acquire) == ENDED
    }

    /// Ends the connection permanently; returns the notification of the supplier, if one was
    /// connected.
    pub(crate) fn end(&self) -> Option<Notify> {
        self.phase.store(ENDED, Ordering::Release);
        self.pulling.end();
        self.notify.lock().take()
    }
}
