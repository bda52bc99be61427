// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accepting connections, for servers and bridges.

use std::io;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_giop::Headers;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::{Interest, Poller, Ready, Waker, is_exhausted};
use orbium_trace::log::EventLimit;
use orbium_transport::{Acceptor, ByteStream, Deadline, Endpoint};

use crate::Channel;
use crate::protocol::{ChannelOptions, OpenError, Protocols};

/// Pause of accepting after the system refused a connection for lack of resources, during which
/// other holders may release some. Also the pause of one endpoint after an error of its own.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Pause after a connection was closed to make room: its descriptor is then released, unless a
/// dedicated thread still reads it.
const ROOM_PAUSE: Duration = Duration::from_millis(1);

/// Maximum number of connections accepted before an acceptor is closed: more than any backlog
/// holds, so that clients that reconnect repeatedly cannot keep it open.
const MAX_LAST_ACCEPTED: usize = 4096;

/// Maximum number of acceptors that share a poller; the tokens of connections follow theirs.
pub const MAX_ACCEPTORS: usize = 255;

/// Token of the waker; acceptors follow, from 1 on.
pub const WAKER: u64 = 0;

const fn token(place: usize) -> u64 {
    1 + place as u64
}

/// The place among the endpoints of an acceptor with that token.
pub const fn place_of(token: u64) -> usize {
    (token as usize).wrapping_sub(1)
}

/// Acceptors that share a poller with a waker.
#[derive(Default)]
pub struct Accepting {
    /// By place; the places of closed acceptors are empty.
    acceptors: Vec<Option<Box<dyn Acceptor>>>,
    /// The headers of messages at each endpoint.
    headers: Vec<Headers>,
    /// Endpoints at which accepting is paused.
    pauses: Vec<Pause>,
    /// Rate limit of log entries about refusals by the system.
    refusals: EventLimit,
    /// Whether acceptors of another thread are expected.
    is_awaiting: bool,
    changes: AcceptorChanges,
}

/// A pause of accepting at one endpoint or at all.
struct Pause {
    /// The place of the endpoint that has failed; `None` for all, if the system has run out of a
    /// resource.
    place: Option<usize>,
    until: Deadline,
}

/// Changes to the acceptors of a running thread: to add and to close. Clones refer to the same
/// thread, which applies the changes when it is woken.
#[derive(Clone, Default)]
pub struct AcceptorChanges(Arc<Shared>);

#[derive(Default)]
struct Shared {
    pending: Mutex<Pending>,
    applied: Condvar,
}

#[derive(Default)]
struct Pending {
    changes: Vec<Change>,
    /// Whether the thread has taken changes that it has not applied yet.
    is_applying: bool,
    /// The thread no longer accepts.
    is_over: bool,
}

impl Pending {
    fn are_applied(&self) -> bool {
        self.is_over || !self.is_applying && self.changes.is_empty()
    }
}

enum Change {
    Open(usize, Box<dyn Acceptor>),
    Close(usize),
    HandOver(usize, Take),
}

/// Takes an acceptor for another thread.
type Take = Box<dyn FnOnce(Box<dyn Acceptor>) + Send>;

impl AcceptorChanges {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0.pending.lock()
    }

    fn push(&self, change: Change) -> bool {
        let mut pending = self.lock();
        if !pending.is_over {
            pending.changes.push(change);
        }
        !pending.is_over
    }

    /// Adds an acceptor; `false` if the thread no longer accepts.
    pub fn open(&self, place: usize, acceptor: Box<dyn Acceptor>) -> bool {
        self.push(Change::Open(place, acceptor))
    }

    /// Closes that acceptor after its backlog is accepted; `false` if the thread no longer accepts.
    pub fn close(&self, place: usize) -> bool {
        self.push(Change::Close(place))
    }

    /// Hands that acceptor over to another thread, with its backlog; `false` if the thread no
    /// longer accepts.
    pub fn hand_over(
        &self,
        place: usize,
        take: impl FnOnce(Box<dyn Acceptor>) + Send + 'static,
    ) -> bool {
        self.push(Change::HandOver(place, Box::new(take)))
    }

    /// Waits until all changes are applied and the accepted connections are taken over, or until
    /// the deadline; returns whether they are. After the thread has ended no changes are
    /// outstanding.
    pub fn await_applied(&self, deadline: Instant) -> bool {
        let mut pending = self.lock();
        while !pending.are_applied() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            pending = self.0.applied.wait_timeout(pending, left).0;
        }
        true
    }

    /// Whether all changes are applied and the accepted connections are taken over.
    pub(crate) fn are_applied(&self) -> bool {
        self.lock().are_applied()
    }

    /// Notes that the connections which the changes brought are taken over.
    pub fn note_applied(&self) {
        self.lock().is_applying = false;
        self.0.applied.notify_all();
    }
}

/// Listens at one more endpoint, for [`AcceptorChanges::open`]: returns the published channel, and
/// the headers of its messages.
pub fn listen_at(
    endpoint: &Endpoint,
    protocols: &Protocols,
    options: &ChannelOptions,
    short: bool,
) -> Result<(Box<dyn Acceptor>, Channel, Headers), OpenError> {
    let acceptor = protocols.listen_with(endpoint, options, short)?;
    let channel = Channel {
        messaging: protocols.messaging_at(endpoint),
        ..Channel::of(endpoint, &*acceptor)
    };
    let headers = if short {
        protocols.headers(&channel)
    } else {
        Headers::GIOP
    };
    Ok((acceptor, channel, headers))
}

impl Accepting {
    /// Listens at the endpoints; returns the acceptors and the published channels.
    pub fn listen(
        endpoints: &[Endpoint],
        protocols: &Protocols,
        options: &ChannelOptions,
    ) -> Result<(Self, Vec<Channel>), OpenError> {
        Self::listen_with(endpoints, protocols, options, false)
    }

    /// As `listen`, for a server that reads and writes short headers itself: see
    /// [`Protocols::headers`].
    pub fn listen_with_short_headers(
        endpoints: &[Endpoint],
        protocols: &Protocols,
        options: &ChannelOptions,
    ) -> Result<(Self, Vec<Channel>), OpenError> {
        Self::listen_with(endpoints, protocols, options, true)
    }

    fn listen_with(
        endpoints: &[Endpoint],
        protocols: &Protocols,
        options: &ChannelOptions,
        short: bool,
    ) -> Result<(Self, Vec<Channel>), OpenError> {
        let mut published = Vec::with_capacity(endpoints.len());
        let mut accepting = Self::default();
        for endpoint in endpoints {
            let (acceptor, channel, headers) = listen_at(endpoint, protocols, options, short)?;
            accepting.acceptors.push(Some(acceptor));
            accepting.headers.push(headers);
            published.push(channel);
        }
        Ok((accepting, published))
    }

    /// No acceptors until those of another thread are handed over.
    pub fn awaiting() -> Self {
        Self {
            is_awaiting: true,
            ..Self::default()
        }
    }

    /// The same; `change` replaces the acceptors of plain GIOP, and `acceptor`, which is not
    /// published, is appended.
    #[must_use]
    pub fn changed(
        mut self,
        change: &dyn Fn(usize, Box<dyn Acceptor>) -> Box<dyn Acceptor>,
        acceptor: Option<Box<dyn Acceptor>>,
    ) -> Self {
        let acceptors = self.acceptors.into_iter().zip(&self.headers).enumerate();
        let acceptors = acceptors.map(|(place, (acceptor, headers))| match *headers {
            Headers::GIOP => acceptor.map(|it| change(place, it)),
            _ => acceptor,
        });
        self.acceptors = acceptors.chain(acceptor.map(Some)).collect();
        self.headers.resize(self.acceptors.len(), Headers::GIOP);
        self
    }

    /// The header forms of messages at each endpoint.
    pub fn headers(&self) -> &[Headers] {
        &self.headers
    }

    /// Closes the listeners, so that new clients are refused and do not wait in the backlog. Those
    /// to be handed over go to the other thread.
    pub fn end(&mut self, poller: &Poller) {
        let last = {
            let mut pending = self.changes.lock();
            pending.is_over = true;
            mem::take(&mut pending.changes)
        };
        for change in last {
            if let Change::HandOver(place, take) = change
                && let Some(acceptor) = self.remove(place, poller)
            {
                take(acceptor);
            }
        }
        for (place, acceptor) in self.open() {
            let _ = poller.remove(&acceptor.source(), token(place));
        }
        self.acceptors.clear();
        self.changes.0.applied.notify_all();
    }

    /// The acceptors that are not closed.
    fn open(&self) -> impl Iterator<Item = (usize, &dyn Acceptor)> {
        let places = self.acceptors.iter().enumerate();
        places.filter_map(|(place, acceptor)| Some((place, acceptor.as_deref()?)))
    }

    /// The handle that changes them from other threads.
    pub fn changes(&self) -> &AcceptorChanges {
        &self.changes
    }

    /// Applies the changes of other threads. The backlog of an acceptor to be closed is accepted
    /// first. Returns whether there were any changes: the caller then calls
    /// [`AcceptorChanges::note_applied`] once the connections are taken over.
    pub fn apply_changes(
        &mut self,
        poller: &Poller,
        take_on: &mut dyn FnMut(Box<dyn ByteStream>, usize),
    ) -> bool {
        let changes = {
            let mut pending = self.changes.lock();
            pending.is_applying = !pending.changes.is_empty();
            mem::take(&mut pending.changes)
        };
        let any = !changes.is_empty();
        for change in changes {
            match change {
                Change::Open(place, acceptor) => self.add(place, acceptor, poller),
                Change::Close(place) => {
                    for _ in 0..MAX_LAST_ACCEPTED {
                        let Some(stream) = self.accept(token(place), poller) else {
                            break;
                        };
                        take_on(stream, place);
                    }
                    drop(self.remove(place, poller));
                }
                Change::HandOver(place, take) => {
                    if let Some(acceptor) = self.remove(place, poller) {
                        take(acceptor);
                    }
                }
            }
        }
        any
    }

    fn remove(&mut self, place: usize, poller: &Poller) -> Option<Box<dyn Acceptor>> {
        let acceptor = self.acceptors.get_mut(place).and_then(Option::take)?;
        self.pauses.retain(|it| it.place != Some(place));
        let _ = poller.remove(&acceptor.source(), token(place));
        Some(acceptor)
    }

    fn add(&mut self, place: usize, acceptor: Box<dyn Acceptor>, poller: &Poller) {
        if let Err(error) = poller.add(&acceptor.source(), token(place), self.interest(place)) {
            orbium_trace::log::error!(target: "orbium::conn", %error, "cannot accept at an endpoint");
            return;
        }
        if self.acceptors.len() <= place {
            self.acceptors.resize_with(place + 1, || None);
        }
        self.acceptors[place] = Some(acceptor);
    }

    /// Whether there is no acceptor, and none is expected.
    pub fn is_nowhere(&self) -> bool {
        self.acceptors.is_empty() && !self.is_awaiting
    }

    /// The first token that no waker or acceptor ever has.
    pub const fn next_token() -> u64 {
        token(MAX_ACCEPTORS)
    }

    /// Registers the waker and the acceptors with a poller.
    pub fn register(&self, poller: &Poller, waker: &Waker) -> io::Result<()> {
        poller.add(waker.source(), WAKER, Interest::Read)?;
        for (place, acceptor) in self.open() {
            poller.add(&acceptor.source(), token(place), Interest::Read)?;
        }
        Ok(())
    }

    /// Whether the token is that of an acceptor.
    pub fn is_acceptor(token: u64) -> bool {
        (1..Self::next_token()).contains(&token)
    }

    /// Accepts a pending connection at the acceptor of that token, if there is one.
    pub fn accept(&mut self, token: u64, poller: &Poller) -> Option<Box<dyn ByteStream>> {
        let place = usize::try_from(token).ok()?.checked_sub(1)?;
        match self.acceptors.get(place)?.as_ref()?.accept() {
            Ok(stream) => Some(stream),
            Err(error) => {
                if is_refusal(&error) {
                    self.pause(place, poller, &error);
                }
                None
            }
        }
    }

    #[cold]
    fn pause(&mut self, place: usize, poller: &Poller, error: &io::Error) {
        if let Some(suppressed) = self.refusals.admit() {
            orbium_trace::log::warn!(target: "orbium::conn", %error, suppressed, "cannot accept a connection");
        }
        let place = (!is_exhausted(error)).then_some(place);
        self.pauses.retain(|it| it.place != place);
        let until = Deadline::after(Some(ACCEPT_RETRY_PAUSE));
        self.pauses.push(Pause { place, until });
        self.set_interest(poller);
    }

    /// Shortens a pause of all endpoints after a connection was closed to make room for pending
    /// ones.
    pub fn retry_soon(&mut self) {
        let mut pauses = self.pauses.iter_mut();
        if let Some(pause) = pauses.find(|it| it.place.is_none()) {
            pause.until = Deadline::after(Some(ROOM_PAUSE));
        }
    }

    fn interest(&self, place: usize) -> Interest {
        let mut pauses = self.pauses.iter();
        if pauses.any(|it| it.place.is_none_or(|it| it == place)) {
            Interest::None
        } else {
            Interest::Read
        }
    }

    fn set_interest(&self, poller: &Poller) {
        for (place, acceptor) in self.open() {
            // If this fails, the next attempt to accept fails, too.
            let _ = poller.modify(&acceptor.source(), token(place), self.interest(place));
        }
    }

    /// Whether accepting is paused at all endpoints because the system has run out of a resource.
    pub fn is_paused(&self) -> bool {
        self.pauses.iter().any(|it| it.place.is_none())
    }

    /// Whether some endpoint is paused.
    pub fn is_timed(&self) -> bool {
        !self.pauses.is_empty()
    }

    /// Resumes accepting after pauses; returns the time until the next pause ends.
    pub fn resume(&mut self, poller: &Poller) -> Option<Duration> {
        if self.pauses.is_empty() {
            return None;
        }
        let before = self.pauses.len();
        self.pauses.retain(|it| !it.until.has_passed());
        if self.pauses.len() < before {
            self.set_interest(poller);
        }
        let left = self.pauses.iter().map(|it| it.until.remaining());
        left.filter_map(|it| it.unwrap_or(Some(Duration::ZERO)))
            .min()
    }

    /// The loop of a dedicated accepting thread. `take_on` receives the connections and the places
    /// of their endpoints. `make_room` closes a connection that may be closed, for pending ones
    /// that the system refuses for lack of descriptors.
    pub fn run(
        mut self,
        poller: &Poller,
        waker: &Waker,
        is_stopping: &dyn Fn() -> bool,
        take_on: &dyn Fn(Box<dyn ByteStream>, usize),
        make_room: &dyn Fn() -> bool,
    ) {
        let mut ready: Vec<Ready> = Vec::new();
        while !is_stopping() {
            let timeout = self.resume(poller);
            if let Err(error) = poller.wait(&mut ready, timeout) {
                orbium_trace::log::error!(target: "orbium::conn", %error, "cannot wait for connections");
                return;
            }
            for Ready { token } in ready.iter().copied() {
                if token == WAKER {
                    waker.clear();
                    if self.apply_changes(poller, &mut |stream, at| take_on(stream, at)) {
                        self.changes.note_applied();
                    }
                } else if let Some(stream) = self.accept(token, poller) {
                    take_on(stream, place_of(token));
                } else if self.is_paused() && make_room() {
                    self.retry_soon();
                }
            }
        }
        self.end(poller);
    }
}

/// Whether accepting failed for lack of resources, usually descriptors, rather than for lack of a
/// pending connection.
fn is_refusal(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted
    )
}

#[cfg(test)]
mod tests;
