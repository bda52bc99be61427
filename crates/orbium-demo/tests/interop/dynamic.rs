// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests built at run time, with values out of JSON, against the servers of other ORBs.

use std::error::Error;
use std::path::Path;

use orbium::{ObjectRef, Orb};
use orbium_dynamic::{
    Definitions, JsonOptions, Request, RequestError, Requests, Signature, from_json,
    members_from_json, to_json,
};
use orbium_idl::model::{DefId, Model};
use orbium_idl::{Options, compile, compile_source};
use orbium_ifr::{InterfaceRepository, idl_of};

use crate::Tested;
use crate::programs::{Server, available};

/// What a file in `idl` defines.
fn model(idl: &str) -> Result<Model, Box<dyn Error>> {
    let idl = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../idl")
        .join(idl);
    Ok(compile(&Options::new(), &idl).model.ok_or("bad IDL")?)
}

/// What a repository says of the file, to a client that reads it by CORBA's own operations.
fn by_repository(idl: &str) -> Result<Definitions, Box<dyn Error>> {
    let server = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let repository = InterfaceRepository::in_memory(&server)?;
    repository.load(&model(idl)?)?;
    let client = Orb::builder().build()?;
    let url = server.object_to_string(&repository.reference());
    let text = idl_of(&client.resolve(&url)?)?;
    client.shutdown(true)?;
    server.shutdown(true)?;
    let compiled = compile_source(&Options::new(), "repository", &text);
    Ok(Definitions::new(compiled.model.ok_or("bad IDL")?))
}

/// An object of a server, by its IDL alone.
struct Peer {
    object: ObjectRef,
    definitions: Definitions,
    interface: DefId,
}

impl Peer {
    /// The object of a reference.
    fn new(orb: &Orb, reference: &str, definitions: Definitions) -> Result<Self, Box<dyn Error>> {
        for code in definitions.value_types() {
            orb.value_factories().register_described(code.as_ref())?;
        }
        let object = orb.string_to_object(reference.trim())?.ok_or("nil")?;
        let interface = definitions.interface(&object.ior().type_id);
        Ok(Self {
            object,
            interface: interface.ok_or("another interface")?,
            definitions,
        })
    }

    fn options(&self) -> JsonOptions<'_> {
        JsonOptions {
            types: Some(&self.definitions),
            ..JsonOptions::default()
        }
    }

    fn signature(&self, operation: &str, writes: bool) -> Signature {
        let found = self
            .definitions
            .signature(self.interface, operation, writes);
        found.unwrap_or_else(|error| panic!("{operation}: {error}"))
    }

    fn request(&self, operation: &str, arguments: &[&str], writes: bool) -> Request {
        let signature = self.signature(operation, writes);
        let sent = signature
            .parameters
            .iter()
            .filter(|it| it.direction.is_sent());
        let values = sent.zip(arguments).map(|(parameter, json)| {
            from_json(&parameter.code, json, &self.options()).unwrap_or_else(|it| panic!("{it}"))
        });
        let values: Vec<_> = values.collect();
        Request::of(&self.object, &signature, values).unwrap()
    }

    /// Calls, and returns the result as JSON.
    fn call(&self, operation: &str, arguments: &[&str]) -> Result<String, RequestError> {
        let mut request = self.request(operation, arguments, false);
        request.invoke()?;
        Ok(self.json(&request))
    }

    fn json(&self, request: &Request) -> String {
        to_json(request.return_value(), &self.options()).unwrap()
    }
}

/// Each with an argument that comes back as it is.
const ECHOES: &[(&str, &str)] = &[
    ("echo_wstring", "\"wide €\""),
    (
        "echo_tree",
        r#"{"name":"a","children":[{"name":"b","children":[]}]}"#,
    ),
    ("echo_table", r#"[["a"],[],["b","c"]]"#),
    ("echo_matrix", "[[1,2,3],[4,5,6]]"),
    ("echo_money", "\"-12.50\""),
    ("echo_by_colour", r#"{"$d":"green","text":"t"}"#),
    ("echo_by_bool", r#"{"$d":false}"#),
    ("echo_by_char", r#"{"$d":"b","tree":[]}"#),
    (
        "echo_by_long",
        r#"{"$d":0,"other":{"$type":"sequence<long>","$value":[-7]}}"#,
    ),
    (
        "echo_any",
        r#"{"$type":"IDL:orbium.test/Kitchen/Colour:1.0","$value":"red"}"#,
    ),
    ("echo_any", r#"{"$type":"fixed<5,2>","$value":"1.25"}"#),
    (
        "echo_any",
        r#"{"$type":{"kind":"struct","id":"IDL:New:1.0","name":"New","members":[{"name":"x","type":"double"}]},"$value":{"x":0.1}}"#,
    ),
    ("echo_object", "null"),
    (
        "echo_mixed",
        r#"{"name":"n","wide":"w€","shade":"blue","m":[[1,2,3],[4,5,6]],"id":"AAECAwQFBgcICQoLDA0ODw==","list":["a",""],"few":[-1],"flags":[true],"inner":{"b":true,"c":"c","o":1,"s":-2,"us":3,"l":-4,"ul":5,"ll":"-6","ull":"7","f":1.5,"d":-2.5,"w":"€"}}"#,
    ),
];

fn against(server: &str) -> Tested {
    let program = format!("{server}-server");
    if !available(&[&program]) {
        return Ok(());
    }
    let server = Server::start(&program, &["--ior-dir"])?;
    let orb = Orb::builder().build()?;
    let peer = Peer::new(
        &orb,
        &server.reference("peer")?,
        Definitions::new(model("kitchen.idl")?),
    )?;

    for (operation, argument) in ECHOES {
        assert_eq!(peer.call(operation, &[argument])?, *argument, "{operation}");
    }
    peer.request("label", &["\"a label\""], true).invoke()?;
    assert_eq!(peer.call("label", &[])?, "\"a label\"");
    peer.request("notify", &["\"news\""], false).send_oneway()?;

    let refused = peer.call("refuse", &["false"]).unwrap_err();
    let RequestError::User(refused) = refused else {
        return Err(format!("{refused}").into());
    };
    let members = to_json(&refused, &peer.options())?;
    assert!(members.contains(r#""detail":{"$d":"blue""#), "{members}");
    let system = peer.call("system_exception", &["\"NO_MEMORY\""]);
    let system = system.unwrap_err();
    assert_eq!(system.repository_id(), "IDL:omg.org/CORBA/NO_MEMORY:1.0");

    let mut several = Requests::new();
    for (operation, argument) in ECHOES {
        several.send(peer.request(operation, &[argument], false))?;
    }
    let mut came = Vec::new();
    while several.outstanding() > 0 {
        let (request, outcome) = several.get_next_response()?;
        outcome?;
        came.push(peer.json(&request));
    }
    let mut sent: Vec<_> = ECHOES.iter().map(|(_, json)| (*json).to_owned()).collect();
    came.sort();
    sent.sort();
    assert_eq!(came, sent);
    Ok(())
}

/// Conformance: dynamic - requests: against other ORBs - every echo, exceptions, attributes, deferred
#[test]
fn requests_to_omniorb() -> Tested {
    against("omni")
}

/// Conformance: dynamic - requests: against other ORBs - the same
#[test]
fn requests_to_jacorb() -> Tested {
    against("jacorb")
}

/// Each with a value that comes back as it is: null, derived, cyclic, shared, boxed.
const VALUES: &[(&str, &str)] = &[
    ("echo_point", "null"),
    (
        "echo_point",
        r#"{"$type":"IDL:orbium.test/Values/Point:1.0","x":1,"y":-2}"#,
    ),
    (
        "echo_point",
        r#"{"$type":"IDL:orbium.test/Values/Labelled:1.0","x":1,"y":2,"text":"t","hidden":3}"#,
    ),
    (
        "echo_chain",
        r#"{"$type":"IDL:orbium.test/Values/Chain:1.0","$id":1,"next":{"$ref":1},"v":7}"#,
    ),
    (
        "echo_two",
        r#"{"first":{"$type":"IDL:orbium.test/Values/Point:1.0","$id":1,"x":1,"y":2},"second":{"$ref":1}}"#,
    ),
    (
        "echo_tree",
        r#"{"$type":"IDL:orbium.test/Values/Tree:1.0","name":"a","children":[{"$type":"IDL:orbium.test/Values/Tree:1.0","name":"b","children":[]},null]}"#,
    ),
    (
        "echo_text",
        r#"{"$type":"IDL:orbium.test/Values/Text:1.0","$value":"boxed"}"#,
    ),
    (
        "echo_numbers",
        r#"{"$type":"IDL:orbium.test/Values/Numbers:1.0","$value":[1,2,3]}"#,
    ),
    (
        "echo_any",
        r#"{"$type":"IDL:orbium.test/Values/Point:1.0","$value":{"$type":"IDL:orbium.test/Values/Point:1.0","x":1,"y":2}}"#,
    ),
];

/// What `echo_points` returns if its arguments are one value.
const SHARED_POINTS: &str = concat!(
    r#"{"$return":{"$type":"IDL:orbium.test/Values/Point:1.0","$id":1,"x":1,"y":2},"#,
    r#""both":{"$ref":1},"copy":{"$ref":1}}"#
);

fn points_of(peer: &Peer) -> Result<String, Box<dyn Error>> {
    let signature = peer.signature("echo_points", false);
    let texts = [r#"{"$id":1,"x":1,"y":2}"#, r#"{"$ref":1}"#];
    let code = signature.arguments_type();
    let arguments = members_from_json(&code, &texts, &peer.options())?;
    let mut request = Request::with_arguments(&peer.object, &signature, arguments)?;
    request.invoke()?;
    Ok(to_json(&request.results()?, &peer.options())?)
}

fn values_against(server: &str, definitions: Definitions) -> Tested {
    let program = format!("{server}-values");
    if !available(&[&program]) {
        return Ok(());
    }
    let server = Server::start(&program, &["server", "--ior-dir"])?;
    let orb = Orb::builder().build()?;
    let peer = Peer::new(&orb, &server.reference("echo")?, definitions)?;
    for (operation, argument) in VALUES {
        assert_eq!(peer.call(operation, &[argument])?, *argument, "{operation}");
    }
    assert_eq!(points_of(&peer)?, SHARED_POINTS);
    let negative = r#"{"$type":"IDL:orbium.test/Values/Point:1.0","x":-1,"y":2}"#;
    let refused = peer.call("echo_point", &[negative]).unwrap_err();
    let RequestError::User(refused) = refused else {
        return Err(format!("{refused}").into());
    };
    let members = to_json(&refused, &peer.options())?;
    assert_eq!(members, format!(r#"{{"where":{negative}}}"#));
    peer.request("shutdown", &[], false).send_oneway()?;
    server.ends_well()
}

/// Conformance: dynamic - requests: against other ORBs - values of valuetypes by their TypeCodes
#[test]
fn values_by_type_codes_to_omniorb() -> Tested {
    values_against("omni", Definitions::new(model("values.idl")?))
}

/// Conformance: dynamic - requests: against other ORBs - values of valuetypes by their TypeCodes
#[test]
fn values_by_type_codes_to_jacorb() -> Tested {
    values_against("jacorb", Definitions::new(model("values.idl")?))
}

/// Conformance: dynamic - requests: against other ORBs - values by the TypeCodes of an Interface Repository
#[test]
fn values_by_a_repository_to_omniorb() -> Tested {
    values_against("omni", by_repository("values.idl")?)
}

/// Conformance: dynamic - requests: against other ORBs - values by the TypeCodes of an Interface Repository
#[test]
fn values_by_a_repository_to_jacorb() -> Tested {
    values_against("jacorb", by_repository("values.idl")?)
}
