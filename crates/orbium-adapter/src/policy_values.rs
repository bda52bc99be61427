// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of an adapter's policies (CORBA 3.3 Part 1, clause 15.3.8).

/// Lifespan of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lifespan {
    /// As long as the adapter that made them. The default.
    #[default]
    Transient,
    /// Unlimited: an adapter with the same path and address serves them again, in a later process,
    /// too.
    Persistent,
}

/// Origin of object ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IdAssignment {
    /// The adapter: ids are slots in a table. The default.
    #[default]
    System,
    /// The user.
    User,
}

/// Number of objects that one servant may incarnate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IdUniqueness {
    /// One. The default.
    #[default]
    Unique,
    /// Any number.
    Multiple,
}

/// Threads that run the servants of an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ThreadModel {
    /// Threads of the ORB, concurrently (ORB_CTRL_MODEL). The default.
    #[default]
    OrbControlled,
    /// Threads of the ORB, one at a time; collocated calls may re-enter on the same thread
    /// (SINGLE_THREAD_MODEL).
    SingleThread,
    /// Only the main thread: the one that first calls `Orb::run`, `Orb::perform_work` or
    /// `Orb::work_pending` (MAIN_THREAD_MODEL). During its nested calls, requests wait.
    MainThread,
}

/// Retention of servants in a map of active objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServantRetention {
    /// Servants are retained. The default.
    #[default]
    Retain,
    /// The servant is found for each request.
    NonRetain,
}

/// Handling of requests for objects that are not active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RequestProcessing {
    /// Answers OBJECT_NOT_EXIST (USE_ACTIVE_OBJECT_MAP_ONLY). The default.
    #[default]
    ActiveObjectMapOnly,
    /// The default servant serves the request; see `Poa::set_servant`.
    DefaultServant,
    /// The servant manager finds the servant; see `Poa::set_servant_activator` and
    /// `Poa::set_servant_locator`.
    ServantManager,
}
