// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes what fuzzing starts from, into a folder for each target:
//!
//! ```text
//! cargo run -p orbium-fuzz-targets --example seeds -- FOLDER
//! ```
//!
//! Messages captured from other ORBs are no part of this; the corpora that are
//! kept descend from both.

mod graphs;
mod messaging;
mod repository;

use std::path::{Path, PathBuf};
use std::{env, fs};

use orbium_cdr::{Any, ByteOrder, CdrWriter, Char, Encode, Format, Typed, WChar};
use orbium_fuzz_targets::types::kitchen::{ByBool, ByChar, ByColour, ByLong, Colour, Mixed, Node};
use orbium_fuzz_targets::types::{cubit, kitchen, shapes, ttcp};
use orbium_fuzz_targets::{format_of, type_number};
use orbium_giop::{
    CancelRequest, Completion, Corbaloc, FragmentPlan, HEADER_LEN, IiopProfile, Ior, LocateStatus,
    MessageHeader, MessageKind, ReplyStatus, RequestTemplate, ResponseFlags, ServiceContext,
    SystemExceptionBody, TaggedComponent, TaggedProfile, Target, Version, begin_locate_reply,
    begin_reply, codeset, component, encode_encapsulation, finish_message, message_error, profile,
    service_context, write_locate_request,
};

fn main() {
    let folder = PathBuf::from(env::args().nth(1).expect("a folder"));
    Seeds::new(&folder, "cdr").values();
    Seeds::new(&folder, "values").graphs();
    Seeds::new(&folder, "json").graphs_as_json();
    Seeds::new(&folder, "repository").repository();
    Seeds::new(&folder, "messages").messages();
    Seeds::new(&folder, "messaging").messaging();
    Seeds::new(&folder, "references").references();
    Seeds::new(&folder, "idl").idl();
}

struct Seeds {
    folder: PathBuf,
    count: usize,
}

impl Seeds {
    fn new(folder: &Path, target: &str) -> Self {
        let folder = folder.join(target);
        fs::create_dir_all(&folder).expect("a folder that can be made");
        Self { folder, count: 0 }
    }

    fn put(&mut self, octets: &[u8]) {
        let path = self.folder.join(format!("seed-{:03}", self.count));
        fs::write(path, octets).expect("a file that can be written");
        self.count += 1;
    }

    fn values(&mut self) {
        for format in [0, 1, 2, 9, 11, 16] {
            for place in [0, 4 | 8] {
                Values {
                    seeds: self,
                    format,
                    place,
                }
                .all();
            }
        }
    }

    fn messages(&mut self) {
        for minor in 0..=3 {
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let version = Version { major: 1, minor };
                let mut all = Vec::new();
                for message in requests(version, order)
                    .into_iter()
                    .chain(replies(version, order))
                {
                    if let Some(plan) = FragmentPlan::new(&message, message.len(), 32) {
                        let mut parts = Vec::new();
                        for part in plan {
                            parts.extend_from_slice(part.head());
                            parts.extend_from_slice(&message[part.range]);
                        }
                        self.put(&parts);
                    }
                    self.put(&message);
                    all.extend(message);
                }
                all.extend(CancelRequest { request_id: 7 }.message(version, order));
                all.extend(message_error(version));
                self.put(&all);
            }
        }
    }

    fn references(&mut self) {
        for text in URLS {
            self.put(text.as_bytes());
            if let Ok(Ok(ior)) = Corbaloc::parse(text).map(|corbaloc| corbaloc.to_ior()) {
                self.reference(&ior);
            }
        }
        self.reference(&reference());
        for (at, tagged) in components().into_iter().enumerate() {
            let mut octets = vec![5 + at as u8];
            octets.extend(tagged.data);
            self.put(&octets);
        }
    }

    fn reference(&mut self, ior: &Ior) {
        self.put(ior.to_string().as_bytes());
        self.put(&encode_encapsulation(|writer| write_ior(ior, writer)).expect("a reference"));
        for (which, tag) in [
            (1, profile::TAG_INTERNET_IOP),
            (2, profile::TAG_MULTIPLE_COMPONENTS),
            (3, profile::TAG_TAO_UIOP),
            (32, profile::TAG_TAO_DIOP),
            (33, profile::TAG_ORBIUM_IOP),
            (34, profile::TAG_UIPMC),
        ] {
            for profile in ior.profiles.iter().filter(|profile| profile.tag == tag) {
                let mut octets = vec![which];
                octets.extend_from_slice(&profile.data);
                self.put(&octets);
            }
        }
    }

    fn idl(&mut self) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for file in [
            "../../idl/cubit.idl",
            "../../idl/kitchen.idl",
            "../../idl/ttcp.idl",
            "idl/shapes.idl",
        ] {
            let text = fs::read(root.join(file)).expect("an IDL file");
            self.put(&[&[0], &*text].concat());
        }
        for text in IDL {
            for choice in [0u8, 5] {
                self.put(&[&[choice], text.as_bytes()].concat());
            }
        }
    }
}

/// Values of every type in one format and place.
struct Values<'s> {
    seeds: &'s mut Seeds,
    format: u8,
    place: u8,
}

impl Values<'_> {
    fn all(&mut self) {
        self.put("Ior", &reference());
        self.typed("Colour", &Colour::Blue);
        self.typed("Scalars", &scalars());
        self.typed("Node", &tree(3));
        self.typed("Mixed", &mixed());
        self.put("Mixeds", &vec![mixed(), mixed()]);
        self.put("Table", &vec![vec!["a".to_owned(), String::new()], vec![]]);
        let by_colour = ByColour::Text {
            discriminator: Colour::Green,
            value: "green".to_owned(),
        };
        self.typed("ByColour", &by_colour);
        self.typed("ByBool", &ByBool::M(mixed()));
        self.typed("ByChar", &ByChar::Tree(vec![tree(1)]));
        self.typed("ByLong", &ByLong::S(scalars()));
        let refused = kitchen::Refused {
            why: "x".to_owned(),
            detail: by_colour,
            evidence: vec![mixed()],
        };
        self.put("Refused", &refused);
        self.put(
            "TooBig",
            &cubit::TooBig {
                limit: 1290,
                why: "big".to_owned(),
            },
        );
        let bin = ttcp::BinStruct {
            s: 1,
            c: Char(b'c'),
            l: 2,
            o: 3,
            d: 4.5,
        };
        self.typed("BinStruct", &bin);
        self.put("[BinStruct]", &vec![bin; 3]);
        self.put("Structs", &vec![bin; 3]);
        let many = cubit::Many { o: 1, l: 2, s: 3 };
        self.typed("Many", &many);
        self.put("[Many]", &vec![many; 3]);
        self.typed("Oneof", &cubit::Oneof::L(7));
        self.put("[Suit]", &vec![shapes::Suit::Hearts; 5]);
        self.put("[bool]", &vec![true, false, true]);
        self.put("[f64]", &vec![1.5, f64::NAN]);
        self.put("[i16]", &vec![1i16, -2, 3]);
        self.put("[u8]", &vec![1u8, 2, 3]);
        self.typed(
            "Empties",
            &shapes::Empties {
                boxes: vec![vec![vec![1, 2]], vec![]],
            },
        );
        for zeros in [
            "Bag",
            "BySuit",
            "ByOctet",
            "ByHyper",
            "ByFlag",
            "Tree",
            "Fork",
            "[Nested]",
            "[Padded]",
            "[Late]",
            "[Cards]",
            "[Octet3]",
            "LatesSeq",
            "[LongDouble]",
        ] {
            let count = if zeros.starts_with('[') { 2 } else { 0 };
            let mut octets = vec![0; 400];
            octets[..8].copy_from_slice(&[0, 0, 0, count, 0, 0, 0, 0]);
            self.octets(zeros, &octets);
        }
    }

    fn typed<T: Typed + Encode>(&mut self, name: &str, value: &T) {
        self.put(name, value);
        self.put("type_code", &T::type_code());
        if let Ok(any) = Any::new(value) {
            self.put("any", &any);
            self.put("interpreted", &any);
        }
    }

    fn put<T: Encode>(&mut self, name: &str, value: &T) {
        let mut writer = CdrWriter::new(format_of(self.format));
        let phase = usize::from(self.place & 7);
        writer.write_raw(&[0; 8][..phase]);
        value.encode(&mut writer);
        // Not every format has every value.
        if let Ok(octets) = writer.finish() {
            self.octets(name, &octets[phase..]);
        }
    }

    fn octets(&mut self, name: &str, octets: &[u8]) {
        let number = type_number(name).unwrap_or_else(|| panic!("there is no type {name}"));
        self.seeds
            .put(&[&[number, self.format, self.place], octets].concat());
    }
}

fn scalars() -> kitchen::Scalars {
    kitchen::Scalars {
        b: true,
        c: Char(b'x'),
        l: -7,
        d: 2.5,
        w: WChar(0x20AC),
        ..Default::default()
    }
}

fn mixed() -> Mixed {
    Mixed {
        name: "name".to_owned(),
        wide: "wide".to_owned(),
        shade: Colour::Green,
        list: vec!["one".to_owned(), String::new()],
        few: vec![1, -1],
        flags: vec![true, false],
        inner: kitchen::Scalars {
            w: WChar(65),
            ..scalars()
        },
        ..Default::default()
    }
}

fn tree(depth: usize) -> Node {
    Node {
        name: format!("node {depth}"),
        children: (0..depth).map(tree).collect(),
    }
}

fn requests(version: Version, order: ByteOrder) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let info = codeset::CodeSetContext::new(codeset::CodeSetId::UTF_8, codeset::CodeSetId::UTF_16)
        .encode();
    let contexts = [ServiceContext {
        id: service_context::CODE_SETS,
        data: &info,
    }];
    let ior = reference();
    let targets = [
        Some(RequestTemplate::in_order(order, version, b"Cube")),
        RequestTemplate::with_profile(version, &ior.profiles[0]),
        RequestTemplate::with_reference(version, 0, &ior),
    ];
    for template in targets.into_iter().flatten() {
        for (operation, contexts) in [("noop", &[][..]), ("_non_existent", &contexts)] {
            let mut writer = CdrWriter::new(Format::plain(template.order(), version.minor));
            let start = template.begin(&mut writer, 7, ResponseFlags::Full, operation, contexts);
            writer.write_octets(b"arguments");
            finish_message(&mut writer, start);
            messages.push(writer.finish().expect("a request"));
        }
    }
    let profile = &ior.profiles[0];
    for target in [
        Target::Key(b"Cube"),
        Target::Profile {
            tag: profile.tag,
            data: &profile.data,
        },
        Target::Reference {
            index: 0,
            ior: Box::new(ior.clone()),
        },
    ] {
        let mut writer = CdrWriter::new(Format::plain(order, version.minor));
        write_locate_request(&mut writer, version, 9, &target);
        messages.extend(writer.finish());
    }
    messages
}

fn replies(version: Version, order: ByteOrder) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let exception = SystemExceptionBody {
        id: "IDL:omg.org/CORBA/TRANSIENT:1.0",
        minor: 2,
        completed: Completion::No,
    };
    let contexts = [ServiceContext {
        id: service_context::EXCEPTION_DETAIL_MESSAGE,
        data: b"text",
    }];
    for number in 0..6 {
        let write = |writer: &mut CdrWriter<'_>, forward: bool, raised: bool| {
            if forward {
                write_ior(&reference(), writer);
            } else if raised {
                exception.write(writer);
            } else {
                writer.write_raw(&[0, 2, 0, 0]);
            }
        };
        if let Some(status) = ReplyStatus::from_number(number, version.minor) {
            let mut writer = CdrWriter::new(Format::plain(order, version.minor));
            let contexts = &contexts[..number as usize & 1];
            let start = begin_reply(&mut writer, version, 7, status, contexts);
            write(&mut writer, number == 3 || number == 4, number == 2);
            finish_message(&mut writer, start);
            messages.push(writer.finish().expect("a reply"));
        }
        if let Some(status) = LocateStatus::from_number(number, version.minor) {
            let mut writer = CdrWriter::new(Format::plain(order, version.minor));
            let start = begin_locate_reply(&mut writer, version, 9, status);
            write(&mut writer, number == 2 || number == 3, number == 4);
            finish_message(&mut writer, start);
            messages.push(writer.finish().expect("a reply"));
        }
    }
    let close = MessageHeader {
        version,
        order,
        more_fragments: false,
        kind: MessageKind::CloseConnection,
        size: 0,
    };
    messages.push(close.encode().to_vec());
    debug_assert!(messages.iter().all(|message| message.len() >= HEADER_LEN));
    messages
}

fn reference() -> Ior {
    let profile = IiopProfile {
        version: Version::V1_2,
        host: "127.0.0.1".to_owned(),
        port: 2809,
        object_key: b"Cube".to_vec(),
        components: components(),
    };
    let mut ior = Ior::with_profile("IDL:Cubit/Cube:1.0", &profile);
    let common = [TaggedComponent::orb_type(component::ORB_TYPE_TAO)];
    ior.profiles
        .push(TaggedProfile::multiple_components(&common));
    ior
}

/// In the order of the target's list of tags.
fn components() -> Vec<TaggedComponent> {
    vec![
        TaggedComponent::orb_type(component::ORB_TYPE_ORBIUM),
        TaggedComponent::code_sets(&codeset::CodeSetComponentInfo::orbium(
            codeset::NativeCharSet::Latin1,
        )),
        TaggedComponent::encapsulated(component::TAG_POLICIES, |writer| {
            writer.write_count(1);
            writer.write_u32(40);
            writer.write_octets(&[0, 1]);
        }),
        TaggedComponent::alternate_address("::1", 2810),
    ]
}

fn write_ior(ior: &Ior, writer: &mut CdrWriter<'_>) {
    writer.write_name(&ior.type_id);
    writer.write_count(ior.profiles.len());
    for profile in &ior.profiles {
        writer.write_u32(profile.tag);
        writer.write_octets(&profile.data);
    }
}

const URLS: &[&str] = &[
    "corbaloc::h/Key",
    "corbaloc::1.2@h:1,:i:2,iiop:1.1@j/K",
    "corbaloc::1.2@[fe80::1%eth0]:65535/K",
    "corbaloc::h:1/a%00b%fF",
    "corbaloc:rir:/RootPOA",
    "corbaloc:uiop:1.2@/run/x|a/b",
    "corbaloc:iiop:h:1,uiop:1.2@/run/a@b|K",
    "corbaloc:omniunix:1.2@/run/x:,:h:1/K",
    "corbaloc:ssliop:1.2@h:684/K",
    "corbaloc:shmiop:1.2@h:10/K",
    "corbaloc:shmiop:1.2@/run/x.shm|K",
    "corbaloc:diop:1.2@h:1,can:1.2@/dev/can0,inproc:b|K",
    "corbaloc:inproc:a/K",
    "corbaloc:miop:1.0@1.0-D-7-2/239.0.0.1:5",
    "corbaloc:miop:1.0-D-7/[ff05::1]:5,:h/K",
    "corbaname::host:5000/NameService#dev/trader.kind",
    "corbaname:rir:#a%20b/c",
    "IOR:00",
];

const IDL: &[&str] = &[
    "struct S { long a; string<3> b; sequence<octet, 4> c[2]; };",
    "enum E { a, b }; union U switch (E) { case a: long l; default: any x; };",
    "interface B; interface A { attribute long x, y; oneway void f(in B b) context(\"c*\"); }; interface B : A {};",
    "#include \"part.idl\"\n#include <orb.idl>\nstruct T { Part::S s; CORBA::TypeCode t; };",
    "#include \"prefixed.idl\"\n#pragma prefix \"a.b\"\n#pragma version P::I 1.3\ninterface J : P::I { };\n#pragma ID J \"IDL:j:1.0\"",
    "#define M(x, y) x##y #x\n#if defined(N) && N > 2 || 0\nconst long M(a,b) = 3;\n#elif 1\n#else\n#endif\n",
    "const long A = ((1 << 3) | 0x10) ^ ~7 + -3 * 5 % 2 / 1; const double D = 1.5e3 / 2.; const fixed F = 1.23d * 4d;",
    "const string S = \"a\\x41\\n\" \"b\"; const wstring W = L\"\\u20ac\"; const char C = '\\''; const boolean B = TRUE || FALSE;",
    "valuetype V : truncatable W supports I { public long l; private V v; factory make(in long l); }; valuetype Box string;",
    "abstract interface Ab { }; local interface Lo { native N2; }; exception X { long e; };",
    "module M { module N3 { typedef long T; }; }; module M { typedef N3::T U; struct _struct { U u; ::M::N3::T t; }; };",
    "@annotation @default(3) struct S { @key int8 a; uint64 b; map<long, string> m; };",
    "component C supports I { provides I p; uses multiple I q; emits E e; }; home H manages C {};",
    "typedef fixed<5,2> Fx; typedef wstring<4> Ws; typedef long long LL[2][3]; typedef long double LD;",
    "struct R; typedef sequence<R> Rs; struct R { Rs rs; union U switch (boolean) { case TRUE: short s; } u; };",
    "interface I { const long K = 3; enum E { x }; exception No {}; E f(in long a, out E b, inout string c) raises (No); };",
    "typeid M \"IDL:m:1.0\"; typeprefix M \"x\"; import ::M;",
    "#include \"main.idl\"\n#ifndef X\n#define X TWICE(TWICE(\n#error oh\n",
    "/** doc */ struct S { /// a\n long a; //!< b\n };\n/* open",
];
