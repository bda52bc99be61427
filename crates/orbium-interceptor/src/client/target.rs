// SPDX-License-Identifier: MIT OR Apache-2.0
//! Target and policies of a call, as its interceptors may ask.

use std::fmt;
use std::sync::Arc;

use orbium_giop::Ior;
use orbium_invocation::{Operation, SyncScope};

use crate::policy::Policy;
use crate::processing_mode::Locality;
use crate::request::context_list::ContextList;

/// The references and policies of an attempt at a call. Interceptors ask for few of them, so that each is
/// found when it is asked for.
pub trait CallTarget {
    /// The reference that the call is made through.
    fn target(&self) -> &Arc<Ior>;

    /// The reference that is used: another one after a forward.
    fn effective_target(&self) -> &Arc<Ior>;

    /// Place of the profile that is used in that.
    fn profile(&self) -> usize;

    /// The policy of that type that the call has.
    fn policy(&self, policy_type: u32) -> Option<Policy>;

    /// The policies of the call, for when its thread has others.
    fn policies(&self) -> Arc<dyn CallPolicies>;

    /// When a oneway returns.
    fn sync_scope(&self) -> SyncScope;

    /// Whether its object is one of the caller's ORB.
    fn locality(&self) -> Locality;

    /// Service contexts that the caller added by hand.
    fn contexts(&self) -> &ContextList;
}

/// The policies that a call was made with, each found when it is asked for.
pub trait CallPolicies: fmt::Debug + Send + Sync {
    /// That of this type.
    fn policy(&self, policy_type: u32) -> Option<Policy>;
}

/// Facts of a call that its flow retains beyond the call of its thread.
#[derive(Debug)]
pub struct CallFacts {
    /// What is called.
    pub operation: &'static Operation,
    /// The reference that the call is made through.
    pub target: Arc<Ior>,
    /// The reference that is used: another one after a forward.
    pub effective: Arc<Ior>,
    /// Place of the profile that is used in that.
    pub profile: usize,
    /// Whether its object is one of the caller's ORB.
    pub locality: Locality,
    /// Service contexts that the caller added by hand.
    pub contexts: ContextList,
    /// The policies of the call.
    pub policies: Arc<dyn CallPolicies>,
    /// When a oneway returns.
    pub sync_scope: SyncScope,
}

impl CallFacts {
    /// The facts of an attempt.
    #[cold]
    pub fn of(operation: &'static Operation, target: &dyn CallTarget) -> Self {
        Self {
            operation,
            target: Arc::clone(target.target()),
            effective: Arc::clone(target.effective_target()),
            profile: target.profile(),
            locality: target.locality(),
            contexts: target.contexts().clone(),
            policies: target.policies(),
            sync_scope: target.sync_scope(),
        }
    }
}

impl CallTarget for CallFacts {
    fn target(&self) -> &Arc<Ior> {
        &self.target
    }

    fn effective_target(&self) -> &Arc<Ior> {
        &self.effective
    }

    fn profile(&self) -> usize {
        self.profile
    }

    fn policy(&self, policy_type: u32) -> Option<Policy> {
        self.policies.policy(policy_type)
    }

    fn policies(&self) -> Arc<dyn CallPolicies> {
        Arc::clone(&self.policies)
    }

    fn sync_scope(&self) -> SyncScope {
        self.sync_scope
    }

    fn locality(&self) -> Locality {
        self.locality
    }

    fn contexts(&self) -> &ContextList {
        &self.contexts
    }
}
