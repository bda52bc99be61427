// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses of the raw peer, over each transport.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use orbium::transport::{ByteStream, InProcessStream};

#[cfg(target_os = "linux")]
use orbium_demo::raw::Listen;
use orbium_demo::raw::{answer, serve};
#[cfg(target_os = "linux")]
use orbium_shm::ping_pong::PingPong;

use super::tls::{self, TlsListener};
use crate::tls::TlsArgs;

/// An address: `127.0.0.1:0` for TCP, `tls:127.0.0.1:0`, `unix:PATH`,
/// `shm:MICROSECONDS:PATH`; `inproc` for a thread of the client itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RawAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
    Tls(SocketAddr),
    Shm {
        path: PathBuf,
        /// The time for which it spins before it sleeps.
        spin: Duration,
    },
    InProcess,
}

impl FromStr for RawAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Self::Unix(path.into()));
        }
        if text == "inproc" {
            return Ok(Self::InProcess);
        }
        let shm = text.strip_prefix("shm:");
        if let Some((spin, path)) = shm.and_then(|rest| rest.split_once(':')) {
            let micros = spin.parse().map_err(|_| "expected microseconds")?;
            return Ok(Self::Shm {
                path: path.into(),
                spin: Duration::from_micros(micros),
            });
        }
        let address = match text.strip_prefix("tls:") {
            Some(address) => address.parse().map(Self::Tls),
            None => text.parse().map(Self::Tcp),
        };
        address.map_err(|_| {
            "expected ADDRESS:PORT, tls:ADDRESS:PORT, unix:PATH or shm:MICROSECONDS:PATH".to_owned()
        })
    }
}

impl fmt::Display for RawAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Tls(address) => write!(f, "tls:{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Shm { path, spin } => {
                write!(f, "shm:{}:{}", spin.as_micros(), path.display())
            }
            Self::InProcess => f.write_str("inproc"),
        }
    }
}

/// One side of a connection of any kind.
pub(crate) trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

fn tcp(address: &SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl RawAddress {
    /// Connects.
    pub(crate) fn connect(&self, files: &TlsArgs) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Tcp(address) => Box::new(tcp(address)?),
            Self::Tls(address) => Box::new(tls::connect(tcp(address)?, address.ip(), files)?),
            #[cfg(unix)]
            Self::Unix(path) => Box::new(UnixStream::connect(path)?),
            #[cfg(target_os = "linux")]
            Self::Shm { path, spin } => Box::new(PingPong::connect(path, *spin)?),
            Self::InProcess => Box::new(in_process()?),
            #[cfg(not(target_os = "linux"))]
            Self::Shm { .. } => return Err(io::ErrorKind::Unsupported.into()),
            #[cfg(not(unix))]
            Self::Unix(_) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Listens.
    pub(crate) fn listen(&self, files: &TlsArgs) -> io::Result<Listening> {
        Ok(match self {
            Self::Tcp(address) => Listening::Tcp(TcpListener::bind(address)?),
            Self::Tls(address) => {
                let listener = TcpListener::bind(address)?;
                Listening::Tls(TlsListener::new(listener, files)?)
            }
            #[cfg(unix)]
            Self::Unix(path) => Listening::Unix(UnixListener::bind(path)?, path.clone()),
            #[cfg(target_os = "linux")]
            Self::Shm { path, spin } => Listening::Shm(ShmListener {
                socket: UnixListener::bind(path)?,
                path: path.clone(),
                spin: *spin,
            }),
            #[cfg(not(target_os = "linux"))]
            Self::Shm { .. } => return Err(io::ErrorKind::Unsupported.into()),
            #[cfg(not(unix))]
            Self::Unix(_) => return Err(io::ErrorKind::Unsupported.into()),
            // The connecting side serves itself.
            Self::InProcess => return Err(io::ErrorKind::Unsupported.into()),
        })
    }
}

/// One end of a stream within this process.
struct Memory(InProcessStream);

impl Read for Memory {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.receive(room)
    }
}

impl Write for Memory {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.send(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream to a thread of this process that answers until it is dropped.
fn in_process() -> io::Result<Memory> {
    let (client, server) = InProcessStream::pair()?;
    thread::Builder::new()
        .name("raw".into())
        .spawn(move || answer(Memory(server)))?;
    Ok(Memory(client))
}

/// A bound listener of a raw server.
pub(crate) enum Listening {
    Tcp(TcpListener),
    Tls(TlsListener),
    #[cfg(unix)]
    Unix(UnixListener, PathBuf),
    #[cfg(target_os = "linux")]
    Shm(ShmListener),
}

/// A listener that hands shared memory to clients.
#[cfg(target_os = "linux")]
pub(crate) struct ShmListener {
    socket: UnixListener,
    path: PathBuf,
    spin: Duration,
}

#[cfg(target_os = "linux")]
impl Listen for ShmListener {
    type Stream = PingPong;

    fn next(&self) -> io::Result<PingPong> {
        PingPong::accept(&self.socket, self.spin)
    }
}

impl Listening {
    /// The address for clients.
    pub(crate) fn address(&self) -> io::Result<RawAddress> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(RawAddress::Tcp),
            Self::Tls(listener) => listener.address().map(RawAddress::Tls),
            #[cfg(unix)]
            Self::Unix(_, path) => Ok(RawAddress::Unix(path.clone())),
            #[cfg(target_os = "linux")]
            Self::Shm(listener) => Ok(RawAddress::Shm {
                path: listener.path.clone(),
                spin: listener.spin,
            }),
        }
    }

    /// Answers clients until the listener fails.
    pub(crate) fn serve(&self) -> io::Result<()> {
        match self {
            Self::Tcp(listener) => serve(listener),
            Self::Tls(listener) => serve(listener),
            #[cfg(unix)]
            Self::Unix(listener, _) => serve(listener),
            #[cfg(target_os = "linux")]
            Self::Shm(listener) => serve(listener),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RawAddress;

    #[test]
    fn addresses_are_read_as_written() {
        for text in [
            "127.0.0.1:80",
            "[::1]:9",
            "tls:127.0.0.1:0",
            "unix:/tmp/x",
            "shm:0:/tmp/x",
            "shm:20:/tmp/x",
            "inproc",
        ] {
            assert_eq!(text.parse::<RawAddress>().unwrap().to_string(), text);
        }
        assert!("localhost:80".parse::<RawAddress>().is_err());
    }
}
