// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the ORB has shut down, and the policies of the calling thread.

use orbium_giop::SystemException;

use super::Orb;
use crate::{ConnectionSharing, ProtocolPolicy, TimePolicies};

impl Orb {
    pub(crate) fn check_running(&self) -> Result<(), SystemException> {
        self.client().check_running()
    }

    /// ClientProtocolPolicy of the calls that this thread makes through this
    /// ORB from now on; `None` goes back to the ORB's. A reference's own policy
    /// comes before it.
    #[inline]
    pub fn set_thread_protocols(&self, policy: Option<ProtocolPolicy>) {
        self.client()
            .set_thread_policies(|policies| policies.protocols = policy);
    }

    /// Time policies of the calls that this thread makes through this ORB from
    /// now on; what is not set is the ORB's. A reference's own policies come
    /// before them.
    #[inline]
    pub fn set_thread_time_policies(&self, times: TimePolicies) {
        self.client()
            .set_thread_policies(|policies| policies.times = times);
    }

    /// How the calls that this thread makes through this ORB from now on share
    /// connections, where neither a reference nor the ORB says so.
    #[inline]
    pub fn set_thread_connections(&self, connections: ConnectionSharing) {
        self.client()
            .set_thread_policies(|policies| policies.connections = connections);
    }
}
