// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resource managers: order, inheritance, ceilings, and each exception.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use orbium::{ExceptionKind, SystemException};
use orbium_distributable::{
    DistributableThread, ResourceError, ResourceManager, Scheduler, SchedulingParameter,
    SegmentError,
};
use orbium_sys::{NativeThread, RealTimeError};
use orbium_testkit::{eventually, within};

use crate::common::{Process, priority};

/// Far beyond what a test takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// What native threads are scheduled by, of any discipline.
#[derive(Clone)]
struct Recorder {
    discipline: &'static str,
    runs: Arc<Mutex<HashMap<NativeThread, SchedulingParameter>>>,
}

impl Recorder {
    fn of(parameter: SchedulingParameter) -> Self {
        Self {
            discipline: parameter.discipline(),
            runs: Arc::default(),
        }
    }

    fn parameter(&self, native: NativeThread) -> Option<SchedulingParameter> {
        self.runs.lock().unwrap().get(&native).copied()
    }

    fn await_parameter(&self, native: NativeThread, parameter: SchedulingParameter) {
        eventually("it is scheduled by what it inherits", || {
            self.parameter(native) == Some(parameter)
        });
    }
}

impl Scheduler for Recorder {
    fn discipline(&self) -> &'static str {
        self.discipline
    }

    fn run(
        &self,
        thread: NativeThread,
        parameter: &SchedulingParameter,
    ) -> Result<(), RealTimeError> {
        let parameter = in_whole_minutes(*parameter);
        self.runs.lock().unwrap().insert(thread, parameter);
        Ok(())
    }

    fn withdraw(&self, thread: NativeThread) {
        self.runs.lock().unwrap().remove(&thread);
    }
}

const MINUTE: u64 = 60 * 10_000_000;

/// Execution times as they were before their threads used some of them.
fn in_whole_minutes(mut parameter: SchedulingParameter) -> SchedulingParameter {
    if let SchedulingParameter::LeastLaxity { execution, .. }
    | SchedulingParameter::MaximumUrgency { execution, .. } = &mut parameter
    {
        *execution = execution.next_multiple_of(MINUTE);
    }
    parameter
}

/// A process with a recorder as scheduler.
fn process(parameter: SchedulingParameter) -> (Process, Recorder) {
    let recorder = Recorder::of(parameter);
    (Process::scheduled_by(recorder.clone()), recorder)
}

fn fixed() -> (Process, Recorder) {
    process(priority(0))
}

fn resource(process: &Process, name: &str) -> ResourceManager {
    let created = process
        .threads
        .create_resource_manager(&process.orb, name, None);
    created.unwrap()
}

type Step = Box<dyn FnOnce() + Send>;

/// A distributable thread that does what it is sent, one step after the other.
struct Worker {
    steps: Sender<Step>,
    thread: DistributableThread,
    native: NativeThread,
    join: JoinHandle<()>,
}

impl Worker {
    fn begin(process: &Process, parameter: impl Into<Option<SchedulingParameter>>) -> Self {
        let (steps, received) = channel::<Step>();
        let (started, identity) = channel();
        let (current, parameter) = (process.threads.current(), parameter.into());
        let join = thread::spawn(move || {
            let begun = current.begin_scheduling_segment("work", parameter, None);
            begun.unwrap();
            let identity = (current.thread().unwrap(), NativeThread::current());
            started.send(identity).unwrap();
            received.iter().for_each(|step| step());
            let _ = current.end_scheduling_segment("work");
        });
        let (thread, native) = identity.recv().unwrap();
        Self {
            steps,
            thread,
            native,
            join,
        }
    }

    /// The result of a step comes when it is done.
    fn start<R: Send + 'static>(&self, step: impl FnOnce() -> R + Send + 'static) -> Receiver<R> {
        let (done, result) = channel();
        let step = move || done.send(step()).unwrap();
        self.steps.send(Box::new(step)).unwrap();
        result
    }

    fn run<R: Send + 'static>(&self, step: impl FnOnce() -> R + Send + 'static) -> R {
        self.start(step).recv_timeout(PATIENCE).unwrap()
    }

    fn lock(&self, resource: &ResourceManager) -> Receiver<Result<(), ResourceError>> {
        let resource = resource.clone();
        self.start(move || resource.lock())
    }

    fn unlock(&self, resource: &ResourceManager) {
        let resource = resource.clone();
        assert_eq!(self.run(move || resource.unlock()), Ok(()));
    }

    fn end(self) {
        drop(self.steps);
        self.join.join().unwrap();
    }
}

fn take(locked: &Receiver<Result<(), ResourceError>>) {
    assert_eq!(locked.recv_timeout(PATIENCE).unwrap(), Ok(()));
}

/// Parameters of each discipline, the more urgent first.
fn disciplines() -> [[SchedulingParameter; 2]; 4] {
    let edf = |deadline| SchedulingParameter::EarliestDeadline {
        deadline,
        importance: 0,
    };
    let llf = |execution| SchedulingParameter::LeastLaxity {
        deadline: 1000 * MINUTE,
        execution: execution * MINUTE,
        importance: 0,
    };
    let muf = |criticality| SchedulingParameter::MaximumUrgency {
        deadline: 1000 * MINUTE,
        execution: MINUTE,
        criticality,
    };
    [
        [priority(9), priority(3)],
        [edf(10), edf(20)],
        [llf(900), llf(100)],
        [muf(2), muf(1)],
    ]
}

/// Conformance: RT 6 - distributable threads: resource managers - the owner inherits from its waiters: fixed priorities, EDF, LLF, MUF
#[test]
fn the_owner_inherits_from_its_waiters() {
    for [urgent, relaxed] in disciplines() {
        let (process, recorder) = process(urgent);
        let resource = resource(&process, "display");
        let [low, high] = [relaxed, urgent].map(|it| Worker::begin(&process, it));
        take(&low.lock(&resource));
        let locked = high.lock(&resource);
        recorder.await_parameter(low.native, urgent);
        assert_eq!(recorder.parameter(high.native), None, "it waits");
        low.unlock(&resource);
        take(&locked);
        assert_eq!(recorder.parameter(high.native), Some(urgent));
        recorder.await_parameter(low.native, relaxed);
        high.unlock(&resource);
        assert_eq!(resource.owner(), None);
        [low, high].into_iter().for_each(Worker::end);
        drop(resource);
        process.end();
    }
}

/// Conformance: RT 6 - distributable threads: resource managers - the most urgent waiter is the next owner, of equal ones the first
#[test]
fn the_most_urgent_waiter_is_the_next_owner() {
    let (process, recorder) = fixed();
    let resource = resource(&process, "display");
    let owner = Worker::begin(&process, priority(1));
    take(&owner.lock(&resource));
    let waiters = [3, 5, 5, 4].map(|it| Worker::begin(&process, priority(it)));
    let mut locked = Vec::new();
    for waiter in &waiters {
        locked.push(waiter.lock(&resource));
        eventually("it waits", || recorder.parameter(waiter.native).is_none());
    }
    owner.unlock(&resource);
    for next in [1, 2, 3, 0] {
        take(&locked[next]);
        assert_eq!(resource.owner(), Some(waiters[next].thread.id()));
        waiters[next].unlock(&resource);
    }
    waiters.into_iter().for_each(Worker::end);
    owner.end();
    drop(resource);
    process.end();
}

/// Conformance: RT 6 - distributable threads: resource managers - inheritance goes from owner to owner
#[test]
fn inheritance_goes_from_owner_to_owner() {
    let (process, recorder) = fixed();
    let [first, second] = ["first", "second"].map(|it| resource(&process, it));
    let [low, middle] = [1, 2].map(|it| Worker::begin(&process, priority(it)));
    let high = Worker::begin(&process, priority(9));
    take(&low.lock(&first));
    take(&middle.lock(&second));
    let of_first = middle.lock(&first);
    recorder.await_parameter(low.native, priority(2));
    let second_too = second.clone();
    let timed = high.start(move || second_too.try_lock(Duration::from_millis(1)));
    assert_eq!(timed.recv_timeout(PATIENCE).unwrap(), Ok(false));
    // What was inherited from a waiter that has given up is given up, too.
    recorder.await_parameter(low.native, priority(2));
    let of_second = high.lock(&second);
    recorder.await_parameter(low.native, priority(9));
    low.unlock(&first);
    take(&of_first);
    assert_eq!(recorder.parameter(middle.native), Some(priority(9)));
    middle.unlock(&second);
    take(&of_second);
    recorder.await_parameter(middle.native, priority(2));
    [low, middle, high].into_iter().for_each(Worker::end);
    assert_eq!((first.owner(), second.owner()), (None, None));
    drop((first, second));
    process.end();
}

/// Conformance: RT 6 - distributable threads: resource managers - a ceiling is kept while the resource is locked
#[test]
fn a_ceiling_is_kept_while_the_resource_is_locked() {
    let (process, recorder) = fixed();
    let create = |name, ceiling| {
        let ceiling = priority(ceiling);
        let threads = &process.threads;
        threads.create_resource_manager(&process.orb, name, ceiling)
    };
    let display = create("display", 20).unwrap();
    let radar = create("radar", 10).unwrap();
    for own in [Some(priority(3)), None] {
        let worker = Worker::begin(&process, own);
        take(&worker.lock(&radar));
        assert_eq!(recorder.parameter(worker.native), Some(priority(10)));
        take(&worker.lock(&display));
        assert_eq!(recorder.parameter(worker.native), Some(priority(20)));
        worker.unlock(&display);
        assert_eq!(recorder.parameter(worker.native), Some(priority(10)));
        worker.unlock(&radar);
        assert_eq!(recorder.parameter(worker.native), own);
        worker.end();
    }
    let urgent = Worker::begin(&process, priority(30));
    take(&urgent.lock(&radar));
    assert_eq!(recorder.parameter(urgent.native), Some(priority(30)));
    urgent.end();
    drop((display, radar));
    process.end();
}

/// An upcall that waits for its end, and its native thread.
fn held_upcall(server: &Process) -> (Receiver<NativeThread>, Sender<()>) {
    let (begun, native) = channel();
    let (end, ended) = channel::<()>();
    let ended = Mutex::new(ended);
    server.state.on_act(move |_, value| {
        begun.send(NativeThread::current()).unwrap();
        ended.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        Ok(value)
    });
    (native, end)
}

/// Conformance: RT 6 - distributable threads: resource managers - inheritance follows the owner to other processes
#[test]
fn inheritance_follows_the_owner_to_other_processes() {
    let [(first, of_first), (second, _), (third, of_third)] = [(); 3].map(|()| fixed());
    let resource = resource(&first, "display");
    let (to_second, to_third) = (first.target_of(&second), second.target_of(&third));
    second.state.on_act(move |_, value| to_third.act(value));
    let (begun, end) = held_upcall(&third);
    let low = Worker::begin(&first, priority(3));
    take(&low.lock(&resource));
    let result = low.start(move || to_second.act(7));
    let native = begun.recv_timeout(PATIENCE).unwrap();
    assert_eq!(of_third.parameter(native), Some(priority(3)));
    let high = Worker::begin(&first, priority(9));
    let locked = high.lock(&resource);
    of_third.await_parameter(native, priority(9));
    // A waiter that gives up takes it back.
    high.thread.cancel(&first.orb);
    let cancelled = ResourceError::Segment(SegmentError::Cancelled);
    assert_eq!(locked.recv_timeout(PATIENCE).unwrap(), Err(cancelled));
    of_third.await_parameter(native, priority(3));
    end.send(()).unwrap();
    assert_eq!(result.recv_timeout(PATIENCE).unwrap(), Ok(7));
    assert_eq!(of_first.parameter(low.native), Some(priority(3)));
    [low, high].into_iter().for_each(Worker::end);
    drop(resource);
    [first, second, third].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: resource managers - a call carries what its caller inherits
#[test]
fn a_call_carries_what_its_caller_inherits() {
    let [(client, _), (server, recorder)] = [(); 2].map(|()| fixed());
    let ceiling = priority(20);
    let created = client
        .threads
        .create_resource_manager(&client.orb, "display", ceiling);
    let resource = created.unwrap();
    let target = client.target_of(&server);
    let seen = recorder.clone();
    server.state.on_act(move |_, _| {
        let parameter = seen.parameter(NativeThread::current());
        Ok(match parameter {
            Some(SchedulingParameter::FixedPriority { priority }) => priority.into(),
            _ => -1,
        })
    });
    let current = client.threads.current();
    let begun = current.begin_scheduling_segment("draw", priority(3), None);
    begun.unwrap();
    assert_eq!(target.act(0), Ok(3));
    resource.lock().unwrap();
    assert_eq!(target.act(0), Ok(20));
    resource.unlock().unwrap();
    assert_eq!(target.act(0), Ok(3));
    current.end_scheduling_segment("draw").unwrap();
    // The segment itself was the same.
    assert!(
        server
            .upcalls()
            .iter()
            .all(|it| it.parameter == Some(priority(3)))
    );
    drop(resource);
    [client, server].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: resource managers - owned by the distributable thread, across processes
#[test]
fn a_call_back_of_the_owner_is_the_owner() {
    let [(client, _), (server, _)] = [(); 2].map(|()| fixed());
    let resource = resource(&client, "display");
    let back = server.target_of(&client);
    server.state.on_act(move |_, value| back.act(value));
    let own = resource.clone();
    client.state.on_act(move |_, value| {
        assert_eq!(own.lock(), Err(ResourceError::Held));
        own.unlock()?;
        Ok(value)
    });
    let target = client.target_of(&server);
    let current = client.threads.current();
    let begun = current.begin_scheduling_segment("draw", priority(3), None);
    begun.unwrap();
    resource.lock().unwrap();
    assert_eq!(resource.owner(), current.id());
    assert_eq!(target.act(5), Ok(5));
    assert_eq!(resource.unlock(), Err(ResourceError::NotHeld));
    current.end_scheduling_segment("draw").unwrap();
    // The servant holds a handle, and that the ORB.
    client.state.on_act(|_, value| Ok(value));
    drop(resource);
    [client, server].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: resource managers - unlocked with the upcall or the thread that locked them
#[test]
fn resources_left_locked_are_unlocked_at_the_end() {
    let [(client, _), (server, recorder)] = [(); 2].map(|()| fixed());
    let resource = resource(&server, "display");
    let own = resource.clone();
    server.state.on_act(move |_, value| {
        own.lock()?;
        Ok(value)
    });
    let target = client.target_of(&server);
    let current = client.threads.current();
    let begun = current.begin_scheduling_segment("draw", priority(3), None);
    begun.unwrap();
    for _ in 0..2 {
        assert_eq!(target.act(5), Ok(5));
        assert_eq!(resource.owner(), None);
    }
    current.end_scheduling_segment("draw").unwrap();
    let owner = Worker::begin(&server, priority(1));
    take(&owner.lock(&resource));
    let waiter = Worker::begin(&server, priority(2));
    let locked = waiter.lock(&resource);
    recorder.await_parameter(owner.native, priority(2));
    owner.end();
    take(&locked);
    waiter.end();
    assert_eq!(resource.owner(), None);
    server.state.on_act(|_, value| Ok(value));
    drop(resource);
    [client, server].into_iter().for_each(Process::end);
}

/// Regression: the resource had that owner forever, and the number of the native thread was still
/// scheduled.
///
/// Conformance: RT 6 - distributable threads: resource managers - unlocked with the native thread that ends in a segment
#[test]
fn a_segment_ends_with_its_native_thread() {
    let (process, recorder) = fixed();
    let resource = resource(&process, "display");
    let (current, own) = (process.threads.current(), resource.clone());
    let native = thread::spawn(move || {
        let begun = current.begin_scheduling_segment("draw", priority(3), None);
        begun.unwrap();
        current
            .begin_scheduling_segment("line", None, None)
            .unwrap();
        own.lock().unwrap();
        (current.id().unwrap(), NativeThread::current())
    });
    let (id, native) = native.join().unwrap();
    assert_eq!(resource.owner(), None);
    assert!(process.threads.lookup(id).is_none());
    assert_eq!(recorder.parameter(native), None);
    drop(resource);
    process.end();
}

/// A servant that waited for a resource blocked the thread that reads its connection.
#[test]
fn requests_are_read_while_a_servant_waits_for_a_resource() {
    let [(client, _), (server, recorder)] = [(); 2].map(|()| fixed());
    let resource = resource(&server, "display");
    let own = resource.clone();
    server.state.on_act(move |_, value| {
        own.lock()?;
        Ok(value)
    });
    let owner = Worker::begin(&server, priority(1));
    take(&owner.lock(&resource));
    let target = client.target_of(&server);
    let caller = Worker::begin(&client, priority(2));
    let same = target.clone();
    let called = caller.start(move || same.act(5));
    recorder.await_parameter(owner.native, priority(2));
    // Over the same connection.
    assert_eq!(within("a request", move || target.echo_long(7)), Ok(7));
    owner.unlock(&resource);
    assert_eq!(called.recv_timeout(PATIENCE).unwrap(), Ok(5));
    [owner, caller].into_iter().for_each(Worker::end);
    server.state.on_act(|_, value| Ok(value));
    drop(resource);
    [client, server].into_iter().for_each(Process::end);
}

/// Conformance: RT 6 - distributable threads: each exception - resource managers: BAD_INV_ORDER, BAD_PARAM, INV_POLICY
#[test]
fn wrong_use_of_a_resource_is_refused() {
    let (process, _) = fixed();
    let threads = &process.threads;
    let resource = resource(&process, "display");
    assert_eq!(resource.lock(), Err(ResourceError::NoSegment));
    assert_eq!(resource.unlock(), Err(ResourceError::NoSegment));
    let current = threads.current();
    let begun = current.begin_scheduling_segment("draw", priority(3), None);
    begun.unwrap();
    assert_eq!(resource.unlock(), Err(ResourceError::NotHeld));
    resource.lock().unwrap();
    assert_eq!(resource.lock(), Err(ResourceError::Held));
    assert_eq!(resource.try_lock(PATIENCE), Err(ResourceError::Held));
    let other = Worker::begin(&process, priority(9));
    let same = resource.clone();
    assert_eq!(
        other.run(move || (same.try_lock(Duration::ZERO), same.unlock())),
        (Ok(false), Err(ResourceError::NotHeld))
    );
    other.end();
    resource.unlock().unwrap();
    assert_eq!(resource.try_lock(Duration::MAX), Ok(true));
    current.end_scheduling_segment("draw").unwrap();
    let create = |name, ceiling| threads.create_resource_manager(&process.orb, name, ceiling);
    let taken = create("display", None).unwrap_err();
    assert_eq!(taken, ResourceError::NameTaken("display".to_owned()));
    let foreign = create("radar", Some(disciplines()[1][0])).unwrap_err();
    let discipline = SegmentError::UnsupportedDiscipline {
        scheduler: "FP_Scheduling",
        parameter: "EDF_Scheduling",
    };
    assert_eq!(foreign, ResourceError::Segment(discipline));
    for (error, kind) in [
        (taken, ExceptionKind::BadParam),
        (foreign, ExceptionKind::InvPolicy),
        (ResourceError::Held, ExceptionKind::BadInvOrder),
    ] {
        assert_eq!(SystemException::from(error).kind, kind);
    }
    assert_eq!(threads.resource_manager("display"), Some(resource.clone()));
    drop(resource);
    assert_eq!(threads.resource_manager("display"), None);
    process.end();
}

/// Conformance: RT 6 - distributable threads: each exception - resource managers: BAD_INV_ORDER for a deadlock
#[test]
fn a_deadlock_is_refused() {
    let (process, recorder) = fixed();
    let [first, second] = ["first", "second"].map(|it| resource(&process, it));
    let [one, other] = [2, 1].map(|it| Worker::begin(&process, priority(it)));
    take(&one.lock(&first));
    take(&other.lock(&second));
    let of_second = one.lock(&second);
    // The one waits, or it would be the one that is refused.
    recorder.await_parameter(other.native, priority(2));
    let refused = first.clone();
    assert_eq!(
        other.run(move || refused.try_lock(Duration::from_millis(1))),
        Err(ResourceError::Deadlock)
    );
    other.unlock(&second);
    take(&of_second);
    [one, other].into_iter().for_each(Worker::end);
    drop((first, second));
    process.end();
}

/// Conformance: RT 6 - distributable threads: each exception - THREAD_CANCELLED while it waits for a resource
#[test]
fn a_cancelled_thread_waits_no_more() {
    let (process, recorder) = fixed();
    let resource = resource(&process, "display");
    let [owner, waiter] = [1, 2].map(|it| Worker::begin(&process, priority(it)));
    take(&owner.lock(&resource));
    let locked = waiter.lock(&resource);
    recorder.await_parameter(owner.native, priority(2));
    waiter.thread.cancel(&process.orb);
    let cancelled = Err(ResourceError::Segment(SegmentError::Cancelled));
    assert_eq!(locked.recv_timeout(PATIENCE).unwrap(), cancelled);
    recorder.await_parameter(owner.native, priority(1));
    let again = resource.clone();
    assert_eq!(
        waiter.run(move || again.try_lock(Duration::ZERO)),
        Err(ResourceError::Segment(SegmentError::Cancelled))
    );
    // The owner unlocks as ever.
    owner.thread.cancel(&process.orb);
    owner.unlock(&resource);
    [owner, waiter].into_iter().for_each(Worker::end);
    await_free(&resource);
    drop(resource);
    process.end();
}

fn await_free(resource: &ResourceManager) {
    eventually("it is free", || resource.owner().is_none());
}

/// Locks, time-outs, cancellations and ends race; at last nothing is locked and nothing inherited.
#[test]
fn many_threads_leave_nothing_locked() {
    let (process, recorder) = fixed();
    let resources = ["a", "b", "c"].map(|it| resource(&process, it));
    let inside = Arc::new(Mutex::new(()));
    let workers = [1, 2, 3, 4].map(|it| Worker::begin(&process, priority(it)));
    let mut done = Vec::new();
    for (seed, worker) in workers.iter().enumerate() {
        let (resources, inside) = (resources.clone(), Arc::clone(&inside));
        done.push(worker.start(move || {
            for round in 0..400 {
                let [first, second] = [seed + round, seed * round + 1].map(|it| &resources[it % 3]);
                let wait = Duration::from_micros((round as u64 % 5) * 20);
                if first.try_lock(wait) != Ok(true) {
                    continue;
                }
                let nested = second.try_lock(wait) == Ok(true);
                if first.name() == "a" {
                    let _alone = inside.try_lock().unwrap();
                }
                if nested {
                    second.unlock().unwrap();
                }
                first.unlock().unwrap();
            }
        }));
    }
    for it in done {
        within("the rounds", move || it.recv().unwrap());
    }
    for (worker, own) in workers.iter().zip(1..) {
        recorder.await_parameter(worker.native, priority(own));
    }
    assert!(resources.iter().all(|it| it.owner().is_none()));
    workers.into_iter().for_each(Worker::end);
    drop(resources);
    process.end();
}
