// SPDX-License-Identifier: MIT OR Apache-2.0
//! The asynchronous checks of `kitchen.idl`.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use orbium::{Any, Char, Completion, ExceptionKind, Interface, ObjectRef, SystemException};

use super::forms::{PATIENCE, answer, each_form};
use crate::check::planned::Needs::{Nothing, Wide};
use crate::check::planned::{Planned, World};
use crate::check::verdict::{Verdict, expect, expect_raised, failed, require};
use crate::kitchen::{
    ByBool, ByChar, ByColour, ByLong, Colour, EmptyOrRefusedError, Money,
    PeerEchoScalarsAsyncResults, PeerEchoStringAsyncResults,
};
use crate::specimen::{mixed, refused, scalars, tree};
use crate::{PeerServant, kitchen::Peer};

pub(in crate::check) const ALL: &[Planned<World>] = &[
    ("async.ping", Nothing, |w| {
        answer(&(), || w.peer.ping_async())
    }),
    ("async.ident", Nothing, |w| {
        answer(&std::array::from_fn(|i| i as u8), || w.peer.ident_async())
    }),
    ("async.label", Nothing, label),
    ("async.shade", Nothing, |w| {
        answer(&Colour::Blue, || w.peer.shade_async())
    }),
    ("async_wide.scalars", Wide, echo_scalars),
    ("async.string", Nothing, echo_string),
    ("async_wide.wstring", Wide, |w| {
        let sent = "grüße — Ω 漢字".to_owned();
        answer(&sent, || w.peer.echo_wstring_async(&sent))
    }),
    ("async_wide.mixed", Wide, |w| {
        answer(&mixed(1), || w.peer.echo_mixed_async(&mixed(1)))
    }),
    ("async_wide.mixeds", Wide, |w| {
        let sent: Vec<_> = (0..3).map(mixed).collect();
        answer(&sent, || w.peer.echo_mixeds_async(&sent))
    }),
    ("async.tree", Nothing, |w| {
        answer(&tree(9), || w.peer.echo_tree_async(&tree(9)))
    }),
    ("async.table", Nothing, |w| {
        let sent = vec![mixed(0).list, Vec::new()];
        answer(&sent, || w.peer.echo_table_async(&sent))
    }),
    ("async.matrix", Nothing, |w| {
        let sent = [[1, -2, 3], [i32::MIN, i32::MAX, 0]];
        answer(&sent, || w.peer.echo_matrix_async(&sent))
    }),
    ("async.money", Nothing, |w| {
        let sent: Money = "1234.50".parse()?;
        answer(&sent, || w.peer.echo_money_async(sent))
    }),
    ("async.by_colour", Nothing, |w| {
        let sent = ByColour::L(-5);
        answer(&sent, || w.peer.echo_by_colour_async(&sent))
    }),
    ("async.by_bool", Nothing, |w| {
        let sent = ByBool::Other {
            discriminator: false,
        };
        answer(&sent, || w.peer.echo_by_bool_async(&sent))
    }),
    ("async.by_char", Nothing, |w| {
        let sent = ByChar::D {
            discriminator: Char(0),
            value: 2.75,
        };
        answer(&sent, || w.peer.echo_by_char_async(&sent))
    }),
    ("async.by_long", Nothing, |w| {
        let sent = ByLong::Neg("negative".into());
        answer(&sent, || w.peer.echo_by_long_async(&sent))
    }),
    ("async.any", Nothing, |w| {
        let sent = Any::new(&tree(2))?;
        answer(&sent, || w.peer.echo_any_async(&sent))
    }),
    ("async.object", Nothing, echo_object),
    ("async.peer", Nothing, echo_peer),
    ("async.make_peers", Nothing, |w| {
        each_form(
            || w.peer.make_peers_async(3),
            |got| {
                let labels = got?.into_iter().flatten().map(|peer| peer.label());
                let labels: Result<Vec<_>, _> = labels.collect();
                expect("the number", &labels?.len(), &3)
            },
        )
    }),
    ("async.call_back", Nothing, call_back),
    ("async.refuse_bare", Nothing, |w| {
        each_form(
            || w.peer.refuse_async(true),
            |got| match got {
                Err(EmptyOrRefusedError::Empty(_)) => Ok(()),
                other => Err(failed(format!("{other:?} instead of Empty"))),
            },
        )
    }),
    ("async_wide.refuse", Wide, |w| {
        each_form(
            || w.peer.refuse_async(false),
            |got| match got {
                Err(EmptyOrRefusedError::Refused(got)) => expect("the exception", &got, &refused()),
                other => Err(failed(format!("{other:?} instead of Refused"))),
            },
        )
    }),
    ("async.system_exception", Nothing, |w| {
        each_form(
            || w.peer.system_exception_async("NO_MEMORY"),
            |got| {
                let exception = expect_raised(got, ExceptionKind::NoMemory)?;
                expect("the minor code", &exception.minor, &42)?;
                let completed = exception.completed;
                expect("the completion status", &completed, &Completion::Maybe)
            },
        )
    }),
    ("async.slow", Nothing, |w| {
        answer(&20, || w.peer.slow_async(20))
    }),
    ("async.interface", Nothing, |w| {
        answer(&42, || w.peer.interface_async(40, "ab"))
    }),
    ("async.match", Nothing, |w| {
        answer(&3, || w.peer.match_async(-5, 8))
    }),
    ("async.beyond_bounds", Nothing, beyond_bounds),
    ("async.outstanding", Nothing, outstanding),
    ("async.polled", Nothing, polled),
    ("async.given_up", Nothing, given_up),
    ("async.handler_calls", Nothing, handler_calls),
];

fn label(world: &World) -> Verdict {
    answer(&(), || world.peer.set_label_async("asynchronous"))?;
    let want = "asynchronous".to_owned();
    answer(&want, || world.peer.label_async())
}

fn echo_scalars(world: &World) -> Verdict {
    let (sent, both) = (scalars(1), scalars(9));
    let want = PeerEchoScalarsAsyncResults {
        result: sent,
        copy: sent,
        both,
    };
    answer(&want, || world.peer.echo_scalars_async(&sent, &both))
}

fn echo_string(world: &World) -> Verdict {
    let want = PeerEchoStringAsyncResults {
        result: "text".to_owned(),
        copy: "text".to_owned(),
        both: "in and out".to_owned(),
    };
    answer(&want, || world.peer.echo_string_async("text", "in and out"))
}

fn echo_object(world: &World) -> Verdict {
    let own = ObjectRef::from(world.peer.clone());
    answer(&None, || world.peer.echo_object_async(None))?;
    each_form(
        || world.peer.echo_object_async(Some(&own)),
        |got| {
            let same = got?.is_some_and(|got| got.is_equivalent(&own));
            require(same, "another object came back")
        },
    )
}

fn echo_peer(world: &World) -> Verdict {
    answer(&None, || world.peer.echo_peer_async(None))?;
    each_form(
        || world.peer.echo_peer_async(Some(&world.peer)),
        |got| {
            let own = world.peer.as_object();
            let same = got?.is_some_and(|got| got.as_object().is_equivalent(own));
            require(same, "another object came back")
        },
    )
}

/// The peer calls an object of this process while no thread waits for a reply.
fn call_back(world: &World) -> Verdict {
    let poa = world.orb.root_poa();
    let servant = Arc::new(PeerServant::default());
    let target: Peer = poa.activate(Arc::clone(&servant))?;
    let outcome = answer(&(), || world.peer.call_back_async(Some(&target), 3));
    poa.deactivate(&poa.reference_to_id(&target)?)?;
    outcome?;
    // Two of each call.
    expect("the number of call-backs", &servant.called_back(), &6)
}

/// The error of an argument that cannot be sent is also delivered as the reply.
fn beyond_bounds(world: &World) -> Verdict {
    let mut beyond = mixed(1);
    beyond.few = vec![0; 17];
    each_form(
        || world.peer.echo_mixed_async(&beyond),
        |got| match got {
            Ok(_) => Err(failed("a value beyond a bound was sent")),
            Err(exception) => {
                let completed = exception.completed;
                expect("the completion status", &completed, &Completion::No)
            }
        },
    )?;
    Ok(world.peer.ping()?)
}

/// Many outstanding calls: each gets its own reply, in any order.
fn outstanding(world: &World) -> Verdict {
    let slow = world.peer.slow_async(50);
    let sums: Vec<_> = (0..30).map(|i| world.peer.match_async(i, 1000)).collect();
    for (i, sum) in (0..).zip(sums) {
        expect("the sum", &sum.wait()?, &(i + 1000))?;
    }
    expect("the slow answer", &slow.wait()?, &50)
}

/// Requires an exception of polling.
fn expect_polled(got: Result<i32, SystemException>, kind: ExceptionKind, minor: u32) -> Verdict {
    let raised = expect_raised(got, kind)?;
    expect("the minor code", &(raised.minor & 0xFFF), &minor)
}

/// Polls for a reply that is pending, that has arrived, and that was taken.
fn polled(world: &World) -> Verdict {
    let mut slow = world.peer.slow_async(100);
    for (patience, kind) in [
        (Duration::ZERO, ExceptionKind::NoResponse),
        (Duration::from_millis(1), ExceptionKind::Timeout),
    ] {
        match slow.response(Some(patience)) {
            // This thread was preempted for longer than the call took.
            Ok(value) => return expect("the answer", &value, &100),
            early => expect_polled(early, kind, 1)?,
        }
    }
    expect("the answer", &slow.response(PATIENCE)?, &100)?;
    let taken = slow.response(None);
    expect_polled(taken, ExceptionKind::ObjectNotExist, 5)
}

/// Abandoned replies do not affect other calls.
fn given_up(world: &World) -> Verdict {
    drop(world.peer.slow_async(20));
    world.peer.slow_async(20).detach();
    for i in 0..5 {
        expect("the sum", &world.peer.r#match(i, 1)?, &(i + 1))?;
        answer(&(i + 2), || world.peer.match_async(i, 2))?;
    }
    Ok(())
}

/// A handler makes calls itself, synchronous and asynchronous ones.
fn handler_calls(world: &World) -> Verdict {
    let (outcomes, received) = mpsc::channel();
    let peer = world.peer.clone();
    world.peer.match_async(1, 2).on_reply(move |first| {
        let sum = first.and_then(|first| peer.r#match(first, 10));
        match sum {
            Ok(sum) => peer.match_async(sum, 100).on_reply(move |last| {
                let _ = outcomes.send(last);
            }),
            Err(exception) => drop(outcomes.send(Err(exception))),
        }
    });
    let received = received.recv_timeout(PATIENCE.unwrap_or_default());
    let sum = received.map_err(|_| failed("no handler was called"))?;
    expect("the sum", &sum?, &113)
}
