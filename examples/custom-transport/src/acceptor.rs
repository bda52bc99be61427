// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acceptor of the transport: a named pipe at which clients announce themselves.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use orbium::transport::ProtocolProperties;
use orbium::transport::{Acceptor, ByteStream};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::rendezvous::{DOOR, NAME, Name, Place, make_pipe, open_pipe, remove_pipe};
use crate::stream::{PipeStream, Ways};

/// What a server says first, so that the client knows that it was heard.
pub(crate) const WELCOME: u8 = b'!';

/// Names of clients that are gone again, passed over at a time.
const MAX_PASSED_OVER: usize = 64;

/// A pipe at which clients say their names.
#[derive(Debug)]
pub(crate) struct PipeAcceptor {
    // Before the door: nobody finds one that is closed already.
    place: Place,
    door: OwnedFd,
    /// Our own end for writing: as long as there is one the door does not end.
    bell: OwnedFd,
    properties: ProtocolProperties,
    address: String,
}

impl PipeAcceptor {
    /// Listens in a directory.
    ///
    /// # Errors
    /// As [`Place::take`].
    pub(crate) fn listen(path: &Path, properties: ProtocolProperties) -> io::Result<Self> {
        let place = Place::take(path)?;
        make_pipe(place.directory(), DOOR)?;
        Ok(Self {
            door: open_pipe(place.directory(), DOOR, OFlags::RDONLY)?,
            bell: open_pipe(place.directory(), DOOR, OFlags::WRONLY)?,
            place,
            properties,
            address: path.display().to_string(),
        })
    }

    /// Opens the pipes of a client and welcomes it.
    fn open(&self, name: &Name) -> io::Result<PipeStream> {
        let directory = self.place.directory();
        let ways = Ways::new()?;
        let incoming = open_pipe(directory, &name.up(), OFlags::RDONLY)?;
        // Last of all: from now on the client hears us.
        let outgoing = open_pipe(directory, &name.down(), OFlags::WRONLY)?;
        let stream = PipeStream::new(incoming, outgoing, ways, &self.properties);
        match stream.send(&[WELCOME]) {
            // Who has them open needs the names no more.
            Ok(_) => self.remove(name),
            Err(_) => return Err(io::ErrorKind::ConnectionRefused.into()),
        }
        Ok(stream)
    }

    fn remove(&self, name: &Name) {
        for pipe in [name.up(), name.down()] {
            remove_pipe(self.place.directory(), &pipe);
        }
    }
}

/// Whether it was not the client's fault.
fn is_ours(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM)
    )
}

impl Acceptor for PipeAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        for _ in 0..MAX_PASSED_OVER {
            let mut said = [0; NAME];
            // `WouldBlock` if nobody has said anything.
            let count = rustix::io::read(&self.door, &mut said)?;
            let Some(name) = Name::said(&said[..count]) else {
                continue;
            };
            match self.open(&name) {
                Ok(stream) => return Ok(Box::new(stream)),
                Err(error) if is_ours(&error) => {
                    // It is to be heard again later.
                    rustix::io::write(&self.bell, name.octets())?;
                    return Err(error);
                }
                // It is gone again, or never was.
                Err(_) => self.remove(&name),
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn source(&self) -> &dyn AsFd {
        &self.door
    }

    fn address(&self) -> &str {
        &self.address
    }
}
