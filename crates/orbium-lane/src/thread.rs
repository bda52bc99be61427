// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thread setup of a lane: priorities, and their restoration. Used by the engine that starts the
//! threads.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use orbium_budget::Group;
use orbium_invocation::dedication::DedicatedThread;
use orbium_invocation::{Priority, priority, scheduling};
use orbium_sync::ThreadOptions;
use orbium_sys::{
    RealTimeError, Reservation, Scheduling, bind_this_thread, prefault_stack, try_on_thread,
};
use orbium_trace::log::{error, warn};

use crate::LaneConfig;

/// Setup of each thread of a lane.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The name of the lane for users.
    name: String,
    /// The CORBA priority at which its requests are served.
    pub priority: Option<Priority>,
    /// The scheduling granted by the host.
    pub scheduling: Option<Scheduling>,
    /// The reservation granted by the host for a serving thread, in place of the scheduling.
    pub reservation: Option<Reservation>,
    /// The threads that share a budget.
    pub budget: Option<Arc<Group>>,
    processors: Option<Vec<usize>>,
    /// Time that its reactor polls for messages before the thread sleeps.
    pub busy_poll: Duration,
    /// Bytes of the stack to prefault.
    prefault: usize,
    /// The inherited scheduling of its threads.
    inherited: Scheduling,
}

thread_local! {
    /// The setup to which this thread is restored, if it belongs to a lane.
    static OWN: RefCell<Option<Arc<Setup>>> = const { RefCell::new(None) };
}

impl Setup {
    /// The setup granted by the host; the budget is enforced from now on.
    ///
    /// # Errors
    /// The host refuses a setting of a lane that is not soft.
    pub fn new(config: &LaneConfig) -> Result<Arc<Self>, RealTimeError> {
        let granted = Self::granted(config)?;
        let Some(budget) = config.budget else {
            return Ok(granted);
        };
        let group = Group::start(config.label(), budget, granted.scheduling(), config.soft)?;
        Ok(Arc::new(Self {
            budget: Some(Arc::new(group)),
            ..(*granted).clone()
        }))
    }

    /// The settings granted by the host, tested on a temporary thread.
    fn granted(config: &LaneConfig) -> Result<Arc<Self>, RealTimeError> {
        let inherited = Scheduling::of_this_thread().unwrap_or_default();
        let asked = Arc::new(Self {
            name: config.label().to_owned(),
            priority: config.priority,
            scheduling: config.scheduling,
            reservation: config.reservation,
            processors: config.processors.clone(),
            budget: None,
            busy_poll: config.busy_poll,
            prefault: config.prefault_stack,
            inherited,
        });
        if asked.asks_nothing_of_the_host() {
            return Ok(asked);
        }
        let refused = asked.tried_out(config.stack_size).err();
        match refused {
            None => Ok(asked),
            Some(error @ RealTimeError::System(_)) => Err(error),
            Some(error) if config.soft => {
                warn!(target: "orbium::lane", lane = config.name, %error, "the lane goes on without");
                let allowed = |it: &Scheduling| it.try_out().is_ok();
                let processors = asked.processors.clone();
                Ok(Arc::new(Self {
                    scheduling: asked.scheduling.filter(allowed),
                    reservation: asked.reservation.filter(|it| it.try_out().is_ok()),
                    processors: processors.filter(|it| bindable(it)),
                    ..(*asked).clone()
                }))
            }
            Some(error) => Err(error),
        }
    }

    /// The name of the lane for users.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn tried_out(self: &Arc<Self>, stack_size: Option<usize>) -> Result<(), RealTimeError> {
        let setup = Arc::clone(self);
        try_on_thread(stack_size, Box::new(move || setup.try_all()))
    }

    fn apply(&self) -> Result<(), RealTimeError> {
        if let Some(processors) = &self.processors {
            bind_this_thread(processors)?;
        }
        scheduling::begin_with(self.scheduling())
    }

    fn try_all(&self) -> Result<(), RealTimeError> {
        self.apply()?;
        self.reserve()
    }

    fn reserve(&self) -> Result<(), RealTimeError> {
        self.reservation.map_or(Ok(()), scheduling::reserve)
    }

    fn asks_nothing_of_the_host(&self) -> bool {
        self.scheduling.is_none() && self.reservation.is_none() && self.processors.is_none()
    }

    /// The scheduling of its threads.
    fn scheduling(&self) -> Scheduling {
        self.scheduling.unwrap_or(self.inherited)
    }

    /// Options that apply this setup when a thread starts.
    #[must_use]
    pub fn options(self: &Arc<Self>, stack_size: Option<usize>) -> ThreadOptions {
        let setup = Arc::clone(self);
        ThreadOptions {
            stack_size,
            begin: Some(Arc::new(move || setup.begin())),
        }
    }

    /// The setup of a dedicated thread, which serves one connection at a separate priority.
    #[must_use]
    pub fn for_thread(&self, thread: &DedicatedThread) -> Self {
        Self {
            priority: thread.priority.or(self.priority),
            scheduling: thread.scheduling.or(self.scheduling),
            reservation: thread.reservation,
            name: "dedicated".into(),
            prefault: 0,
            ..self.clone()
        }
    }

    /// Applies the setup to the calling thread, without its reservation.
    pub fn begin(self: &Arc<Self>) {
        prefault_stack(self.prefault);
        self.leave_budget_for_reservation();
        if let Err(error) = self.apply() {
            warn!(target: "orbium::lane", %error, "a thread of a lane serves without its priority");
        }
        if self.reservation.is_none() {
            self.enter_budget(self.scheduling());
        }
        priority::set_current(self.priority);
        OWN.set(Some(Arc::clone(self)));
    }

    /// Applies the reservation to the calling thread, which has the setup, when it starts serving.
    /// Returns the refusal of the host.
    pub fn begin_serving(&self) -> Option<RealTimeError> {
        self.leave_budget_for_reservation();
        let error = self.reserve().err()?;
        warn!(target: "orbium::lane", %error, "a thread of a lane serves without its reservation");
        self.enter_budget(self.scheduling());
        Some(error)
    }

    /// Runs `work` on a thread borrowed from the lane `lender`: at the priorities of this lane and
    /// within its budget, instead of those of the lender.
    ///
    /// # Errors
    /// The host refuses the native priority; nothing was done.
    pub fn borrow_thread<R>(
        &self,
        lender: &Self,
        work: impl FnOnce() -> R,
    ) -> Result<R, RealTimeError> {
        if scheduling::is_reserved() {
            // The thread keeps the reservation of its lane, which limits it.
            return scheduling::at(self.priority, self.scheduling, work);
        }
        orbium_budget::leave();
        let result = scheduling::at(self.priority, self.scheduling, || {
            self.enter_budget(self.scheduling.unwrap_or(lender.scheduling()));
            let result = work();
            orbium_budget::leave();
            result
        });
        lender.enter_budget(lender.scheduling());
        result
    }

    /// Limits the calling thread, which has the scheduling `own`, by the budget, if there is one.
    fn enter_budget(&self, own: Scheduling) {
        if let Some(budget) = &self.budget {
            budget.enter(own);
        }
    }

    /// Ends the limit of the calling thread if a reservation limits it from now on. Called before
    /// the scheduling is set, as a demoted thread gets its previous one.
    fn leave_budget_for_reservation(&self) {
        if self.reservation.is_some() {
            orbium_budget::leave();
        }
    }

    /// Whether the calling thread belongs to the lane.
    #[must_use]
    #[inline]
    pub fn is_of_this_thread(self: &Arc<Self>) -> bool {
        OWN.with_borrow(|own| own.as_ref().is_some_and(|own| Arc::ptr_eq(own, self)))
    }
}

fn bindable(processors: &[usize]) -> bool {
    let wanted = processors.to_vec();
    try_on_thread(None, Box::new(move || bind_this_thread(&wanted))).is_ok()
}

/// The name of the lane of the calling thread.
#[must_use]
pub fn lane_name() -> Option<String> {
    OWN.with_borrow(|own| own.as_ref().map(|own| own.name.clone()))
}

/// Restores the priorities or the reservation of a lane's thread, after a servant may have changed
/// them.
#[cold]
pub fn restore() {
    OWN.with_borrow(|own| {
        let Some(own) = own else { return };
        priority::set_current(own.priority);
        if !scheduling::is_reserved() || own.reservation.is_none() {
            scheduling::restore(own.scheduling());
        } else if let Err(error) = own.reserve() {
            error!(target: "orbium::lane", %error, "a thread of a lane serves without its reservation");
            scheduling::restore(own.scheduling());
            own.enter_budget(own.scheduling());
        }
    });
}

/// Restores the setup of the calling thread; a reservation of another setup ends. The scheduling
/// after a demotion by the budget is that of this setup.
#[cold]
pub fn resume(setup: &Arc<Setup>) {
    let before = OWN.replace(Some(Arc::clone(setup)));
    if before.is_none_or(|it| it.reservation != setup.reservation) {
        scheduling::restore(setup.scheduling());
    }
    restore();
    if !scheduling::is_reserved() {
        setup.enter_budget(setup.scheduling());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use orbium_budget::Budget;
    use orbium_sys::NativeThread;

    use super::*;

    #[test]
    fn a_thread_has_its_priorities_again() {
        let setup = Arc::new(Setup {
            name: String::new(),
            priority: Priority::new(7),
            scheduling: None,
            reservation: None,
            budget: None,
            busy_poll: Duration::ZERO,
            processors: None,
            prefault: 0,
            inherited: Scheduling::default(),
        });
        let seen = std::thread::spawn(move || {
            setup.begin();
            priority::set_current(Priority::new(1));
            restore();
            let restored = priority::current();
            let raised = scheduling::at(Priority::new(9), None, priority::current).unwrap();
            (restored, raised, priority::current())
        });
        let seven = Priority::new(7);
        assert_eq!(seen.join().unwrap(), (seven, Priority::new(9), seven));
    }

    #[test]
    fn refusals_of_the_host_are_errors_or_left_out() {
        let config = LaneConfig {
            priority: Priority::new(3),
            scheduling: Some(Scheduling::fifo(1000)),
            ..LaneConfig::default()
        };
        assert!(matches!(
            Setup::new(&config),
            Err(RealTimeError::NoSuchPriority(_))
        ));
        let soft = Setup::new(&LaneConfig {
            soft: true,
            ..config
        });
        let soft = soft.unwrap();
        assert_eq!((soft.priority, soft.scheduling), (Priority::new(3), None));
    }

    const MS: Duration = Duration::from_millis(1);

    /// The setup of a lane at a native priority with a budget; none if the host refuses it.
    fn limited(priority: i32, budget: Budget) -> Option<Arc<Setup>> {
        let setup = Setup::new(&LaneConfig {
            scheduling: Some(Scheduling::fifo(priority)),
            budget: Some(budget),
            ..LaneConfig::default()
        });
        let refused = setup.as_ref().err();
        refused.inspect(|error| eprintln!("skipped: {error}"));
        setup.ok()
    }

    /// Computes until the calling thread has that scheduling.
    #[track_caller]
    fn compute_until(wanted: Scheduling) {
        let begun = Instant::now();
        let scheduling = || NativeThread::current().scheduling().unwrap();
        while scheduling() != wanted {
            assert!(begun.elapsed() < Duration::from_secs(60), "{wanted}");
        }
    }

    fn on_a_thread(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().unwrap();
    }

    /// Regression: the thread of a connection that began while the budget was exhausted stayed in
    /// the background.
    #[test]
    fn a_demoted_thread_that_begins_again_is_restored() {
        let Some(lane) = limited(5, Budget::new(MS, 50 * MS)) else {
            return;
        };
        on_a_thread(move || {
            lane.begin();
            compute_until(Scheduling::OTHER);
            Arc::new(lane.for_thread(&DedicatedThread::default())).begin();
            compute_until(Scheduling::fifo(5));
        });
    }

    /// Regression: after the end of the connection, the thread got the native priority of the
    /// connection again when the budget was replenished.
    #[test]
    fn a_thread_is_restored_to_its_lane_after_its_connection() {
        let Some(lane) = limited(5, Budget::new(MS, 50 * MS)) else {
            return;
        };
        on_a_thread(move || {
            lane.begin();
            let dedicated = DedicatedThread {
                scheduling: Some(Scheduling::fifo(8)),
                ..DedicatedThread::default()
            };
            Arc::new(lane.for_thread(&dedicated)).begin();
            compute_until(Scheduling::fifo(8));
            resume(&lane);
            compute_until(Scheduling::OTHER);
            compute_until(Scheduling::fifo(5));
        });
    }

    /// Regression: a thread with a reservation was limited by the budget as well.
    #[test]
    fn a_thread_with_a_reservation_is_in_no_budget() {
        let Some(lane) = limited(5, Budget::new(MS, 50 * MS)) else {
            return;
        };
        on_a_thread(move || {
            lane.begin();
            assert!(orbium_budget::remaining().is_some());
            let dedicated = DedicatedThread {
                reservation: Some(Reservation::new(MS, 100 * MS)),
                ..DedicatedThread::default()
            };
            let dedicated = Arc::new(lane.for_thread(&dedicated));
            dedicated.begin();
            let refused = dedicated.begin_serving();
            // Without the reservation it is limited as before.
            assert_eq!(orbium_budget::remaining().is_some(), refused.is_some());
            resume(&lane);
            assert!(orbium_budget::remaining().is_some());
        });
    }

    /// Regression: a thread lent to a more urgent lane was demoted there when its own lane had
    /// exhausted its budget.
    #[test]
    fn a_borrowed_thread_has_the_budget_of_its_borrower() {
        let (Some(lender), Some(borrower)) = (
            limited(5, Budget::new(MS, 50 * MS)),
            limited(6, Budget::new(1000 * MS, 1001 * MS)),
        ) else {
            return;
        };
        let unlimited = Setup {
            budget: None,
            ..(*borrower).clone()
        };
        on_a_thread(move || {
            lender.begin();
            for borrower in [&*borrower, &unlimited] {
                compute_until(Scheduling::OTHER);
                let borrowed = borrower.borrow_thread(&lender, || {
                    let scheduling = NativeThread::current().scheduling().unwrap();
                    assert_eq!(scheduling, Scheduling::fifo(6));
                    orbium_budget::remaining().is_some_and(|it| it > MS)
                });
                assert_eq!(borrowed.unwrap(), borrower.budget.is_some());
                assert!(orbium_budget::remaining().is_some_and(|it| it <= MS));
                compute_until(Scheduling::fifo(5));
            }
        });
    }
}
