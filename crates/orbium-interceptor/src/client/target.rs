// SPDX-License-Identifier: MIT OR Apache-2.0
//! Target and policies of a call for its interceptors.

use std::fmt;
use std::sync::Arc;

use orbium_giop::Ior;
use orbium_invocation::{Operation, SyncScope};

use crate::policy::Policy;
use crate::processing_mode::Locality;
use crate::request::context_list::ContextList;

/// The references and policies of an attempt at a call. Interceptors use few of them, so each is
/// evaluated on demand.
pub trait CallTarget {
    /// The original reference of the call.
    fn target(&self) -> &Arc<Ior>;

    /// The reference in use: another one after a forward.
    fn effective_target(&self) -> &Arc<Ior>;

    /// Index of the profile in use in that reference.
    fn profile(&self) -> usize;

    /// The policy of that type for the call.
    fn policy(&self, policy_type: u32) -> Option<Policy>;

    /// The policies of the call, retained when its thread may change its own.
    fn policies(&self) -> Arc<dyn CallPolicies>;

    /// The SyncScope of a oneway.
    fn sync_scope(&self) -> SyncScope;

    /// Whether its object belongs to the caller's ORB.
    fn locality(&self) -> Locality;

    /// Service contexts added by the caller.
    fn contexts(&self) -> &ContextList;
}

/// The policies of a call, evaluated on demand.
pub trait CallPolicies: fmt::Debug + Send + Sync {
    /// The policy of this type.
    fn policy(&self, policy_type: u32) -> Option<Policy>;
}

/// Facts of a call that its flow retains after the calling thread continues.
#[derive(Debug)]
pub struct CallFacts {
    /// The operation of the call.
    pub operation: &'static Operation,
    /// The original reference of the call.
    pub target: Arc<Ior>,
    /// The reference in use: another one after a forward.
    pub effective: Arc<Ior>,
    /// Index of the profile in use in that reference.
    pub profile: usize,
    /// Whether its object belongs to the caller's ORB.
    pub locality: Locality,
    /// Service contexts added by the caller.
    pub contexts: ContextList,
    /// The policies of the call.
    pub policies: Arc<dyn CallPolicies>,
    /// The SyncScope of a oneway.
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
