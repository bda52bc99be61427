// SPDX-License-Identifier: MIT OR Apache-2.0
//! Server side of RIOP: dispatch by the priority of its context.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use orbium_core::lock::Mutex;
use orbium_core::metrics::Quality;
use orbium_core::{
    Completion, Dispatch, DispatchHook, ExceptionKind, Priority, RequestInfo, SystemException,
};
use orbium_giop::minor;

use crate::riop::{self, RIOP_CONTEXT};
use crate::stream_rates::StreamRates;
use crate::{CommunicationClass, Qos};

/// Connections with message streams at once.
const MAX_STREAMS: usize = 4096;

/// The time since a fixed origin.
type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// A dispatch hook of servers that reads RIOP's context: a request is served at its priority
/// ([`for_lanes`](Self::for_lanes) leaves that to lanes), and a MESSAGE_STREAM that exceeds its
/// rate raises TRANSIENT. A malformed context raises BAD_PARAM. Clones are the same hook.
///
/// Install it as [`Config::dispatch`](orbium_core::Config) or
/// [`Policies::dispatch`](orbium_core::Policies), alone or in a chain.
///
/// ```
/// use std::sync::Arc;
/// use orbium_core::{Config, Hook};
/// use orbium_qos::RiopDispatch;
///
/// let riop = RiopDispatch::new();
/// let config = Config {
///     dispatch: Some(Hook(Arc::new(riop.clone()))),
///     ..Config::default()
/// };
/// assert_eq!(riop.refused(), 0);
/// # drop(config);
/// ```
#[derive(Clone)]
pub struct RiopDispatch(Arc<Inner>);

struct Inner {
    rates: Mutex<StreamRates>,
    clock: Clock,
    /// Whether lanes determine the serving priority.
    has_lanes: bool,
    refused: AtomicU64,
    seen: [AtomicU64; 4],
}

impl RiopDispatch {
    /// By the clock of the host.
    #[must_use]
    pub fn new() -> Self {
        let begin = Instant::now();
        Self::with_clock(move || begin.elapsed())
    }

    /// By that clock.
    #[must_use]
    pub fn with_clock(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self::made(Box::new(clock), false)
    }

    /// For adapters with lanes, which read the priority in `RTCorbaPriority`.
    #[must_use]
    pub fn for_lanes() -> Self {
        let begin = Instant::now();
        Self::made(Box::new(move || begin.elapsed()), true)
    }

    fn made(clock: Clock, has_lanes: bool) -> Self {
        Self(Arc::new(Inner {
            rates: Mutex::new(StreamRates::new(MAX_STREAMS)),
            clock,
            has_lanes,
            refused: AtomicU64::new(0),
            seen: Default::default(),
        }))
    }

    /// Number of messages of streams refused because they were too early.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Requests of a class, so far.
    #[must_use]
    pub fn seen(&self, class: CommunicationClass) -> u64 {
        self.0.seen[class as usize].load(Ordering::Relaxed)
    }

    /// The quality of service of a request, for hooks and servants; `None` without a context, and
    /// for a malformed one.
    #[must_use]
    pub fn qos_of(contexts: &orbium_giop::ServiceContexts<'_>) -> Option<Qos> {
        orbium_giop::riop::Riop::of(contexts).map(Qos::from)
    }

    fn keeps_rate(&self, request: &RequestInfo<'_>, qos: &Qos) -> bool {
        let (Some(connection), Some(period)) = (request.connection(), qos.period) else {
            return true;
        };
        let mut rates = self.0.rates.lock();
        rates.admit(connection, period, (self.0.clock)())
    }
}

impl Default for RiopDispatch {
    fn default() -> Self {
        Self::new()
    }
}

impl DispatchHook for RiopDispatch {
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
        let contexts = request.service_contexts();
        let Some(data) = contexts.find(RIOP_CONTEXT) else {
            return Dispatch::Here;
        };
        let Ok(qos) = riop::decode(data) else {
            let kind = ExceptionKind::BadParam;
            return Dispatch::Refuse(SystemException::new(kind, 0, Completion::No));
        };
        request.note_quality(Quality {
            class: qos.class.map_or("", CommunicationClass::name),
            priority: qos.priority.map(Priority::number),
            period: qos.period,
            deadline: qos.deadline,
        });
        if let Some(class) = qos.class {
            self.0.seen[class as usize].fetch_add(1, Ordering::Relaxed);
        }
        if qos.class == Some(CommunicationClass::MessageStream) && !self.keeps_rate(request, &qos) {
            self.0.refused.fetch_add(1, Ordering::Relaxed);
            let kind = ExceptionKind::Transient;
            let busy = SystemException::orbium(kind, minor::SERVER_BUSY, Completion::No);
            return Dispatch::Refuse(busy);
        }
        match (qos.priority, request.object_priority()) {
            (Some(priority), None) if !self.0.has_lanes => Dispatch::At(priority, None),
            _ => Dispatch::Here,
        }
    }
}

impl fmt::Debug for RiopDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RiopDispatch")
            .field("refused", &self.refused())
            .finish_non_exhaustive()
    }
}
