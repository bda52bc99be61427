// SPDX-License-Identifier: MIT OR Apache-2.0
//! The task of a consumer in the scheduler context of its channel.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use orbium_executor::{SpawnError, next_job};

use crate::config::ConnectError;
use crate::delivery::consumer::Consumer;
use crate::engine::Engine;

/// Spawns the task of a consumer.
///
/// # Errors
/// [`ConnectError::Context`].
pub(crate) fn serve_in_context(
    engine: Weak<Engine>,
    consumer: Arc<Consumer>,
) -> Result<(), ConnectError> {
    let of_channel = engine.upgrade();
    let tasks = of_channel.as_ref().and_then(|it| it.tasks.as_ref());
    let tasks = tasks.ok_or(ConnectError::Context(SpawnError::Destroyed))?;
    let rt_info = consumer.rt_info();
    let is_spawned = Arc::new(AtomicBool::new(false));
    let served = Served {
        engine,
        consumer,
        is_spawned: Arc::clone(&is_spawned),
    };
    let spawned = tasks.spawn(rt_info, Box::pin(serve(served)));
    is_spawned.store(spawned.is_ok(), Ordering::Relaxed);
    spawned.map_err(ConnectError::Context)
}

/// A consumer that exists as long as its task.
struct Served {
    engine: Weak<Engine>,
    consumer: Arc<Consumer>,
    /// Whether the context has accepted the task. Before, the connection fails with an error, and
    /// no event is dropped.
    is_spawned: Arc<AtomicBool>,
}

impl Drop for Served {
    /// A task that ends before the connection was cancelled.
    fn drop(&mut self) {
        let Some(engine) = self.engine.upgrade() else {
            return;
        };
        if self.is_spawned.load(Ordering::Relaxed) {
            engine.drop_consumer(&self.consumer, "its task has ended");
        } else {
            engine.remove_consumer(&self.consumer);
        }
    }
}

/// Pushes the events of a consumer's queue until the connection ends.
async fn serve(served: Served) {
    while push_next(&served).await {
        next_job().await;
    }
}

/// Waits for a set of events and pushes it; returns whether there may be others.
async fn push_next(
    Served {
        engine, consumer, ..
    }: &Served,
) -> bool {
    let Some((sink, set)) = poll_fn(|context| consumer.poll_next(context)).await else {
        return false;
    };
    let health = consumer.deliver(&*sink, &set);
    let engine = engine.upgrade();
    engine.is_some_and(|engine| {
        engine.handle_health(consumer, health);
        true
    })
}
