// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a call has to heed: that the ORB has ended, and the policy of the
//! thread.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use orbium_giop::SystemException;

use super::{NOTICE_ENDED, NOTICE_THREAD_POLICY, Orb, already_shut_down};
use crate::ProtocolPolicy;

thread_local! {
    /// The protocol policies of this thread, by the number of the ORB.
    static THREAD_POLICIES: RefCell<Vec<(usize, ProtocolPolicy)>> = const { RefCell::new(Vec::new()) };
}

impl Orb {
    /// What a call has to heed before it begins; zero nearly always.
    #[inline]
    pub(crate) fn notice(&self) -> u8 {
        self.0.notice.load(Ordering::Acquire)
    }

    /// Checks that the ORB has not ended; the protocol policy of this thread, if
    /// it has one.
    #[cold]
    pub(crate) fn heed(&self, notice: u8) -> Result<Option<ProtocolPolicy>, SystemException> {
        if notice & NOTICE_ENDED != 0 {
            return Err(already_shut_down());
        }
        Ok(THREAD_POLICIES.with_borrow(|policies| {
            let mut own = policies.iter().filter(|(orb, _)| *orb == self.number());
            own.next().map(|(_, policy)| policy.clone())
        }))
    }

    pub(super) fn check_running(&self) -> Result<(), SystemException> {
        self.heed(self.notice()).map(drop)
    }

    /// ClientProtocolPolicy of the calls that this thread makes through this
    /// ORB from now on; `None` goes back to the ORB's. A reference's own policy
    /// comes before it.
    pub fn set_thread_protocols(&self, policy: Option<ProtocolPolicy>) {
        THREAD_POLICIES.with_borrow_mut(|policies| {
            policies.retain(|(orb, _)| *orb != self.number());
            policies.extend(policy.map(|policy| (self.number(), policy)));
        });
        self.0
            .notice
            .fetch_or(NOTICE_THREAD_POLICY, Ordering::Release);
    }
}
