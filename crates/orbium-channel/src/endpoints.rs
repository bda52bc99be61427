// SPDX-License-Identifier: MIT OR Apache-2.0
//! The endpoints of a server, which may change while it serves.

use std::sync::{Arc, Weak};
use std::time::Instant;

use orbium_giop::Headers;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::Waker;
use orbium_transport::Endpoint;

use crate::Channel;
use crate::accepting::{Accepting, AcceptorChanges, MAX_ACCEPTORS, listen_at};
use crate::protocol::{ChannelOptions, OpenError, Protocols};

/// Error of adding an endpoint.
#[derive(Debug)]
pub enum ListenError {
    /// Listening failed.
    Open(OpenError),
    /// There are 255.
    TooMany,
    /// The thread no longer accepts.
    Ended,
}

/// The endpoints of the thread that accepts.
pub struct Endpoints {
    places: Mutex<Places>,
    changes: AcceptorChanges,
    /// Wakes the accepting thread, which owns it.
    waker: Weak<Waker>,
}

struct Places {
    /// In the places of their acceptors.
    all: Vec<Option<Listening>>,
    published: Arc<[Channel]>,
}

#[derive(Clone)]
struct Listening {
    /// As configured; `None` if it is not published.
    endpoint: Option<Endpoint>,
    channel: Option<Channel>,
    /// The headers of messages at the endpoint.
    headers: Headers,
    /// It is closed. Connections of its backlog may still be accepted.
    is_closed: bool,
}

impl Endpoints {
    /// The endpoints at which `accepting` listens: as configured, and as published.
    pub fn new(
        asked: &[Endpoint],
        accepting: &Accepting,
        published: Vec<Channel>,
        waker: &Arc<Waker>,
    ) -> Self {
        let mut asked = asked.iter().cloned();
        let mut channels = published.iter().cloned();
        let all = accepting.headers().iter().map(|&headers| {
            Some(Listening {
                endpoint: asked.next(),
                channel: channels.next(),
                headers,
                is_closed: false,
            })
        });
        Self {
            places: Mutex::new(Places {
                all: all.collect(),
                published: published.into(),
            }),
            changes: accepting.changes().clone(),
            waker: Arc::downgrade(waker),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock()
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.upgrade() {
            waker.wake();
        }
    }

    /// The channels at which it listens, as published in references.
    pub fn published(&self) -> Arc<[Channel]> {
        Arc::clone(&self.lock().published)
    }

    /// The transport of connections accepted at a place, and their headers.
    pub fn at(&self, place: usize) -> (String, Headers) {
        let places = self.lock();
        let at = places.all.get(place).and_then(Option::as_ref);
        let channel = at.and_then(|at| at.channel.as_ref());
        let scheme = channel.map(|channel| channel.scheme.clone());
        let headers = at.map(|at| at.headers);
        (scheme.unwrap_or_default(), headers.unwrap_or_default())
    }

    /// Listens at an additional endpoint.
    ///
    /// # Errors
    /// [`ListenError`].
    pub fn listen(
        &self,
        endpoint: &Endpoint,
        protocols: &Protocols,
        options: &ChannelOptions,
    ) -> Result<Channel, ListenError> {
        let (acceptor, channel, headers) =
            listen_at(endpoint, protocols, options, true).map_err(ListenError::Open)?;
        let mut places = self.lock();
        let place = places.free(self.changes.are_applied());
        let place = place.ok_or(ListenError::TooMany)?;
        if !self.changes.open(place, acceptor) {
            return Err(ListenError::Ended);
        }
        places.all[place] = Some(Listening {
            endpoint: Some(endpoint.clone()),
            channel: Some(channel.clone()),
            headers,
            is_closed: false,
        });
        places.publish();
        drop(places);
        self.wake();
        Ok(channel)
    }

    /// Stops listening at an endpoint; returns whether it was listening.
    pub fn close(&self, endpoint: &Endpoint) -> bool {
        let mut places = self.lock();
        let found = places
            .open()
            .find(|(_, it)| it.endpoint.as_ref() == Some(endpoint));
        let Some((place, listening)) = found else {
            return false;
        };
        listening.is_closed = true;
        places.publish();
        self.changes.close(place);
        drop(places);
        self.wake();
        true
    }

    /// Publishes the endpoints of another thread, which is to [hand its endpoints
    /// over](Self::hand_over_to).
    pub fn announce(&self, other: &Self) {
        let listening: Vec<Listening> = other.lock().open().map(|(_, it)| it.clone()).collect();
        let mut places = self.lock();
        for one in listening {
            // There are as many places as in the other one.
            if let Some(place) = places.free(false) {
                places.all[place] = Some(one);
            }
        }
        places.publish();
    }

    /// Hands all published endpoints over to another thread that has [announced](Self::announce)
    /// them, which also accepts the connections of their backlogs.
    pub fn hand_over_to(&self, other: &Self) {
        let of_other: Vec<Option<Channel>> = other.lock().channels().collect();
        let mut places = self.lock();
        for (place, listening) in places.open() {
            listening.is_closed = true;
            let next = of_other.iter().position(|it| *it == listening.channel);
            let Some(next) = next else {
                self.changes.close(place);
                continue;
            };
            let (changes, waker) = (other.changes.clone(), other.waker.clone());
            self.changes.hand_over(place, move |acceptor| {
                changes.open(next, acceptor);
                if let Some(waker) = waker.upgrade() {
                    waker.wake();
                }
            });
        }
        places.publish();
        drop(places);
        self.wake();
    }

    /// Closes all published endpoints. Returns when the connections of their backlogs are taken
    /// over, or at the deadline; the result is whether they are.
    pub fn close_all(&self, deadline: Instant) -> bool {
        let mut places = self.lock();
        for (place, listening) in places.open() {
            listening.is_closed = true;
            self.changes.close(place);
        }
        places.publish();
        drop(places);
        self.wake();
        self.changes.await_applied(deadline)
    }
}

impl Places {
    /// A place for one more endpoint; `None` if there are too many. Places of closed endpoints are
    /// reused once their backlogs are taken over.
    fn free(&mut self, is_taken_on: bool) -> Option<usize> {
        for place in self.all.iter_mut().filter(|_| is_taken_on) {
            if place.as_ref().is_some_and(|it| it.is_closed) {
                *place = None;
            }
        }
        let empty = self.all.iter().position(Option::is_none);
        if empty.is_none() && self.all.len() < MAX_ACCEPTORS {
            self.all.push(None);
            return Some(self.all.len() - 1);
        }
        empty
    }

    /// The endpoints that are published and not closed, with their places.
    fn open(&mut self) -> impl Iterator<Item = (usize, &mut Listening)> {
        let all = self.all.iter_mut().enumerate();
        let all = all.filter_map(|(place, it)| Some((place, it.as_mut()?)));
        all.filter(|(_, it)| it.endpoint.is_some() && !it.is_closed)
    }

    /// The published channels by place.
    fn channels(&self) -> impl Iterator<Item = Option<Channel>> {
        let all = self.all.iter().map(Option::as_ref);
        all.map(|it| it.filter(|it| !it.is_closed)?.channel.clone())
    }

    fn publish(&mut self) {
        self.published = self.channels().flatten().collect();
    }
}
