// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply handlers of other ORBs take the replies of orbium's calls, by stubs and by requests built at run time, and
//! orbium's those of the calls of the other one.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use orbium::cdr::Type;
use orbium::messaging::{ExceptionHolder, ReplyHandlerServant};
use orbium::{Any, Call, Config, ExceptionKind, Interface as _, Orb, SystemException};
use orbium_demo::handlers::{
    AmiGaugeHandler, AmiGaugeHandlerServant, AmiTankHandler, AmiTankHandlerServant, EMPTY_TYPE,
    Empty, EmptyError, GaugeLevelResults, GaugeServant, Sink, SinkServant, Tank, TankServant,
};
use orbium_dynamic::Request;

use crate::programs::{Server, available};
use crate::{Tested, listening};

const PATIENCE: Duration = Duration::from_secs(60);

type Answer<T> = Result<T, SystemException>;

struct Servant(Mutex<String>);

impl GaugeServant for Servant {
    fn label(&self, _: &Call<'_>) -> Answer<String> {
        Ok(self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone())
    }
    fn set_label(&self, _: &Call<'_>, value: &str) -> Answer<()> {
        value.clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
    fn level(
        &self,
        _: &Call<'_>,
        step: i32,
        turns: &mut i16,
    ) -> Result<GaugeLevelResults, EmptyError> {
        match step {
            0 => Err(SystemException::from(ExceptionKind::BadParam).into()),
            ..0 => Err(Empty {
                why: "below".into(),
            }
            .into()),
            _ => {
                *turns += 1;
                let unit = "litre".into();
                Ok(GaugeLevelResults {
                    result: step * 2,
                    unit,
                })
            }
        }
    }
}

impl TankServant for Servant {
    fn drain(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
}

/// The sink of another program, and a handler: both pass on what they take.
struct Taken(Sender<String>);

impl Taken {
    fn take(&self, what: String) -> Answer<()> {
        let _ = self.0.send(what);
        Ok(())
    }

    fn take_system(&self, what: &str, holder: Option<&ExceptionHolder>) -> Answer<()> {
        let raised = holder.map(ExceptionHolder::raise_exception::<SystemException>);
        self.take(format!("{what} {raised:?}"))
    }
}

impl SinkServant for Taken {
    fn taken(&self, _: &Call<'_>, what: &str) -> Answer<()> {
        self.take(what.to_owned())
    }
}

impl ReplyHandlerServant for Taken {}

impl AmiGaugeHandlerServant for Taken {
    fn get_label(&self, _: &Call<'_>, label: &str) -> Answer<()> {
        self.take(format!("label {label}"))
    }
    fn set_label(&self, _: &Call<'_>) -> Answer<()> {
        self.take("set_label".to_owned())
    }
    fn level(&self, _: &Call<'_>, level: i32, turns: i16, unit: &str) -> Answer<()> {
        self.take(format!("level {level} {turns} {unit}"))
    }
    fn get_label_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system("get_label", holder)
    }
    fn set_label_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system("set_label", holder)
    }
    fn level_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        match holder.map(ExceptionHolder::raise_exception) {
            Some(EmptyError::Empty(Empty { why })) => self.take(format!("empty: {why}")),
            other => self.take(format!("{other:?}")),
        }
    }
}

impl AmiTankHandlerServant for Taken {
    fn drain(&self, _: &Call<'_>) -> Answer<()> {
        self.take("drain".to_owned())
    }
    fn drain_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system("drain", holder)
    }
}

/// A server of a tank and of what takes replies.
struct Here {
    orb: Orb,
    tank: Tank,
    taken: Receiver<String>,
}

impl Here {
    fn new() -> Result<(Self, Sender<String>), Box<dyn std::error::Error>> {
        let orb = listening(Config::default())?;
        let adapter = orb.root_poa();
        adapter.manager().activate()?;
        let tank: Tank = adapter.activate(Servant(Mutex::default()))?;
        let (sender, taken) = channel();
        Ok((Self { orb, tank, taken }, sender))
    }

    /// `level` of the tank, with its types.
    fn level(&self, step: i32, turns: i16) -> Result<Request, SystemException> {
        let mut request = Request::new(self.tank.as_object(), "level")?;
        request.add_in("step", Any::from(step))?;
        request.add_inout("turns", Any::from(turns))?;
        request.add_out("unit", Type::STRING)?;
        request.set_return_type(Type::LONG)?;
        request.add_exception(&EMPTY_TYPE)?;
        Ok(request)
    }

    fn expect(&self, all: &[&str]) -> Tested {
        for what in all {
            assert_eq!(self.taken.recv_timeout(PATIENCE)?, *what);
        }
        Ok(())
    }

    /// So many, sorted: threads of the other ORB pass replies on in any order.
    fn taken_in_any_order(&self, count: usize) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let taken = (0..count).map(|_| self.taken.recv_timeout(PATIENCE));
        let mut all: Vec<_> = taken.collect::<Result<_, _>>()?;
        all.sort();
        Ok(all)
    }
}

/// Conformance: client of omniORB - reply handlers: its objects take results
/// Conformance: Messaging - reply handlers - omniORB's objects take results; its exceptions have no content
#[test]
fn replies_reach_handlers_of_omniorb() -> Tested {
    if !available(&["omni-handlers"]) {
        return Ok(());
    }
    let (here, sender) = Here::new()?;
    let sink: Sink = here.orb.root_poa().activate(Taken(sender))?;
    let sink = here.orb.object_to_string(&sink);
    let program = Server::start("omni-handlers", &["handler", "--sink", &sink, "--ior-dir"])?;
    let handler: AmiTankHandler = here.orb.resolve(program.reference("handler")?.trim())?;
    let inherited: AmiGaugeHandler = handler.clone().into();
    here.tank.sendc_set_label(Some(&inherited), "of orbium");
    here.expect(&["set_label"])?;
    here.tank.sendc_get_label(Some(&inherited));
    here.expect(&["label of orbium"])?;
    here.tank.sendc_level(Some(&inherited), 2, 7);
    here.expect(&["level 4 8 litre"])?;
    here.tank.sendc_drain(Some(&handler));
    here.expect(&["drain"])?;
    here.level(5, 1)?.sendc(Some(handler.as_object()))?;
    here.expect(&["level 10 2 litre"])?;
    // omniORB has no factory for ExceptionHolder, and no state in it: it refuses such a request.
    here.tank.sendc_level(Some(&inherited), -1, 0);
    while here.orb.undelivered_replies() == 0 {
        thread::yield_now();
    }
    Ok(here.orb.shutdown(true)?)
}

/// Conformance: server of omniORB - reply handlers: orbium's objects take the replies of its calls
/// Conformance: Messaging - reply handlers - objects take the replies of omniORB's calls
#[test]
fn replies_of_omniorbs_calls_reach_handlers() -> Tested {
    if !available(&["omni-handlers"]) {
        return Ok(());
    }
    let (here, sender) = Here::new()?;
    let handler: AmiTankHandler = here.orb.root_poa().activate(Taken(sender))?;
    let handler = here.orb.object_to_string(&handler);
    let tank = here.orb.object_to_string(&here.tank);
    let arguments = [
        "client",
        "--tank",
        &tank,
        "--handler",
        &handler,
        "--ior-dir",
    ];
    let _program = Server::start("omni-handlers", &arguments)?;
    let all = here.taken_in_any_order(3)?;
    assert_eq!(all, ["drain", "level 6 5 litre", "set_label"]);
    Ok(here.orb.shutdown(true)?)
}

/// Conformance: client of JacORB - reply handlers: its objects take results
/// Conformance: Messaging - reply handlers - JacORB's objects take results and exceptions
#[test]
fn replies_reach_handlers_of_jacorb() -> Tested {
    if !available(&["jacorb-handlers"]) {
        return Ok(());
    }
    let (here, sender) = Here::new()?;
    let sink: Sink = here.orb.root_poa().activate(Taken(sender))?;
    let sink = here.orb.object_to_string(&sink);
    let program = Server::start(
        "jacorb-handlers",
        &["handler", "--sink", &sink, "--ior-dir"],
    )?;
    let handler: AmiTankHandler = here.orb.resolve(program.reference("handler")?.trim())?;
    let inherited: AmiGaugeHandler = handler.clone().into();
    here.tank.sendc_level(Some(&inherited), 2, 7);
    here.expect(&["level 4 8 litre"])?;
    here.tank.sendc_level(Some(&inherited), -1, 0);
    here.expect(&["level_excep empty: below"])?;
    here.tank.sendc_level(Some(&inherited), 0, 0);
    here.expect(&["level_excep BAD_PARAM"])?;
    here.tank.sendc_drain(Some(&handler));
    here.expect(&["drain"])?;

    let object = handler.as_object();
    here.level(5, 1)?.sendc(Some(object))?;
    here.expect(&["level 10 2 litre"])?;
    here.level(-1, 1)?.sendc(Some(object))?;
    here.expect(&["level_excep empty: below"])?;
    here.level(0, 1)?.sendc(Some(object))?;
    here.expect(&["level_excep BAD_PARAM"])?;
    assert_eq!(here.orb.undelivered_replies(), 0);
    // JacORB calls what takes the replies of attributes otherwise, and knows no `get_label`.
    here.tank.sendc_get_label(Some(&inherited));
    while here.orb.undelivered_replies() == 0 {
        thread::yield_now();
    }
    Ok(here.orb.shutdown(true)?)
}

/// Conformance: server of JacORB - its asynchronous calls: its own handlers take the replies
/// Conformance: Messaging - reply handlers - JacORB's asynchronous calls of orbium's servants
#[test]
fn asynchronous_calls_of_jacorb_are_answered() -> Tested {
    if !available(&["jacorb-handlers"]) {
        return Ok(());
    }
    let (here, sender) = Here::new()?;
    let sink: Sink = here.orb.root_poa().activate(Taken(sender))?;
    let sink = here.orb.object_to_string(&sink);
    let tank = here.orb.object_to_string(&here.tank);
    let arguments = ["client", "--tank", &tank, "--sink", &sink, "--ior-dir"];
    let _program = Server::start("jacorb-handlers", &arguments)?;
    let all = here.taken_in_any_order(5)?;
    let expected = [
        "drain",
        "level 6 5 litre",
        "level_excep BAD_PARAM",
        "level_excep empty: below",
        "set_label",
    ];
    assert_eq!(all, expected);
    Ok(here.orb.shutdown(true)?)
}

/// Conformance: dynamic - requests: replies that go to a reply handler (`sendc`) - by the generated handler of the interface
#[test]
fn replies_of_requests_reach_handlers_by_their_skeletons() -> Tested {
    let (here, sender) = Here::new()?;
    let handler: AmiTankHandler = here.orb.root_poa().activate(Taken(sender))?;
    let handler = handler.as_object();
    here.level(5, 1)?.sendc(Some(handler))?;
    here.expect(&["level 10 2 litre"])?;
    here.level(-1, 1)?.sendc(Some(handler))?;
    here.expect(&["empty: below"])?;
    here.level(0, 1)?.sendc(Some(handler))?;
    let refused = EmptyError::from(SystemException::from(ExceptionKind::BadParam));
    here.expect(&[&format!("{:?}", Some(refused))])?;
    Ok(here.orb.shutdown(true)?)
}
