// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Kitchen::Peer`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use orbium::lock::Mutex;
use orbium::{
    Any, Call, Completion, ExceptionKind, ObjectRef, Reply, Sent, SystemException, poa::PoaError,
    reference::nil_reference,
};

use crate::kitchen::{
    self, ByBool, ByChar, ByColour, ByLong, Colour, Empty, EmptyOrRefusedError, Matrix, Mixed,
    Money, Node, Peer, PeerEchoScalarsReply, PeerEchoStringReply, PeerEchoWstringReply, Scalars,
    Strings, Uuid,
};
use crate::specimen;

/// Maximum number of objects created by one `make_peers`; they exist until the ORB ends.
const MAX_PEERS: u32 = 10_000;

/// The minor code of the exceptions raised by `system_exception`.
pub(crate) const MINOR: u32 = 42;

/// Serves `Kitchen::Peer`.
#[derive(Debug, Default)]
pub struct PeerServant {
    label: Mutex<String>,
    notified: AtomicU64,
    called_back: AtomicU64,
}

impl PeerServant {
    /// The number of times that `notify` was received.
    pub fn notified(&self) -> u64 {
        self.notified.load(Ordering::Acquire)
    }

    /// The number of times that `call_back` was called.
    pub fn called_back(&self) -> u64 {
        self.called_back.load(Ordering::Acquire)
    }
}

impl kitchen::BaseServant for PeerServant {
    fn label(&self, _: &Call<'_>) -> Result<String, SystemException> {
        let label = self.label.lock();
        Ok(label.clone())
    }

    fn set_label(&self, _: &Call<'_>, value: &str) -> Result<(), SystemException> {
        let mut label = self.label.lock();
        value.clone_into(&mut label);
        Ok(())
    }

    fn shade(&self, _: &Call<'_>) -> Result<Colour, SystemException> {
        Ok(Colour::Blue)
    }

    fn ping(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

impl kitchen::OtherServant for PeerServant {
    fn ident(&self, _: &Call<'_>) -> Result<Uuid, SystemException> {
        Ok([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
    }
}

impl kitchen::PeerServant for PeerServant {
    fn echo_scalars(
        &self,
        _: &Call<'_>,
        v: &Scalars,
        both: &Scalars,
        reply: Reply<'_, PeerEchoScalarsReply<'_>>,
    ) -> Result<Sent, SystemException> {
        reply.send(&PeerEchoScalarsReply {
            result: v,
            copy: v,
            both,
        })
    }

    fn echo_string(
        &self,
        _: &Call<'_>,
        v: &str,
        both: &str,
        reply: Reply<'_, PeerEchoStringReply<'_>>,
    ) -> Result<Sent, SystemException> {
        reply.send(&PeerEchoStringReply {
            result: v,
            copy: v,
            both,
        })
    }

    fn echo_wstring(
        &self,
        _: &Call<'_>,
        v: &str,
        reply: Reply<'_, PeerEchoWstringReply<'_>>,
    ) -> Result<Sent, SystemException> {
        reply.send(&PeerEchoWstringReply { result: v })
    }

    fn echo_mixed(
        &self,
        _: &Call<'_>,
        v: &Mixed,
        reply: Reply<'_, Mixed>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_mixeds(
        &self,
        _: &Call<'_>,
        v: &[Mixed],
        reply: Reply<'_, [Mixed]>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_tree(
        &self,
        _: &Call<'_>,
        v: &Node,
        reply: Reply<'_, Node>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_table(
        &self,
        _: &Call<'_>,
        v: &[Strings],
        reply: Reply<'_, [Strings]>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_matrix(
        &self,
        _: &Call<'_>,
        v: &Matrix,
        reply: Reply<'_, Matrix>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_money(&self, _: &Call<'_>, v: Money) -> Result<Money, SystemException> {
        Ok(v)
    }

    fn echo_by_colour(
        &self,
        _: &Call<'_>,
        v: &ByColour,
        reply: Reply<'_, ByColour>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_by_bool(
        &self,
        _: &Call<'_>,
        v: &ByBool,
        reply: Reply<'_, ByBool>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_by_char(
        &self,
        _: &Call<'_>,
        v: &ByChar,
        reply: Reply<'_, ByChar>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_by_long(
        &self,
        _: &Call<'_>,
        v: &ByLong,
        reply: Reply<'_, ByLong>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_any(
        &self,
        _: &Call<'_>,
        v: &Any,
        reply: Reply<'_, Any>,
    ) -> Result<Sent, SystemException> {
        reply.send(v)
    }

    fn echo_object(
        &self,
        _: &Call<'_>,
        v: Option<&ObjectRef>,
        reply: Reply<'_, Option<ObjectRef>>,
    ) -> Result<Sent, SystemException> {
        reply.send(&v.cloned())
    }

    fn echo_peer(
        &self,
        _: &Call<'_>,
        v: Option<&Peer>,
        reply: Reply<'_, Option<Peer>>,
    ) -> Result<Sent, SystemException> {
        reply.send(&v.cloned())
    }

    fn make_peers(&self, call: &Call<'_>, n: u32) -> Result<Vec<Option<Peer>>, SystemException> {
        if n > MAX_PEERS {
            return Err(ExceptionKind::ImpLimit.into());
        }
        let poa = call.poa();
        let peer = || match poa.activate(Self::default()) {
            Ok(peer) => Ok(Some(peer)),
            Err(PoaError::System(exception)) => Err(exception),
            Err(_) => Err(ExceptionKind::ObjAdapter.into()),
        };
        (0..n).map(|_| peer()).collect()
    }

    fn call_back(
        &self,
        call: &Call<'_>,
        target: Option<&Peer>,
        depth: i32,
    ) -> Result<(), SystemException> {
        self.called_back.fetch_add(1, Ordering::Release);
        if depth <= 0 {
            return Ok(());
        }
        let target = target.ok_or_else(nil_reference)?;
        let this: Peer = call.this()?;
        target.call_back(Some(&this), depth - 1)
    }

    fn refuse(&self, _: &Call<'_>, bare: bool) -> Result<(), EmptyOrRefusedError> {
        if bare {
            return Err(Empty {}.into());
        }
        Err(specimen::refused().into())
    }

    fn system_exception(&self, _: &Call<'_>, name: &str) -> Result<(), SystemException> {
        Err(match ExceptionKind::from_name(name) {
            Some(kind) => SystemException::new(kind, MINOR, Completion::Maybe),
            None => SystemException::new(ExceptionKind::BadParam, 1, Completion::No),
        })
    }

    fn notify(&self, _: &Call<'_>, _: &str) -> Result<(), SystemException> {
        self.notified.fetch_add(1, Ordering::Release);
        Ok(())
    }

    fn slow(&self, _: &Call<'_>, milliseconds: u32) -> Result<i32, SystemException> {
        thread::sleep(Duration::from_millis(milliseconds.into()));
        Ok(milliseconds.cast_signed())
    }

    fn interface(&self, _: &Call<'_>, module: i32, select: &str) -> Result<i32, SystemException> {
        let length = i32::try_from(select.len()).unwrap_or(i32::MAX);
        Ok(module.wrapping_add(length))
    }

    fn r#match(&self, _: &Call<'_>, self_: i32, r#type: i32) -> Result<i32, SystemException> {
        Ok(self_.wrapping_add(r#type))
    }
}
