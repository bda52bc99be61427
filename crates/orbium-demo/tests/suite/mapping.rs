// SPDX-License-Identifier: MIT OR Apache-2.0
//! The examples of `docs/mapping.md`, one test for each of its sections, and
//! a test that keeps that page true.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;
use std::{env, fs};

use orbium::{
    Any, Call, Char, ExceptionKind, Interface, LongDouble, ObjectRef, Orb, SystemException,
    TypeCode, WChar,
    asynchronous::Asynchronous,
    cdr::AnyError,
    poa::{IdAssignment, Lifespan, Policies},
    reference::{InvalidName, NarrowError},
};
use orbium_demo::cubit::{self, Cube, Many, Oneof, TooBig, TooBigError};
use orbium_demo::kitchen::{self, Base, BaseServant, ByBool, ByColour, Colour, Money, Peer};
use orbium_demo::specimen;
use orbium_testkit::essence;

type Tested = Result<(), Box<dyn Error>>;

/// A server, and a client in an ORB of its own.
struct Pair {
    server: Orb,
    client: Orb,
}

impl Pair {
    fn new() -> Result<Self, Box<dyn Error>> {
        let server = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
        orbium_demo::serve(&server)?;
        let client = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
        Ok(Self { server, client })
    }

    /// The object bound to a plain key of the server.
    fn object<I: Interface>(&self, key: &str) -> Result<I, Box<dyn Error>> {
        let address = &self.server.addresses()?[0];
        let url = format!("corbaloc:iiop:1.2@{}:{}/{key}", address.host, address.port);
        Ok(orbium::narrow(self.client.string_to_object(&url)?)?)
    }

    /// A reference of the server's as the client sees it.
    fn remote<I: Interface>(&self, reference: &I) -> Result<I, Box<dyn Error>> {
        let text = self.server.object_to_string(reference);
        Ok(orbium::narrow(self.client.string_to_object(&text)?)?)
    }

    fn cube(&self) -> Result<Cube, Box<dyn Error>> {
        self.object("Cube")
    }

    fn peer(&self) -> Result<Peer, Box<dyn Error>> {
        self.remote(
            &self
                .server
                .root_poa()
                .activate(orbium_demo::PeerServant::default())?,
        )
    }
}

/// A servant of `Kitchen::Base` that is its name.
struct Named {
    name: String,
    pings: AtomicU32,
}

impl Named {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            pings: AtomicU32::new(0),
        }
    }
}

impl BaseServant for Named {
    fn label(&self, _: &Call<'_>) -> Result<String, SystemException> {
        Ok(self.name.clone())
    }

    fn set_label(&self, _: &Call<'_>, _: &str) -> Result<(), SystemException> {
        Err(ExceptionKind::NoPermission.into())
    }

    fn shade(&self, _: &Call<'_>) -> Result<Colour, SystemException> {
        Ok(Colour::Green)
    }

    fn ping(&self, call: &Call<'_>) -> Result<(), SystemException> {
        assert_eq!(call.operation(), b"ping");
        self.pings.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn names() -> Tested {
    let pair = Pair::new()?;
    let peer = pair.peer()?;
    // `long _interface(in long _module, in string _select)`
    assert_eq!(peer.interface(40, "ab")?, 42);
    // `long match(in long self, in long type)`
    assert_eq!(peer.r#match(40, 2)?, 42);
    Ok(())
}

#[test]
fn basic_types() -> Tested {
    let e = Char::try_from('é')?;
    assert_eq!((e, char::from(e)), (Char(0xE9), 'é'));
    let euro = WChar::try_from('€')?;
    assert_eq!(char::try_from(euro), Ok('€'));
    assert!(WChar::try_from('🦀').is_err());
    let half = LongDouble::from(0.5);
    assert_eq!(f64::from(half), 0.5);
    Ok(())
}

#[test]
fn decimals() -> Tested {
    let price: Money = "1234.50".parse()?;
    let sum = price.checked_add("0.75".parse()?);
    assert_eq!(sum.map(|sum| sum.to_string()), Some("1235.25".to_owned()));
    assert_eq!(price.unscaled(), 123_450);
    let pair = Pair::new()?;
    assert_eq!(pair.peer()?.echo_money(price)?, price);
    Ok(())
}

/// Conformance: code sets - no component: ISO 8859-1 only
/// Conformance: code sets - what cannot be converted: DATA_CONVERSION
/// Conformance: complaint 22 - wide characters beyond 16 bits are halved
#[test]
fn strings() -> Tested {
    let pair = Pair::new()?;
    let peer = pair.peer()?;
    assert_eq!(peer.echo_wstring("wide €")?, "wide €");
    // What the string of the standard cannot hold is refused before it is sent.
    let refused = peer.echo_wstring("a\0b").unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::BadParam);

    // From `corbaloc::host:port/Peer`, narrowed.
    let plain: Peer = pair.object("Peer")?;
    assert_eq!(plain.echo_wstring("Žofie")?, "Žofie");
    plain.set_label("Žofie")?;
    Ok(())
}

#[test]
fn bounds() -> Tested {
    let pair = Pair::new()?;
    let peer = pair.peer()?;
    let mut mixed = specimen::mixed(1);
    mixed.few = vec![0; 17];
    let refused = peer.echo_mixed(&mixed).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::BadParam);
    Ok(())
}

#[test]
fn enums() {
    assert_eq!(Colour::Green as u32, 1);
    assert_eq!(Colour::try_from(2), Ok(Colour::Blue));
    assert_eq!(Colour::try_from(3), Err(3));
    assert_eq!(Colour::default(), Colour::Red);
}

#[test]
fn structs() {
    let many = Many {
        o: 3,
        ..Many::default()
    };
    assert_eq!((many.o, many.l, many.s), (3, 0, 0));
}

#[test]
fn unions() -> Tested {
    let pair = Pair::new()?;
    let cube = pair.cube()?;
    let one = Oneof::S(3);
    assert_eq!(cube.cube_union(&one)?, Oneof::S(27));

    // The default case: any discriminator but 1, 2 and 3.
    let many = Oneof::M {
        discriminator: 77,
        value: Many { o: 2, l: 3, s: 4 },
    };
    assert!(matches!(
        cube.cube_union(&many)?,
        Oneof::M {
            discriminator: 77,
            ..
        }
    ));
    let wrong = Oneof::M {
        discriminator: 1,
        value: Many::default(),
    };
    let refused = cube.cube_union(&wrong).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::BadParam);

    let peer = pair.peer()?;
    let text = ByColour::Text {
        discriminator: Colour::Green,
        value: "green or blue".to_owned(),
    };
    assert_eq!(peer.echo_by_colour(&text)?, text);
    let none = ByBool::Other {
        discriminator: false,
    };
    assert_eq!(peer.echo_by_bool(&none)?, none);
    Ok(())
}

#[test]
fn constants() {
    assert_eq!(kitchen::A_STRING, "tab\tquote\"hexAoctA");
    assert_eq!(kitchen::A_CHAR, Char(b'\n'));
    assert_eq!(kitchen::FAVOURITE, Colour::Blue);
}

/// Conformance: ORB - `_is_a`, `_non_existent`, `_repository_id`, narrow
#[test]
fn references() -> Tested {
    let pair = Pair::new()?;
    let peer = pair.peer()?;

    let base: Base = peer.clone().into();
    base.ping()?;
    let back: Peer = base.as_object().narrow()?;
    assert_eq!(back, peer);
    let cube = base.as_object().narrow::<Cube>();
    assert_eq!(cube, Err(NarrowError::WrongType));

    let nil: Option<ObjectRef> = None;
    assert_eq!(orbium::narrow::<Cube>(nil), Err(NarrowError::Nil));
    assert_eq!(peer.echo_peer(None)?, None);
    assert!(peer.echo_peer(Some(&peer))?.is_some());

    let back_then: Option<ObjectRef> = Some(peer.clone().into());
    assert!(peer.echo_object(&peer)?.is_some());
    assert!(peer.echo_object(peer.as_object())?.is_some());
    assert!(peer.echo_object(back_then.as_ref())?.is_some());
    assert_eq!(peer.echo_object(None)?, None);

    let patient = peer.with_timeout(Duration::from_secs(30));
    assert_eq!(patient.slow(1)?, 1);
    Ok(())
}

/// Conformance: ORB - `register_initial_reference`, `resolve_initial_references`,
/// `list_initial_services`, `corbaloc:rir:`
#[test]
fn initial_references() -> Tested {
    let pair = Pair::new()?;
    let (orb, peer) = (&pair.client, pair.peer()?);
    orb.register_initial_reference("OurPeer", &peer)?;
    assert_eq!(
        orb.resolve_initial_references("OurPeer")?.narrow(),
        Ok(peer)
    );
    let same: Peer = orbium::narrow(orb.string_to_object("corbaloc:rir:/OurPeer")?)?;
    same.ping()?;
    assert_eq!(orb.list_initial_services(), ["OurPeer"]);

    let taken = InvalidName::new("OurPeer");
    let again = orb.register_initial_reference("OurPeer", &same);
    assert_eq!(again, Err(taken));
    assert!(orb.resolve_initial_references("Nobody").is_err());
    Ok(())
}

#[test]
fn operations() -> Tested {
    let pair = Pair::new()?;
    let (cube, peer) = (pair.cube()?, pair.peer()?);

    // void cube_longs(in Longs v, out Longs cubes): one output is the value.
    assert_eq!(cube.cube_longs(&[1, 2, 3])?, [1, 8, 27]);

    // Scalars echo_scalars(in Scalars v, out Scalars copy, inout Scalars both)
    let v = specimen::scalars(1);
    let mut both = specimen::scalars(2);
    let results = peer.echo_scalars(&v, &mut both)?;
    assert_eq!((results.result, results.copy), (v, v));
    assert_eq!(both, specimen::scalars(2));

    // attribute string label
    peer.set_label("peer")?;
    assert_eq!(peer.label()?, "peer");

    // oneway void post(in long v)
    cube.post(5)?;
    Ok(())
}

#[test]
fn results_into_existing_values() -> Tested {
    let pair = Pair::new()?;
    let cube = pair.cube()?;
    let mut out = Vec::new();
    for request in [[1u8; 1024], [2u8; 1024]] {
        cube.echo_octets_into(&request, &mut out)?;
        assert_eq!(out, request);
    }
    Ok(())
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The least executor.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn asynchronous_invocations() -> Tested {
    let pair = Pair::new()?;
    let (cube, peer) = (pair.cube()?, pair.peer()?);
    // A future.
    let sum = async { Ok::<_, TooBigError>(cube.cube_long_async(2).await? + 1) };
    assert_eq!(block_on(sum), Ok(9));

    // A poller: whoever asks says how long to wait.
    let mut slow = peer.slow_async(50);
    while !slow.is_ready(Some(Duration::from_millis(10))) {
        peer.ping()?;
    }
    assert_eq!(slow.response(None)?, 50);

    // A handler, which a thread of the ORB calls.
    let (tell, told) = mpsc::channel();
    cube.cube_long_async(1291)
        .on_reply(move |outcome| tell.send(outcome).unwrap_or_default());
    assert!(matches!(told.recv()?, Err(TooBigError::TooBig(_))));

    // Several at once, over one connection.
    let cubes: Vec<_> = (1..4).map(|v| cube.cube_octet_async(v)).collect();
    let cubes: Result<Vec<_>, _> = cubes.into_iter().map(Asynchronous::wait).collect();
    assert_eq!(cubes?, [1, 8, 27]);
    Ok(())
}

#[test]
fn exceptions() -> Tested {
    let pair = Pair::new()?;
    let cube = pair.cube()?;
    match cube.cube_long(1291) {
        Ok(value) => return Err(format!("{value} does not fit").into()),
        Err(TooBigError::TooBig(TooBig { limit, .. })) => assert_eq!(limit, 1290),
        Err(TooBigError::System(exception)) => return Err(exception.into()),
    }
    Ok(())
}

/// `?` leads from a system exception to the error of a `raises` clause, and
/// from either to any error.
fn cube_of_what_is_left(cube: &Cube) -> Result<i32, TooBigError> {
    let calls = cube.calls()?;
    let left = 1290 - i32::try_from(calls).unwrap_or(0);
    if left < 0 {
        let why = "nothing is left".to_owned();
        return Err(TooBig { limit: 1290, why }.into());
    }
    cube.cube_long(left)
}

#[test]
fn exceptions_pass_through() -> Tested {
    let pair = Pair::new()?;
    let cube = pair.cube()?;
    let cubed = cube_of_what_is_left(&cube)?;
    assert!(cubed > 0);
    Ok(())
}

/// Conformance: POA - the policies RETAIN and USE_ACTIVE_OBJECT_MAP_ONLY
#[test]
fn servants() -> Tested {
    let pair = Pair::new()?;
    let servant = Arc::new(Named::new("seven"));
    let base: Base = pair.server.root_poa().activate(Arc::clone(&servant))?;
    let base = pair.remote(&base)?;
    assert_eq!(base.label()?, "seven");
    let refused = base.set_label("eight").unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::NoPermission);
    base.ping()?;
    assert_eq!(servant.pings.load(Ordering::Relaxed), 1);
    Ok(())
}

/// Conformance: POA - the policies RETAIN and USE_ACTIVE_OBJECT_MAP_ONLY
/// Conformance: POA - what is not active: OBJECT_NOT_EXIST
#[test]
fn activation() -> Tested {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let root = orb.root_poa();
    root.manager().activate()?;
    let base: Base = root.activate(Named::new("chosen by the adapter"))?;
    base.ping()?;

    let policies = Policies {
        lifespan: Lifespan::Persistent,
        id_assignment: IdAssignment::User,
        ..Policies::default()
    };
    let poa = root.create_poa("accounts", Some(root.manager()), policies)?;
    let account: Base = poa.activate_with_id(b"42", Named::new("account 42"))?;
    assert_eq!(account.label()?, "account 42");

    // A reference to an object that is activated later, if ever.
    let later: Base = poa.create_reference_with_id(b"43")?;
    let gone = later.ping().unwrap_err();
    assert_eq!(gone.kind, ExceptionKind::ObjectNotExist);

    // Under a name of its own: corbaloc::host:port/Account
    orb.bind_key("Account", &account)?;
    poa.deactivate(b"42")?;
    assert!(account.as_object().non_existent()?);
    orb.shutdown(true)?;
    Ok(())
}

/// Conformance: TypeCode - insert, extract - references, bound by the ORB that made or received
/// them
#[test]
fn any_and_type_codes() -> Tested {
    let many = Many { o: 1, l: 2, s: 3 };
    let any = Any::new(&many)?;
    assert_eq!(any.extract::<Many>()?, many);
    assert_eq!(any.extract::<Oneof>(), Err(AnyError::TypeMismatch));
    assert_eq!(any.type_code(), &TypeCode::from(&cubit::MANY_TYPE));
    assert_eq!(any.type_code().id(), "IDL:Cubit/Many:1.0");

    assert_eq!(Any::from(5i32).extract::<i32>()?, 5);
    assert_eq!(Any::from("five").extract::<String>()?, "five");
    assert_eq!(Any::from_wstring("€")?.extract_wstring()?, "€");
    // An alias keeps its name when the type is given.
    let price: Money = "12.50".parse()?;
    let named = Any::with_type(&kitchen::MONEY_TYPE, &price)?;
    assert_eq!(named.type_code().name(), "Money");
    assert_eq!(named.extract::<Money>()?, price);

    let pair = Pair::new()?;
    let peer = pair.peer()?;
    let back = peer.echo_any(&Any::new(&peer)?)?;
    assert_eq!(back.extract::<Option<Peer>>()?, Some(peer));
    Ok(())
}

/// An any made here knows, as one received does, who binds its references.
///
/// Conformance: TypeCode - insert, extract - references, bound by the ORB that made or received
/// them
#[test]
fn references_come_out_of_anys_made_here() -> Tested {
    let pair = Pair::new()?;
    let peer = pair.peer()?;
    let any = Any::new(&peer)?;
    let out = any.extract::<Option<Peer>>()?.ok_or("nil")?;
    assert_eq!(out, peer);
    assert_eq!(out.as_object().orb(), &pair.client);
    assert!(!out.as_object().non_existent()?);

    let nested = Any::new(&any)?;
    assert_eq!(
        nested.extract::<Any>()?.extract::<Option<Peer>>()?,
        Some(peer.clone())
    );
    let several = Any::new(&vec![None, Some(peer.clone())])?;
    assert_eq!(several.extract::<Vec<Option<Peer>>>()?, [None, Some(peer)]);
    let nil = Any::new(&None::<Peer>)?;
    assert_eq!(nil.extract::<Option<Peer>>()?, None);
    Ok(())
}

// What keeps the page true.

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files of a folder with that extension, one after the other.
fn corpus(folder: &Path, extension: &str) -> Result<String, Box<dyn Error>> {
    let mut all = String::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            all.push_str(&fs::read_to_string(path)?);
        }
    }
    Ok(all)
}

/// Which text the code of a fence must be found in.
fn source_of(fence: &str) -> Result<Option<String>, Box<dyn Error>> {
    let golden = root().join("crates/orbium-codegen/tests/golden");
    let text = match fence {
        "rust" => fs::read_to_string(root().join("crates/orbium-demo/tests/suite/mapping.rs"))?,
        "rust borrowed" => {
            fs::read_to_string(root().join("crates/orbium-codegen/tests/suite/borrowed.rs"))?
        }
        "rust values" => {
            fs::read_to_string(root().join("crates/orbium-codegen/tests/suite/valuetypes.rs"))?
        }
        "rust by_value" => {
            fs::read_to_string(root().join("crates/orbium-codegen/tests/suite/by_value.rs"))?
        }
        "rust contexts" => {
            fs::read_to_string(root().join("crates/orbium-codegen/tests/suite/contexts.rs"))?
        }
        "rust views" => {
            fs::read_to_string(root().join("crates/orbium-codegen/tests/suite/views.rs"))?
        }
        "rust generated" => corpus(Path::new(env!("OUT_DIR")), "rs")? + &corpus(&golden, "rs")?,
        // The examples of the crate's documentation, which its tests compile.
        "rust build" => corpus(&root().join("crates/orbium-build/src"), "rs")?
            .replace("//!", "")
            .replace("///", ""),
        "idl" => corpus(&root().join("idl"), "idl")? + &corpus(&golden, "idl")?,
        _ => return Ok(None),
    };
    Ok(Some(essence(&text)))
}

/// Every example stands in a file that is compiled: `rust` here, `rust
/// generated` in what the compiler made, and so on. `…` stands for what is
/// left out.
///
/// Conformance: IDL - the mapping to Rust
#[test]
fn every_example_of_the_page_on_the_mapping_is_real() -> Tested {
    let page = fs::read_to_string(root().join("docs/mapping.md"))?;
    let mut examples = 0;
    for block in page.split("\n```").skip(1).step_by(2) {
        let (fence, code) = block.split_once('\n').unwrap_or((block, ""));
        let Some(source) = source_of(fence.trim())? else {
            continue;
        };
        examples += 1;
        for piece in essence(code).split('…') {
            assert!(
                source.contains(piece),
                "in no {fence} file:\n{piece}\nof\n{code}"
            );
        }
    }
    assert!(examples > 40, "only {examples} examples");
    Ok(())
}
