// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedicated threads, as programs and layers above ask for them.

use std::sync::Arc;

use orbium_channel::dedication::Undedicated;

use crate::{Call, DedicatedThread, Dedication, Gate, Orb, UntypedReply};

impl Orb {
    /// Has connections that ask for a thread of their own decided about from now
    /// on; `false` if another one does already.
    pub fn install_dedication(&self, dedication: Arc<dyn Dedication>) -> bool {
        self.core().serving.dedications.install(dedication)
    }

    /// Connections that have a thread of their own now; at most
    /// [`Limits::dedicated_threads`](crate::Limits).
    #[must_use]
    pub fn dedicated_threads(&self) -> usize {
        self.core().serving.dedications.granted()
    }
}

impl Call<'_> {
    /// Gives the connection of this request a thread of its own, which serves all
    /// that comes after it. To be said before the answer, and before anything
    /// that blocks.
    ///
    /// # Errors
    /// Why it cannot have one.
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

    /// Ends the connection after this request, and gives back what it was granted
    /// at once.
    pub fn end_dedication(&self) {
        if let Some(connection) = self.incoming.peer {
            connection.give_thread_back();
        }
    }

    /// Admits the requests of this connection.
    #[must_use]
    pub fn gate(&self) -> Option<Arc<dyn Gate>> {
        self.incoming.peer?.thread()?.gate
    }
}
