// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads of a pool.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use orbium_core::{Completion, ExceptionKind, SystemException};
use orbium_sys::{bind_this_thread, prefault_stack};

use super::lane::{Job, Lane};
use super::{Threadpool, busy, readers};
use crate::host::Host;

thread_local! {
    /// The lane that this thread belongs to: its address.
    static OWN_LANE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Counts a thread out, whatever happens to it.
struct Alive<'a>(&'a Lane);

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.ended();
    }
}

fn no_resources() -> SystemException {
    SystemException::new(ExceptionKind::NoResources, 0, Completion::No)
}

impl Threadpool {
    /// Starts the static threads of all lanes and waits until each has its
    /// priority.
    pub(super) fn start_static(self: &Arc<Self>, host: &Arc<Host>) -> Result<(), SystemException> {
        for lane in &self.lanes {
            let (ready, all_ready) = channel();
            for _ in 0..lane.asked.static_threads {
                if !lane.claim_thread() {
                    return Err(no_resources());
                }
                self.spawn(host, lane, None, Some(ready.clone()))
                    .map_err(|_| no_resources())?;
            }
            drop(ready);
            for outcome in all_ready {
                outcome?;
            }
        }
        Ok(())
    }

    /// Starts a dynamic thread for a job; gives it back if there are enough.
    pub(super) fn grow(
        self: &Arc<Self>,
        host: &Arc<Host>,
        lane: &Arc<Lane>,
        job: Box<Job>,
    ) -> Result<(), Box<Job>> {
        if !lane.claim_thread() {
            return Err(job);
        }
        match self.spawn(host, lane, Some(job), None) {
            Err(Some(job)) => Err(job),
            _ => Ok(()),
        }
    }

    /// Starts a thread that was counted in; gives the job back if there is none.
    fn spawn(
        self: &Arc<Self>,
        host: &Arc<Host>,
        lane: &Arc<Lane>,
        job: Option<Box<Job>>,
        ready: Option<Sender<Result<(), SystemException>>>,
    ) -> Result<(), Option<Box<Job>>> {
        let name = format!("rt-{}-{}", lane.pool.0, lane.priority);
        let mut builder = thread::Builder::new().name(name);
        if self.config.stack_size > 0 {
            builder = builder.stack_size(self.config.stack_size);
        }
        // A job behind the thread's back: it is still ours if there is none.
        let (give, take) = channel::<Option<Box<Job>>>();
        let (pool, host, own) = (Arc::clone(self), Arc::clone(host), Arc::clone(lane));
        let spawned = builder.spawn(move || {
            let _alive = Alive(&own);
            OWN_LANE.set(Some(Arc::as_ptr(&own).addr()));
            let prepared = pool.prepare(&host, &own);
            let failed = prepared.is_err();
            let mut answered = false;
            if let Some(ready) = ready {
                // The first request finds it free, be it ever so soon.
                if !failed {
                    own.answers();
                    answered = true;
                }
                let _ = ready.send(prepared);
            }
            // A dynamic thread without its priority serves nobody.
            match take.recv() {
                Ok(Some(job)) if failed => pool.refuse(*job),
                Ok(Some(job)) => answered = pool.serve(&host, &own, *job),
                _ => {}
            }
            while !failed && let Some(job) = own.next(answered) {
                answered = pool.serve(&host, &own, *job);
            }
        });
        match spawned {
            Ok(_) => {
                let _ = give.send(job);
                Ok(())
            }
            Err(error) => {
                lane.ended();
                tracing::warn!(%error, "no thread for a pool");
                Err(job)
            }
        }
    }

    /// Gives the calling thread what the lane asks for.
    fn prepare(&self, host: &Host, lane: &Lane) -> Result<(), SystemException> {
        prefault_stack(self.config.prefault_stack);
        if !lane.asked.processors.is_empty() {
            bind_this_thread(&lane.asked.processors).map_err(|error| {
                tracing::error!(%error, "a lane cannot be bound to its processors");
                no_resources()
            })?;
        }
        host.give(lane.priority)
    }

    /// Serves a request; whether the lane was told that it was answered.
    fn serve(&self, host: &Host, own: &Lane, job: Job) -> bool {
        if job.buffered {
            self.buffered.leave(job.octets);
        }
        let mut request = Some(job.request);
        let answered = Cell::new(false);
        let served = host.at(job.priority, || {
            if let Some(request) = request.take() {
                request.serve(&|| {
                    if !answered.replace(true) {
                        own.answers();
                    }
                });
            }
            Ok::<_, SystemException>(())
        });
        // The thread could not have the priority.
        if let (Err(exception), Some(request)) = (served, request) {
            request.refuse(exception);
        }
        answered.get()
    }

    fn refuse(&self, job: Job) {
        if job.buffered {
            self.buffered.leave(job.octets);
        }
        job.request.refuse(busy());
    }

    /// Takes nothing more, refuses what waits, and waits for the threads; a
    /// servant that ends its own pool does not wait for itself.
    pub(crate) fn end(&self) {
        readers::stop(&self.readers);
        for lane in &self.lanes {
            lane.close().into_iter().for_each(|job| self.refuse(*job));
        }
        for lane in &self.lanes {
            let own = OWN_LANE.get() == Some(Arc::as_ptr(lane).addr());
            lane.wait_until_left(u32::from(own));
        }
    }
}
