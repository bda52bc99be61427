// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that cross processes of the operating system, the children of this one.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use orbium::{ExceptionKind, SystemException};
use orbium_distributable::{Current, SegmentError, ThreadId};
use orbium_testkit::probe::Target;
use orbium_testkit::{eventually, within};

use crate::common::{Process, priority};

/// The variable with the reference of the server that a child calls, or [`HEAD`].
const NEXT: &str = "ORBIUM_DISTRIBUTABLE_NEXT";
/// A child that calls no other.
const HEAD: &str = "none";
/// Prefix of the lines for the parent, among those of the harness.
const MARK: &str = "child: ";

/// The operations of a child, by the argument of `act`.
mod operation {
    /// Calls the next server, or waits at the head until the thread is cancelled or released.
    pub(super) const CROSS: i32 = 0;
    /// Ends the wait of the head.
    pub(super) const RELEASE: i32 = 1;
    /// Whether the registry has the last thread that crossed.
    pub(super) const IS_KNOWN: i32 = 2;
}

/// A child process, killed at the end of a test.
struct Crossed {
    child: Child,
    output: BufReader<ChildStdout>,
    /// The child ends at the end of its input.
    _input: ChildStdin,
    reference: String,
}

impl Crossed {
    /// Starts a server that calls another one, or is the head.
    fn before(next: Option<&Self>) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["processes::role_of_a_child", "--exact", "--nocapture"])
            .env(NEXT, next.map_or(HEAD, |it| &it.reference))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut started = Self {
            output: BufReader::new(child.stdout.take().unwrap()),
            _input: child.stdin.take().unwrap(),
            child,
            reference: String::new(),
        };
        started.reference = started.line();
        started
    }

    /// The next line of the child.
    fn line(&mut self) -> String {
        let mut lines = (&mut self.output).lines().map(Result::unwrap);
        let said = lines.find_map(|it| it.split_once(MARK).map(|(_, said)| said.to_owned()));
        said.expect("a line of the child")
    }

    fn target(&self, root: &Process) -> Target {
        root.orb.resolve(&self.reference).unwrap()
    }

    /// Waits until the registry of the child is empty.
    fn await_nothing(&self, root: &Process) {
        let target = self.target(root);
        eventually("nothing is left", || {
            target.act(operation::IS_KNOWN) == Ok(0)
        });
    }

    fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Crossed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Prints a line for the parent.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "\n{MARK}{line}").unwrap();
    out.flush().unwrap();
}

/// The thread of an upcall, for comparison.
fn described(current: &Current) -> String {
    let names = current.current_scheduling_segment_names();
    format!(
        "{:?} {:?} {names:?}",
        current.id(),
        current.scheduling_parameter()
    )
}

/// Waits until the thread of the upcall is cancelled, or the head is released.
fn await_end(current: &Current, is_released: &AtomicBool) -> Result<i32, SystemException> {
    eventually("the end", || {
        current.check_cancelled().is_err() || is_released.swap(false, Ordering::SeqCst)
    });
    current.check_cancelled()?;
    Ok(operation::CROSS)
}

/// The role of a child; without its variable there is none.
#[test]
fn role_of_a_child() {
    let Ok(next) = std::env::var(NEXT) else {
        return;
    };
    let process = Process::new();
    let next = (next != HEAD).then(|| process.orb.resolve::<Target>(&next).unwrap());
    let (threads, current) = (process.threads.clone(), process.threads.current());
    let last = Mutex::new(None::<ThreadId>);
    let is_released = AtomicBool::new(false);
    process.state.on_act(move |_, wanted| match wanted {
        operation::RELEASE => {
            is_released.store(true, Ordering::SeqCst);
            Ok(0)
        }
        operation::IS_KNOWN => {
            let last = *last.lock().unwrap();
            Ok(last.is_some_and(|it| threads.lookup(it).is_some()).into())
        }
        _ => {
            *last.lock().unwrap() = current.id();
            say(&described(&current));
            let result = match &next {
                Some(next) => next.act(operation::CROSS),
                None => await_end(&current, &is_released),
            };
            say(&format!("{:?}", result.map_err(|it| it.kind)));
            result
        }
    });
    say(&process.orb.object_to_string(&process.target_of(&process)));
    let _ = io::stdin().read_to_end(&mut Vec::new());
}

/// A thread from this process through a child to another one, where it waits.
struct Crossing {
    root: Process,
    middle: Crossed,
    head: Crossed,
    id: ThreadId,
    call: thread::JoinHandle<(Result<i32, SystemException>, Result<(), SegmentError>)>,
}

impl Crossing {
    fn begin() -> Self {
        let root = Process::new();
        let mut head = Crossed::before(None);
        let mut middle = Crossed::before(Some(&head));
        let (current, target) = (root.threads.current(), middle.target(&root));
        let (send, begun) = std::sync::mpsc::channel();
        let call = thread::spawn(move || {
            let segment = current.begin_scheduling_segment("scan", priority(5), None);
            segment.unwrap();
            send.send((current.id(), described(&current))).unwrap();
            let result = target.act(operation::CROSS);
            (result, current.end_scheduling_segment("scan"))
        });
        let (id, thread) = begun.recv().unwrap();
        assert_eq!([middle.line(), head.line()], [&*thread, &thread]);
        let id = id.unwrap();
        Self {
            root,
            middle,
            head,
            id,
            call,
        }
    }
}

/// Conformance: RT 6 - distributable threads: two-way calls carry id, segment and parameters - through two processes
///
/// Conformance: RT 6 - distributable threads: cancelled across processes: THREAD_CANCELLED at the head, then at each caller - of the operating system
#[test]
fn cancellation_reaches_the_head_in_another_process() {
    let Crossing {
        root,
        mut middle,
        mut head,
        id,
        call,
    } = Crossing::begin();
    root.threads.lookup(id).unwrap().cancel(&root.orb);
    let (result, ended) = within("the call", move || call.join().unwrap());
    assert_eq!(result.unwrap_err().kind, ExceptionKind::ThreadCancelled);
    assert_eq!(ended, Err(SegmentError::Cancelled));
    let cancelled = "Err(ThreadCancelled)";
    assert_eq!([middle.line(), head.line()], [cancelled; 2]);
    for process in [&middle, &head] {
        process.await_nothing(&root);
    }
    assert!(root.threads.lookup(id).is_none());
    root.end();
}

/// Conformance: RT 6 - distributable threads: a killed process leaves no thread in the others
#[test]
fn a_thread_through_a_killed_process_ends_in_the_others() {
    let mut first = Crossing::begin();
    first.head.kill();
    assert_eq!(first.middle.line(), "Err(CommFailure)");
    let mut second = Crossing::begin();
    second.middle.kill();
    // The upcall at the head ends by itself.
    let released = second.head.target(&second.root).act(operation::RELEASE);
    assert_eq!((released, &*second.head.line()), (Ok(0), "Ok(0)"));
    for (crossing, is_first) in [(first, true), (second, false)] {
        let (root, call) = (crossing.root, crossing.call);
        let (result, ended) = within("the call", move || call.join().unwrap());
        assert_eq!(result.unwrap_err().kind, ExceptionKind::CommFailure);
        assert_eq!(ended, Ok(()));
        assert!(root.threads.lookup(crossing.id).is_none());
        let remaining = if is_first {
            crossing.middle
        } else {
            crossing.head
        };
        remaining.await_nothing(&root);
        root.end();
    }
}
