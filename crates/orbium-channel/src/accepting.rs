// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taking connections: what servers and bridges listen with.

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

/// How long nothing is accepted after the system refused a connection: others
/// may give some back. The same for one endpoint that has failed by itself.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(50);

/// The same after a connection was ended to make room: by then its descriptor is given back, unless a
/// thread of its own still reads it.
const ROOM_PAUSE: Duration = Duration::from_millis(1);

/// Connections accepted at most before an acceptor is closed: more than wait in the backlog of any,
/// so that clients that come again and again keep none open.
const MAX_LAST_ACCEPTED: usize = 4096;

/// The most acceptors that share a poller; connections are numbered from behind them on.
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
    /// In their places; those that were closed left theirs empty.
    acceptors: Vec<Option<Box<dyn Acceptor>>>,
    /// Which headers messages have there.
    headers: Vec<Headers>,
    /// Endpoints at which nothing is accepted for a while.
    pauses: Vec<Pause>,
    /// For the log of what the system refuses.
    refusals: EventLimit,
    /// Whether acceptors of another thread are to come.
    is_awaiting: bool,
    changes: AcceptorChanges,
}

/// Nothing is accepted at some endpoints.
struct Pause {
    /// The place of the endpoint that has failed; `None` for all, as the system has run out of something.
    place: Option<usize>,
    until: Deadline,
}

/// Acceptors to add to those of a running thread, and to close. Clones are for the same
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
    /// The thread has taken changes that it has not applied yet.
    is_applying: bool,
    /// The thread accepts nothing any more.
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

    /// Has connections accepted there too; `false` if nothing is accepted any more.
    pub fn open(&self, place: usize, acceptor: Box<dyn Acceptor>) -> bool {
        self.push(Change::Open(place, acceptor))
    }

    /// Has that acceptor closed, after what waits there is accepted; `false` if nothing is
    /// accepted any more.
    pub fn close(&self, place: usize) -> bool {
        self.push(Change::Close(place))
    }

    /// Has another thread take that acceptor, with what waits there; `false` if nothing is
    /// accepted any more.
    pub fn hand_over(
        &self,
        place: usize,
        take: impl FnOnce(Box<dyn Acceptor>) + Send + 'static,
    ) -> bool {
        self.push(Change::HandOver(place, Box::new(take)))
    }

    /// Waits until all changes are applied and what they brought is taken on, or until the
    /// deadline; whether they are. Nothing is left to apply once nothing is accepted any more.
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

    /// Whether all changes are applied and what they brought is taken on.
    pub(crate) fn are_applied(&self) -> bool {
        self.lock().are_applied()
    }

    /// What the changes brought is taken on.
    pub fn note_applied(&self) {
        self.lock().is_applying = false;
        self.0.applied.notify_all();
    }
}

/// Listens at one more endpoint, for [`AcceptorChanges::open`]: where it is found, and which
/// headers messages have there.
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
    /// Listens at the endpoints; where they are found.
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

    /// Listens nowhere until acceptors of another thread are handed over.
    pub fn awaiting() -> Self {
        Self {
            is_awaiting: true,
            ..Self::default()
        }
    }

    /// The same; `change` replaces the acceptors of GIOP alone, and `acceptor`, which is not
    /// published, comes behind them.
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

    /// Closes the listeners: new clients are refused rather than left waiting in the
    /// backlog. Those that another thread is to have go there.
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

    /// Those that were not closed.
    fn open(&self) -> impl Iterator<Item = (usize, &dyn Acceptor)> {
        let places = self.acceptors.iter().enumerate();
        places.filter_map(|(place, acceptor)| Some((place, acceptor.as_deref()?)))
    }

    /// The handle that changes them from other threads.
    pub fn changes(&self) -> &AcceptorChanges {
        &self.changes
    }

    /// Applies what other threads have changed. What waits at an acceptor that is closed is
    /// accepted first. Whether there was anything: then [`AcceptorChanges::note_applied`] follows
    /// when it is taken on.
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

    /// Whether there is nothing to accept at, nor will be.
    pub fn is_nowhere(&self) -> bool {
        self.acceptors.is_empty() && !self.is_awaiting
    }

    /// The first token that is neither the waker's nor an acceptor's, whatever is added.
    pub const fn next_token() -> u64 {
        token(MAX_ACCEPTORS)
    }

    /// Has a poller wait for the waker and for connections.
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

    /// The connection that waits at the acceptor of that token, if one does.
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

    /// Shortens a pause of all endpoints, as a connection was ended to make room for those that wait.
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
            // Should this fail, the next attempt to accept fails too.
            let _ = poller.modify(&acceptor.source(), token(place), self.interest(place));
        }
    }

    /// Whether nothing is accepted for a while, as the system has run out of something.
    pub fn is_paused(&self) -> bool {
        self.pauses.iter().any(|it| it.place.is_none())
    }

    /// Whether some endpoint is to be resumed.
    pub fn is_timed(&self) -> bool {
        !self.pauses.is_empty()
    }

    /// Accepts again after pauses; the time until the next one is over.
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

    /// The loop of a thread that accepts and nothing else. What it takes on is given the
    /// place of the endpoint too. `make_room` ends a connection, if one may end, for those that the
    /// system does not let in for lack of descriptors.
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

/// Whether accepting failed for want of resources, descriptors most likely, rather than
/// for lack of a pending connection.
fn is_refusal(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted
    )
}

#[cfg(test)]
mod tests;
