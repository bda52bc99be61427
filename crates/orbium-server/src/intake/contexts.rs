// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the service contexts of a request say of its connection.

use orbium_giop::codeset::{CodeSetContext, Negotiated};
use orbium_giop::{Completion, ExceptionKind, ServiceContexts, SystemException, service_context};

use super::state::State;
use crate::{Expiry, ServerConnection};

impl State {
    /// Takes what the service contexts say of the connection and of the time there
    /// is; with the exception to answer with, if they ask for what is not there.
    #[cold]
    pub(super) fn apply_contexts(
        &mut self,
        contexts: &ServiceContexts<'_>,
        connection: &ServerConnection,
    ) -> (Option<SystemException>, Expiry) {
        let refused = self.apply_code_sets(contexts);
        match Expiry::of(contexts, Some(connection.peer())) {
            Ok(expiry) => (refused, expiry),
            Err(malformed) => (Some(malformed), Expiry::NEVER),
        }
    }

    fn apply_code_sets(&mut self, contexts: &ServiceContexts<'_>) -> Option<SystemException> {
        let data = contexts.find(service_context::CODE_SETS)?;
        match CodeSetContext::decode(data).map(Negotiated::from_context) {
            Ok(Ok(agreed)) => {
                self.known.negotiated = agreed;
                None
            }
            _ => Some(SystemException::omg(
                ExceptionKind::CodesetIncompatible,
                2,
                Completion::No,
            )),
        }
    }
}
