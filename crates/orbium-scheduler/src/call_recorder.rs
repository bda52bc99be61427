// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dependencies of operations, recorded from their calls in a configuration run.

mod interceptors;
mod recording;

use std::fmt;
use std::sync::Arc;

use orbium::interceptor::{DuplicateName, Interceptors};
use orbium_sched::Handle;

pub(crate) use self::recording::Recording;

use self::interceptors::{Calls, Requests};
use self::recording::Run;

/// Records the calls between operations and their numbers in a configuration run (paper, 4.5.3).
/// [`Scheduler::schedule`](crate::Scheduler::schedule) derives dependencies from the records: the
/// time of the callee of a twoway call is charged to its caller, and the callee of a oneway runs at
/// the rate of its caller. The largest number of calls in one run counts.
///
/// At run time it installs nothing and records nothing.
///
/// Calls are attributed to the operation that the calling thread runs: a servant's, while it serves
/// a request of an ORB with the interceptors of [`install`](Self::install), or that of
/// [`run`](Self::run). Calls that an operation makes in other threads, or after its servant has
/// returned, are not recorded, nor are those of servants in other processes.
///
/// ```
/// use orbium::Orb;
/// use orbium::interceptor::Interceptors;
/// use orbium_sched::{Table, Time, Timing};
/// use orbium_scheduler::{Mode, Scheduler};
///
/// let mut scheduler = Scheduler::new(&Table::EMPTY, Mode::Configure("schedule.rs".into()));
/// let timing = Timing { period: Time::from_millis(50), ..Timing::default() };
/// let steer = scheduler.repository_mut().register("Rudder::steer", timing)?;
/// scheduler.repository_mut().create("Gyro::read")?;
///
/// let recorder = scheduler.record_calls();
/// let mut interceptors = Interceptors::new();
/// recorder.install(&mut interceptors)?;
/// let orb = Orb::builder().interceptors(interceptors).build()?;
/// recorder.run(steer, || {
///     // Calls through references of `orb`, among them `gyro.read()`.
/// });
/// assert!(recorder.unscheduled().is_empty());
/// # drop(orb);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CallRecorder(Option<Arc<Recording>>);

impl CallRecorder {
    pub(crate) fn new(recording: Option<Arc<Recording>>) -> Self {
        Self(recording)
    }

    /// Adds the interceptors that record the calls and requests of an ORB. One recorder serves
    /// several ORBs.
    ///
    /// # Errors
    /// [`DuplicateName`]: these interceptors already include it.
    pub fn install(&self, interceptors: &mut Interceptors) -> Result<(), DuplicateName> {
        if let Some(recording) = &self.0 {
            interceptors.add_client(Calls(Arc::clone(recording)))?;
            interceptors.add_server(Requests(Arc::clone(recording)))?;
        }
        Ok(())
    }

    /// Runs `work` as one run of an operation that no request starts, such as a periodic one.
    pub fn run<R>(&self, operation: Handle, work: impl FnOnce() -> R) -> R {
        let _run = self
            .0
            .as_ref()
            .map(|recording| Run::begin(recording, Some(operation)));
        work()
    }

    /// Called operations without RT_Info, as `Gyro::read`, in alphabetical order and at most 256 of
    /// them. The schedule does not include the time of these calls.
    #[must_use]
    pub fn unscheduled(&self) -> Vec<String> {
        let recording = self.0.as_ref();
        recording.map_or_else(Vec::new, |it| it.unscheduled())
    }
}

impl fmt::Debug for CallRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRecorder")
            .field("records", &self.0.is_some())
            .finish_non_exhaustive()
    }
}
