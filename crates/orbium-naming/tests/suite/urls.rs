// SPDX-License-Identifier: MIT OR Apache-2.0
//! `corbaname:` with a name, wherever an object URL is understood.

use orbium::giop::Ior;
use orbium::names::{NameError, NotFoundReason};
use orbium::{
    Config, ExceptionKind, Interface, Orb,
    config::Configure as _,
    reference::{InvalidName, ObjectError},
};
use orbium_naming::NamingContext;
use orbium_testkit::{PATIENCE, Served, dead_port};

use crate::Tested;
use crate::memory::Names;

/// A name server with an object under `plant/pump.v2`.
struct Plant {
    names: Names,
    served: Served,
}

impl Plant {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let names = Names::serve();
        let served = Served::new(orbium::config::ServerStrategy::default());
        let orb = orbium_testkit::client();
        let root = NamingContext::at(&orb, &format!("corbaname:{}", names.address()))?;
        root.bind_new_context("plant")?;
        root.bind("plant/pump.v2", &served.target)?;
        root.bind("nothing", None)?;
        Ok(Self { names, served })
    }

    fn url(&self, name: &str) -> String {
        format!("corbaname:{}#{name}", self.names.address())
    }

    fn is_found(&self, found: Option<orbium::ObjectRef>, how: &str) {
        let found = found.expect(how);
        assert!(found.is_equivalent(self.served.target.as_object()), "{how}");
    }
}

fn orb(entries: &[(&str, &str)]) -> Result<Orb, Box<dyn std::error::Error>> {
    let mut config = Config::default();
    for (key, value) in entries {
        config.set(key, value)?;
    }
    Ok(Orb::new(config)?)
}

/// Conformance: references - `corbaname:` - names are resolved
#[test]
fn a_name_in_a_url_is_resolved() -> Tested {
    let plant = Plant::new()?;
    let orb = orb(&[])?;
    let url = plant.url("plant/pump.v2");
    plant.is_found(orb.string_to_object(&url)?, &url);
    // The first of several addresses does not answer.
    let several = format!(
        "corbaname::127.0.0.1:{},{}/NameService#plant/pump%2ev2",
        dead_port(),
        plant.names.address()
    );
    plant.is_found(orb.string_to_object(&several)?, &several);
    assert_eq!(orb.string_to_object(&plant.url("nothing"))?, None);
    // Without a name it is the context, which is not asked.
    let context = orb.string_to_object(&plant.url(""))?.ok_or("nil")?;
    assert!(context.is_a(NamingContext::REPOSITORY_ID)?);
    let unreachable = format!("corbaname::127.0.0.1:{}", dead_port());
    assert!(orb.string_to_object(&unreachable)?.is_some());
    // Of an ORB that serves the context itself too.
    let own = plant.names.orb.string_to_object(&url)?;
    plant.is_found(own, "by the server itself");
    let target: orbium_testkit::probe::Target = orb.resolve(&url)?;
    assert_eq!(target.echo_long(4)?, 4);
    Ok(())
}

/// Conformance: references - `corbaname:` - what is not found: BAD_PARAM 10, or what the context
/// raises
#[test]
fn names_that_lead_nowhere_say_why() -> Tested {
    let plant = Plant::new()?;
    let orb = orb(&[])?;
    let refused = |name: &str| match orb.string_to_object(&plant.url(name)) {
        Err(ObjectError::Naming(error)) => error,
        other => panic!("{name}: {other:?}"),
    };
    let bad_param = |error: &NameError| {
        let exception = ObjectError::Naming(error.clone()).exception();
        assert_eq!(exception.kind, ExceptionKind::BadParam, "{error}");
        assert_eq!(exception.minor & 0xfff, 10, "{error}");
    };
    for (name, why, rest) in [
        ("plant/valve/x", NotFoundReason::MissingNode, "valve/x"),
        ("plant/pump.v2/x", NotFoundReason::NotContext, "pump.v2/x"),
        ("plant/pump", NotFoundReason::MissingNode, "pump"),
    ] {
        let error = refused(name);
        let rest = rest.parse()?;
        assert_eq!(error, NameError::NotFound { why, rest });
        bad_param(&error);
    }
    let error = refused("plant//pump");
    assert!(matches!(error, NameError::Syntax(_)), "{error}");
    bad_param(&error);
    // Another object than a context stands there.
    let port = plant.served.port();
    let target = format!("corbaname::127.0.0.1:{port}/Target#a");
    let error = orb.string_to_object(&target).unwrap_err();
    assert_eq!(
        error.exception().kind,
        ExceptionKind::BadOperation,
        "{error}"
    );
    let unreachable = format!("corbaname::127.0.0.1:{}#a", dead_port());
    let error = orb.string_to_object(&unreachable).unwrap_err();
    assert_eq!(error.exception().kind, ExceptionKind::Transient, "{error}");
    Ok(())
}

/// Conformance: ORB - `-ORBInitRef`, `-ORBDefaultInitRef` and other arguments, taken out of the
/// command line - with names
#[test]
fn initial_references_are_names() -> Tested {
    let plant = Plant::new()?;
    let mut args: Vec<String> = [
        "program",
        "-ORBInitRef",
        &format!("NameService=corbaloc:{}/NameService", plant.names.address()),
        "-ORBInitRef",
        "Pump=corbaname:rir:#plant/pump.v2",
        "-ORBInitRef",
        "None=corbaname:rir:#plant/none",
        "-ORBInitRef",
        "Nil=corbaname:rir:#nothing",
        "-ORBInitRef",
        "Plant=corbaname:rir:/NameService#plant",
        "-ORBInitRef",
        "Through=corbaname:rir:/Plant#pump.v2",
        "-ORBDefaultInitRef",
        "corbaname:rir:/Plant#",
    ]
    .map(str::to_owned)
    .to_vec();
    let orb = Orb::new(Config::from_args(&mut args)?)?;
    assert_eq!(args, ["program"]);
    for name in ["Pump", "Through", "pump.v2"] {
        let found = orb.resolve_initial_references(name)?;
        plant.is_found(Some(found), name);
        let url = format!("corbaloc:rir:/{name}");
        plant.is_found(orb.string_to_object(&url)?, &url);
    }
    plant.is_found(orb.string_to_object("corbaname:rir:#plant/pump.v2")?, "rir");
    for name in ["None", "missing", "Nil"] {
        let InvalidName { name: said, why } = orb.resolve_initial_references(name).unwrap_err();
        assert_eq!(said, name);
        let is_naming = matches!(why.as_deref(), Some(ObjectError::Naming(_)));
        assert_eq!(is_naming, name != "Nil", "{name}: {why:?}");
    }
    // What is here alone is not asked of the name service.
    let local = orb.resolve_initial_references("RootPOA");
    assert_eq!(local.err(), Some(InvalidName::new("RootPOA")));
    // A prefix that names a context within the service.
    let prefix = plant.url("plant");
    let other = self::orb(&[("default_initial_reference", &prefix)])?;
    let found = other.resolve_initial_references("pump.v2")?;
    plant.is_found(Some(found), "with a prefix");
    // What is registered goes before all of them.
    let pump = orb.resolve_initial_references("Pump")?;
    orb.register_initial_reference("None", &pump)?;
    plant.is_found(Some(orb.resolve_initial_references("None")?), "registered");
    Ok(())
}

/// Conformance: ORB - `-ORBInitRef`, `-ORBDefaultInitRef` and other arguments, taken out of the
/// command line - circles are refused
#[test]
fn initial_references_that_lead_to_themselves_are_refused() -> Tested {
    for entries in [
        &[
            ("initial_reference", "A=corbaname:rir:/B#x"),
            ("initial_reference", "B=corbaloc:rir:/A"),
        ][..],
        &[
            ("initial_reference", "A=corbaname:rir:/B#x"),
            ("default_initial_reference", "corbaname:rir:#c"),
        ],
        &[("default_initial_reference", "corbaloc:rir:")],
        // Each name leads to a longer one.
        &[("default_initial_reference", "corbaloc:rir:/a")],
    ] {
        let orb = orb(entries)?;
        let mut error = orb.resolve_initial_references("A").unwrap_err();
        let said = error.to_string();
        assert!(said.contains("leads back to initial references"), "{said}");
        while let Some(why) = error.why {
            match *why {
                ObjectError::Unknown(inner) => error = inner,
                ObjectError::Circular(_) => break,
                other => return Err(other.into()),
            }
        }
    }
    let itself = Config::default().set("initial_reference", "A=corbaname:rir:/A#x");
    assert!(itself.is_err());
    // The same one twice, side by side, is no circle.
    let nil = Ior::NIL.to_string();
    let orb = orb(&[("initial_reference", &format!("Nil={nil}"))])?;
    assert!(orb.resolve_initial_references("Nil").is_err());
    assert!(orb.resolve_initial_references("Nil").is_err());
    Ok(())
}

/// A name service that accepts connections and answers nothing.
#[test]
fn a_silent_name_service_is_given_up() -> Tested {
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let url = format!("corbaname::{}#a", silent.local_addr()?);
    for (key, value) in [("naming_timeout", "50 ms"), ("call_timeout", "50 ms")] {
        let orb = orb(&[(key, value), ("initial_reference", &format!("A={url}"))])?;
        let start = std::time::Instant::now();
        let error = orb.string_to_object(&url).unwrap_err();
        assert_eq!(error.exception().kind, ExceptionKind::Timeout, "{error}");
        assert!(orb.resolve_initial_references("A").is_err());
        assert!(start.elapsed() < PATIENCE);
    }
    assert!(orb(&[("naming_timeout", "0 ms")]).is_err());
    Ok(())
}
