// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stream that begins with octets before there is room for all of them, as TLS does: the server
//! has whole messages of a send that would block.

use std::io::{self, IoSlice};
use std::sync::Arc;

use orbium::lock::Mutex;
use orbium::transport::Transport;
use orbium_transport::ByteStream;

use super::*;
use crate::over_tcp::{Around, Wrapped, WrappedClients};

/// The room of the first stream of a client, which begins early.
#[derive(Clone, Debug, Default)]
struct Early(Arc<Mutex<Room>>);

#[derive(Debug, Default)]
struct Room {
    has_connected: bool,
    is_full: bool,
    /// Sends that there is room for though it is full.
    extra: usize,
}

#[derive(Debug)]
struct EarlyStream {
    inner: Box<dyn ByteStream>,
    early: Early,
    /// Octets of which all but the last are sent.
    begun: Mutex<usize>,
}

impl Early {
    fn wrap(&self, inner: Box<dyn ByteStream>) -> Box<dyn ByteStream> {
        if std::mem::replace(&mut self.0.lock().has_connected, true) {
            return inner;
        }
        Box::new(Wrapped(EarlyStream {
            inner,
            early: self.clone(),
            begun: Mutex::default(),
        }))
    }
}

impl Around for EarlyStream {
    fn inner(&self) -> &dyn ByteStream {
        &*self.inner
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        let mut begun = self.begun.lock();
        let mut room = self.early.0.lock();
        if *begun == 0 {
            if octets.is_empty() || !room.is_full {
                return self.inner.send(octets);
            }
            let early = octets.len() - 1;
            assert_eq!(self.inner.send(&octets[..early])?, early, "small messages");
            *begun = octets.len();
        }
        room.extra = room.extra.checked_sub(1).ok_or(io::ErrorKind::WouldBlock)?;
        self.inner.send(&octets[*begun - 1..*begun])?;
        Ok(std::mem::take(&mut begun))
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
        self.send(&pieces.concat())
    }

    fn begun(&self) -> usize {
        *self.begun.lock()
    }
}

/// A request that went out together with one that would block was sent again over the next
/// connection, as if no part of both were sent: the server served it twice.
#[test]
fn requests_that_the_stream_may_have_sent_whole_are_not_sent_again() {
    let early = Early::default();
    let (wrapping, mut config) = (early.clone(), Config::default());
    let transport = WrappedClients::new(move |inner| wrapping.wrap(inner));
    config.protocols.register(Transport::stream(transport));
    let scripted = Scripted::with(config);
    let call = echo(&scripted.object, 0);
    let mut peer = scripted.server.accept();
    answer(&mut peer, 1);
    assert_eq!(result(call), Ok(0));
    early.0.lock().is_full = true;
    // The others wait behind the first, and go out together.
    let [first, second, third] = [1, 2, 3].map(|v| echo(&scripted.object, v));
    early.0.lock().extra = 1;
    for v in [1, 2] {
        assert_eq!(argument(&peer.expect_request("echo_long")), v);
    }
    drop(peer);
    let mut next = scripted.server.accept();
    let request = next.expect_request("echo_long");
    assert_eq!(argument(&request), 3, "the others may have been served");
    next.answer(&request, |w| w.write_u32(3));
    assert_eq!(result(third), Ok(3));
    for call in [first, second] {
        assert_eq!(result(call), Err(lost(Completion::Maybe)));
    }
    scripted.end();
}
