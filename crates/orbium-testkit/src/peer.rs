// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scripted peers: they send and expect exactly the messages of a test.

pub(crate) mod hostility;
pub(crate) mod message;
pub(crate) mod nats;
pub(crate) mod nats_cluster;
pub(crate) mod relay;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use orbium::giop::{
    HEADER_LEN, Ior, MessageHeader, MessageKind, ReplyStatus, Version, close_connection,
};
use orbium_cdr::{ByteOrder, CdrWriter};
use orbium_sys::{Interest, wait_for};
use orbium_transport::{ByteStream, TcpByteStream};
use rustix::net::{Shutdown as Ends, connect_unspec, shutdown};

use crate::peer::message::{Message, Request, reply, write_reference};
use crate::waiting::{PATIENCE, eventually};

/// Receives on a blocking stream. One that decodes or decrypts may return early, with `WouldBlock`,
/// if there is time left.
///
/// # Errors
/// As [`ByteStream::receive`].
pub(crate) fn receive_patiently(stream: &dyn ByteStream, room: &mut [u8]) -> io::Result<usize> {
    // A receive that lasted for its whole time-out is not repeated.
    let limit = Instant::now() + PATIENCE / 2;
    loop {
        match stream.receive(room) {
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut if Instant::now() < limit => {}
                _ => return Err(error),
            },
            received => return received,
        }
    }
}

/// A server controlled by a test.
#[derive(Debug)]
pub struct FakeServer {
    listener: TcpListener,
}

impl FakeServer {
    /// Listens on a free port of the loopback.
    ///
    /// # Panics
    /// There is no free port.
    #[must_use]
    pub fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        Self { listener }
    }

    /// The port at which it listens.
    ///
    /// # Panics
    /// The socket is invalid.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.listener.local_addr().expect("an address").port()
    }

    /// The next connection.
    ///
    /// # Panics
    /// None arrives.
    #[must_use]
    #[track_caller]
    pub fn accept(&self) -> Peer {
        let mut accepted = None;
        eventually("a client connects", || {
            accepted = self.accept_at_once();
            accepted.is_some()
        });
        accepted.expect("accepted")
    }

    /// A connection that is already pending.
    #[must_use]
    pub fn accept_at_once(&self) -> Option<Peer> {
        let (stream, _) = self.listener.accept().ok()?;
        stream.set_nonblocking(false).expect("a socket");
        Some(Peer::over_tcp(stream))
    }
}

/// One end of a connection, driven by a test.
#[derive(Debug)]
pub struct Peer {
    stream: Box<dyn ByteStream>,
}

impl Drop for FakeServer {
    /// Refuses connections from here on, even if another process has a copy of the socket.
    fn drop(&mut self) {
        let _ = shutdown(&self.listener, Ends::Both);
    }
}

impl Peer {
    /// Connects to a port of the loopback.
    ///
    /// # Panics
    ///
    /// No server listens there.
    #[must_use]
    #[track_caller]
    pub fn connect(port: u16) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        Self::over_tcp(TcpStream::connect(address).expect("a listening server"))
    }

    fn over_tcp(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("a socket");
        Self::over(Box::new(TcpByteStream::new(stream)))
    }

    /// Drives a blocking stream of any transport.
    ///
    /// # Panics
    /// The stream is broken.
    #[must_use]
    #[track_caller]
    pub fn over(stream: Box<dyn ByteStream>) -> Self {
        let patience = Some(Some(PATIENCE));
        stream.set_timeouts(patience, patience).expect("a timeout");
        Self { stream }
    }

    /// The stream, for operations that are not provided here.
    #[must_use]
    pub fn stream(&self) -> &dyn ByteStream {
        &*self.stream
    }

    /// Sends octets.
    ///
    /// # Panics
    /// The connection accepts none.
    #[track_caller]
    pub fn send(&mut self, octets: &[u8]) {
        self.send_all(octets).expect("an open connection");
    }

    /// Sends octets; returns whether the connection accepted them.
    pub fn try_send(&mut self, octets: &[u8]) -> bool {
        self.send_all(octets).is_ok()
    }

    fn send_all(&self, mut octets: &[u8]) -> io::Result<()> {
        while !octets.is_empty() {
            match self.stream.send(octets) {
                Ok(sent) => octets = &octets[sent..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Receives octets until `room` is full.
    ///
    /// # Panics
    /// They do not arrive.
    #[track_caller]
    pub fn receive_octets(&mut self, room: &mut [u8]) {
        assert!(self.fill(room), "the connection ended");
    }

    /// Receives all octets until the end of the connection, or its loss.
    ///
    /// # Panics
    /// It does not end.
    #[track_caller]
    pub fn receive_rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let mut room = [0; 4096];
        loop {
            match receive_patiently(&*self.stream, &mut room) {
                Ok(0) => return rest,
                Ok(received) => rest.extend_from_slice(&room[..received]),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        panic!("the connection does not end")
                    }
                    _ => return rest,
                },
            }
        }
    }

    /// The next message; `None` at the end of the connection.
    ///
    /// # Panics
    /// No message arrives, or an invalid one.
    #[track_caller]
    pub fn try_receive(&mut self) -> Option<Message> {
        let mut octets = vec![0; HEADER_LEN];
        if !self.fill(&mut octets) {
            return None;
        }
        let header = MessageHeader::parse(octets.first_chunk().expect("twelve octets"))
            .expect("a message header");
        octets.resize(HEADER_LEN + header.size as usize, 0);
        self.fill(&mut octets[HEADER_LEN..])
            .then_some(Message { header, octets })
    }

    #[track_caller]
    fn fill(&mut self, mut room: &mut [u8]) -> bool {
        while !room.is_empty() {
            match receive_patiently(&*self.stream, room) {
                Ok(0) => return false,
                Ok(received) => room = &mut room[received..],
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        panic!("the peer sends nothing")
                    }
                    _ => return false,
                },
            }
        }
        true
    }

    /// The next message.
    ///
    /// # Panics
    /// There is no free port.
    #[track_caller]
    pub fn receive(&mut self) -> Message {
        self.try_receive().expect("an open connection")
    }

    /// The next message, which has to be a request for that operation.
    ///
    /// # Panics
    /// It is not.
    #[track_caller]
    pub fn expect_request(&mut self, operation: &str) -> Request {
        let request = self.receive().request();
        assert_eq!(request.operation, operation);
        request
    }

    /// The next message, which has to be of that kind.
    ///
    /// # Panics
    /// It is not.
    #[track_caller]
    pub fn expect(&mut self, kind: MessageKind) -> Message {
        let message = self.receive();
        assert_eq!(message.kind(), kind);
        message
    }

    /// Waits for the end of the connection, and ignores messages before it.
    ///
    /// # Panics
    /// It does not end.
    #[track_caller]
    pub fn expect_end(&mut self) {
        self.receive_rest();
    }

    /// Whether no octet arrives for a moment. This alone proves nothing.
    pub fn is_silent(&mut self, moment: Duration) -> bool {
        let source = self.stream.source();
        let waited = wait_for([(source, Interest::Read)], Some(moment));
        !self.stream.has_buffered() && waited.is_ok_and(|[ready]| !ready)
    }

    /// Answers a request with results, in its version and the native order.
    #[track_caller]
    pub fn answer(&mut self, request: &Request, results: impl FnOnce(&mut CdrWriter<'_>)) {
        self.answer_with(request, ReplyStatus::NoException, results);
    }

    /// Answers a request with a status and a body.
    #[track_caller]
    pub fn answer_with(
        &mut self,
        request: &Request,
        status: ReplyStatus,
        body: impl FnOnce(&mut CdrWriter<'_>),
    ) {
        let minor = request.header.version.minor;
        let message = reply(minor, ByteOrder::NATIVE, request.id, status, body);
        self.send(&message);
    }

    /// Replies to a request with LOCATION_FORWARD.
    #[track_caller]
    pub fn forward(&mut self, request: &Request, to: &Ior) {
        let status = ReplyStatus::LocationForward;
        self.answer_with(request, status, |writer| write_reference(to, writer));
    }

    /// Ends the connection in an orderly way.
    #[track_caller]
    pub fn close(mut self) {
        self.send(&close_connection(Version::V1_2));
        self.stream.shutdown(Shutdown::Write);
    }

    /// Ends the connection as the system does for a process that crashes with unread data: by an
    /// immediate reset. Closing it would not suffice: while another test starts a process, that one
    /// has a copy of every socket.
    ///
    /// # Panics
    /// It is not a TCP socket.
    #[track_caller]
    pub fn reset(self) {
        connect_unspec(self.stream.source()).expect("a TCP socket");
    }

    /// Ends the sending direction, without a message.
    pub fn finish_sending(&self) {
        self.stream.shutdown(Shutdown::Write);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};

    use super::*;

    /// While another test starts a process, that process has copies of all descriptors from its
    /// fork to its exec. Regression: a client connected to a server that had ended in this way, and
    /// called over a connection that was reset.
    #[test]
    fn an_ended_stream_has_ended_though_another_process_has_a_copy() {
        let server = FakeServer::listen();
        let port = server.port();
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        let peer = server.accept();
        let listening = server.listener.try_clone().unwrap();
        let connected = peer.stream.source().as_fd().try_clone_to_owned().unwrap();
        peer.reset();
        drop(server);
        let reset = client.read(&mut [0]).unwrap_err();
        assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
        let refused = TcpStream::connect(("127.0.0.1", port)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        drop((listening, connected));
    }
}
