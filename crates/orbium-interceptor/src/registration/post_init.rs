// SPDX-License-Identifier: MIT OR Apache-2.0
//! Second phase of ORB initialisers (`post_init`), when the ORB exists.

use std::fmt;
use std::sync::Arc;

use orbium_giop::{Ior, SystemException};

use crate::registration::identity::OrbIdentity;
use crate::request::slots::{PiCurrent, SlotAllocator, SlotId};

/// `post_init` of an initialiser.
pub(crate) type PostInit = dyn Fn(&PostInitInfo<'_>) -> Result<(), SystemException> + Send + Sync;

/// Information for an initialiser when the ORB exists (`ORBInitInfo` in `post_init`).
pub struct PostInitInfo<'i> {
    pub(crate) slots: &'i SlotAllocator,
    pub(crate) identity: &'i OrbIdentity,
    pub(crate) resolve: &'i dyn Fn(&str) -> Option<Arc<Ior>>,
}

impl PostInitInfo<'_> {
    /// The name of the ORB ([`OrbIdentity::orb_id`]).
    #[must_use]
    pub fn orb_id(&self) -> &str {
        &self.identity.orb_id
    }

    /// Allocates a slot. Requests already in progress do not have it.
    #[must_use]
    pub fn allocate_slot(&self) -> SlotId {
        self.slots.allocate()
    }

    /// The slots of the calling thread, as allocated so far.
    #[must_use]
    pub fn current(&self) -> PiCurrent {
        self.slots.current()
    }

    /// An initial reference; `None` if there is none with that name (`InvalidName`).
    #[must_use]
    pub fn resolve_initial_reference(&self, name: &str) -> Option<Arc<Ior>> {
        (self.resolve)(name)
    }
}

impl fmt::Debug for PostInitInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostInitInfo").finish_non_exhaustive()
    }
}
