// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code bases of peers, which are queried for the bases of unknown value types.

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

/// Maximum number of known code bases: the newest.
const MAX_KNOWN: usize = 16;

/// Maximum number of types with cached bases.
const MAX_ANSWERS: usize = 1024;

/// Maximum bytes of the id of a type with cached bases.
const MAX_ID: usize = 1024;

/// The longest limit, so that its end is a representable time.
const MAX_LIMIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Maximum bytes of a reference to a code base.
const MAX_REFERENCE: usize = 4096;

/// The code bases of the peers from which an ORB receives requests, as a server interceptor, and of
/// those from which it receives replies, as a client interceptor: by service context 6. The code
/// base of a reply is known once that reply was read: it can be used only for values of later
/// replies.
///
/// If a value of an unknown type arrives, and its message contains no known base, they are queried
/// for its bases (`meta`): the value is truncated to the nearest one that is known here and
/// reachable by `truncatable`, as if the message had listed it.
///
/// This lets peers make the ORB call them, or any address that they name, while it reads a message.
/// So it is for peers that are trusted to that extent, and bounded: one value waits no longer than
/// the limit, and a code base that has used up the limit in total is not called again.
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
    /// The time that its calls have taken in total.
    spent: Duration,
}

thread_local! {
    /// Whether this thread calls a code base: values in the replies cause no further calls.
    static IS_ASKING: Cell<bool> = const { Cell::new(false) };
}

impl CodeBases {
    /// Without code bases. `asking` makes the calls: an ORB other than those that they are
    /// installed in, as these keep it alive.
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

    /// The number of known code bases.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.known.lock().len()
    }

    /// Records the code base of a service context.
    ///
    /// # Errors
    /// MARSHAL: it contains no reference.
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

    /// The bases of a type to which a value may be truncated, from the first code base that knows
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
        // A type that is unknown to all of them may be known to a later one.
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

/// The bases of a type that a code base knows; `None` if it does not reply, or does not know it.
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

/// The operation was performed: a context without a reference is ignored.
impl ClientInterceptor for CodeBases {
    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        let id = service_context::SENDING_CONTEXT_RUN_TIME;
        if let Ok(context) = reply.reply_service_context(id) {
            let _ = self.note(context);
        }
        Ok(())
    }

    /// Calls with unreadable values in the reply end this way.
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
