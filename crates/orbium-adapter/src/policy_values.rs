// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of an adapter's policies (CORBA 3.3 Part 1, clause 15.3.8).

/// Lifespan of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lifespan {
    /// As long as the adapter that made them. The default.
    #[default]
    Transient,
    /// For ever: an adapter of the same path and address serves them again, in
    /// a later process too.
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
    /// Those of the ORB, many at once (ORB_CTRL_MODEL). The default.
    #[default]
    OrbControlled,
    /// Those of the ORB, one at a time; calls within the process may come back on the same
    /// thread (SINGLE_THREAD_MODEL).
    SingleThread,
    /// The main thread alone: that which first calls `Orb::run`, `Orb::perform_work` or
    /// `Orb::work_pending` (MAIN_THREAD_MODEL). While it is in a call of its own, requests wait.
    MainThread,
}

/// Retention of servants in a map of active objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServantRetention {
    /// It has. The default.
    #[default]
    Retain,
    /// Each request finds its servant anew.
    NonRetain,
}

/// Handling of requests for objects that are not active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RequestProcessing {
    /// Answers OBJECT_NOT_EXIST (USE_ACTIVE_OBJECT_MAP_ONLY). The default.
    #[default]
    ActiveObjectMapOnly,
    /// Has the default servant serve it; see `Poa::set_servant`.
    DefaultServant,
    /// Asks the servant manager; see `Poa::set_servant_activator` and
    /// `Poa::set_servant_locator`.
    ServantManager,
}
