// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations with a `context` clause, called over TCP and by a caller of the same ORB.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use orbium::messaging::{ExceptionHolder, ReplyHandlerServant};
use orbium::{
    Call, Context, DeferredReply, ExceptionKind, Interface as _, Reply, Sent, SystemException,
    asynchronous::{AsyncServant, Task},
};

use crate::orbs::Orbs;

mod golden {
    include!("../golden/contexts.rs");
}

use golden::contexts::{
    AmiLaterHandler, AmiLaterHandlerServant, Backdesk, BackdeskServant, DeskExchangeResults,
    DeskGreetError, DeskServant, Later, LaterServant, Refused, RefusedError, Served,
    ServedAsyncServant,
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

/// Says where its arguments are.
struct Locating(Sender<String>);

impl DeskServant for Locating {
    fn greet(&self, call: &Call<'_>, words: &str) -> Result<String, DeskGreetError> {
        Ok(format!("{:p}: {}", words.as_ptr(), shown(call)))
    }

    fn note(&self, _: &Call<'_>, _: i32) -> Result<(), SystemException> {
        let thread = std::thread::current().id();
        let _ = self.0.send(format!("{thread:?}"));
        Ok(())
    }

    fn exchange(
        &self,
        call: &Call<'_>,
        words: &mut String,
    ) -> Result<DeskExchangeResults, SystemException> {
        *words = shown(call);
        Ok(DeskExchangeResults {
            result: call.context().is_empty(),
            count: 1,
        })
    }

    fn greet_in_context(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

impl BackdeskServant for Locating {}

/// They were marshalled once.
///
/// Conformance: dynamic - contexts: collocated calls in a context are lent their arguments
#[test]
fn collocated_calls_in_a_context_are_lent_their_arguments() {
    let orbs = Orbs::new();
    let context = lab();
    let (send, noted) = channel();
    let [desk, _] = orbs.both::<_, Backdesk>(Locating(send));
    let words = "hello".to_owned();
    let greeted = desk.greet_in_context_(&context, &words).unwrap();
    assert_eq!(
        greeted,
        format!("{:p}: site=lab user.name=anna", words.as_ptr())
    );

    let mut words = "exchanged".to_owned();
    let exchanged = desk.exchange_in_context(&context, &mut words).unwrap();
    assert_eq!(
        (words.as_str(), exchanged.result),
        ("user.name=anna", false)
    );

    desk.note_in_context(&context, 1).unwrap();
    let thread = format!("{:?}", std::thread::current().id());
    assert_eq!(noted.recv_timeout(Duration::from_secs(60)), Ok(thread));
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

/// Answers in three ways.
struct Answering;

impl LaterServant for Answering {
    fn ask(&self, call: &Call<'_>, words: &str) -> Result<String, RefusedError> {
        if words.is_empty() {
            return Err(Refused { why: shown(call) }.into());
        }
        Ok(format!("{words}: {}", shown(call)))
    }

    fn exchange(&self, call: &Call<'_>, words: &mut String) -> Result<bool, SystemException> {
        *words = shown(call);
        Ok(true)
    }

    fn after(&self, call: &Call<'_>, words: &str, reply: DeferredReply<String>) {
        let answer = format!("{words}: {}", shown(call));
        std::thread::spawn(move || reply.ok(answer).unwrap());
    }

    fn swap(&self, call: &Call<'_>, words: &str, reply: DeferredReply<String>) {
        reply.ok(format!("{words}: {}", shown(call))).unwrap();
    }

    fn lent(
        &self,
        call: &Call<'_>,
        words: &str,
        reply: Reply<'_, str>,
    ) -> Result<Sent, SystemException> {
        reply.send(&format!("{words}: {}", shown(call)))
    }
}

fn lab() -> Context {
    let context = Context::new("");
    context
        .set_values([("user.name", "anna"), ("site", "lab"), ("secret", "x")])
        .unwrap();
    context
}

/// Conformance: dynamic - contexts: asynchronous stubs send what the clause names
#[test]
fn asynchronous_stubs_send_what_their_clause_names() {
    let orbs = Orbs::new();
    let context = lab();
    for later in orbs.both::<_, Later>(Answering) {
        let asked = later.ask_async_in_context(&context, "hello");
        assert_eq!(asked.wait().unwrap(), "hello: site=lab user.name=anna");
        let refused = later.ask_async_in_context(&context, "");
        let why = "site=lab user.name=anna".to_owned();
        assert_eq!(refused.wait().unwrap_err(), Refused { why }.into());

        let exchanged = later.exchange_async_in_context(&context, "");
        let exchanged = exchanged.wait().unwrap();
        assert_eq!(
            (exchanged.result, &*exchanged.words),
            (true, "user.name=anna")
        );
        // The stub that takes none sends an empty one.
        assert_eq!(later.ask_async("hello").wait().unwrap(), "hello: ");
    }
}

/// Conformance: dynamic - contexts: asynchronous stubs send what the clause names - with typed pollers and reply handlers
#[test]
fn stubs_with_pollers_and_handlers_send_what_their_clause_names() {
    let orbs = Orbs::new();
    orbs.client.root_poa().manager().activate().unwrap();
    let (sender, taken) = channel();
    let handler: AmiLaterHandler = orbs.client.root_poa().activate(Taking(sender)).unwrap();
    let context = lab();
    let [_, later] = orbs.both::<_, Later>(Answering);
    let mut poller = later.sendp_ask_in_context(&context, "a");
    assert_eq!(poller.ask(None).unwrap(), "a: site=lab user.name=anna");
    let mut poller = later.sendp_ask("a");
    assert_eq!(poller.ask(None).unwrap(), "a: ");

    let expect = |what: &str| {
        let heard = taken.recv_timeout(Duration::from_secs(60));
        assert_eq!(heard.as_deref(), Ok(what));
    };
    later.sendc_ask_in_context(Some(&handler), &context, "b");
    expect("b: site=lab user.name=anna");
    later.sendc_exchange_in_context(Some(&handler), &context, "");
    expect("true user.name=anna");
    later.sendc_ask(Some(&handler), "b");
    expect("b: ");
    context.delete(false).unwrap();
    later.sendc_ask_in_context(Some(&handler), &context, "b");
    expect("OBJECT_NOT_EXIST");
    let asked = later.ask_async_in_context(&context, "b").wait();
    assert_eq!(
        asked,
        Err(SystemException::from(ExceptionKind::ObjectNotExist).into())
    );
}

/// Passes on what it takes.
struct Taking(Sender<String>);

impl Taking {
    fn take(&self, what: String) -> Result<(), SystemException> {
        let _ = self.0.send(what);
        Ok(())
    }

    fn take_exception(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        let raised = holder.map(ExceptionHolder::raise_exception::<SystemException>);
        self.take(raised.map_or_else(String::new, |it| it.kind.name().to_owned()))
    }
}

impl ReplyHandlerServant for Taking {}

impl AmiLaterHandlerServant for Taking {
    fn ask(&self, _: &Call<'_>, asked: &str) -> Result<(), SystemException> {
        self.take(asked.to_owned())
    }

    fn ask_excep(
        &self,
        _: &Call<'_>,
        holder: Option<&ExceptionHolder>,
    ) -> Result<(), SystemException> {
        self.take_exception(holder)
    }

    fn exchange(&self, _: &Call<'_>, result: bool, words: &str) -> Result<(), SystemException> {
        self.take(format!("{result} {words}"))
    }

    fn exchange_excep(
        &self,
        _: &Call<'_>,
        holder: Option<&ExceptionHolder>,
    ) -> Result<(), SystemException> {
        self.take_exception(holder)
    }

    fn after(&self, _: &Call<'_>, after: &str) -> Result<(), SystemException> {
        self.take(after.to_owned())
    }

    fn after_excep(
        &self,
        _: &Call<'_>,
        holder: Option<&ExceptionHolder>,
    ) -> Result<(), SystemException> {
        self.take_exception(holder)
    }
}

/// Conformance: dynamic - contexts: servants that answer later, and with reply slots, read them
#[test]
fn servants_with_deferred_replies_and_reply_slots_read_the_context() {
    let orbs = Orbs::new();
    let context = lab();
    for later in orbs.both::<_, Later>(Answering) {
        assert_eq!(
            later.after_in_context(&context, "a").unwrap(),
            "a: site=lab"
        );
        let after = later.after_async_in_context(&context, "a");
        assert_eq!(after.wait().unwrap(), "a: site=lab");
        assert_eq!(later.after("a").unwrap(), "a: ");

        let mut words = "b".to_owned();
        later.swap_in_context(&context, &mut words).unwrap();
        assert_eq!(words, "b: site=lab");

        assert_eq!(later.lent_in_context(&context, "c").unwrap(), "c: site=lab");
        assert_eq!(later.lent("c").unwrap(), "c: ");
    }
}

struct Greeter;

impl ServedAsyncServant for Greeter {
    async fn greet(
        &self,
        call: orbium::asynchronous::AsyncCall,
        properties: i32,
    ) -> Result<String, SystemException> {
        Ok(format!("{properties}: {:?}", call.context()))
    }
}

/// Conformance: dynamic - contexts: `async fn` servants read them
#[test]
fn asynchronous_servants_read_the_context() {
    let orbs = Orbs::new();
    let context = lab();
    let (tasks, waiting) = channel::<Task>();
    let servant = AsyncServant::new(Greeter, move |task| tasks.send(task).unwrap());
    let executor = std::thread::spawn(move || {
        let mut noop = std::task::Context::from_waker(std::task::Waker::noop());
        for mut task in waiting {
            assert!(task.as_mut().poll(&mut noop).is_ready());
        }
    });
    for served in orbs.both::<_, Served>(servant) {
        let greeted = served.greet_in_context(&context, 7).unwrap();
        assert_eq!(greeted, "7: [(\"site\", \"lab\")]");
        assert_eq!(served.greet(8).unwrap(), "8: []");
    }
    drop(orbs);
    executor.join().unwrap();
}
