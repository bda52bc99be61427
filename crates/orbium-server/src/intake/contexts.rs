// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts of a request that concern its connection.

use orbium_channel::connection::Continuation;
use orbium_giop::{Headers, RequestHeader, SystemException, service_context};

use super::source::Source;
use orbium_invocation::Expiry;

/// The data and state that follow a request on its connection.
pub(super) struct Following<'f> {
    /// The data received after it.
    pub(super) rest: &'f [u8],
    pub(super) continuation: &'f mut Continuation,
    /// Maximum size of a message.
    pub(super) limit: usize,
}

/// Applies the service contexts of a request that concern its connection and its time; returns the
/// exception of the reply if they cannot be satisfied. The adapter of the object decides about
/// listen points.
#[cold]
pub(super) fn apply_contexts(
    request: &RequestHeader<'_>,
    following: &mut Following<'_>,
    source: &Source<'_>,
) -> (Option<SystemException>, Expiry) {
    let (contexts, connection) = (&request.contexts, source.connection);
    let takes = |key: &[u8]| source.dispatcher.takes_listen_points(key);
    if let Some(points) = contexts.find(service_context::BI_DIR_IIOP)
        && let Some(both) = connection.bidirectional()
        && connection.headers == Headers::GIOP
        && request.target.object_key().is_none_or(|key| takes(&key))
    {
        let budget = &source.context.budget;
        both.announce(points, &mut || {
            let rest = std::mem::take(&mut following.rest);
            following.continuation.share(following.limit, rest, budget)
        });
    }
    let refused = following.continuation.code_sets.apply(contexts).err();
    match Expiry::of(contexts, Some(connection.peer())) {
        Ok(expiry) => (refused, expiry),
        Err(malformed) => (Some(malformed), Expiry::NEVER),
    }
}
