// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply handlers that are objects: of the caller's ORB, and of another one over TCP.

mod asynchronous;
mod handler;
mod tank;

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use orbium::messaging::ExceptionHolder;
use orbium::{ExceptionKind, Interface, SystemException};

use crate::orbs::Orbs;

mod golden {
    include!("../golden/handlers.rs");
}

use golden::handled::{
    AmiAmiOtherHandler, AmiGaugeHandler, AmiTankHandler, EmptyError, EmptyOrDentedError, Gauge,
    Other, Reading, Tank,
};
use handler::{Handler, Taken};
use tank::{Servant, dented, reading, refused};

type Answer<T> = Result<T, SystemException>;

/// Longer than a loaded machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client of a tank of another ORB, with a handler in the ORB of the client and one in that of
/// the server.
struct Parties {
    orbs: Orbs,
    tank: Tank,
    handlers: [AmiTankHandler; 2],
    taken: Receiver<Taken>,
}

impl Parties {
    fn new() -> Self {
        Self::of(|_| Servant::default())
    }

    fn of(servant: impl Fn(&Orbs) -> Servant) -> Self {
        let orbs = Orbs::new();
        orbs.client.root_poa().manager().activate().unwrap();
        let [_, tank] = orbs.both(servant(&orbs));
        let (sender, taken) = channel();
        let handler = || Handler {
            taken: sender.clone(),
            gate: None,
        };
        let near: AmiTankHandler = orbs.client.root_poa().activate(handler()).unwrap();
        let [_, far] = orbs.both(handler());
        let handlers = [near, far];
        Self {
            orbs,
            tank,
            handlers,
            taken,
        }
    }

    /// An object that no server has.
    fn nowhere<I: Interface>(&self) -> I {
        let text = "corbaloc::127.0.0.1:9/Gone";
        I::from_object(self.orbs.client.string_to_object(text).unwrap().unwrap())
    }

    fn expect(&self, what: Taken) {
        assert_eq!(self.taken.recv_timeout(PATIENCE), Ok(what));
    }
}

/// Conformance: Messaging - reply handlers - results reach objects of the caller's ORB and of others
#[test]
fn results_reach_handlers_here_and_elsewhere() {
    let parties = Parties::new();
    let tank = &parties.tank;
    for handler in &parties.handlers {
        tank.sendc_fill(Some(handler), "l", 4, "źle");
        let unit = "l źle".to_owned();
        parties.expect(Taken::Fill(Reading { level: 0, unit }, 5));
        tank.sendc_ami_drain(Some(handler), &[reading(1), reading(2)]);
        parties.expect(Taken::Drain(1, "žluť".into()));
        tank.sendc_next(Some(handler), Some(tank), Some(tank.as_object()));
        parties.expect(Taken::Next(true, true, "new".into(), 5));
        tank.sendc_next(Some(handler), None, None);
        parties.expect(Taken::Next(false, false, "new".into(), 5));
        tank.sendc_fill_excep(Some(handler), 1);
        parties.expect(Taken::Nothing("fill_excep"));
        tank.sendc_type(Some(handler));
        parties.expect(Taken::Nothing("type"));
    }
}

/// Conformance: Messaging - reply handlers - attributes
#[test]
fn attributes_are_read_and_written_for_handlers() {
    let parties = Parties::new();
    let tank = &parties.tank;
    for handler in &parties.handlers {
        tank.sendc_set_label(Some(handler), "red");
        parties.expect(Taken::Nothing("set_label"));
        tank.sendc_get_label(Some(handler));
        parties.expect(Taken::Label("red".into()));
        tank.sendc_get_last(Some(handler));
        parties.expect(Taken::Last(reading(3)));
        tank.sendc_get_level_too(Some(handler));
        parties.expect(Taken::Level(8));
        tank.sendc_set_level_too(Some(handler), 1);
        parties.expect(Taken::System(refused()));
    }
}

/// Conformance: Messaging - reply handlers - inherited operations
#[test]
fn handlers_take_replies_of_inherited_operations() {
    let parties = Parties::new();
    let [near, far] = &parties.handlers;
    let gauge: Gauge = parties.tank.clone().into();
    gauge.sendc_level(Some(near));
    parties.expect(Taken::Level(7));
    let handler: AmiGaugeHandler = far.clone().into();
    parties.tank.sendc_level(Some(&handler));
    parties.expect(Taken::Level(7));
    let other: Other = parties.tank.clone().into();
    let handler: AmiAmiOtherHandler = far.clone().into();
    other.sendc_is_other(Some(&handler));
    parties.expect(Taken::IsOther(true));
}

/// Conformance: Messaging - reply handlers - user and system exceptions, in an ExceptionHolder
#[test]
fn exceptions_reach_handlers() {
    let parties = Parties::new();
    let tank = &parties.tank;
    for handler in &parties.handlers {
        for (label, raised) in [
            ("empty", Taken::Empty),
            ("dented", Taken::Dented(dented())),
            ("refused", Taken::System(refused())),
        ] {
            tank.set_label(label).unwrap();
            tank.sendc_level(Some(handler));
            parties.expect(raised);
        }
        tank.set_label("empty").unwrap();
        tank.sendc_get_last(Some(handler));
        parties.expect(Taken::Empty);
        tank.sendc_ami_drain(Some(handler), &[]);
        parties.expect(Taken::Empty);
    }
}

/// Conformance: Messaging - reply handlers - references within an exception can be called
#[test]
fn a_reference_within_an_exception_can_be_called() {
    let parties = Parties::of(|orbs| {
        let label = Mutex::new("the other".to_owned());
        let other = Servant { label, by: None };
        let other: Gauge = orbs.server.root_poa().activate(other).unwrap();
        Servant {
            by: Some(other),
            ..Servant::default()
        }
    });
    for handler in &parties.handlers {
        parties.tank.sendc_close(Some(handler));
        parties.expect(Taken::Replaced("the other".into()));
    }
}

/// Conformance: Messaging - reply handlers - what fails before the reply reaches them, too
#[test]
fn failures_to_send_reach_handlers() {
    let parties = Parties::new();
    let nowhere = parties.nowhere::<Gauge>();
    for handler in &parties.handlers {
        nowhere.sendc_level(Some(handler));
        match parties.taken.recv_timeout(PATIENCE).unwrap() {
            Taken::System(exception) => assert_eq!(exception.kind, ExceptionKind::Transient),
            taken => panic!("{taken:?}"),
        }
    }
}

/// Conformance: Messaging - reply handlers - a nil handler: the reply is discarded
#[test]
fn without_a_handler_the_reply_is_discarded() {
    let parties = Parties::new();
    parties.tank.sendc_set_label(None, "blue");
    while parties.tank.label().unwrap() != "blue" {}
    assert_eq!(parties.orbs.client.undelivered_replies(), 0);
}

/// Conformance: Messaging - reply handlers - one that is gone: logged, and counted
#[test]
fn replies_that_handlers_do_not_take_are_counted() {
    let parties = Parties::new();
    let client = &parties.orbs.client;
    let [near, far] = &parties.handlers;
    let nowhere = parties.nowhere::<AmiGaugeHandler>();
    parties.tank.sendc_level(Some(&nowhere));
    let adapter = client.root_poa();
    let id = adapter.reference_to_id(near.as_object()).unwrap();
    adapter.deactivate(&id).unwrap();
    parties.tank.sendc_level(Some(near));
    while client.undelivered_replies() < 2 {
        thread::yield_now();
    }
    // Others are not affected.
    parties.tank.sendc_level(Some(far));
    parties.expect(Taken::Level(7));
    assert_eq!(client.undelivered_replies(), 2);
}

/// Conformance: Messaging - reply handlers - one that blocks holds up no other reply
#[test]
fn a_handler_elsewhere_that_blocks_holds_up_no_reply() {
    let parties = Parties::new();
    let (open, gate) = channel();
    let (sender, blocked) = channel();
    let gate = Some(Mutex::new(gate));
    let taken = sender;
    // Of an ORB of its own: requests of one connection are served in turn.
    let elsewhere = Orbs::new();
    let adapter = elsewhere.server.root_poa();
    let slow: AmiTankHandler = adapter.activate(Handler { taken, gate }).unwrap();
    let slow = elsewhere.server.object_to_string(&slow);
    let slow: AmiTankHandler = parties.orbs.client.resolve(&slow).unwrap();
    // More than handlers that run at once.
    const REPLIES: usize = 12;
    for _ in 0..REPLIES {
        parties.tank.sendc_level(Some(&slow));
    }
    for handler in &parties.handlers {
        parties.tank.sendc_level(Some(handler));
        parties.expect(Taken::Level(7));
    }
    assert_eq!(parties.tank.level_async().wait().ok(), Some(7));
    assert!(blocked.try_recv().is_err());
    drop(open);
    for _ in 0..REPLIES {
        assert_eq!(blocked.recv_timeout(PATIENCE).unwrap(), Taken::Level(7));
    }
}

/// Conformance: Messaging - reply handlers - ExceptionHolder: an exception that the operation does not declare: UNKNOWN 1
#[test]
fn an_exception_that_is_not_declared_is_unknown() {
    let holder = ExceptionHolder::of(&EmptyOrDentedError::from(dented()));
    let raised = holder.raise_exception::<EmptyError>();
    let EmptyError::System(system) = raised else {
        panic!("{raised}");
    };
    assert_eq!(
        (system.kind, system.minor),
        (ExceptionKind::Unknown, 0x4f4d_0001)
    );
    let raised = holder.raise_exception::<EmptyOrDentedError>();
    assert!(matches!(raised, EmptyOrDentedError::Dented(it) if it == dented()));
}

/// Conformance: Messaging - reply handlers - ExceptionHolder: octets of either byte order; broken ones: MARSHAL
#[test]
fn octets_of_an_exception_are_read_in_their_byte_order() {
    let octets = b"\0\0\0\x17IDL:Handled/Dented:1.0\0\0\0\0\0\x04\0\0\0\x06above\0";
    let holder = |octets: &[u8], is_system| {
        let holder = ExceptionHolder::of(&refused());
        let mut state = holder.write();
        state.byte_order = false;
        state.is_system_exception = is_system;
        state.marshaled_exception = octets.to_vec();
        drop(state);
        holder
    };
    let raised = holder(octets, false).raise_exception::<EmptyOrDentedError>();
    assert!(
        matches!(&raised, EmptyOrDentedError::Dented(it) if *it == dented()),
        "{raised}"
    );
    // A system exception ends behind its two numbers.
    for (is_system, complete) in [(false, octets.len()), (true, 36)] {
        for end in 0..complete {
            let broken = holder(&octets[..end], is_system);
            match broken.raise_exception::<EmptyOrDentedError>() {
                EmptyOrDentedError::System(it) => assert_eq!(it.kind, ExceptionKind::Marshal),
                raised => panic!("{raised} of {end} octets"),
            }
        }
    }
}
