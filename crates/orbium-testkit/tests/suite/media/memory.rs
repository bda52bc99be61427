// SPDX-License-Identifier: MIT OR Apache-2.0
//! A datagram transport within the test: what is sent waits until the test lets
//! it through, changed as it likes.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use orbium::transport::{DatagramTransport, Datagrams, Deadline, ListenError};
use orbium::transport::{Endpoint, Peer, ProtocolProperties};

type Queue = Arc<Mutex<VecDeque<Vec<u8>>>>;

/// Endpoints `mem://`, all the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// What was sent.
    pub(crate) sent: Queue,
    /// What will be received.
    pub(crate) arriving: Queue,
}

impl Memory {
    /// Lets everything through as it is.
    pub(crate) fn deliver(&self) {
        let sent = std::mem::take(&mut *self.sent.lock().unwrap());
        self.arriving.lock().unwrap().extend(sent);
    }

    /// Takes what was sent out of the way.
    pub(crate) fn take(&self) -> Vec<Vec<u8>> {
        self.sent.lock().unwrap().drain(..).collect()
    }

    /// Lets these arrive.
    pub(crate) fn arrive<D: Into<Vec<u8>>>(&self, datagrams: impl IntoIterator<Item = D>) {
        let datagrams = datagrams.into_iter().map(Into::into);
        self.arriving.lock().unwrap().extend(datagrams);
    }

    fn datagrams(&self) -> Box<dyn Datagrams> {
        Box::new(MemoryDatagrams {
            memory: self.clone(),
            source: UdpSocket::bind("127.0.0.1:0").unwrap(),
        })
    }
}

impl DatagramTransport for Memory {
    fn scheme(&self) -> &'static str {
        "mem"
    }

    fn bind(
        &self,
        _endpoint: &Endpoint,
        _properties: &ProtocolProperties,
    ) -> Result<Box<dyn Datagrams>, ListenError> {
        Ok(self.datagrams())
    }

    fn open(
        &self,
        _address: &str,
        _properties: &ProtocolProperties,
        _deadline: Deadline,
    ) -> io::Result<Box<dyn Datagrams>> {
        Ok(self.datagrams())
    }
}

#[derive(Debug)]
struct MemoryDatagrams {
    memory: Memory,
    source: UdpSocket,
}

impl Datagrams for MemoryDatagrams {
    /// `WouldBlock` where nothing waits: nobody else could send it.
    fn receive(&self, room: &mut [u8]) -> io::Result<(usize, Peer)> {
        let next = self.memory.arriving.lock().unwrap().pop_front();
        let datagram = next.ok_or(io::ErrorKind::WouldBlock)?;
        let len = datagram.len().min(room.len());
        room[..len].copy_from_slice(&datagram[..len]);
        Ok((len, Peer::Internet(([127, 0, 0, 1], 1).into())))
    }

    fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        let datagram: Vec<u8> = pieces.iter().flat_map(|piece| piece.to_vec()).collect();
        self.memory.sent.lock().unwrap().push_back(datagram);
        Ok(())
    }

    fn largest(&self) -> usize {
        65_507
    }

    fn set_timeout(&self, _timeout: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn set_nonblocking(&self, _nonblocking: bool) -> io::Result<()> {
        Ok(())
    }

    fn shutdown(&self) {}

    fn source(&self) -> &dyn AsFd {
        &self.source
    }

    fn address(&self) -> &str {
        "here"
    }
}
