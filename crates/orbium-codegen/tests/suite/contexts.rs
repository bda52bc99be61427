// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations with a `context` clause, called over TCP and by a caller of the same ORB.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use orbium::{Call, Context, Interface as _, SystemException};

use crate::orbs::Orbs;

mod golden {
    include!("../golden/contexts.rs");
}

use golden::contexts::{
    Backdesk, BackdeskServant, DeskExchangeResults, DeskGreetError, DeskServant, Refused,
};

struct Desk(Sender<String>);

/// `name=value`, one after the other.
fn shown(call: &Call<'_>) -> String {
    let properties = call.context().iter();
    let properties: Vec<_> = properties
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    properties.join(" ")
}

impl DeskServant for Desk {
    fn greet(&self, call: &Call<'_>, words: &str) -> Result<String, DeskGreetError> {
        if words.is_empty() {
            return Err(Refused { why: shown(call) }.into());
        }
        // The call is the same one otherwise.
        assert_eq!(call.poa().name(), "RootPOA");
        Ok(format!("{words}: {}", shown(call)))
    }

    fn note(&self, call: &Call<'_>, context: i32) -> Result<(), SystemException> {
        let _ = self.0.send(format!("{context}: {}", shown(call)));
        Ok(())
    }

    fn exchange(
        &self,
        call: &Call<'_>,
        words: &mut String,
    ) -> Result<DeskExchangeResults, SystemException> {
        *words = shown(call);
        Ok(DeskExchangeResults {
            result: true,
            count: call.context().len() as i32,
        })
    }

    fn greet_in_context(&self, call: &Call<'_>) -> Result<(), SystemException> {
        assert_eq!(call.context(), []);
        Ok(())
    }
}

impl BackdeskServant for Desk {}

/// Conformance: dynamic - contexts: stubs send what the clause names, and servants read it
#[test]
fn operations_in_a_context_send_what_their_clause_names() {
    let orbs = Orbs::new();
    let context = Context::new("");
    let all = [
        ("user.name", "anna"),
        ("user.role", "operator"),
        ("site", "lab"),
        ("secret", "x"),
    ];
    context.set_values(all).unwrap();
    let (send, noted) = channel();
    for desk in orbs.both::<_, Backdesk>(Desk(send)) {
        let greeted = desk.greet_in_context_(&context, "hello").unwrap();
        assert_eq!(greeted, "hello: site=lab user.name=anna user.role=operator");
        let refused = desk.greet_in_context_(&context, "").unwrap_err();
        let why = "site=lab user.name=anna user.role=operator".to_owned();
        assert_eq!(refused, Refused { why }.into());

        desk.note_in_context(&context, 7).unwrap();
        let heard = noted.recv_timeout(Duration::from_secs(60));
        assert_eq!(heard.as_deref(), Ok("7: site=lab"));

        let mut words = String::new();
        let results = desk.exchange_in_context(&context, &mut words).unwrap();
        assert_eq!((results.result, results.count), (true, 1));
        assert_eq!(words, "user.name=anna");

        // The stub that takes none sends an empty one.
        assert_eq!(desk.greet("hello").unwrap(), "hello: ");
        desk.note(8).unwrap();
        let heard = noted.recv_timeout(Duration::from_secs(60));
        assert_eq!(heard.as_deref(), Ok("8: "));
        desk.greet_in_context().unwrap();
    }
}

/// Nothing is sent of a context that was deleted.
#[test]
fn a_deleted_context_is_refused() {
    let orbs = Orbs::new();
    let context = Context::new("");
    context.delete(false).unwrap();
    let (send, _noted) = channel();
    let [desk, _] = orbs.both::<_, Backdesk>(Desk(send));
    assert!(desk.as_object().non_existent() == Ok(false));
    assert!(desk.note_in_context(&context, 1).is_err());
}

/// The example of the page on the mapping.
#[test]
fn a_child_of_the_default_context_has_what_that_has() -> Result<(), Box<dyn std::error::Error>> {
    let orbs = Orbs::new();
    let (send, noted) = channel();
    let [_, desk] = orbs.both::<_, Backdesk>(Desk(send));
    let orb = &orbs.client;

    orb.default_context().set_one_value("site", "lab")?;
    let session = orb.default_context().create_child("session")?;
    session.set_one_value("user.name", "anna")?;
    desk.note_in_context(&session, 7)?;

    assert_eq!(noted.recv_timeout(Duration::from_secs(60))?, "7: site=lab");
    Ok(())
}
