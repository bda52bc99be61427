// SPDX-License-Identifier: MIT OR Apache-2.0
//! Within a process: memory and locks, no sockets.

mod pipe;
mod stream;

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::fork::{Origin, PerProcess};
use orbium_sys::{EventSource, random_number};

use crate::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, EndpointError, ListenError,
    ProtocolProperties, StreamTransport,
};
pub use stream::InProcessStream;

/// Streams between the ORBs of one process: endpoints `inproc://name`, with a generated name if it
/// is empty. Names are local to the process.
///
/// The published address also identifies the process, so that a reference from another process
/// leads nowhere, not to another object of the same name.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcess;

/// Maximum number of pending connections.
const BACKLOG: usize = 1024;

/// Longest name.
const MAX_NAME_LENGTH: usize = 255;

type Listeners = Vec<(String, Arc<Listener>)>;

/// The listeners, sorted by name; none in a forked child.
static LISTENERS: PerProcess<Mutex<Listeners>> = PerProcess::new();

fn listeners() -> MutexGuard<'static, Listeners> {
    let listeners = LISTENERS.get_or_init(Mutex::default);
    listeners.lock()
}

/// The index of a name, or the index at which to insert it.
fn place(listeners: &[(String, Arc<Listener>)], name: &str) -> Result<usize, usize> {
    listeners.binary_search_by(|(known, _)| known.as_str().cmp(name))
}

/// An identifier that no other process has.
fn this_process() -> String {
    // No `LazyLock`: a forked child would deadlock on one that the parent was initialising.
    static RANDOM: PerProcess<u64> = PerProcess::new();
    let random = RANDOM.get_or_init(random_number);
    format!("{}-{random:016x}", std::process::id())
}

impl StreamTransport for InProcess {
    fn scheme(&self) -> &'static str {
        "inproc"
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        _properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        endpoint.check_parameters(&[])?;
        Ok(Box::new(InProcessAcceptor::listen(&endpoint.address)?))
    }

    fn connector(
        &self,
        address: &str,
        _properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        Ok(Box::new(InProcessConnector::new(address)?))
    }
}

fn check_name(name: &str) -> Result<(), EndpointError> {
    let bad = |c: char| c == '@' || c.is_control() || c.is_whitespace();
    if name.is_empty() || name.len() > MAX_NAME_LENGTH || name.contains(bad) {
        return Err(EndpointError::BadPath(name.to_owned()));
    }
    Ok(())
}

/// Pending connections.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<InProcessStream>,
    closed: bool,
}

#[derive(Debug)]
struct Listener {
    queue: Mutex<Queue>,
    /// The queue has room again, or the listener was closed.
    changed: Condvar,
    event_source: EventSource,
}

impl Listener {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }

    fn connect(&self, deadline: Deadline) -> io::Result<InProcessStream> {
        let mut queue = self.lock();
        while queue.waiting.len() >= BACKLOG && !queue.closed {
            queue = self.changed.wait_at_most(queue, deadline.remaining()?);
        }
        if queue.closed {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (client, server) = InProcessStream::pair()?;
        queue.waiting.push_back(server);
        self.event_source.set_readable(true);
        Ok(client)
    }
}

/// A listener with a name.
#[derive(Debug)]
pub struct InProcessAcceptor {
    listener: Arc<Listener>,
    begun_by: Origin,
    name: String,
    address: String,
}

impl InProcessAcceptor {
    /// Listens at a name; an empty one is replaced by a generated one.
    ///
    /// # Errors
    /// An invalid name; `AddrInUse`; out of descriptors.
    pub fn listen(name: &str) -> Result<Self, ListenError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let listener = Arc::new(Listener {
            queue: Mutex::default(),
            changed: Condvar::new(),
            event_source: EventSource::new()?,
        });
        let mut listeners = listeners();
        let name = if name.is_empty() {
            let next = || format!("orbium-{}", NEXT.fetch_add(1, Ordering::Relaxed));
            let mut name = next();
            while place(&listeners, &name).is_ok() {
                name = next();
            }
            name
        } else {
            check_name(name)?;
            name.to_owned()
        };
        let Err(free) = place(&listeners, &name) else {
            return Err(io::Error::from(io::ErrorKind::AddrInUse).into());
        };
        listeners.insert(free, (name.clone(), Arc::clone(&listener)));
        Ok(Self {
            listener,
            begun_by: Origin::here(),
            address: format!("{name}@{}", this_process()),
            name,
        })
    }
}

impl Acceptor for InProcessAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        let mut queue = self.listener.lock();
        let accepted = queue.waiting.pop_front();
        if queue.waiting.is_empty() {
            self.listener.event_source.set_readable(false);
        }
        match accepted {
            Some(stream) => {
                self.listener.changed.notify_one();
                Ok(Box::new(stream))
            }
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn source(&self) -> &dyn AsFd {
        self.listener.event_source.source()
    }

    fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for InProcessAcceptor {
    fn drop(&mut self) {
        if !self.begun_by.is_here() {
            // Threads of the parent may have held its locks.
            return;
        }
        {
            let mut listeners = listeners();
            if let Ok(own) = place(&listeners, &self.name) {
                listeners.remove(own);
            }
        }
        let mut queue = self.listener.lock();
        queue.closed = true;
        // Clients that have connected receive the end of the stream.
        queue.waiting.clear();
        self.listener.changed.notify_all();
    }
}

/// Opens connections to one name.
#[derive(Debug)]
pub struct InProcessConnector {
    name: String,
    /// The process in the address, if it has one.
    process: Option<String>,
}

impl InProcessConnector {
    /// For a name, or an address as it is published.
    ///
    /// # Errors
    /// The name is invalid.
    pub fn new(address: &str) -> Result<Self, EndpointError> {
        let (name, process) = match address.split_once('@') {
            Some((name, process)) => (name, Some(process.to_owned())),
            None => (address, None),
        };
        check_name(name)?;
        Ok(Self {
            name: name.to_owned(),
            process,
        })
    }
}

impl Connector for InProcessConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        if let Some(process) = &self.process
            && *process != this_process()
        {
            let what = "the name is one of another process";
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        let listener = {
            let listeners = listeners();
            let at = place(&listeners, &self.name).map_err(|_| io::ErrorKind::ConnectionRefused)?;
            Arc::clone(&listeners[at].1)
        };
        Ok(Box::new(listener.connect(deadline)?))
    }
}
