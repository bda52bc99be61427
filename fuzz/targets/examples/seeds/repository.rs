// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeds of the target `repository`: what orbium's own repository has of a few IDL files.

use std::path::Path;
use std::{env, fs, process};

use orbium::Orb;
use orbium::cdr::{CdrWriter, Encode, Format};
use orbium_ifr::InterfaceRepository;
use orbium_ifr::corba::DefinitionKind;
use redb::{Database, ReadableTable, TableDefinition};

use crate::Seeds;

const ENTRIES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("entries");

/// Small, with every kind of definition.
const KINDS: &str = "module M { const string C = \"c\"; enum E { a, b }; struct S { E e; sequence<S, 2> s; };
    union U switch (E) { case a: long l; default: fixed<5, 2> f; }; typedef wstring<4> W; typedef long A[3];
    native N; exception X { W w; }; valuetype B string; abstract valuetype V0 {};
    valuetype V : V0 { public long l; private S s; factory make(in long l) raises (X); };
    interface I { readonly attribute S at; void f(inout U u, out any o) raises (X); oneway void g(); };
    abstract interface J {}; local interface K : J {}; interface L : I {}; };";

impl Seeds {
    pub(crate) fn repository(&mut self) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut texts = vec![KINDS.to_owned(), "interface I { void f(); };".to_owned()];
        for file in [
            "../../idl/cubit.idl",
            "../../idl/ttcp.idl",
            "idl/shapes.idl",
        ] {
            texts.push(fs::read_to_string(root.join(file)).expect("an IDL file"));
        }
        for text in texts {
            self.put_kind(2, text.as_bytes());
            let options = orbium_idl::Options::new();
            let model = orbium_idl::compile_source(&options, "seed.idl", &text).model;
            let file = env::temp_dir().join(format!("orbium-seeds-{}.redb", process::id()));
            let orb = Orb::builder().build().expect("an ORB");
            orb.root_poa().manager().activate().expect("a manager");
            let repository = InterfaceRepository::open(&orb, &file).expect("a new file");
            repository.load(&model.expect("IDL")).expect("a load");
            let root = repository.reference();
            let described = root.describe_contents(DefinitionKind::DkAll, true, -1);
            let lists = vec![described.expect("descriptions"), Vec::new()];
            let mut writer = CdrWriter::new(Format::native());
            lists.encode(&mut writer);
            self.put_kind(3, &writer.finish().expect("descriptions in CDR"));
            orb.shutdown(true).expect("an ORB without requests");
            drop(repository);
            drop(orb);
            self.put_kind(0, definitions(&file).as_bytes());
            fs::remove_file(&file).expect("the file");
        }
        self.put_kind(1, &[]);
        self.put_kind(1, &[9, 0, 0, 0, 2, 64, 1, 0, 0, 255]);
    }

    fn put_kind(&mut self, kind: u8, rest: &[u8]) {
        let mut octets = vec![kind];
        octets.extend_from_slice(rest);
        self.put(&octets);
    }
}

/// The definitions in a file, as JSON.
fn definitions(file: &Path) -> String {
    let database = Database::open(file).expect("a closed file");
    let read = database.begin_read().expect("a transaction");
    let table = read.open_table(ENTRIES).expect("the table");
    let rows = table.iter().expect("rows").map(|row| {
        let (key, value) = row.expect("a row");
        format!(
            "[{},{}]",
            key.value(),
            String::from_utf8_lossy(value.value())
        )
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}
