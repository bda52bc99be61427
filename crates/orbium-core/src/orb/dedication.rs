// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedicated threads: the interface for programs and layers above.

use std::sync::Arc;

use orbium_channel::dedication::Undedicated;

use crate::{Call, DedicatedThread, Dedication, Gate, Orb, UntypedReply};

impl Orb {
    /// Installs the policy that decides about dedicated threads for connections; `false` if there
    /// is one already.
    pub fn install_dedication(&self, dedication: Arc<dyn Dedication>) -> bool {
        self.core().serving.dedications.install(dedication)
    }

    /// Number of connections that have a dedicated thread now; at most
    /// [`Limits::dedicated_threads`](crate::Limits).
    #[must_use]
    pub fn dedicated_threads(&self) -> usize {
        self.core().serving.dedications.granted()
    }
}

impl Call<'_> {
    /// Assigns a dedicated thread to the connection of this request; it serves all later requests.
    /// To be called before the reply, and before anything that blocks.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn dedicate(
        &self,
        reply: &mut UntypedReply<'_>,
        thread: DedicatedThread,
    ) -> Result<(), Undedicated> {
        let connection = self.incoming.peer.ok_or(Undedicated::Shared)?;
        connection.dedicate(self.incoming.context, thread)?;
        reply.note_dedicated();
        Ok(())
    }

    /// Closes the connection after this request, and releases its grant at once.
    pub fn end_dedication(&self) {
        if let Some(connection) = self.incoming.peer {
            connection.release_dedication();
        }
    }

    /// The admission control of this connection's requests.
    #[must_use]
    pub fn gate(&self) -> Option<Arc<dyn Gate>> {
        self.incoming.peer?.thread()?.gate
    }
}
