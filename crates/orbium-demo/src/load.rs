// SPDX-License-Identifier: MIT OR Apache-2.0
//! Closed loops of one operation.

mod pipelined;
mod sizes;

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use orbium::giop::minor;
use orbium::{Char, Interface, ObjectRef, SystemException};

pub use pipelined::pipelined;

use crate::cubit::{Cube, Many, TooBigError};
use crate::specimen;
use crate::ttcp::{BinStruct, Receiver};

/// A repeatable operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Load {
    /// `Cubit::Cube::noop`.
    Noop,
    /// `Cubit::Cube::post`, a oneway.
    Post,
    /// `Cubit::Cube::cube_octet`.
    CubeOctet,
    /// `Cubit::Cube::cube_short`.
    CubeShort,
    /// `Cubit::Cube::cube_long`.
    CubeLong,
    /// `Cubit::Cube::cube_many`.
    CubeMany,
    /// `Cubit::Cube::echo_octets`.
    EchoOctets,
    /// `Cubit::Cube::echo_longs`.
    EchoLongs,
    /// `Cubit::Cube::echo_manys`.
    EchoManys,
    /// `Ttcp::Receiver::echo_structs`.
    EchoStructs,
    /// `Ttcp::Receiver::send_shorts`, a oneway.
    SendShorts,
    /// `Ttcp::Receiver::send_chars`, a oneway.
    SendChars,
    /// `Ttcp::Receiver::send_longs`, a oneway.
    SendLongs,
    /// `Ttcp::Receiver::send_octets`, a oneway.
    SendOctets,
    /// `Ttcp::Receiver::send_doubles`, a oneway.
    SendDoubles,
    /// `Ttcp::Receiver::send_structs`, a oneway.
    SendStructs,
}

/// A name that is not a [`Load`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLoad(pub String);

impl fmt::Display for UnknownLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not one of:", self.0)?;
        Load::ALL.iter().try_for_each(|load| write!(f, " {load}"))
    }
}

impl std::error::Error for UnknownLoad {}

impl FromStr for Load {
    type Err = UnknownLoad;

    fn from_str(name: &str) -> Result<Self, UnknownLoad> {
        let found = Self::ALL.iter().find(|load| load.name() == name);
        found.copied().ok_or_else(|| UnknownLoad(name.to_owned()))
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Load {
    /// All operations.
    pub const ALL: &'static [Self] = &[
        Self::Noop,
        Self::Post,
        Self::CubeOctet,
        Self::CubeShort,
        Self::CubeLong,
        Self::CubeMany,
        Self::EchoOctets,
        Self::EchoLongs,
        Self::EchoManys,
        Self::EchoStructs,
        Self::SendShorts,
        Self::SendChars,
        Self::SendLongs,
        Self::SendOctets,
        Self::SendDoubles,
        Self::SendStructs,
    ];

    /// The name of the operation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Post => "post",
            Self::CubeOctet => "cube_octet",
            Self::CubeShort => "cube_short",
            Self::CubeLong => "cube_long",
            Self::CubeMany => "cube_many",
            Self::EchoOctets => "echo_octets",
            Self::EchoLongs => "echo_longs",
            Self::EchoManys => "echo_manys",
            Self::EchoStructs => "echo_structs",
            Self::SendShorts => "send_shorts",
            Self::SendChars => "send_chars",
            Self::SendLongs => "send_longs",
            Self::SendOctets => "send_octets",
            Self::SendDoubles => "send_doubles",
            Self::SendStructs => "send_structs",
        }
    }

    /// The plain key of the object with the operation: `Cube` or `Receiver`.
    #[must_use]
    pub const fn object_key(self) -> &'static str {
        match self {
            Self::Noop
            | Self::Post
            | Self::CubeOctet
            | Self::CubeShort
            | Self::CubeLong
            | Self::CubeMany
            | Self::EchoOctets
            | Self::EchoLongs
            | Self::EchoManys => "Cube",
            _ => "Receiver",
        }
    }

    /// Whether the operation is a oneway.
    #[must_use]
    pub const fn is_oneway(self) -> bool {
        match self {
            Self::Post => true,
            _ => matches!(self.object_key().as_bytes(), b"Receiver") && !self.is_echo(),
        }
    }

    const fn is_echo(self) -> bool {
        matches!(
            self,
            Self::EchoOctets | Self::EchoLongs | Self::EchoManys | Self::EchoStructs
        )
    }

    /// Whether the operation carries a variable number of elements.
    #[must_use]
    pub const fn has_size(self) -> bool {
        self.is_echo() || matches!(self.object_key().as_bytes(), b"Receiver")
    }

    /// Calls the operation and verifies its results. The object has to support it.
    ///
    /// # Errors
    /// The error, in words.
    pub fn verify(&self, object: &ObjectRef, size: usize) -> Result<(), String> {
        let cube = Cube::from_object(object.clone());
        let receiver = Receiver::from_object(object.clone());
        match self {
            Self::Noop => cube.noop().map_err(in_words),
            Self::Post => verify_post(&cube),
            Self::CubeOctet => same(cube.cube_octet(7), &87),
            Self::CubeShort => same(cube.cube_short(-7), &-343),
            Self::CubeLong => {
                same(cube.cube_long(-7), &-343)?;
                match cube.cube_long(1291) {
                    Err(TooBigError::TooBig(exception)) if exception.limit == 1290 => Ok(()),
                    other => Err(format!("cube_long(1291) gave {other:?}")),
                }
            }
            Self::CubeMany => same(cube.cube_many(&MANY), &CUBE_OF_MANY),
            Self::EchoOctets => echo(size, specimen::octet, |v| cube.echo_octets(v)),
            Self::EchoLongs => echo(size, specimen::long, |v| cube.echo_longs(v)),
            Self::EchoManys => echo(size, specimen::many, |v| cube.echo_manys(v)),
            Self::EchoStructs => echo(size, specimen::bin_struct, |v| receiver.echo_structs(v)),
            Self::SendShorts => flood(&receiver, size, |v| receiver.send_shorts(v)),
            Self::SendChars => flood(&receiver, size, |v| receiver.send_chars(v)),
            Self::SendLongs => flood(&receiver, size, |v| receiver.send_longs(v)),
            Self::SendOctets => flood(&receiver, size, |v| receiver.send_octets(v)),
            Self::SendDoubles => flood(&receiver, size, |v| receiver.send_doubles(v)),
            Self::SendStructs => flood(&receiver, size, |v| receiver.send_structs(v)),
        }
    }

    /// Calls the operation so many times, one call at a time, with `size` elements if it takes any.
    /// `sample` is called with the nanoseconds of each call.
    ///
    /// Oneways end with one twoway call, so that when this returns everything was received. Calls
    /// allocate no memory.
    ///
    /// # Errors
    /// The first exception raised.
    pub fn run(
        &self,
        object: &ObjectRef,
        size: usize,
        calls: u64,
        sample: Option<&mut dyn FnMut(u64)>,
    ) -> Result<(), SystemException> {
        let cube = Cube::from_object(object.clone());
        let receiver = Receiver::from_object(object.clone());
        match self {
            Self::Noop => repeat(calls, sample, || cube.noop()),
            Self::Post => {
                repeat(calls, sample, || cube.post(7))?;
                cube.noop()
            }
            Self::CubeOctet => repeat(calls, sample, || cube.cube_octet(7).map(drop)),
            Self::CubeShort => repeat(calls, sample, || cube.cube_short(7).map(drop)),
            Self::CubeLong => repeat(calls, sample, || match cube.cube_long(7) {
                Err(TooBigError::System(exception)) => Err(exception),
                _ => Ok(()),
            }),
            Self::CubeMany => repeat(calls, sample, || cube.cube_many(&MANY).map(drop)),
            Self::EchoOctets => {
                let (v, mut out) = (filled(size, specimen::octet), Vec::new());
                repeat(calls, sample, || cube.echo_octets_into(&v, &mut out))
            }
            Self::EchoLongs => {
                let (v, mut out) = (filled(size, specimen::long), Vec::new());
                repeat(calls, sample, || cube.echo_longs_into(&v, &mut out))
            }
            Self::EchoManys => {
                let (v, mut out) = (filled(size, specimen::many), Vec::new());
                repeat(calls, sample, || cube.echo_manys_into(&v, &mut out))
            }
            Self::EchoStructs => {
                let (v, mut out) = (filled(size, specimen::bin_struct), Vec::new());
                repeat(calls, sample, || receiver.echo_structs_into(&v, &mut out))
            }
            _ => {
                self.run_flood(&receiver, size, calls, sample)?;
                receiver.stop_timer().map(drop)
            }
        }
    }

    /// Sends so many calls of a oneway that carries elements, without waiting: over datagrams there
    /// is no acknowledgement.
    ///
    /// # Errors
    /// The first exception raised.
    pub fn send(&self, object: &ObjectRef, size: usize, calls: u64) -> Result<(), SystemException> {
        let receiver = Receiver::from_object(object.clone());
        self.run_flood(&receiver, size, calls, None)
    }

    fn run_flood(
        &self,
        receiver: &Receiver,
        size: usize,
        calls: u64,
        sample: Option<&mut dyn FnMut(u64)>,
    ) -> Result<(), SystemException> {
        match self {
            Self::SendShorts => {
                let v = filled(size, specimen::short);
                repeat(calls, sample, || {
                    with_room(receiver, || receiver.send_shorts(&v))
                })
            }
            Self::SendChars => {
                let v = filled(size, specimen::char);
                repeat(calls, sample, || {
                    with_room(receiver, || receiver.send_chars(&v))
                })
            }
            Self::SendLongs => {
                let v = filled(size, specimen::long);
                repeat(calls, sample, || {
                    with_room(receiver, || receiver.send_longs(&v))
                })
            }
            Self::SendOctets => {
                let v = filled(size, specimen::octet);
                repeat(calls, sample, || {
                    with_room(receiver, || receiver.send_octets(&v))
                })
            }
            Self::SendDoubles => {
                let v = filled(size, specimen::double);
                repeat(calls, sample, || {
                    with_room(receiver, || receiver.send_doubles(&v))
                })
            }
            _ => {
                let v = filled(size, specimen::bin_struct);
                repeat(calls, sample, || {
                    with_room(receiver, || receiver.send_structs(&v))
                })
            }
        }
    }
}

const MANY: Many = Many {
    o: 3,
    l: -70,
    s: 31,
};

const CUBE_OF_MANY: Many = Many {
    o: 27,
    l: -343_000,
    s: 29_791,
};

fn filled<E>(size: usize, at: impl Fn(usize) -> E) -> Vec<E> {
    (0..size).map(at).collect()
}

/// The loop itself; there are two so that the clock is read only if times are requested.
fn repeat(
    calls: u64,
    sample: Option<&mut dyn FnMut(u64)>,
    mut call: impl FnMut() -> Result<(), SystemException>,
) -> Result<(), SystemException> {
    let Some(sample) = sample else {
        return (0..calls).try_for_each(|_| call());
    };
    for _ in 0..calls {
        let start = Instant::now();
        call()?;
        sample(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// The exception of a oneway if the buffer of its connection is full.
const BUFFER_FULL: u32 = minor::ORBIUM_VMCID | minor::ONEWAYS_BUFFERED;

/// The maximum time for which a oneway waits for space in the buffer.
const ROOM: Duration = Duration::from_secs(10);

/// Sends a oneway; if the buffer is full it waits for the server.
fn with_room(
    receiver: &Receiver,
    send: impl Fn() -> Result<(), SystemException>,
) -> Result<(), SystemException> {
    loop {
        match send() {
            Err(exception) if exception.minor == BUFFER_FULL => receiver.flush_oneways(ROOM)?,
            sent => return sent,
        }
    }
}

fn in_words(exception: SystemException) -> String {
    exception.to_string()
}

fn same<T: PartialEq + fmt::Debug, E: fmt::Display>(
    got: Result<T, E>,
    want: &T,
) -> Result<(), String> {
    match got {
        Ok(got) if got == *want => Ok(()),
        Ok(got) => Err(format!("the answer is {got:?} instead of {want:?}")),
        Err(exception) => Err(exception.to_string()),
    }
}

/// Sends so many elements and requires the same in the reply.
///
/// Bulk data repeats after a number of elements that divides no buffer size: an unoptimised test
/// computes few of them, and copies the rest.
pub(crate) fn echo<E: PartialEq + Copy>(
    size: usize,
    at: impl Fn(usize) -> E,
    call: impl Fn(&[E]) -> Result<Vec<E>, SystemException>,
) -> Result<(), String> {
    const PERIOD: usize = 4001;
    let mut sent = filled(size.min(PERIOD), at);
    if size > PERIOD {
        sent = sent.repeat(size.div_ceil(PERIOD));
        sent.truncate(size);
    }
    let got = call(&sent).map_err(in_words)?;
    if got == sent {
        return Ok(());
    }
    Err(format!("the {size} elements came back changed"))
}

/// The object may have other callers, so the counter may have grown by more.
fn verify_post(cube: &Cube) -> Result<(), String> {
    let before = cube.calls().map_err(in_words)?;
    cube.post(1).map_err(in_words)?;
    cube.post(2).map_err(in_words)?;
    let after = cube.calls().map_err(in_words)?;
    if after >= before + 3 {
        return Ok(());
    }
    Err(format!("{before} calls became {after} by three more"))
}

/// An element of a flood: its bulk data, and its part of the checksum.
pub(crate) trait Bulk: Sized {
    fn at(i: usize) -> Self;
    fn value(&self) -> u64;
}

macro_rules! bulk {
    ($($type:ty, $at:path, $v:ident => $value:expr;)*) => {
        $(impl Bulk for $type {
            fn at(i: usize) -> Self {
                $at(i)
            }
            fn value(&self) -> u64 {
                let $v = self;
                $value
            }
        })*
    };
}

bulk! {
    i16, specimen::short, v => i64::from(*v).cast_unsigned();
    Char, specimen::char, v => v.0.into();
    i32, specimen::long, v => i64::from(*v).cast_unsigned();
    u8, specimen::octet, v => (*v).into();
    f64, specimen::double, v => v.to_bits();
    BinStruct, specimen::bin_struct, v => {
        let integers = i64::from(v.s) + i64::from(v.c.0) + i64::from(v.l) + i64::from(v.o);
        v.d.to_bits().wrapping_add(integers.cast_unsigned())
    };
}

/// Sends a few times and compares the tally, which starts at zero.
pub(crate) fn flood<E: Bulk>(
    receiver: &Receiver,
    size: usize,
    send: impl Fn(&[E]) -> Result<(), SystemException>,
) -> Result<(), String> {
    const SENDS: u64 = 20;
    let v = filled(size, E::at);
    let sum = v.iter().map(E::value).fold(0, u64::wrapping_add);
    receiver.start_timer().map_err(in_words)?;
    for _ in 0..SENDS {
        send(&v).map_err(in_words)?;
    }
    let want = crate::ttcp::Tally {
        calls: SENDS,
        elements: SENDS * size as u64,
        checksum: sum.wrapping_mul(SENDS),
    };
    same(receiver.stop_timer(), &want)
}
