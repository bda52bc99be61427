// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the service contexts of a request say of its connection.

use orbium_channel::connection::CodeSets;
use orbium_giop::{ServiceContexts, SystemException, service_context};

use crate::{Expiry, ServerConnection};

/// Takes what the service contexts of a request say of its connection and of the time there
/// is; with the exception to answer with, if they ask for what is not there.
#[cold]
pub(super) fn apply_contexts(
    contexts: &ServiceContexts<'_>,
    code_sets: &mut CodeSets,
    connection: &ServerConnection,
) -> (Option<SystemException>, Expiry) {
    if let Some(points) = contexts.find(service_context::BI_DIR_IIOP)
        && let Some(stream) = connection.stream.bidirectional()
    {
        stream.announce(points);
    }
    let refused = code_sets.apply(contexts).err();
    match Expiry::of(contexts, Some(connection.peer())) {
        Ok(expiry) => (refused, expiry),
        Err(malformed) => (Some(malformed), Expiry::NEVER),
    }
}
