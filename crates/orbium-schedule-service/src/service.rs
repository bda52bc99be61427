// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Scheduling Service served by an ORB.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use orbium::{
    Orb,
    poa::{IdAssignment, Policies},
};
use orbium_sched::Strategy;

use crate::book::Book;
use crate::error::ServiceError;
use crate::rt_scheduler2::Scheduler;
use crate::rtec_scheduler;
use crate::servant::Servant;

/// The name of the initial reference, and the key of `corbaloc:` URLs.
pub const SCHEDULE_SERVICE: &str = "ScheduleService";

/// The key of `corbaloc:` URLs for the interface of TAO's releases.
pub const RTEC_SCHEDULE_SERVICE: &str = "RtecScheduleService";

/// Bytes of the object id of the privileged reference, which cannot be guessed.
const SECRET: usize = 16;

/// A Scheduling Service, in memory or in a file. [The crate](crate) has an example.
#[derive(Debug)]
pub struct ScheduleService {
    reference: Scheduler,
    privileged: Scheduler,
    rtec: rtec_scheduler::Scheduler,
    rtec_privileged: rtec_scheduler::Scheduler,
    book: Arc<Book>,
}

impl ScheduleService {
    /// A service without operations, which are lost with the process.
    ///
    /// The ORB's initial reference `ScheduleService` refers to it, unless the ORB has one already,
    /// and so does the key of that name in `corbaloc:` URLs.
    ///
    /// # Errors
    /// [`ServiceError`]: the ORB has a service already, or is shut down.
    pub fn in_memory(orb: &Orb) -> Result<Self, ServiceError> {
        Self::serve(orb, Book::default())
    }

    /// The service with the operations of a file, which is created if it does not exist. Each
    /// change is appended before the call returns. If priorities were computed, they are computed
    /// again.
    ///
    /// # Errors
    /// [`ServiceError`]; also errors in the file.
    pub fn open(orb: &Orb, file: &Path) -> Result<Self, ServiceError> {
        Self::serve(orb, Book::open(file)?)
    }

    fn serve(orb: &Orb, book: Book) -> Result<Self, ServiceError> {
        let book = Arc::new(book);
        let servant = |is_privileged| Servant {
            book: Arc::clone(&book),
            is_privileged,
        };
        let policies = Policies {
            id_assignment: IdAssignment::User,
            ..Policies::default()
        };
        let root = orb.root_poa();
        let poa = root.create_poa(SCHEDULE_SERVICE, Some(root.manager()), policies)?;
        let reference: Scheduler = poa.activate_with_id(b"public", servant(false))?;
        let privileged = poa.activate_with_id(&secret()?, servant(true))?;
        let rtec: rtec_scheduler::Scheduler = poa.activate_with_id(b"rtec", servant(false))?;
        let rtec_privileged = poa.activate_with_id(&secret()?, servant(true))?;
        orb.bind_key(SCHEDULE_SERVICE, &reference)?;
        orb.bind_key(RTEC_SCHEDULE_SERVICE, &rtec)?;
        root.manager().activate()?;
        // The reference of the configuration is another service, and remains.
        if let Err(_taken) = orb.register_initial_reference(SCHEDULE_SERVICE, &reference) {}
        Ok(Self {
            reference,
            privileged,
            rtec,
            rtec_privileged,
            book,
        })
    }

    /// Sets the strategy of schedules that are computed from now on by operations without an argument for it:
    /// `compute_scheduling` of both interfaces, and `recompute_scheduling`. Default: rate monotonic.
    /// TAO's releases choose it when the service is built.
    pub fn set_strategy(&self, strategy: Strategy) {
        self.book.lock().strategy = strategy;
    }

    /// The object for applications: they register operations and ask for priorities.
    #[must_use]
    pub fn reference(&self) -> Scheduler {
        self.reference.clone()
    }

    /// The same operations by the interface of TAO's releases, for applications.
    #[must_use]
    pub fn rtec(&self) -> rtec_scheduler::Scheduler {
        self.rtec.clone()
    }

    /// The reference of TAO's releases with the privilege to compute: like
    /// [`privileged`](Self::privileged).
    #[must_use]
    pub fn rtec_privileged(&self) -> rtec_scheduler::Scheduler {
        self.rtec_privileged.clone()
    }

    /// The same with the privilege to compute and to remove everything. Its key is random: only
    /// holders of this reference know it.
    #[must_use]
    pub fn privileged(&self) -> Scheduler {
        self.privileged.clone()
    }
}

fn secret() -> Result<[u8; SECRET], ServiceError> {
    let mut bytes = [0; SECRET];
    let read = File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut bytes));
    read.map_err(|error| ServiceError::Random(error.to_string()))?;
    Ok(bytes)
}
