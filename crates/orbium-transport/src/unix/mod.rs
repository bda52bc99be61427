// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unix sockets: between the processes of one host.

mod file;

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::Path;

use orbium_sys as sys;
use sys::UnixName;

use crate::listening::Listening;
use crate::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, EndpointError, ListenError,
    ProtocolProperties, StreamTransport, UnixByteStream,
};
use file::{PrivateDirectory, SocketFile};

/// Unix sockets: endpoints `uiop:///run/x.sock`, on Linux also `uiop://@name` for a name outside of
/// the file system, and `uiop://` for a generated path, in a private directory.
///
/// The parameter `mode` gives the permissions of the socket's file in octal: users that may write
/// to it may connect. By default the umask determines them, usually to the owner only. A name
/// outside of the file system is accessible to every process in the network name space. The
/// parameter `publish` gives the path by which clients find the socket if it differs, for example
/// in a container. The protocol properties of [`ProtocolProperties::UNIX_NAMES`] are also accepted.
///
/// A file of a socket at which no process listens is replaced; any other file in its place is not
/// touched, and the endpoint refused. The file is removed when listening ends; a killed process
/// leaves it, and a generated directory, which the next process that generates one removes after at
/// least a minute. A process holds `<path>.lock` while it begins or ends to listen at a path: if it
/// is killed then, an empty file of that name remains, without effect on other processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unix;

impl StreamTransport for Unix {
    fn scheme(&self) -> &'static str {
        "uiop"
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        let mut known = ProtocolProperties::UNIX_NAMES.to_vec();
        known.push("mode");
        known.push("publish");
        endpoint.check_parameters(&known)?;
        Ok(Box::new(UnixAcceptor::listen(endpoint, properties)?))
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        Ok(Box::new(UnixConnector::new(address, *properties)?))
    }
}

/// The name in an address.
fn name(address: &str) -> Result<UnixName, EndpointError> {
    let name = match address.strip_prefix('@') {
        Some(name) => UnixName::abstract_name(name),
        None => UnixName::path(Path::new(address)),
    };
    name.map_err(|_| EndpointError::BadPath(address.to_owned()))
}

/// A listening Unix socket. Its file is removed with it.
#[derive(Debug)]
pub struct UnixAcceptor {
    // Dropped in this order, so that clients never find the file of a closed socket.
    _file: Option<SocketFile>,
    _directory: Option<PrivateDirectory>,
    listener: Listening<UnixListener>,
    properties: ProtocolProperties,
    address: String,
}

impl UnixAcceptor {
    /// Listens at the path or name of an endpoint of any scheme.
    ///
    /// # Errors
    /// An invalid path or mode; `AddrInUse` if another process listens there, `AlreadyExists` if
    /// the file is not a socket, or the system's error.
    pub fn listen(
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Self, ListenError> {
        let mode = endpoint.parameter("mode").map(mode).transpose()?;
        let properties = &endpoint.properties(properties, ProtocolProperties::UNIX_NAMES)?;
        let publish = endpoint.parameter("publish");
        if let Some(publish) = publish {
            name(publish)?;
        }
        let address = endpoint.address.as_str();
        let mut acceptor = if address.starts_with('@') {
            if mode.is_some() {
                let what = format!("mode, which `{address}` has none of");
                return Err(EndpointError::BadParameter(what).into());
            }
            let listener = sys::bind_unix(&name(address)?)?.listen()?;
            Self::new(None, None, listener, properties, address.to_owned())
        } else if address.is_empty() {
            let (directory, path) = PrivateDirectory::new(mode)?;
            Self::listen_at(&path, Some(directory), mode, properties)?
        } else {
            let path = std::path::absolute(address)?;
            Self::listen_at(&path, None, mode, properties)?
        };
        if let Some(publish) = publish {
            publish.clone_into(&mut acceptor.address);
        }
        acceptor.listener.set_nonblocking(true)?;
        Ok(acceptor)
    }

    /// Accepts a pending connection.
    ///
    /// # Errors
    /// As [`Acceptor::accept`].
    pub fn accept_unix(&self) -> io::Result<UnixByteStream> {
        let (stream, _) = self.listener.accept()?;
        stream.set_nonblocking(false)?;
        self.properties.apply_unix(&stream)?;
        Ok(UnixByteStream::new(stream))
    }

    fn listen_at(
        path: &Path,
        directory: Option<PrivateDirectory>,
        mode: Option<u32>,
        properties: &ProtocolProperties,
    ) -> Result<Self, ListenError> {
        let bad = || EndpointError::BadPath(format!("{}", path.display()));
        let address = path.to_str().ok_or_else(bad)?.to_owned();
        let name = name(&address)?;
        let (listener, file) =
            file::listen(path, &name, mode).map_err(|error| at(path.display(), &error))?;
        Ok(Self::new(
            Some(file),
            directory,
            listener,
            properties,
            address,
        ))
    }

    fn new(
        file: Option<SocketFile>,
        directory: Option<PrivateDirectory>,
        listener: UnixListener,
        properties: &ProtocolProperties,
        address: String,
    ) -> Self {
        Self {
            _file: file,
            _directory: directory,
            listener: Listening::new(listener),
            properties: *properties,
            address,
        }
    }
}

/// Permissions, in octal.
fn mode(text: &str) -> Result<u32, EndpointError> {
    let mut mode = 0;
    for octet in text.bytes() {
        mode = match octet {
            b'0'..=b'7' if mode <= 0o77 => 8 * mode + u32::from(octet - b'0'),
            _ => return Err(bad_mode(text)),
        };
    }
    if text.is_empty() {
        Err(bad_mode(text))
    } else {
        Ok(mode)
    }
}

fn bad_mode(text: &str) -> EndpointError {
    EndpointError::BadParameter(format!("mode={text}"))
}

impl Acceptor for UnixAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(self.accept_unix()?))
    }

    fn source(&self) -> &dyn AsFd {
        &*self.listener
    }

    fn address(&self) -> &str {
        &self.address
    }
}

/// Opens connections to one Unix socket.
#[derive(Debug)]
pub struct UnixConnector {
    name: UnixName,
    address: String,
    properties: ProtocolProperties,
}

impl UnixConnector {
    /// For that path, or for the name after an `@`.
    ///
    /// # Errors
    /// The path or name is invalid for a socket.
    pub fn new(address: &str, properties: ProtocolProperties) -> Result<Self, EndpointError> {
        Ok(Self {
            name: name(address)?,
            address: address.to_owned(),
            properties,
        })
    }

    /// Connects before the deadline.
    ///
    /// # Errors
    /// As [`Connector::connect`].
    pub fn connect_unix(&self, deadline: Deadline) -> io::Result<UnixByteStream> {
        let stream =
            sys::connect_unix(&self.name, deadline).map_err(|error| at(&self.address, &error))?;
        self.properties.apply_unix(&stream)?;
        Ok(UnixByteStream::new(stream))
    }
}

impl Connector for UnixConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(self.connect_unix(deadline)?))
    }
}

/// An error that names the address.
fn at(address: impl fmt::Display, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{address}: {error}"))
}
