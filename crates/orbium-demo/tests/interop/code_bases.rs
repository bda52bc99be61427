// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code bases of senders of values (`SendingContext::CodeBase`): other ORBs ask orbium's, and orbium
//! asks GlassFish's.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use orbium::codegen as orb;
use orbium::giop::service_context;
use orbium::interceptor::{Interceptors, Interrupt, ReceiveContexts, ServerInterceptor};
use orbium::value::ValueType;
use orbium::{Config, Interface, Orb, SystemException};
use orbium_demo::serve_values;
use orbium_demo::values::{Echo, Point};
use orbium_idl::{Options, compile_source};
use orbium_ifr::sending_context::CodeBase;
use orbium_ifr::{CodeBases, InterfaceRepository, OfferedCodeBase, code_base_in};

use crate::programs::{self, Scratch, Server, available};
use crate::{Tested, listening};

/// Types that the sender knows. The last is the other version of a class of the Java programs.
const IDL: &str = r#"
    valuetype Base { public long x; };
    valuetype Derived : truncatable Base { public string y; private boolean z; };
    valuetype Moved { public long x; public long fresh; };
    #pragma ID Moved "RMI:interop.Moved:0123456789ABCDEF:0000000000000001"
"#;

orb::idl_value! {
    /// A class of the Java programs in another version.
    pub struct Moved(MovedState): MOVED_TYPE =
        "RMI:interop.Moved:0123456789ABCDEF:0000000000000001", Plain, [] {
        public x: i32,
        public fresh: i32,
    }
}

/// An ORB with a repository of those types, which offers its code base.
struct Sender {
    orb: Orb,
    code_base: CodeBase,
    /// What its peers offer.
    of_peers: CodeBases,
    _repository: InterfaceRepository,
}

impl Sender {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let offered = OfferedCodeBase::default();
        let of_peers = CodeBases::new(Orb::builder().build()?, Duration::from_secs(60));
        let mut interceptors = Interceptors::new();
        interceptors.add_client(offered.clone())?;
        interceptors.add_client(of_peers.clone())?;
        let orb = listening(Config {
            interceptors,
            ..Config::default()
        })?;
        let compilation = compile_source(&Options::new(), "types.idl", IDL);
        let diagnostics = compilation.to_string();
        let repository = InterfaceRepository::in_memory(&orb)?;
        repository.load(&compilation.model.ok_or(diagnostics)?)?;
        let code_base = repository.code_base(&orb)?;
        orb.root_poa().manager().activate()?;
        offered.set(&code_base);
        Ok(Self {
            orb,
            code_base,
            of_peers,
            _repository: repository,
        })
    }
}

/// All that a code base can be asked, by another ORB.
fn asked_by(peer: &str) -> Tested {
    let program = format!("{peer}-values");
    if !available(&[&program]) {
        return Ok(());
    }
    let sender = Sender::new()?;
    let reference = sender.orb.object_to_string(&sender.code_base);
    let arguments = ["codebase", &reference, "IDL:Derived:1.0", "IDL:Base:1.0"];
    let (code, output) = programs::run(&program, &arguments.map(str::to_owned))?;
    assert_eq!(code, 0, "{output}");
    let answers: Vec<_> = output.lines().collect();
    let expected = [
        "get_ir: kind 17",
        "implementations: [, ]",
        "metas: IDL:Derived:1.0 IDL:Base:1.0",
        "implementation IDL:Derived:1.0: ''",
        "meta IDL:Derived:1.0: IDL:Derived:1.0 Derived truncatable IDL:Base:1.0 {y 18 1, z 8 0}",
        "bases IDL:Derived:1.0: IDL:Base:1.0",
        "implementation IDL:Base:1.0: ''",
        "meta IDL:Base:1.0: IDL:Base:1.0 Base  {x 3 1}",
        "bases IDL:Base:1.0: ",
    ];
    assert_eq!(answers, expected);
    Ok(sender.orb.shutdown(true)?)
}

/// Conformance: ORB - SendingContext::CodeBase: of orbium, asked by other ORBs - GlassFish's
#[test]
fn glassfish_asks_the_code_base_of_orbium() -> Tested {
    asked_by("glassfish")
}

/// Conformance: ORB - SendingContext::CodeBase: of orbium, asked by other ORBs - JacORB
#[test]
fn jacorb_asks_the_code_base_of_orbium() -> Tested {
    asked_by("jacorb")
}

/// GlassFish's ORB asks on its own for the members of a class of which it has another version.
///
/// Conformance: ORB - SendingContext::CodeBase: of orbium, asked by other ORBs - GlassFish's, while it
/// reads a value of another version of its class
/// Conformance: ORB - SendingContext::CodeBase: of GlassFish's ORB, which names it in its first reply
#[test]
fn glassfish_reads_another_version_of_a_class_by_the_code_base_of_orbium() -> Tested {
    if !available(&["glassfish-values"]) {
        return Ok(());
    }
    let sender = Sender::new()?;
    let server = Server::start("glassfish-values", &["server", "--ior-dir"])?;
    let echo: Echo = sender.orb.resolve(server.reference("echo")?.trim())?;
    orbium_demo::register_values(sender.orb.value_factories());
    let moved = Moved::new(MovedState { x: 7, fresh: 8 });
    let seen = echo.echo_base(Some(moved.as_value()))?.ok_or("null")?;
    let seen: Point = seen.downcast().ok_or("no point")?;
    assert_eq!((seen.read().x, seen.read().y), (7, 0));
    assert_eq!(sender.of_peers.count(), 1);
    echo.shutdown()?;
    sender.orb.shutdown(true)?;
    server.ends_well()
}

/// Asks the code bases that requests name, before they are served.
#[derive(Clone)]
struct Asking {
    orb: Orb,
    answers: Arc<Mutex<Vec<String>>>,
}

impl Asking {
    fn answers(&self, context: &[u8]) -> Result<Vec<String>, SystemException> {
        let object = self.orb.plain_reference(code_base_in(context)?);
        let code_base = CodeBase::from_object(object).with_timeout(Duration::from_secs(60));
        let id = "IDL:orbium.test/Further/Marked:1.0";
        let meta = code_base.meta(id).map(|it| {
            let members: Vec<_> = it.members.iter().map(|it| it.name.clone()).collect();
            let (truncatable, base) = (it.is_truncatable, it.base_value);
            format!("{} {truncatable} {base} {}", it.id, members.join(" "))
        });
        Ok(vec![
            format!("{:?}", code_base.get_ir().map(|it| it.is_some())),
            format!("{:?}", code_base.implementation(id)),
            format!("{meta:?}"),
            format!("{:?}", code_base.bases(id)),
        ])
    }
}

impl ServerInterceptor for Asking {
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        let id = service_context::SENDING_CONTEXT_RUN_TIME;
        if let Ok(context) = request.service_context(id) {
            let answers = self.answers(context)?;
            self.answers.lock().unwrap().extend(answers);
        }
        Ok(())
    }
}

/// What the code base says that a peer names in its requests.
fn answers_of(peer: &str) -> Result<Option<Vec<String>>, Box<dyn std::error::Error>> {
    let program = format!("{peer}-values");
    if !available(&[&program]) {
        return Ok(None);
    }
    let asking = Asking {
        orb: Orb::builder().build()?,
        answers: Arc::default(),
    };
    let mut interceptors = Interceptors::new();
    interceptors.add_server(asking.clone())?;
    let orb = listening(Config {
        interceptors,
        ..Config::default()
    })?;
    let echo = serve_values(&orb)?;
    let scratch = Scratch::new()?;
    let file = scratch.write("echo.ior", orb.object_to_string(&echo))?;
    let arguments = ["client", "--echo", &file, "--only", "values.point"];
    let (code, output) = programs::run(&program, &arguments.map(str::to_owned))?;
    assert_eq!(code, 0, "{output}");
    orb.shutdown(true)?;
    let answers = std::mem::take(&mut *asking.answers.lock().unwrap());
    Ok(Some(answers))
}

/// Conformance: ORB - SendingContext::CodeBase: of GlassFish's ORB, asked by orbium
#[test]
fn the_code_base_of_glassfish_answers() -> Tested {
    let Some(answers) = answers_of("glassfish")? else {
        return Ok(());
    };
    let [repository, implementation, meta, bases] = &answers[..] else {
        panic!("{answers:?}");
    };
    // It has no repository, and cannot say so; it has no URL of the class.
    assert!(repository.starts_with("Err(BAD_PARAM"), "{repository}");
    assert_eq!(implementation, "Ok(\"\")");
    // What it describes is the Java class. That can never be truncated, and has bases of Java.
    assert!(
        meta.starts_with("Ok(\"RMI:orbium.test.Further.Marked:"),
        "{meta}"
    );
    assert!(
        meta.contains(" false RMI:orbium.test.Values.Labelled:"),
        "{meta}"
    );
    assert!(meta.ends_with(" mark at\")"), "{meta}");
    // `bases` fails for every class that has one.
    assert!(bases.starts_with("Err(NO_IMPLEMENT"), "{bases}");
    Ok(())
}

/// The values of both come with the ids of their bases.
#[test]
fn omniorb_and_jacorb_name_no_code_base() -> Tested {
    for peer in ["omni", "jacorb"] {
        assert_eq!(answers_of(peer)?.unwrap_or_default(), [""; 0], "{peer}");
    }
    Ok(())
}
