// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taking connections: what servers and bridges listen with.

use std::io;
use std::time::Duration;

use orbium_giop::Headers;
use orbium_sys::{Interest, Poller, Ready, Waker};
use orbium_transport::{Acceptor, ByteStream, Deadline, Endpoint};

use crate::Channel;
use crate::protocol::{ChannelOptions, OpenError, Protocols};

/// How long nothing is accepted after the system refused a connection: others
/// may give some back.
const PAUSE: Duration = Duration::from_millis(50);

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
pub struct Accepting {
    acceptors: Vec<Box<dyn Acceptor>>,
    /// Which headers messages have there.
    headers: Vec<Headers>,
    /// Until when nothing is accepted: the system has run out of something.
    paused: Option<Deadline>,
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
        let mut acceptors = Vec::with_capacity(endpoints.len());
        let mut published = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints {
            let acceptor = protocols.listen_with(endpoint, options, short)?;
            published.push(Channel {
                messaging: protocols.messaging_at(endpoint),
                ..Channel::of(endpoint, &*acceptor)
            });
            acceptors.push(acceptor);
        }
        let headers = published.iter().map(|it| match short {
            true => protocols.headers(it),
            false => Headers::GIOP,
        });
        let accepting = Self {
            headers: headers.collect(),
            acceptors,
            paused: None,
        };
        Ok((accepting, published))
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
            Headers::GIOP => change(place, acceptor),
            _ => acceptor,
        });
        self.acceptors = acceptors.chain(acceptor).collect();
        self.headers.resize(self.acceptors.len(), Headers::GIOP);
        self
    }

    /// Which headers messages have at each endpoint.
    pub fn headers(&self) -> &[Headers] {
        &self.headers
    }

    /// Closes the listeners: new clients are refused rather than left waiting in the
    /// backlog.
    #[inline(never)]
    pub fn end(&mut self, poller: &Poller) {
        for (place, acceptor) in self.acceptors.iter().enumerate() {
            let _ = poller.remove(&acceptor.source(), token(place));
        }
        self.acceptors.clear();
    }

    /// Whether there is nothing to accept at.
    pub fn is_nowhere(&self) -> bool {
        self.acceptors.is_empty()
    }

    /// The first token that is neither the waker's nor an acceptor's.
    pub fn next_token(&self) -> u64 {
        token(self.acceptors.len())
    }

    /// Has a poller wait for the waker and for connections.
    pub fn register(&self, poller: &Poller, waker: &Waker) -> io::Result<()> {
        poller.add(waker.source(), WAKER, Interest::Read)?;
        for (place, acceptor) in self.acceptors.iter().enumerate() {
            poller.add(&acceptor.source(), token(place), Interest::Read)?;
        }
        Ok(())
    }

    /// Whether the token is that of an acceptor.
    pub fn is_acceptor(&self, token: u64) -> bool {
        (1..self.next_token()).contains(&token)
    }

    /// The connection that waits at the acceptor of that token, if one does.
    pub fn accept(&mut self, token: u64, poller: &Poller) -> Option<Box<dyn ByteStream>> {
        let place = usize::try_from(token).ok()?.checked_sub(1)?;
        match self.acceptors.get(place)?.accept() {
            Ok(stream) => Some(stream),
            Err(error) => {
                if is_refusal(&error) {
                    self.paused = Some(Deadline::after(Some(PAUSE)));
                    self.set_interest(poller, Interest::None);
                }
                None
            }
        }
    }

    fn set_interest(&self, poller: &Poller, interest: Interest) {
        for (place, acceptor) in self.acceptors.iter().enumerate() {
            // Should this fail, the next attempt to accept fails too.
            let _ = poller.modify(&acceptor.source(), token(place), interest);
        }
    }

    /// Whether nothing is accepted for a while.
    pub fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// Accepts again after a pause; the time until then, if it is not over.
    #[inline(never)]
    pub fn resume(&mut self, poller: &Poller) -> Option<Duration> {
        if let Ok(left) = self.paused?.remaining() {
            return left;
        }
        self.paused = None;
        self.set_interest(poller, Interest::Read);
        None
    }

    /// What a thread does that accepts and nothing else. What it takes on is given the
    /// place of the endpoint too.
    pub fn run(
        mut self,
        poller: &Poller,
        is_stopping: &dyn Fn() -> bool,
        take_on: &dyn Fn(Box<dyn ByteStream>, usize),
    ) {
        let mut ready: Vec<Ready> = Vec::new();
        while !is_stopping() {
            let timeout = self.resume(poller);
            if let Err(error) = poller.wait(&mut ready, timeout) {
                orbium_trace::log::error!(target: "orbium::conn", %error, "cannot wait for connections");
                return;
            }
            for Ready { token } in ready.iter().copied() {
                if let Some(stream) = self.accept(token, poller) {
                    take_on(stream, place_of(token));
                }
            }
        }
    }
}

/// Whether accepting failed for want of resources, descriptors most likely, rather than
/// for lack of a pending connection.
fn is_refusal(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted => false,
        _ => {
            orbium_trace::log::warn!(target: "orbium::conn", %error, "cannot accept a connection");
            true
        }
    }
}
