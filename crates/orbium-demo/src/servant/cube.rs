// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Cubit::Cube`.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium::{Call, Reply, Sent, SystemException};

use crate::cubit::{self, Many, Oneof, TooBig, TooBigError};

/// The largest number with a cube that fits an IDL `long`.
pub(crate) const LIMIT: i32 = 1290;

/// Serves `Cubit::Cube`. Cubes wrap in their type; echoes send data borrowed from the request.
#[derive(Debug, Default)]
pub struct CubeServant {
    calls: AtomicU64,
    work: Option<Work>,
}

/// Additional work of a servant.
struct Work(Box<dyn Fn() + Send + Sync>);

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Work")
    }
}

impl CubeServant {
    /// A servant that also calls `work` whenever an octet is to be cubed.
    pub fn with_work(work: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            calls: AtomicU64::new(0),
            work: Some(Work(Box::new(work))),
        }
    }

    /// Counts a request; returns their number, this one included. Every operation begins with it,
    /// once its arguments are read.
    fn count(&self) -> u64 {
        orbium::probe!(Unmarshal);
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }
}

fn cube_of_many(v: &Many) -> Many {
    Many {
        o: v.o.wrapping_pow(3),
        l: v.l.wrapping_pow(3),
        s: v.s.wrapping_pow(3),
    }
}

impl cubit::CubeServant for CubeServant {
    fn noop(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.count();
        Ok(())
    }

    fn post(&self, _: &Call<'_>, _: i32) -> Result<(), SystemException> {
        self.count();
        Ok(())
    }

    fn cube_octet(&self, _: &Call<'_>, v: u8) -> Result<u8, SystemException> {
        self.count();
        if let Some(Work(work)) = &self.work {
            work();
        }
        Ok(v.wrapping_pow(3))
    }

    fn cube_short(&self, _: &Call<'_>, v: i16) -> Result<i16, SystemException> {
        self.count();
        Ok(v.wrapping_pow(3))
    }

    fn cube_long(&self, _: &Call<'_>, v: i32) -> Result<i32, TooBigError> {
        self.count();
        if !(-LIMIT..=LIMIT).contains(&v) {
            let why = format!("the cube of {v} does not fit a long");
            return Err(TooBig { limit: LIMIT, why }.into());
        }
        Ok(v.pow(3))
    }

    fn cube_many(&self, _: &Call<'_>, v: &Many) -> Result<Many, SystemException> {
        self.count();
        Ok(cube_of_many(v))
    }

    fn cube_union(&self, _: &Call<'_>, v: &Oneof) -> Result<Oneof, SystemException> {
        self.count();
        Ok(match v {
            Oneof::O(o) => Oneof::O(o.wrapping_pow(3)),
            Oneof::S(s) => Oneof::S(s.wrapping_pow(3)),
            Oneof::L(l) => Oneof::L(l.wrapping_pow(3)),
            Oneof::M {
                discriminator,
                value,
            } => Oneof::M {
                discriminator: *discriminator,
                value: cube_of_many(value),
            },
        })
    }

    fn cube_longs(&self, _: &Call<'_>, v: &[i32]) -> Result<Vec<i32>, SystemException> {
        self.count();
        Ok(v.iter().map(|v| v.wrapping_pow(3)).collect())
    }

    fn echo_octets(
        &self,
        _: &Call<'_>,
        v: &[u8],
        reply: Reply<'_, [u8]>,
    ) -> Result<Sent, SystemException> {
        self.count();
        reply.send(v)
    }

    fn echo_longs(
        &self,
        _: &Call<'_>,
        v: &[i32],
        reply: Reply<'_, [i32]>,
    ) -> Result<Sent, SystemException> {
        self.count();
        reply.send(v)
    }

    fn echo_manys(
        &self,
        _: &Call<'_>,
        v: &[Many],
        reply: Reply<'_, [Many]>,
    ) -> Result<Sent, SystemException> {
        self.count();
        reply.send(v)
    }

    fn calls(&self, _: &Call<'_>) -> Result<u64, SystemException> {
        Ok(self.count())
    }

    fn shutdown(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.count();
        call.orb().shutdown(false)
    }
}
