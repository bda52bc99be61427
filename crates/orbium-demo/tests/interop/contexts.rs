// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations with a `context` clause, called in omniORB and by it.

use std::sync::{Mutex, PoisonError};

use orbium::{Call, Config, Context, Orb, SystemException};
use orbium_demo::contexts::{Desk, DeskServant, Refused, RefusedError};

use crate::programs::{self, Server, available};
use crate::{Tested, listening};

#[derive(Default)]
struct Servant(Mutex<String>);

/// `name=value` of what came with a request.
fn shown(call: &Call<'_>) -> String {
    let properties = call.context().iter();
    let mut properties: Vec<_> = properties
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    properties.sort();
    properties.join(" ")
}

impl DeskServant for Servant {
    fn greet(&self, call: &Call<'_>, words: &str) -> Result<String, RefusedError> {
        match words {
            "" => Err(Refused { why: shown(call) }.into()),
            _ => Ok(format!("{words} {}", shown(call))),
        }
    }

    fn exchange(&self, call: &Call<'_>, words: &mut String) -> Result<i32, SystemException> {
        *words = shown(call);
        Ok(call.context().len() as i32)
    }

    fn note(&self, call: &Call<'_>, number: i32) -> Result<(), SystemException> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            format!("{number} {}", shown(call));
        Ok(())
    }

    fn noted(&self, _: &Call<'_>) -> Result<String, SystemException> {
        Ok(self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone())
    }
}

/// A child of the default context: what that has, and a name.
fn session(orb: &Orb) -> Result<Context, SystemException> {
    let all = orb.default_context();
    all.set_values([("site", "lab"), ("secret", "x")])?;
    let session = all.create_child("session")?;
    session.set_values([("user.name", "anna"), ("user.role", "operator")])?;
    Ok(session)
}

/// What a clause that names `user.*` and `site` sends of it.
const SENT: &str = "site=lab user.name=anna user.role=operator";

/// Conformance: client of omniORB - contexts: stubs, asynchronous ones too, send what the clause names
#[test]
fn contexts_reach_servants_of_omniorb() -> Tested {
    if !available(&["omni-contexts"]) {
        return Ok(());
    }
    let peer = Server::start("omni-contexts", &["server", "--ior-dir"])?;
    let orb = Orb::new(Config::default())?;
    let desk: Desk = orb.resolve(peer.reference("desk")?.trim())?;
    let context = session(&orb)?;
    let greeting = format!("hello {SENT}");
    let refused = Refused {
        why: SENT.to_owned(),
    };

    assert_eq!(desk.greet_in_context(&context, "hello")?, greeting);
    let asked = desk.greet_async_in_context(&context, "hello");
    assert_eq!(asked.wait()?, greeting);
    assert_eq!(desk.greet("hello")?, "hello ");
    let raised = desk.greet_async_in_context(&context, "").wait();
    assert_eq!(raised, Err(refused.into()));

    let mut words = String::new();
    assert_eq!(desk.exchange_in_context(&context, &mut words)?, 2);
    assert_eq!(words, "site=lab user.name=anna");
    let exchanged = desk.exchange_async_in_context(&context, "").wait()?;
    assert_eq!((exchanged.result, exchanged.words), (2, words));

    desk.note_in_context(&context, 7)?;
    // omniORB serves oneways by a thread of their own.
    while desk.noted()? != "7 site=lab" {
        std::thread::yield_now();
    }
    Ok(orb.shutdown(true)?)
}

/// Conformance: server of omniORB - contexts: servants read what its stubs send
#[test]
fn contexts_of_omniorb_reach_servants() -> Tested {
    if !available(&["omni-contexts"]) {
        return Ok(());
    }
    let orb = listening(Config::default())?;
    orb.root_poa().manager().activate()?;
    let desk: Desk = orb.root_poa().activate(Servant::default())?;
    let desk = orb.object_to_string(&desk);
    let arguments = ["client", "--desk", &desk].map(str::to_owned);
    let (code, text) = programs::run("omni-contexts", &arguments)?;
    let expected = format!(
        "greet hello {SENT}\nrefused {SENT}\nexchange 2 site=lab user.name=anna\nnoted 7 site=lab\n"
    );
    assert_eq!((code, text), (0, expected));
    Ok(orb.shutdown(true)?)
}
