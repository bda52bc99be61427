// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connector of the transport.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use orbium::transport::ProtocolProperties;
use orbium::transport::{ByteStream, Connector, Deadline};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::acceptor::WELCOME;
use crate::rendezvous::{DOOR, Name, enter, make_pipe, open_pipe, remove_pipe};
use crate::stream::{PipeStream, Ways};

/// Connects to whoever listens in a directory.
#[derive(Debug)]
pub(crate) struct PipeConnector {
    path: PathBuf,
    properties: ProtocolProperties,
}

impl PipeConnector {
    pub(crate) fn new(path: PathBuf, properties: ProtocolProperties) -> Self {
        Self { path, properties }
    }
}

impl Connector for PipeConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        deadline.remaining()?;
        let directory = &enter(&self.path).map_err(refused)?;
        let door = open_pipe(directory, DOOR, OFlags::WRONLY).map_err(refused)?;
        let pipes = Made::new(directory)?;
        let incoming = open_pipe(directory, &pipes.name.down(), OFlags::RDONLY)?;
        // A pipe can be opened for writing only while somebody reads it.
        let reader = open_pipe(directory, &pipes.name.up(), OFlags::RDONLY)?;
        let outgoing = open_pipe(directory, &pipes.name.up(), OFlags::WRONLY)?;
        let stream = PipeStream::new(incoming, outgoing, Ways::new()?, &self.properties);
        ring(&door, &pipes.name, deadline)?;
        await_welcome(&stream, &door, deadline)?;
        drop(reader);
        Ok(Box::new(stream))
    }
}

/// That nothing is there means that nobody listens.
fn refused(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => io::ErrorKind::ConnectionRefused.into(),
        _ => error,
    }
}

/// The pipes of a connection, until the server has them too.
struct Made<'d> {
    directory: &'d OwnedFd,
    name: Name,
}

impl<'d> Made<'d> {
    fn new(directory: &'d OwnedFd) -> io::Result<Self> {
        let name = Name::new();
        let made = Self { directory, name };
        make_pipe(directory, &made.name.up())?;
        make_pipe(directory, &made.name.down())?;
        Ok(made)
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        remove_pipe(self.directory, &self.name.up());
        remove_pipe(self.directory, &self.name.down());
    }
}

/// Says a name at the door: as short as it is it goes as a whole or not at all.
fn ring(door: &OwnedFd, name: &Name, deadline: Deadline) -> io::Result<()> {
    loop {
        match rustix::io::write(door, name.octets()) {
            Ok(_) => return Ok(()),
            Err(Errno::AGAIN) => await_any(&mut [(door, PollFlags::OUT)], deadline)?,
            Err(Errno::PIPE) => return Err(io::ErrorKind::ConnectionRefused.into()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits for the server's first octet, or for its end.
fn await_welcome(stream: &PipeStream, door: &OwnedFd, deadline: Deadline) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    loop {
        let mut said = [0];
        let is_over = is_deserted(door)?;
        match stream.receive(&mut said) {
            Ok(1) if said == [WELCOME] => return stream.set_nonblocking(false),
            Ok(1) => return Err(io::ErrorKind::InvalidData.into()),
            // Before the server comes it looks like this as well.
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if is_over {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let incoming = stream.incoming();
        let sources = &mut [(incoming, PollFlags::IN), (door, PollFlags::empty())];
        await_any(sources, deadline)?;
    }
}

/// Whether nobody is behind the door any more.
fn is_deserted(door: &OwnedFd) -> io::Result<bool> {
    let mut door = [PollFd::new(door, PollFlags::empty())];
    poll(&mut door, Some(&Timespec::default()))?;
    Ok(!door[0].revents().is_empty())
}

/// Waits until one of the pipes is ready.
fn await_any(pipes: &mut [(&OwnedFd, PollFlags)], deadline: Deadline) -> io::Result<()> {
    let left = deadline.remaining()?;
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    let polled = pipes
        .iter()
        .map(|(pipe, flags)| PollFd::from_borrowed_fd(pipe.as_fd(), *flags));
    match poll(&mut polled.collect::<Vec<_>>(), left.as_ref()) {
        // The deadline is looked at before the next attempt.
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
