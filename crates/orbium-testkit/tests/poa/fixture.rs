// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixture of the POA tests.

use std::sync::{Arc, Mutex};

use orbium::{
    Completion, ExceptionKind, Orb, Servant, SystemException,
    poa::{
        IdAssignment, IdUniqueness, Poa, PoaError, Policies, RequestProcessing, ServantRetention,
        servant_of,
    },
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, reach};

/// Users name the objects; a servant may be several.
pub(crate) fn user() -> Policies {
    Policies {
        id_assignment: IdAssignment::User,
        id_uniqueness: IdUniqueness::Multiple,
        ..Policies::default()
    }
}

/// USE_SERVANT_MANAGER with that retention.
pub(crate) fn managed(servant_retention: ServantRetention) -> Policies {
    Policies {
        servant_retention,
        request_processing: RequestProcessing::ServantManager,
        ..user()
    }
}

/// A child of the root adapter with its manager.
pub(crate) fn child(served: &Served, name: &str, policies: Policies) -> Poa {
    let root = served.orb.root_poa();
    root.create_poa(name, Some(root.manager()), policies)
        .unwrap()
}

/// The object with that id, as a client of its own sees it.
pub(crate) fn remote(served: &Served, client: &Orb, poa: &Poa, id: &[u8]) -> Target {
    let target: Target = poa.create_reference_with_id(id).unwrap();
    reach(client, &served.orb.object_to_string(&target))
}

/// A servant and its state.
pub(crate) fn servant() -> (Arc<dyn Servant>, Arc<TargetState>) {
    let state = Arc::<TargetState>::default();
    (servant_of::<Target, _>(Arc::clone(&state)), state)
}

/// A system exception with one of the standard's minor codes, COMPLETED_NO.
pub(crate) fn omg(kind: ExceptionKind, minor: u32) -> SystemException {
    SystemException::omg(kind, minor, Completion::No)
}

/// The error of a result without `PartialEq`.
pub(crate) fn refused<T>(result: Result<T, PoaError>) -> PoaError {
    result.err().expect("not refused")
}

/// What happened, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record(Arc<Mutex<Vec<String>>>);

impl Record {
    pub(crate) fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}
