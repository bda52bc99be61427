// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code bases: what senders of values say of their types, and values that are cut off by it.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use orbium::cdr::{ByteOrder, CdrError, CdrReader, CdrWriter, Decode, Encode, Format};
use orbium::codegen as orb;
use orbium::giop::{Ior, service_context};
use orbium::interceptor::Interceptors;
use orbium::{Call, Config, ExceptionKind, Interface, ObjectRef, Orb, SystemException};
use orbium_ifr::{CodeBases, InterfaceRepository, OfferedCodeBase, code_base_of};

use crate::served::model;

orb::idl_value! {
    /// What the receiver knows.
    pub struct Base(BaseState): BASE_TYPE = "IDL:Base:1.0", Plain, [] {
        public x: i32,
    }
}

orb::idl_interface! {
    /// Returns what is in a value.
    pub struct Taker = "IDL:Taker:1.0";
    operations by_octet(0, 116, &[0]);
    pub trait TakerServant;

    fn take(value: Option<&Base>) -> Result<i32> = "take";
}

/// What the sender knows.
const IDL: &str = "valuetype Base { public long x; };
    valuetype Derived : truncatable Base { public long y; };
    valuetype Further : truncatable Derived { public long z; };
    valuetype Other : Base { public long y; };";

/// What a servant sees of the code base of its caller.
type Seen = Arc<Mutex<Vec<String>>>;

struct Taking(Seen);

impl TakerServant for Taking {
    fn take(&self, call: &Call<'_>, value: Option<&Base>) -> Result<i32, SystemException> {
        if let Some(code_base) = code_base_of(call)? {
            let code_base = code_base.with_timeout(Duration::from_secs(60));
            let meta = code_base.meta("IDL:Further:1.0")?;
            let bases = code_base.bases("IDL:Further:1.0")?;
            let implementation = code_base.implementation("IDL:Further:1.0")?;
            let repository = code_base.get_ir()?.ok_or(ExceptionKind::IntfRepos)?;
            let found = repository.lookup_id("IDL:Derived:1.0")?.is_some();
            let unknown = code_base.meta("IDL:Unheard:1.0").unwrap_err();
            let mut seen = self.0.lock().unwrap();
            seen.push(format!("{} {}", meta.base_value, bases.join(" ")));
            seen.push(format!("{implementation:?} {found} {:?}", unknown.kind));
        }
        let value = value.ok_or(ExceptionKind::BadParam)?;
        Ok(value.read().x)
    }
}

/// An ORB that takes values, and perhaps asks code bases.
struct Receiver {
    orb: Orb,
    taker: Taker,
    code_bases: CodeBases,
    seen: Seen,
}

impl Receiver {
    fn new(asks: bool, limit: Duration) -> Self {
        let code_bases = CodeBases::new(Orb::builder().build().unwrap(), limit);
        let mut interceptors = Interceptors::new();
        interceptors.add_server(code_bases.clone()).unwrap();
        let orb = served(interceptors);
        if asks {
            assert!(code_bases.install(&orb));
        }
        let root = orb.root_poa();
        let seen = Seen::default();
        let taker = root.activate(Taking(Arc::clone(&seen))).unwrap();
        root.manager().activate().unwrap();
        Self {
            orb,
            taker,
            code_bases,
            seen,
        }
    }

    fn end(self) {
        self.orb.shutdown(true).unwrap();
    }
}

fn served(interceptors: Interceptors) -> Orb {
    Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        interceptors,
        ..Config::default()
    })
    .unwrap()
}

/// An ORB that sends values, and has a repository of their types.
struct Sender {
    orb: Orb,
    _repository: InterfaceRepository,
}

impl Sender {
    fn new() -> Self {
        let offered = OfferedCodeBase::default();
        let mut interceptors = Interceptors::new();
        interceptors.add_client(offered.clone()).unwrap();
        interceptors.add_server(offered.clone()).unwrap();
        let orb = served(interceptors);
        let repository = InterfaceRepository::in_memory(&orb).unwrap();
        repository.load(&model(IDL)).unwrap();
        let code_base = repository.code_base(&orb).unwrap();
        orb.root_poa().manager().activate().unwrap();
        assert!(offered.set(&code_base));
        assert!(!offered.set(&code_base));
        Self {
            orb,
            _repository: repository,
        }
    }

    fn end(self) {
        self.orb.shutdown(true).unwrap();
    }
}

/// Sends a value in chunks with a header that has no more than its id.
fn take(from: &Orb, taker: &Taker, id: &str) -> Result<i32, SystemException> {
    static TAKE: orb::Operation = orb::Operation::new("take");
    let text = from.object_to_string(taker);
    let object: ObjectRef = from.string_to_object(&text).unwrap().unwrap();
    object.call(&TAKE, |writer| write_value(writer, id), i32::decode)
}

fn context_of(ior: &Ior) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 0));
    writer.write_u8(ByteOrder::NATIVE.flag());
    ior.encode(&mut writer);
    writer.finish().unwrap()
}

fn write_value<'a>(writer: &mut CdrWriter<'a>, id: &'a str) {
    writer.write_u32(0x7FFF_FF0A);
    writer.write_str(id);
    // One chunk of three longs, and the end.
    for long in [12_i32, 7, 8, 9, -1] {
        writer.write_u32(long.cast_unsigned());
    }
}

fn unknown_value(error: SystemException) {
    assert_eq!(error.kind, ExceptionKind::Marshal);
    assert_eq!(error.minor & 0xFFF, 1);
}

/// Conformance: ORB - SendingContext::CodeBase: a value of a type that is not known is cut off to a base
/// that the sender's code base names
#[test]
fn a_value_is_cut_off_to_a_base_that_its_code_base_names() {
    let sender = Sender::new();
    for asks in [true, false] {
        let receiver = Receiver::new(asks, Duration::from_secs(60));
        for id in ["IDL:Derived:1.0", "IDL:Further:1.0", "IDL:Derived:1.0"] {
            match take(&sender.orb, &receiver.taker, id) {
                Ok(x) => assert_eq!((x, asks), (7, true)),
                Err(error) => {
                    assert!(!asks, "{error}");
                    unknown_value(error);
                }
            }
        }
        // It inherits the base, and may not be cut off; the last is known to none.
        for id in ["IDL:Other:1.0", "IDL:Unheard:1.0"] {
            unknown_value(take(&sender.orb, &receiver.taker, id).unwrap_err());
        }
        assert_eq!(receiver.code_bases.count(), 1);
        receiver.end();
    }
    sender.end();
}

/// A request of a megabyte with one id many times built a reply of a gigabyte.
#[test]
fn a_code_base_describes_a_limited_number_of_values() {
    let orb = served(Interceptors::new());
    let repository = InterfaceRepository::in_memory(&orb).unwrap();
    let mut idl = format!("{IDL} valuetype Large {{");
    for number in 0..1000 {
        idl += &format!("public long m{number};");
    }
    repository.load(&model(&(idl + "};"))).unwrap();
    let code_base = repository.code_base(&orb).unwrap();
    let ids = |id: &str, count: usize| vec![id.to_owned(); count];
    let some = ids("IDL:Further:1.0", 256);
    assert_eq!(code_base.metas(&some).unwrap().len(), 256);
    assert_eq!(code_base.implementations(&some).unwrap().len(), 256);
    let many = ids("IDL:Further:1.0", 100_000);
    let large = ids("IDL:Large:1.0", 101);
    for refused in [
        code_base.metas(&many).map(drop),
        code_base.metas(&large).map(drop),
        code_base.implementations(&many).map(drop),
    ] {
        assert_eq!(refused.unwrap_err().kind, ExceptionKind::ImpLimit);
    }
    assert_eq!(code_base.metas(&large[1..]).unwrap().len(), 100);
    orb.shutdown(true).unwrap();
}

/// Conformance: ORB - SendingContext::CodeBase: a servant asks its caller's
#[test]
fn a_servant_finds_the_code_base_of_its_caller() {
    let (sender, receiver) = (Sender::new(), Receiver::new(false, Duration::from_secs(60)));
    assert_eq!(take(&sender.orb, &receiver.taker, "IDL:Base:1.0"), Ok(7));
    assert_eq!(
        *receiver.seen.lock().unwrap(),
        [
            "IDL:Derived:1.0 IDL:Derived:1.0 IDL:Base:1.0",
            "\"\" true IntfRepos"
        ]
    );
    // A caller that offers none.
    let plain = Orb::builder().build().unwrap();
    assert_eq!(take(&plain, &receiver.taker, "IDL:Base:1.0"), Ok(7));
    assert_eq!(receiver.seen.lock().unwrap().len(), 2);
    receiver.end();
    sender.end();
}

/// A code base that never answers takes its limit once.
///
/// Conformance: ORB - SendingContext::CodeBase: one that does not answer
#[test]
fn a_code_base_that_does_not_answer_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let receiver = Receiver::new(true, Duration::from_millis(100));
    let url = format!("corbaloc::{}/CodeBase", silent.local_addr().unwrap());
    let client = Orb::builder().build().unwrap();
    let object = client.string_to_object(&url).unwrap().unwrap();
    let context = context_of(object.ior());
    let id = service_context::SENDING_CONTEXT_RUN_TIME;
    let taker = client.object_to_string(&receiver.taker);
    let taker = Taker::from_object(client.string_to_object(&taker).unwrap().unwrap());
    let taker = taker.with_service_context(id, context);
    for id in ["IDL:Derived:1.0", "IDL:Further:1.0"] {
        static TAKE: orb::Operation = orb::Operation::new("take");
        let taken: Result<i32, SystemException> =
            taker
                .as_object()
                .call(&TAKE, |writer| write_value(writer, id), i32::decode);
        unknown_value(taken.unwrap_err());
    }
    // One connection at most: the second value did not ask again.
    silent.set_nonblocking(true).unwrap();
    assert!(silent.accept().is_ok());
    assert!(silent.accept().is_err());
    receiver.end();
}

/// Conformance: ORB - SendingContext::CodeBase: a service context that holds no reference is refused
#[test]
fn a_context_without_a_reference_is_refused() {
    let receiver = Receiver::new(true, Duration::from_secs(60));
    let client = Orb::builder().build().unwrap();
    let taker = client.object_to_string(&receiver.taker);
    let taker = Taker::from_object(client.string_to_object(&taker).unwrap().unwrap());
    let id = service_context::SENDING_CONTEXT_RUN_TIME;
    let nil = context_of(&Ior::NIL);
    for context in [&b""[..], b"\0", b"\x01\0\0\0\xFF\xFF\xFF\xFF", &nil] {
        let refused = taker
            .with_service_context(id, context)
            .take(None)
            .unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Marshal, "{context:?}");
    }
    assert_eq!(receiver.code_bases.count(), 0);
    receiver.end();
}

/// A value as its sender writes it, with a header that has no more than its id.
struct Unlisted(&'static str);

impl Encode for Unlisted {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        write_value(writer, self.0);
    }
}

impl Decode for Unlisted {
    const MIN_SIZE: usize = 0;
    fn decode(_: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self(""))
    }
}

orb::idl_interface! {
    /// Gives a value away.
    pub struct Giver = "IDL:Giver:1.0";
    operations by_octet(0, 103, &[0]);
    pub trait GiverServant;

    fn give() -> Result<Unlisted> = "give";
}

struct Giving;

impl GiverServant for Giving {
    fn give(&self, _: &Call<'_>) -> Result<Unlisted, SystemException> {
        Ok(Unlisted("IDL:Derived:1.0"))
    }
}

/// Conformance: ORB - SendingContext::CodeBase: a value in a reply is cut off to a base that the code base of
/// an earlier reply names
#[test]
fn a_code_base_that_a_reply_names_helps_with_the_next_one() {
    static GIVE: orb::Operation = orb::Operation::new("give");
    let sender = Sender::new();
    let root = sender.orb.root_poa();
    let giver: Giver = root.activate(Giving).unwrap();
    for asks in [true, false] {
        // The end of such a wait was past the last point of time, and the reader of the value
        // panicked.
        let code_bases = CodeBases::new(Orb::builder().build().unwrap(), Duration::MAX);
        let mut interceptors = Interceptors::new();
        interceptors.add_client(code_bases.clone()).unwrap();
        let client = served(interceptors);
        if asks {
            assert!(code_bases.install(&client));
        }
        let text = sender.orb.object_to_string(&giver);
        let object: ObjectRef = client.string_to_object(&text).unwrap().unwrap();
        let give = || -> Result<Option<Base>, SystemException> {
            object.call(&GIVE, |_| {}, Decode::decode)
        };
        unknown_value(give().unwrap_err());
        assert_eq!(code_bases.count(), 1);
        match give() {
            Ok(value) => assert_eq!((value.unwrap().read().x, asks), (7, true)),
            Err(error) => {
                assert!(!asks, "{error}");
                unknown_value(error);
            }
        }
        client.shutdown(true).unwrap();
    }
    sender.end();
}
