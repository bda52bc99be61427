// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies of requests go to reply handlers, objects of the caller's ORB and of another one.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use orbium_cdr::{Any, CdrReader, Decode as _, Format, Type, TypeCode};
use orbium_core::{Completion, ExceptionKind, ObjectRef, Orb, SystemException};
use orbium_dynamic::{
    Definitions, Direction, DynAny, DynamicImplementation, Request, ServerRequest, Signature,
    dynamic_servant,
};
use orbium_idl::{Options, compile_source};

use crate::skeletons::{parameter, serve};
use crate::waiting::PATIENCE;

/// The implied handler of the interface that [`tank`] serves, written out.
const IDL: &str = "
    #pragma prefix \"omg.org\"
    module Messaging {
      typedef sequence<octet> Octets;
      valuetype ExceptionHolder {
        private boolean is_system_exception;
        private boolean byte_order;
        private Octets marshaled_exception;
      };
    };
    #pragma prefix \"\"
    interface AMI_TankHandler {
      void get_level(in long ami_return_val);
      void set_level();
      void set_level_excep(in Messaging::ExceptionHolder excep_holder);
      void swap(in short ami_return_val, in long count, in double half);
      void swap_excep(in Messaging::ExceptionHolder excep_holder);
    };";

/// `attribute long level; short swap(in string what, inout long count, out double half) raises (Full);`
fn tank(request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
    match &*request.operation() {
        "_get_level" => {
            request.arguments(&[])?;
            request.set_result(Any::from(7))
        }
        "_set_level" => {
            let value = parameter("value", Direction::In, Type::LONG);
            match request.arguments(&[value])?[0].value().extract()? {
                0 => Err(refused()),
                _ => Ok(()),
            }
        }
        _ => {
            let arguments = request.arguments(&[
                parameter("what", Direction::In, Type::STRING),
                parameter("count", Direction::InOut, Type::LONG),
                parameter("half", Direction::Out, Type::DOUBLE),
            ])?;
            let what: String = arguments[0].value().extract()?;
            if what.is_empty() {
                return request.set_exception(Any::with_type(full(), &9)?);
            }
            let count: i32 = arguments[1].value().extract()?;
            request.set_argument(1, Any::from(-count))?;
            request.set_argument(2, Any::from(f64::from(count) / 2.0))?;
            request.set_result(Any::from(what.len() as i16))
        }
    }
}

fn full() -> TypeCode {
    TypeCode::exception("IDL:test/Full:1.0", "Full", [("most", Type::LONG.into())])
}

fn refused() -> SystemException {
    SystemException::new(ExceptionKind::NoPermission, 3, Completion::No)
}

/// The operations of the handler.
fn operations() -> HashMap<String, Signature> {
    let model = compile_source(&Options::new(), "handler.idl", IDL).model;
    let definitions = Definitions::new(model.unwrap());
    let interface = definitions.interface("AMI_TankHandler").unwrap();
    let names = definitions.operation_names(interface).into_iter();
    let named = names.map(|name| {
        let signature = definitions.signature(interface, name, false).unwrap();
        (name.to_owned(), signature)
    });
    named.collect()
}

/// Reports each operation with its arguments.
struct Handler {
    operations: HashMap<String, Signature>,
    taken: Sender<(String, Vec<Any>)>,
}

impl DynamicImplementation for Handler {
    fn primary_interface(&self) -> String {
        "IDL:AMI_TankHandler:1.0".to_owned()
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        let name = request.operation().into_owned();
        let unknown = || SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No);
        let signature = self.operations.get(&name).ok_or_else(unknown)?;
        let arguments = request.arguments(&signature.parameters)?;
        let arguments = arguments.iter().map(|it| it.value().clone()).collect();
        let _ = self.taken.send((name, arguments));
        Ok(())
    }
}

/// A tank, as a client of another ORB has it, with a handler in the client's ORB and one in the
/// server's.
struct Parties {
    server: Orb,
    client: Orb,
    tank: ObjectRef,
    handlers: [ObjectRef; 2],
    taken: Receiver<(String, Vec<Any>)>,
}

impl Parties {
    fn new() -> Self {
        let (server, [own, _]) = serve(tank);
        let client = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let client = client.build().unwrap();
        let text = server.object_to_string(&own);
        let tank = client.string_to_object(&text).unwrap().unwrap();
        let (sender, taken) = channel();
        let handlers = [&client, &server].map(|orb| {
            let handler = Handler {
                operations: operations(),
                taken: sender.clone(),
            };
            let servant = dynamic_servant(handler).unwrap();
            let object = orb.root_poa().activate_servant(&servant).unwrap();
            orb.root_poa().manager().activate().unwrap();
            let text = orb.object_to_string(&object);
            client.string_to_object(&text).unwrap().unwrap()
        });
        Self {
            server,
            client,
            tank,
            handlers,
            taken,
        }
    }

    fn swap(&self, what: &str) -> Request {
        let mut request = Request::new(&self.tank, "swap").unwrap();
        request.add_in("what", Any::from(what)).unwrap();
        request.add_inout("count", Any::from(8)).unwrap();
        request.add_out("half", Type::DOUBLE).unwrap();
        request.set_return_type(Type::SHORT).unwrap();
        request
    }

    fn expect(&self, operation: &str, arguments: &[Any]) {
        let (name, taken) = self.taken.recv_timeout(PATIENCE).unwrap();
        assert_eq!((name.as_str(), taken.as_slice()), (operation, arguments));
    }

    /// The exception that an operation of a handler takes: whether it is of the system, and its octets.
    fn raised(&self, operation: &str) -> (bool, Vec<u8>) {
        let (name, taken) = self.taken.recv_timeout(PATIENCE).unwrap();
        assert_eq!(name, operation);
        let mut holder = DynAny::new(&taken[0]).unwrap();
        let members = holder.as_value().unwrap().members().unwrap();
        let little: bool = members[1].1.extract().unwrap();
        assert_eq!(little, cfg!(target_endian = "little"));
        let octets = members[2].1.extract().unwrap();
        (members[0].1.extract().unwrap(), octets)
    }

    fn end(self) {
        self.client.shutdown(true).unwrap();
        self.server.shutdown(true).unwrap();
    }
}

/// Conformance: dynamic - requests: replies that go to a reply handler (`sendc`) - results, and values of arguments
#[test]
fn results_go_to_the_operation_of_the_same_name() {
    let parties = Parties::new();
    for handler in &parties.handlers {
        parties.swap("three").sendc(Some(handler)).unwrap();
        let results = [Any::from(5i16), Any::from(-8), Any::from(4.0)];
        parties.expect("swap", &results);
        let mut sent = parties.swap("four");
        sent.send().unwrap();
        sent.sendc(Some(handler)).unwrap();
        let results = [Any::from(4i16), Any::from(-8), Any::from(4.0)];
        parties.expect("swap", &results);
    }
    parties.end();
}

/// Conformance: dynamic - requests: replies that go to a reply handler (`sendc`) - attributes
#[test]
fn attributes_go_to_operations_without_the_underscore() {
    let parties = Parties::new();
    for handler in &parties.handlers {
        let mut read = Request::new(&parties.tank, "_get_level").unwrap();
        read.set_return_type(Type::LONG).unwrap();
        read.sendc(Some(handler)).unwrap();
        parties.expect("get_level", &[Any::from(7)]);
        let mut written = Request::new(&parties.tank, "_set_level").unwrap();
        written.add_in("value", Any::from(7)).unwrap();
        written.sendc(Some(handler)).unwrap();
        parties.expect("set_level", &[]);
    }
    parties.end();
}

/// Conformance: dynamic - requests: replies that go to a reply handler (`sendc`) - exceptions, in an ExceptionHolder; unlisted ones: UNKNOWN 1
#[test]
fn exceptions_go_to_the_handler_in_a_holder() {
    let parties = Parties::new();
    for handler in &parties.handlers {
        let mut listed = parties.swap("");
        listed.add_exception(full()).unwrap();
        listed.sendc(Some(handler)).unwrap();
        let (is_system, mut octets) = parties.raised("swap_excep");
        let mut reader = CdrReader::new(&mut octets, Format::native());
        assert!(!is_system);
        assert_eq!(reader.read_name(), Ok("IDL:test/Full:1.0"));
        assert_eq!(i32::decode(&mut reader), Ok(9));

        parties.swap("").sendc(Some(handler)).unwrap();
        let unknown = system(parties.raised("swap_excep"));
        let expected = SystemException::omg(ExceptionKind::Unknown, 1, Completion::Yes);
        assert_eq!(unknown, expected);

        let mut refuses = Request::new(&parties.tank, "_set_level").unwrap();
        refuses.add_in("value", Any::from(0)).unwrap();
        refuses.sendc(Some(handler)).unwrap();
        assert_eq!(system(parties.raised("set_level_excep")), refused());
    }
    parties.end();
}

/// The system exception in a holder.
fn system((is_system, mut octets): (bool, Vec<u8>)) -> SystemException {
    assert!(is_system);
    let mut reader = CdrReader::new(&mut octets, Format::native());
    let body = orbium_giop::SystemExceptionBody::read(&mut reader).unwrap();
    body.exception()
}

/// Conformance: dynamic - requests: replies that go to a reply handler (`sendc`) - a nil handler; one that is gone: logged and counted; used requests: BAD_INV_ORDER 10
#[test]
fn replies_without_a_receiver_are_discarded_or_counted() {
    let parties = Parties::new();
    let client = &parties.client;
    parties.swap("three").sendc(None).unwrap();
    let nowhere = client.string_to_object("corbaloc::127.0.0.1:9/Gone");
    let nowhere = nowhere.unwrap().unwrap();
    parties.swap("three").sendc(Some(&nowhere)).unwrap();
    while client.undelivered_replies() == 0 {
        thread::yield_now();
    }
    // A handler without such an operation.
    let mut other = Request::new(&parties.tank, "other").unwrap();
    for (name, code) in [("count", Type::LONG), ("half", Type::DOUBLE)] {
        other.add_out(name, code).unwrap();
    }
    other.sendc(Some(&parties.handlers[1])).unwrap();
    while client.undelivered_replies() == 1 {
        thread::yield_now();
    }
    let mut invoked = parties.swap("three");
    invoked.invoke().unwrap();
    let used = invoked.sendc(Some(&nowhere));
    let wrong_order = SystemException::omg(ExceptionKind::BadInvOrder, 10, Completion::No);
    assert_eq!(used, Err(wrong_order));
    assert_eq!(client.undelivered_replies(), 2);
    parties.end();
}
