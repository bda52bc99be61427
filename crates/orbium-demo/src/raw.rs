// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plain streams that move the same numbers of octets as a load, with one receive and one send per
//! side and no parsing: the upper limit for an ORB over that transport.
//!
//! TCP and Unix-domain sockets are built in; any other [`Read`] and [`Write`] can be passed to
//! [`answer`] and [`Client::over`].
//!
//! ```
//! use orbium_demo::raw;
//! use std::net::TcpListener;
//!
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let address = listener.local_addr()?;
//! let server = std::thread::spawn(move || raw::serve_one(&listener));
//!
//! let mut client = raw::Client::connect(address, raw::Exchange::twoway(64, 28))?;
//! client.run(10, None)?;
//! drop(client);
//! server.join().unwrap()?;
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Instant;

/// Sizes of the messages of an exchange. Both sides buffer a whole message, as an ORB does, so
/// sizes are bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Octets of a request.
    pub request: u32,
    /// Octets of a reply.
    pub reply: u32,
    /// Requests per reply: 1 for twoway calls, more for a flood.
    pub every: u32,
}

/// Maximum octets of a message.
const MAX_MESSAGE_LENGTH: u32 = 1 << 28;

/// Minimum number of octets that the server of a flood receives at once.
const FLOOD_BUFFER: usize = 1 << 16;

impl Exchange {
    /// An exchange with a reply to each request.
    #[must_use]
    pub const fn twoway(request: u32, reply: u32) -> Self {
        Self {
            request,
            reply,
            every: 1,
        }
    }

    /// An exchange with several requests per acknowledgement: one octet confirms the receipt of
    /// all.
    #[must_use]
    pub const fn flood(request: u32, every: u32) -> Self {
        Self {
            request,
            reply: 1,
            every,
        }
    }

    fn check(self) -> io::Result<Self> {
        let sizes = [self.request, self.reply];
        if self.every > 0
            && sizes
                .iter()
                .all(|size| (1..=MAX_MESSAGE_LENGTH).contains(size))
        {
            return Ok(self);
        }
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "sizes must not be zero or beyond 256 MiB",
        ))
    }

    fn to_octets(self) -> [u8; 12] {
        let mut octets = [0; 12];
        let numbers = [self.request, self.reply, self.every];
        for (place, number) in octets.chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        octets
    }

    fn from_octets(octets: [u8; 12]) -> io::Result<Self> {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = octets;
        let exchange = Self {
            request: u32::from_le_bytes([a, b, c, d]),
            reply: u32::from_le_bytes([e, f, g, h]),
            every: u32::from_le_bytes([i, j, k, l]),
        };
        exchange.check()
    }
}

/// Listener of a raw peer.
pub trait Listen {
    /// One side of a connection.
    type Stream: Read + Write + Send + 'static;

    /// Waits for a connection.
    ///
    /// # Errors
    /// That of the system.
    fn next(&self) -> io::Result<Self::Stream>;
}

impl Listen for TcpListener {
    type Stream = TcpStream;

    fn next(&self) -> io::Result<TcpStream> {
        let (connection, _) = self.accept()?;
        connection.set_nodelay(true)?;
        Ok(connection)
    }
}

#[cfg(unix)]
impl Listen for std::os::unix::net::UnixListener {
    type Stream = std::os::unix::net::UnixStream;

    fn next(&self) -> io::Result<Self::Stream> {
        Ok(self.accept()?.0)
    }
}

/// Serves connections, each in a thread, until the listener fails.
///
/// # Errors
/// That of the listener.
pub fn serve(listener: &impl Listen) -> io::Result<()> {
    loop {
        let connection = listener.next()?;
        // A client that misbehaves or disappears ends only its own connection.
        thread::Builder::new()
            .name("raw".into())
            .spawn(move || answer(connection))?;
    }
}

/// Serves one connection until the client closes it.
///
/// # Errors
/// That of the listener or the connection.
pub fn serve_one(listener: &impl Listen) -> io::Result<()> {
    answer(listener.next()?)
}

/// Replies on a connection until the client closes it.
///
/// # Errors
/// That of the connection; the requested sizes are not supported.
pub fn answer(mut connection: impl Read + Write) -> io::Result<()> {
    let mut octets = [0; 12];
    connection.read_exact(&mut octets)?;
    let exchange = Exchange::from_octets(octets)?;
    let request = exchange.request as usize;
    let buffer_size = match exchange.every {
        1 => request,
        _ => request.max(FLOOD_BUFFER),
    };
    let mut buffer = vec![0; buffer_size];
    let reply = vec![0x5A; exchange.reply as usize];
    loop {
        let mut missing = u64::from(exchange.request) * u64::from(exchange.every);
        while missing > 0 {
            let most =
                usize::try_from(missing).map_or(buffer_size, |missing| missing.min(buffer_size));
            match connection.read(&mut buffer[..most])? {
                0 => return Ok(()),
                received => missing -= received as u64,
            }
        }
        connection.write_all(&reply)?;
    }
}

/// The client of one connection.
#[derive(Debug)]
pub struct Client<S = TcpStream> {
    connection: S,
    request: Vec<u8>,
    reply: Vec<u8>,
    every: u32,
}

impl Client {
    /// Connects over TCP, and announces the sizes of the exchange to the server.
    ///
    /// # Errors
    /// The connection cannot be opened; a size is zero or beyond 256 MiB.
    pub fn connect(server: impl ToSocketAddrs, exchange: Exchange) -> io::Result<Self> {
        let exchange = exchange.check()?;
        let connection = TcpStream::connect(server)?;
        connection.set_nodelay(true)?;
        Self::over(connection, exchange)
    }
}

impl<S: Read + Write> Client<S> {
    /// Announces the sizes of the exchange to the server at the other end of a stream.
    ///
    /// # Errors
    /// That of the stream; a size is zero or beyond 256 MiB.
    pub fn over(mut connection: S, exchange: Exchange) -> io::Result<Self> {
        let exchange = exchange.check()?;
        connection.write_all(&exchange.to_octets())?;
        Ok(Self {
            connection,
            request: vec![0xA5; exchange.request as usize],
            reply: vec![0; exchange.reply as usize],
            every: exchange.every,
        })
    }

    /// Sends requests and receives the reply, so many times. `sample` is called with the
    /// nanoseconds of each exchange.
    ///
    /// # Errors
    /// That of the connection.
    pub fn run(&mut self, times: u64, sample: Option<&mut dyn FnMut(u64)>) -> io::Result<()> {
        let Some(sample) = sample else {
            return (0..times).try_for_each(|_| self.once());
        };
        for _ in 0..times {
            let start = Instant::now();
            self.once()?;
            sample(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
        Ok(())
    }

    fn once(&mut self) -> io::Result<()> {
        for _ in 0..self.every {
            self.connection.write_all(&self.request)?;
        }
        self.connection.read_exact(&mut self.reply)
    }
}
