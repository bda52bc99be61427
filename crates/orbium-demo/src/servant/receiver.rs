// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Ttcp::Receiver`.

use orbium::lock::{Mutex, MutexGuard};
use orbium::{Call, Char, Reply, Sent, SystemException};

use super::tally;
use crate::ttcp::{self, BinStruct, Tally};

/// Serves `Ttcp::Receiver`: one tally for all senders.
#[derive(Debug, Default)]
pub struct ReceiverServant {
    tally: Mutex<Tally>,
}

impl ReceiverServant {
    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock()
    }
}

impl ttcp::ReceiverServant for ReceiverServant {
    fn send_shorts(&self, _: &Call<'_>, v: &[i16]) -> Result<(), SystemException> {
        tally::add(&mut self.tally(), v);
        Ok(())
    }

    fn send_chars(&self, _: &Call<'_>, v: &[Char]) -> Result<(), SystemException> {
        tally::add(&mut self.tally(), v);
        Ok(())
    }

    fn send_longs(&self, _: &Call<'_>, v: &[i32]) -> Result<(), SystemException> {
        tally::add(&mut self.tally(), v);
        Ok(())
    }

    fn send_octets(&self, _: &Call<'_>, v: &[u8]) -> Result<(), SystemException> {
        tally::add(&mut self.tally(), v);
        Ok(())
    }

    fn send_doubles(&self, _: &Call<'_>, v: &[f64]) -> Result<(), SystemException> {
        tally::add(&mut self.tally(), v);
        Ok(())
    }

    fn send_structs(&self, _: &Call<'_>, v: &[BinStruct]) -> Result<(), SystemException> {
        tally::add(&mut self.tally(), v);
        Ok(())
    }

    // The requests of a connection are served in the order of their arrival, so all earlier sends
    // are in the tally.
    fn stop_timer(&self, _: &Call<'_>) -> Result<Tally, SystemException> {
        Ok(*self.tally())
    }

    fn start_timer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        *self.tally() = Tally::default();
        Ok(())
    }

    fn echo_structs(
        &self,
        _: &Call<'_>,
        v: &[BinStruct],
        reply: Reply<'_, [BinStruct]>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }
}
