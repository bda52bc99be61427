// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spawning of distributable threads.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use orbium::lane::Scheduling;

use crate::error::SegmentError;
use crate::scheduling::parameter::SchedulingParameter;
use crate::thread::DistributableThread;
use crate::thread::current::Current;
use crate::thread::id::ThreadId;
use crate::thread::level::{self, Segment};

/// Parameters of spawning a distributable thread.
#[derive(Clone, Debug, Default)]
pub struct Spawn {
    /// The name of its first segment, and of the native thread.
    pub name: String,
    /// The parameter of the segment; none for the implicit one of the spawning thread.
    pub parameter: Option<SchedulingParameter>,
    /// Its implicit parameter; none for that of the spawning thread.
    pub implicit: Option<SchedulingParameter>,
    /// Stack size of the native thread in bytes; none for the default.
    pub stack_size: Option<usize>,
    /// Scheduling class and native priority of the native thread where its segment has none
    /// (`base_priority`); none for those of the spawning thread. If the host refuses them, the
    /// thread has those of the spawning one, and `refused_schedulings` counts.
    pub base_priority: Option<Scheduling>,
}

/// A spawned distributable thread.
#[derive(Debug)]
pub struct Spawned {
    /// The distributable thread, which has an id of its own.
    pub thread: DistributableThread,
    /// The native thread.
    pub native: JoinHandle<()>,
}

/// Removes a spawned thread from the registry, whether its work ends, panics or does not begin.
struct Registered(Current, ThreadId);

impl Drop for Registered {
    fn drop(&mut self) {
        self.0.0.registry.leave(self.1);
    }
}

/// Ends the segment of the calling thread, whether its work ends or panics.
struct Ending<'a>(&'a Current);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let (thread, native) = level::with(|level| {
            level.segments.clear();
            (level.thread.clone(), level.end_thread())
        });
        if let Some(thread) = thread {
            self.0.0.end(&thread, native);
        }
    }
}

impl Current {
    /// Starts a native thread with a new distributable thread, which runs `work` in one segment.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] with a [`SegmentError`] for a parameter of another
    /// discipline; otherwise the error of the host.
    pub fn spawn(&self, spawn: Spawn, work: impl FnOnce() + Send + 'static) -> io::Result<Spawned> {
        let implicit = spawn.implicit.or(self.implicit_scheduling_parameter());
        let invalid = |error: SegmentError| io::Error::new(io::ErrorKind::InvalidInput, error);
        self.0.check(spawn.parameter).map_err(invalid)?;
        self.0.check(implicit).map_err(invalid)?;
        let thread = self.0.registry.enter(ThreadId::unique());
        let registered = Registered(Self(Arc::clone(&self.0)), thread.id());
        let mut builder = thread::Builder::new().name(spawn.name.replace('\0', ""));
        if let Some(bytes) = spawn.stack_size {
            builder = builder.stack_size(bytes);
        }
        let own = thread.clone();
        let started = builder.spawn(move || {
            let registered = registered;
            if let Some(base) = spawn.base_priority {
                registered.0.0.scheduler.set_base_priority(base);
            }
            level::with(|level| {
                level.begin_thread(own);
                let segment = Segment::begin(spawn.name, spawn.parameter, implicit);
                level.segments.push(segment);
            });
            let _ending = Ending(&registered.0);
            registered.0.0.reschedule();
            work();
        });
        let native = started?;
        Ok(Spawned { thread, native })
    }
}
