// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scripted peers: they send and expect exactly what a test says.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use orbium::giop::{
    HEADER_LEN, MessageHeader, MessageKind, ReplyStatus, Version, close_connection,
};
use orbium_cdr::{ByteOrder, CdrWriter};

use crate::message::{Message, Request, reply};
use crate::waiting::{PATIENCE, eventually};

/// A server that does nothing by itself.
#[derive(Debug)]
pub struct FakeServer {
    listener: TcpListener,
}

impl FakeServer {
    /// Listens on a free port of the loopback.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        Self { listener }
    }

    /// The port it listens at.
    ///
    /// # Panics
    /// The socket is broken.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.listener.local_addr().expect("an address").port()
    }

    /// The next connection.
    ///
    /// # Panics
    /// None comes.
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

    /// A connection that waits already.
    #[must_use]
    pub fn accept_at_once(&self) -> Option<Peer> {
        let (stream, _) = self.listener.accept().ok()?;
        stream.set_nonblocking(false).expect("a socket");
        Some(Peer::over(stream))
    }
}

/// One end of a connection, driven by a test.
#[derive(Debug)]
pub struct Peer {
    stream: TcpStream,
}

impl Peer {
    /// Connects to a port of the loopback.
    ///
    /// # Panics
    /// Nobody listens.
    #[must_use]
    #[track_caller]
    pub fn connect(port: u16) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        Self::over(TcpStream::connect(address).expect("a listening server"))
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        Self { stream }
    }

    /// The socket, for what is not offered here.
    #[must_use]
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends octets.
    ///
    /// # Panics
    /// The connection takes none.
    #[track_caller]
    pub fn send(&mut self, octets: &[u8]) {
        self.stream.write_all(octets).expect("an open connection");
    }

    /// Sends octets; whether the connection took them.
    pub fn try_send(&mut self, octets: &[u8]) -> bool {
        self.stream.write_all(octets).is_ok()
    }

    /// The next message; `None` at the end of the connection.
    ///
    /// # Panics
    /// Nothing comes, or what is no message.
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
    fn fill(&mut self, room: &mut [u8]) -> bool {
        match self.stream.read_exact(room) {
            Ok(()) => true,
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    panic!("the peer sends nothing")
                }
                _ => false,
            },
        }
    }

    /// The next message.
    ///
    /// # Panics
    /// There is none.
    #[track_caller]
    pub fn receive(&mut self) -> Message {
        self.try_receive().expect("an open connection")
    }

    /// The next message, which is a request for that operation.
    ///
    /// # Panics
    /// It is not.
    #[track_caller]
    pub fn expect_request(&mut self, operation: &str) -> Request {
        let request = self.receive().request();
        assert_eq!(request.operation, operation);
        request
    }

    /// The next message, which is of that kind.
    ///
    /// # Panics
    /// It is not.
    #[track_caller]
    pub fn expect(&mut self, kind: MessageKind) -> Message {
        let message = self.receive();
        assert_eq!(message.kind(), kind);
        message
    }

    /// The end of the connection, after what is still sent.
    ///
    /// # Panics
    /// It does not come.
    #[track_caller]
    pub fn expect_end(&mut self) {
        let mut rest = [0; 4096];
        loop {
            match self.stream.read(&mut rest) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return,
                Err(error) => panic!("the connection does not end: {error}"),
            }
        }
    }

    /// Whether nothing arrives for a moment. Proves nothing by itself.
    pub fn is_silent(&mut self, moment: Duration) -> bool {
        self.stream
            .set_read_timeout(Some(moment))
            .expect("a timeout");
        let peeked = self.stream.peek(&mut [0]);
        self.stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a timeout");
        peeked.is_err_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
            )
        })
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

    /// Ends the connection in order.
    #[track_caller]
    pub fn close(mut self) {
        self.send(&close_connection(Version::V1_2));
        // An error means that the client was faster.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Says that nothing more is sent, without a word.
    pub fn finish_sending(&self) {
        // An error means that the connection is gone already.
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}
