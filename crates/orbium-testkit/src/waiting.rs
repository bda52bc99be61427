// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for conditions, with a time limit.

use std::cell::Cell;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Scope, ScopedJoinHandle, Thread};
use std::time::{Duration, Instant};

use orbium::lock::Mutex;
use orbium_transport::Stamp;

/// Time limit of all awaited conditions, before a test fails: on a busy machine a thread may be
/// without a processor for seconds.
pub const PATIENCE: Duration = Duration::from_secs(60);

thread_local! {
    /// The time limit of this thread.
    static PATIENCE_HERE: Cell<Duration> = const { Cell::new(PATIENCE) };
}

/// Runs a body that is to fail with a time-out: on this thread [`eventually`] and [`within`] have
/// this time limit in place of [`PATIENCE`].
pub fn with_patience<T>(patience: Duration, body: impl FnOnce() -> T) -> T {
    struct Restored(Duration);
    impl Drop for Restored {
        fn drop(&mut self) {
            PATIENCE_HERE.set(self.0);
        }
    }
    let _restored = Restored(PATIENCE_HERE.replace(patience));
    body()
}

/// Waits until a condition holds.
///
/// # Panics
/// It does not within [`PATIENCE`].
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    wait_until(what, &mut holds);
}

#[track_caller]
fn wait_until(what: &str, holds: &mut dyn FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE_HERE.get();
    while !holds() {
        assert!(Instant::now() < limit, "never came true: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until connections of earlier calls count as idle: their next calls check them.
pub fn pause_calls() {
    let tick = Stamp::now().tick();
    while !Stamp::now().is_long_after(tick) {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Retries an attempt with a limited time with more time, as long as it returns that the time was
/// too short: on a busy machine a deadline may pass before the attempt has begun.
///
/// # Panics
/// The longest time is too short.
#[track_caller]
pub fn with_time_enough(least: Duration, mut attempt: impl FnMut(Duration) -> bool) {
    let times = [1, 8, 64].map(|times| times * least);
    let enough = times.into_iter().any(&mut attempt);
    assert!(enough, "not even {:?} were enough", times[2]);
}

/// Runs a body that might block forever, in a separate thread.
///
/// # Panics
/// It panics, or does not end within [`PATIENCE`].
#[track_caller]
pub fn within<T: Send + 'static>(what: &str, body: impl FnOnce() -> T + Send + 'static) -> T {
    let result = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&result);
    run_within(what, Box::new(move || *kept.lock() = Some(body())));
    result.lock().take().expect("a result")
}

/// Not generic, as hundreds of tests call [`within`]: compiled once.
#[track_caller]
fn run_within(what: &str, body: Box<dyn FnOnce() + Send>) {
    let (done, finished) = channel();
    let thread = spawn(move || {
        body();
        // The receiver may have timed out.
        let _ = done.send(());
    });
    match finished.recv_timeout(PATIENCE_HERE.get()) {
        Err(RecvTimeoutError::Timeout) => panic!("hangs: {what}"),
        // It has ended, possibly by a panic.
        _ => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
    }
}

/// Starts a thread as [`thread::spawn`] does, which is compiled for each body: this is compiled for
/// each type of result.
pub fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let body: Box<dyn FnOnce() -> T + Send> = Box::new(body);
    thread::spawn(body)
}

/// Runs a body that is to block, in a separate thread, and returns once it sleeps in the kernel, or
/// has ended.
///
/// # Panics
/// Neither happens within [`PATIENCE`].
#[track_caller]
pub fn spawn_blocked<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let (body, named) = naming(body);
    let thread = spawn(body);
    await_sleep(&named.recv().expect("a thread that has begun"));
    thread
}

/// As [`spawn_blocked`], in a scope.
///
/// # Panics
/// As for that.
#[track_caller]
pub fn spawn_blocked_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    body: impl FnOnce() -> T + Send + 'scope,
) -> ScopedJoinHandle<'scope, T> {
    let (body, named) = naming(body);
    let thread = scope.spawn(body);
    await_sleep(&named.recv().expect("a thread that has begun"));
    thread
}

/// The body, which first sends the kernel's folder of its thread.
fn naming<T>(body: impl FnOnce() -> T) -> (impl FnOnce() -> T, Receiver<PathBuf>) {
    let (names, named) = channel();
    let named_body = move || {
        let _ = names.send(this_task());
        body()
    };
    (named_body, named)
}

/// The folder in which the kernel describes the calling thread.
fn this_task() -> PathBuf {
    let task = fs::read_link("/proc/thread-self").expect("procfs");
    Path::new("/proc").join(task)
}

/// Waits until two checks find a thread asleep that did not run in between, or none.
#[track_caller]
fn await_sleep(task: &Path) {
    let mut before = None;
    eventually("the thread blocks", || {
        let Ok(status) = fs::read_to_string(task.join("status")) else {
            return true;
        };
        let now = switches_asleep(&status);
        let is_blocked = now.is_some() && now == before;
        before = now;
        is_blocked
    });
}

/// The number of a thread's voluntary context switches, if it is asleep.
fn switches_asleep(status: &str) -> Option<u64> {
    let field = |name: &str| {
        let mut lines = status.lines();
        lines
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
    };
    if !field("State:")?.starts_with('S') {
        return None;
    }
    field("voluntary_ctxt_switches:")?.parse().ok()
}

/// Runs one future on this thread: an executor that is independent of ORBs.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
