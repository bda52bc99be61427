// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code bases of peers, which are asked what the bases of a value type are that is not known here.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium::giop::service_context;
use orbium::interceptor::{
    ClientInterceptor, Interrupt, ReceiveContexts, ReceiveException, ReceiveReply,
    ServerInterceptor,
};
use orbium::lock::Mutex;
use orbium::{Interface, Orb, SystemException};

use super::{MAX_BASES, code_base_in};
use crate::sending_context::CodeBase;

/// Code bases that are known at once: the newest.
const MAX_KNOWN: usize = 16;

/// Types of which the bases are remembered.
const MAX_ANSWERS: usize = 1024;

/// Octets of the id of a type of which the bases are remembered.
const MAX_ID: usize = 1024;

/// The longest limit, so that a point of time lies behind it.
const MAX_LIMIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Octets of a reference to a code base.
const MAX_REFERENCE: usize = 4096;

/// The code bases of the peers that an ORB receives requests from, as an interceptor of requests, and
/// of those that it receives replies from, as an interceptor of calls: by service context 6. One that a
/// reply names is known once that reply was read: of a value in it, only the next reply has help.
///
/// Where a value of a type arrives that is not known, and for which its message names no known base,
/// they are asked for its bases (`meta`): the value is cut off to the nearest one that is known
/// here and that `truncatable` leads to, as if the message had listed it.
///
/// This lets peers have the ORB call them, or any address that they name, while it reads a message.
/// So it is for peers that are trusted that far, and bounded: one value waits no longer than the
/// limit, and a code base that has taken as long altogether is not asked again.
///
/// ```
/// use std::time::Duration;
///
/// use orbium::interceptor::Interceptors;
/// use orbium::{Config, Orb};
/// use orbium_ifr::CodeBases;
///
/// let code_bases = CodeBases::new(Orb::builder().build()?, Duration::from_secs(1));
/// let mut interceptors = Interceptors::new();
/// interceptors.add_server(code_bases.clone())?;
/// let orb = Orb::new(Config { interceptors, ..Config::default() })?;
/// code_bases.install(&orb);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CodeBases(Arc<Asked>);

struct Asked {
    orb: Orb,
    limit: Duration,
    known: Mutex<VecDeque<Known>>,
    answers: Mutex<HashMap<String, Vec<String>>>,
}

#[derive(Clone)]
struct Known {
    context: Vec<u8>,
    code_base: CodeBase,
    /// How long it has taken altogether.
    spent: Duration,
}

thread_local! {
    /// Whether this thread asks a code base: values in the answers are not asked about.
    static IS_ASKING: Cell<bool> = const { Cell::new(false) };
}

impl CodeBases {
    /// None yet. `asking` makes the calls: another ORB than those that it helps, as these keep it
    /// alive.
    #[must_use]
    pub fn new(asking: Orb, limit: Duration) -> Self {
        Self(Arc::new(Asked {
            orb: asking,
            limit: limit.min(MAX_LIMIT),
            known: Mutex::default(),
            answers: Mutex::default(),
        }))
    }

    /// Installs the code bases in that ORB: received values of unknown types are truncated to their
    /// nearest known base.
    /// Returns `false` if the ORB has code bases already.
    pub fn install(&self, orb: &Orb) -> bool {
        let this = self.clone();
        orb.value_factories()
            .find_bases_by(move |id| this.bases(id))
    }

    /// How many code bases are known.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.known.lock().len()
    }

    /// Notes the code base of a service context.
    ///
    /// # Errors
    /// MARSHAL: it holds no reference.
    fn note(&self, context: &[u8]) -> Result<(), SystemException> {
        if context.len() > MAX_REFERENCE {
            return Ok(());
        }
        let mut known = self.0.known.lock();
        if known.iter().any(|it| it.context == context) {
            return Ok(());
        }
        let object = self.0.orb.plain_reference(code_base_in(context)?);
        known.push_front(Known {
            context: context.to_vec(),
            code_base: CodeBase::from_object(object),
            spent: Duration::ZERO,
        });
        known.truncate(MAX_KNOWN);
        Ok(())
    }

    /// The bases of a type that a value may be cut off to, as the first code base says that knows
    /// the type.
    fn bases(&self, id: &str) -> Vec<String> {
        if let Some(answer) = self.0.answers.lock().get(id) {
            return answer.clone();
        }
        if IS_ASKING.replace(true) {
            return Vec::new();
        }
        let known: Vec<_> = self.0.known.lock().iter().cloned().collect();
        let until = Instant::now() + self.0.limit;
        let asked = known.iter().find_map(|it| self.ask(it, id, until));
        IS_ASKING.set(false);
        // What none of them knows another one may know that comes later.
        let Some(bases) = asked else {
            return Vec::new();
        };
        let mut answers = self.0.answers.lock();
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        if id.len() <= MAX_ID {
            answers.insert(id.to_owned(), bases.clone());
        }
        bases
    }

    fn ask(&self, known: &Known, id: &str, until: Instant) -> Option<Vec<String>> {
        let begun = Instant::now();
        let left = self.0.limit.saturating_sub(known.spent);
        let bases = truncatable_bases(&known.code_base, id, until.min(begun + left));
        let mut all = self.0.known.lock();
        if let Some(it) = all.iter_mut().find(|it| it.context == known.context) {
            it.spent += begun.elapsed();
        }
        bases
    }
}

/// The bases of a type that a code base knows; `None` if it does not answer, or does not know it.
fn truncatable_bases(code_base: &CodeBase, id: &str, until: Instant) -> Option<Vec<String>> {
    let mut bases: Vec<String> = Vec::new();
    while bases.len() < MAX_BASES {
        let left = until.checked_duration_since(Instant::now())?;
        if left.is_zero() {
            return None;
        }
        let asked = bases.last().map_or(id, String::as_str);
        let described = code_base.with_timeout(left).meta(asked).ok()?;
        let is_last = !described.is_truncatable || described.base_value.is_empty();
        if is_last || bases.contains(&described.base_value) {
            break;
        }
        bases.push(described.base_value);
    }
    Some(bases)
}

impl ServerInterceptor for CodeBases {
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        let id = service_context::SENDING_CONTEXT_RUN_TIME;
        if let Ok(context) = request.service_context(id) {
            self.note(context)?;
        }
        Ok(())
    }
}

/// The operation was performed: a context that holds no reference is passed over.
impl ClientInterceptor for CodeBases {
    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        let id = service_context::SENDING_CONTEXT_RUN_TIME;
        if let Ok(context) = reply.reply_service_context(id) {
            let _ = self.note(context);
        }
        Ok(())
    }

    /// Values that cannot be read end a call so.
    fn receive_exception(&self, reply: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        let id = service_context::SENDING_CONTEXT_RUN_TIME;
        if let Ok(context) = reply.reply_service_context(id) {
            let _ = self.note(context);
        }
        Ok(())
    }
}

impl fmt::Debug for CodeBases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeBases")
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}
