// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests for events of a consumer. Unlike those of `async-nats` they look at what has arrived before they take the
//! server for dead, and end without the loss of what the server has sent.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::Consumer;
use async_nats::jetstream::consumer::pull::{BatchConfig, Config};
use async_nats::jetstream::message::Message;
use async_nats::{StatusCode, Subject, Subscriber};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::{Instant, sleep_until};

use crate::stream::connecting::Losses;

/// Time that a request for events waits at the server, which then reports its end. Before that no consumer returns the events
/// it has received, and the next consumer of its name waits.
pub(crate) const EXPIRES: Duration = Duration::from_secs(1);
/// Maximum lateness of that report.
const MAX_LATENESS: Duration = Duration::from_secs(1);
/// A silence that is noticed later than that began while nothing was received here.
const MAX_NOTICE: Duration = Duration::from_millis(500);
/// Time to receive the events that have arrived when requests end, even if they should have ended before.
const MIN_END: Duration = Duration::from_millis(100);
/// The header of a request that has ended with events that were not sent.
const PENDING_MESSAGES: &str = "Nats-Pending-Messages";

/// The requests of one consumer, and what the server has sent for them.
pub(crate) struct Requests {
    consumer: Consumer<Config>,
    context: Context,
    losses: Losses,
    inbox: Subject,
    subscriber: Subscriber,
    /// Events of one request.
    batch: usize,
    /// Events that the server may still send.
    left: usize,
    /// The time by which the last request has ended in any case.
    ends_at: Instant,
    /// The time of the last message of the server.
    heard: Instant,
    /// The reason that no more events come.
    failure: Option<String>,
}

impl Requests {
    /// Requests follow when events are waited for.
    ///
    /// # Errors
    /// The client has ended.
    pub(crate) async fn new(
        consumer: Consumer<Config>,
        (context, losses): (Context, Losses),
        batch: usize,
    ) -> Result<Self, String> {
        let client = context.client();
        let inbox = Subject::from(client.new_inbox());
        let subscriber = client.subscribe(inbox.clone()).await;
        let now = Instant::now();
        Ok(Self {
            consumer,
            losses,
            inbox,
            subscriber: subscriber.map_err(|error| error.to_string())?,
            context,
            batch: batch.max(1),
            left: 0,
            ends_at: now,
            heard: now,
            failure: None,
        })
    }

    /// Waits for an event. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// The server has refused a request, or sends nothing any more.
    pub(crate) async fn next(&mut self) -> Result<Message, String> {
        loop {
            if let Some(why) = &self.failure {
                return Err(why.clone());
            }
            self.request().await?;
            tokio::select! {
                // What has arrived counts, however late it is looked at.
                biased;
                message = self.subscriber.next() => {
                    if let Some(event) = self.take(message) {
                        return Ok(event);
                    }
                }
                lost = self.losses.changed() => self.lose(lost.is_ok()),
                () = sleep_until(self.heard + EXPIRES + MAX_LATENESS) => self.miss(),
            }
        }
    }

    /// Waits for an event that the server has sent for the requests before; `None` when they have ended, and nothing comes any
    /// more. Nothing is lost if the future is dropped.
    pub(crate) async fn next_of_rest(&mut self) -> Option<Message> {
        while self.left > 0 && self.failure.is_none() {
            tokio::select! {
                biased;
                message = self.subscriber.next() => {
                    let event = self.take(message);
                    if event.is_some() {
                        return event;
                    }
                }
                lost = self.losses.changed() => self.lose(lost.is_ok()),
                () = sleep_until(self.ends_at) => break,
            }
        }
        // Of requests that have ended otherwise something may have arrived before.
        while let Some(Some(message)) = self.subscriber.next().now_or_never() {
            let event = self.take(Some(message));
            if event.is_some() {
                return event;
            }
        }
        None
    }

    /// No request is sent after this.
    pub(crate) fn close(&mut self) {
        self.ends_at = self.ends_at.max(Instant::now() + MIN_END);
    }

    /// Requests more events before the last ones have come.
    async fn request(&mut self) -> Result<(), String> {
        if self.left > self.batch / 2 {
            return Ok(());
        }
        let batch = BatchConfig {
            batch: self.batch,
            expires: Some(EXPIRES),
            ..BatchConfig::default()
        };
        let requested = self.consumer.request_batch(batch, self.inbox.clone()).await;
        requested.map_err(|error| error.to_string())?;
        self.heard = Instant::now();
        self.left += self.batch;
        self.ends_at = self.heard + EXPIRES + MAX_LATENESS;
        Ok(())
    }

    /// The event of a message, if it is one.
    fn take(&mut self, message: Option<async_nats::Message>) -> Option<Message> {
        let Some(message) = message else {
            self.failure = Some("the client has ended".to_owned());
            return None;
        };
        self.heard = Instant::now();
        match message.status {
            None | Some(StatusCode::OK) => {
                self.left = self.left.saturating_sub(1);
                return Some(Message {
                    message,
                    context: self.context.clone(),
                });
            }
            Some(StatusCode::IDLE_HEARTBEAT) => {}
            Some(StatusCode::TIMEOUT | StatusCode::REQUEST_TERMINATED) => {
                match events_not_sent(&message) {
                    Some(events) => self.left = self.left.saturating_sub(events),
                    // The server has ended all of them, as where the consumer was deleted or has another leader.
                    None => self.fail(&message),
                }
            }
            Some(_) => self.fail(&message),
        }
        None
    }

    /// The server ends the requests of a connection that is lost.
    fn lose(&mut self, is_open: bool) {
        self.left = 0;
        if !is_open {
            self.failure = Some("the client has ended".to_owned());
        }
    }

    /// Nothing has come for so long that the server would have reported the end of a request.
    fn miss(&mut self) {
        let silence = self.heard.elapsed();
        if silence > EXPIRES + MAX_LATENESS + MAX_NOTICE {
            // What has come may be on its way to the subscription, as after the process was stopped.
            self.heard += silence - EXPIRES;
        } else {
            self.failure = Some("the server sends no sign of life".to_owned());
        }
    }

    fn fail(&mut self, message: &async_nats::Message) {
        let status = message.status.map(|it| it.to_string());
        let description = message.description.as_deref();
        let why: Vec<_> = [status.as_deref(), description]
            .into_iter()
            .flatten()
            .collect();
        self.failure = Some(format!(
            "the server has ended the request: {}",
            why.join(" ")
        ));
    }
}

/// The events of a request that has ended with these not sent.
fn events_not_sent(message: &async_nats::Message) -> Option<usize> {
    let header = message.headers.as_ref()?.get(PENDING_MESSAGES)?;
    header.as_str().parse().ok()
}
