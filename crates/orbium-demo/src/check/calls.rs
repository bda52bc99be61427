// SPDX-License-Identifier: MIT OR Apache-2.0
//! Call-backs, exceptions, attributes and names of `kitchen.idl`.

use std::sync::Arc;
use std::thread;

use orbium::SystemException;

use super::planned::Needs::{CodeSet, Nothing, Wide};
use super::planned::{Planned, World};
use super::verdict::{Verdict, expect, failed};
use crate::kitchen::{Base, Colour, EmptyOrRefusedError, Other, Peer};
use crate::{PeerServant, specimen};

pub(super) const ALL: &[Planned<World>] = &[
    ("kitchen.ping", Nothing, |w| Ok(w.peer.ping()?)),
    ("kitchen.ident", Nothing, |w| {
        expect("the octets", &w.peer.ident()?, &IDENT)
    }),
    ("kitchen.through_bases", Nothing, through_bases),
    ("kitchen.label", Nothing, |w| label(w, "plain")),
    ("kitchen.label_unicode", CodeSet, |w| label(w, "Ω 漢")),
    ("kitchen.shade", Nothing, |w| {
        expect("the shade", &w.peer.shade()?, &Colour::Blue)
    }),
    ("kitchen.make_peers_none", Nothing, |w| make_peers(w, 0)),
    ("kitchen.make_peers", Nothing, |w| make_peers(w, 20)),
    ("kitchen.call_back_0", Nothing, |w| call_back(w, 0)),
    ("kitchen.call_back_1", Nothing, |w| call_back(w, 1)),
    ("kitchen.call_back_2", Nothing, |w| call_back(w, 2)),
    ("kitchen.call_back_10", Nothing, |w| call_back(w, 10)),
    ("kitchen.call_back_itself", Nothing, |w| {
        let peers = w.peer.make_peers(1)?;
        let other = peers.first().and_then(Option::as_ref);
        Ok(w.peer.call_back(other, 6)?)
    }),
    ("kitchen.refuse_bare", Nothing, |w| {
        match w.peer.refuse(true) {
            Err(EmptyOrRefusedError::Empty(_)) => Ok(()),
            other => Err(failed(format!("{other:?} instead of Empty"))),
        }
    }),
    ("kitchen.refuse", Wide, |w| match w.peer.refuse(false) {
        Err(EmptyOrRefusedError::Refused(got)) => {
            expect("the exception", &got, &specimen::refused())
        }
        other => Err(failed(format!("{other:?} instead of Refused"))),
    }),
    ("kitchen.notify", Nothing, |w| {
        for _ in 0..10 {
            w.peer.notify("something happened")?;
        }
        Ok(w.peer.ping()?)
    }),
    ("kitchen.slow", Nothing, |w| {
        expect("the answer", &w.peer.slow(200)?, &200)
    }),
    ("kitchen.concurrent", Nothing, concurrent),
    ("kitchen.interface", Nothing, |w| {
        expect("the sum", &w.peer.interface(40, "ab")?, &42)
    }),
    ("kitchen.match", Nothing, |w| {
        expect("the sum", &w.peer.r#match(-5, 8)?, &3)
    }),
];

const IDENT: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

fn through_bases(world: &World) -> Verdict {
    let object = orbium::ObjectRef::from(world.peer.clone());
    let base: Base = object.narrow()?;
    let other: Other = object.narrow()?;
    base.ping()?;
    expect("the shade", &base.shade()?, &Colour::Blue)?;
    expect("the octets", &other.ident()?, &IDENT)?;
    Ok(Base::from(world.peer.clone()).ping()?)
}

fn label(world: &World, text: &str) -> Verdict {
    world.peer.set_label(text)?;
    expect("the label", &world.peer.label()?.as_str(), &text)
}

/// Each new object has a distinct label.
fn make_peers(world: &World, n: u32) -> Verdict {
    let peers = world.peer.make_peers(n)?;
    expect("the number", &peers.len(), &(n as usize))?;
    let peers: Option<Vec<Peer>> = peers.into_iter().collect();
    let peers = peers.ok_or_else(|| failed("one is nil"))?;
    for (i, peer) in peers.iter().enumerate() {
        peer.set_label(&format!("peer {i}"))?;
    }
    for (i, peer) in peers.iter().enumerate() {
        expect("the label", &peer.label()?, &format!("peer {i}"))?;
        expect("the sum", &peer.r#match(2, 3)?, &5)?;
    }
    Ok(())
}

/// The peer calls an object of this process, which calls it back, and so on.
fn call_back(world: &World, depth: i32) -> Verdict {
    let poa = world.orb.root_poa();
    let servant = Arc::new(PeerServant::default());
    let target: Peer = poa.activate(Arc::clone(&servant))?;
    let outcome = world.peer.call_back(Some(&target), depth);
    poa.deactivate(&poa.reference_to_id(&target)?)?;
    outcome?;
    let want = u64::from(depth.unsigned_abs()).div_ceil(2);
    expect("the number of call-backs", &servant.called_back(), &want)
}

/// A slow request must not be confused with others made at the same time.
fn concurrent(world: &World) -> Verdict {
    let peer = &world.peer;
    let matches = |t: i32| {
        (0..50).try_fold(0, |wrong, i| {
            let right = peer.r#match(t * 1000, i)? == t * 1000 + i;
            Ok::<_, SystemException>(wrong + i32::from(!right))
        })
    };
    let wrong = thread::scope(|scope| {
        let slow = scope.spawn(|| Ok(i32::from(peer.slow(300)? != 300)));
        let mut threads = vec![slow];
        for t in 0..4 {
            threads.push(scope.spawn(move || matches(t)));
        }
        let mut wrong = 0;
        for thread in threads {
            wrong += thread.join().map_err(|_| failed("a call panicked"))??;
        }
        Ok::<_, super::verdict::Failure>(wrong)
    })?;
    expect("the number of wrong answers", &wrong, &0)
}
