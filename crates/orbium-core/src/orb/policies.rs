// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every call checks first: whether the ORB has shut down, and the policies of the
//! calling thread.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use orbium_giop::SystemException;
use orbium_invocation::exceptions::already_shut_down;

use super::{NOTICE_ENDED, NOTICE_THREAD_POLICY, Orb};
use crate::{ConnectionWishes, ProtocolPolicy, TimePolicies};

/// What a thread asks of its calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadPolicies {
    pub(crate) protocols: Option<ProtocolPolicy>,
    pub(crate) times: TimePolicies,
    pub(crate) connections: ConnectionWishes,
}

impl ThreadPolicies {
    /// Whether calls go over other connections than they would without.
    #[inline]
    pub(crate) fn choose_connections(&self) -> bool {
        self.protocols.is_some() || self.connections != ConnectionWishes::default()
    }
}

thread_local! {
    /// The policies of this thread, by the number of the ORB.
    static THREAD_POLICIES: RefCell<Vec<(usize, ThreadPolicies)>> = const { RefCell::new(Vec::new()) };
}

impl Orb {
    /// Flags of what a call must check first; zero nearly always.
    #[inline]
    pub(crate) fn notice(&self) -> u8 {
        self.0.notice.load(Ordering::Acquire)
    }

    /// Checks that the ORB has not ended; the policies of this thread, if it has
    /// any.
    #[cold]
    pub(crate) fn check_thread_policies(
        &self,
        notice: u8,
    ) -> Result<ThreadPolicies, SystemException> {
        if notice & NOTICE_ENDED != 0 {
            return Err(already_shut_down());
        }
        Ok(THREAD_POLICIES.with_borrow(|policies| {
            for (orb, own) in policies {
                if *orb == self.number() {
                    return own.clone();
                }
            }
            ThreadPolicies::default()
        }))
    }

    pub(crate) fn check_running(&self) -> Result<(), SystemException> {
        match self.notice() & NOTICE_ENDED {
            0 => Ok(()),
            _ => Err(already_shut_down()),
        }
    }

    /// ClientProtocolPolicy of the calls that this thread makes through this
    /// ORB from now on; `None` goes back to the ORB's. A reference's own policy
    /// comes before it.
    #[inline]
    pub fn set_thread_protocols(&self, policy: Option<ProtocolPolicy>) {
        let mut policies = self.take_thread_policies();
        policies.protocols = policy;
        self.put_thread_policies(policies);
    }

    /// Time policies of the calls that this thread makes through this ORB from
    /// now on; what is not set is the ORB's. A reference's own policies come
    /// before them.
    #[inline]
    pub fn set_thread_time_policies(&self, times: TimePolicies) {
        let mut policies = self.take_thread_policies();
        policies.times = times;
        self.put_thread_policies(policies);
    }

    /// How the calls that this thread makes through this ORB from now on share
    /// connections, where neither a reference nor the ORB says so.
    #[inline]
    pub fn set_thread_connections(&self, connections: ConnectionWishes) {
        let mut policies = self.take_thread_policies();
        policies.connections = connections;
        self.put_thread_policies(policies);
    }

    #[inline]
    fn take_thread_policies(&self) -> ThreadPolicies {
        THREAD_POLICIES.with_borrow_mut(|all| {
            let own = all.iter().position(|(orb, _)| *orb == self.number());
            own.map_or_else(ThreadPolicies::default, |own| all.swap_remove(own).1)
        })
    }

    #[inline]
    fn put_thread_policies(&self, policies: ThreadPolicies) {
        if policies.choose_connections() || !policies.times.is_none() {
            THREAD_POLICIES.with_borrow_mut(|all| all.push((self.number(), policies)));
        }
        self.0
            .notice
            .fetch_or(NOTICE_THREAD_POLICY, Ordering::Release);
    }
}
