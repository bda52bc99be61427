// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calling side of a measurement: clients of an ORB's objects, or of a raw socket.

use std::net::TcpStream;
use std::time::Duration;

use orbium::{Interface, ObjectRef};
use orbium_demo::cubit::Cube;
use orbium_demo::raw;

use orbium_cli::Failure;

/// A call that a thread repeats.
pub(crate) type Call = Box<dyn FnMut() -> Result<(), Failure> + Send>;

/// Octets of an empty call and its reply as GIOP 1.2 messages, with an object
/// key of 20 octets.
const EMPTY: raw::Exchange = raw::Exchange::twoway(64, 24);

/// Time-out of the first call of a thread, which opens the connection.
const PATIENCE: Duration = Duration::from_secs(20);

/// The target of empty calls of any number of threads.
pub(crate) enum Callee {
    /// An object.
    Object(ObjectRef),
    /// A raw server, and its address.
    Raw(String),
}

impl Callee {
    /// An empty call, after a first one was made.
    pub(crate) fn empty_call(&self) -> Result<Call, Failure> {
        match self {
            Self::Object(object) => empty_call(object.clone()),
            Self::Raw(address) => {
                let failed = |error| Failure::because(format!("the raw server: {error}"));
                let connection = TcpStream::connect(address).map_err(failed)?;
                connection.set_nodelay(true).map_err(failed)?;
                let mut client = raw::Client::over(connection, EMPTY).map_err(failed)?;
                client.run(1, None).map_err(failed)?;
                Ok(Box::new(move || client.run(1, None).map_err(failed)))
            }
        }
    }
}

fn empty_call(object: ObjectRef) -> Result<Call, Failure> {
    let failed = |exception| Failure::because(format!("noop failed: {exception}"));
    let first = Cube::from_object(object.with_timeout(PATIENCE));
    first.noop().map_err(failed)?;
    let cube = Cube::from_object(object);
    Ok(Box::new(move || cube.noop().map_err(failed)))
}

/// A call that cubes an octet, after a first one was made.
pub(crate) fn cube_call(object: &ObjectRef) -> Result<Call, Failure> {
    let failed = |exception| Failure::because(format!("cube_octet failed: {exception}"));
    let first = Cube::from_object(object.with_timeout(PATIENCE));
    let cube = Cube::from_object(object.clone());
    match first.cube_octet(7).map_err(failed)? {
        87 => Ok(Box::new(move || {
            cube.cube_octet(7).map(drop).map_err(failed)
        })),
        wrong => Err(Failure::because(format!("the cube of 7 is not {wrong}"))),
    }
}
