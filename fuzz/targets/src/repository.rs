// SPDX-License-Identifier: MIT OR Apache-2.0
//! Target `repository`: contents of an Interface Repository that no orbium has written, IDL that
//! is loaded into one, and what a remote repository says.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use orbium::cdr::{CdrReader, Decode, Format};
use orbium::{Any, Interface, ObjectRef, Orb, SystemException};
use orbium_dynamic::{DynamicImplementation, ServerRequest, dynamic_servant};
use orbium_idl::Memory;
use orbium_idl::model::Model;
use orbium_ifr::corba::container::Description;
use orbium_ifr::corba::{Contained, DefinitionKind, Initializer, InterfaceDef, Repository};
use orbium_ifr::{ExportError, InterfaceRepository, idl_of, sound_idl_of};
use redb::{Database, StorageBackend, TableDefinition};

const ENTRIES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("entries");
const REPOSITORY: TableDefinition<'_, &str, u64> = TableDefinition::new("repository");

/// What is in the database whose octets are changed.
const BASE: &str = r#"[
    [0, {"name":"","id":"","version":"","container":null,"contents":[1,2],"body":"Repository"}],
    [1, {"name":"S","id":"IDL:S:1.0","version":"1.0","container":0,"contents":[],
         "body":{"Struct":[{"name":"a","ty":{"Primitive":3}}]}}],
    [2, {"name":"I","id":"IDL:I:1.0","version":"1.0","container":0,"contents":[3],
         "body":{"Interface":{"kind":"Plain","bases":[]}}}],
    [3, {"name":"f","id":"IDL:I/f:1.0","version":"1.0","container":2,"contents":[],
         "body":{"Operation":{"result":{"Entry":1},"oneway":false,"parameters":[
             {"name":"x","ty":{"Entry":1},"way":"InOut"}],"raises":[],"contexts":[]}}}]
]"#;

/// The first octet says what follows: definitions as JSON, as they are in a file; changes of the
/// octets of a file; IDL; descriptions in CDR that a remote repository returns. What is damaged
/// is refused in words; what is opened is described without a panic, changed in transactions,
/// and written as IDL that compiles.
pub fn repository(input: &[u8]) {
    let Some((kind, rest)) = input.split_first() else {
        return;
    };
    match kind % 4 {
        0 => with_definitions(rest),
        1 => with_changed_octets(rest),
        2 => with_idl(rest),
        _ => with_liar(rest),
    }
}

fn with_orb(act: impl FnOnce(&Orb)) {
    let Ok(orb) = Orb::builder().build() else {
        return;
    };
    orb.root_poa().manager().activate().expect("a new manager");
    act(&orb);
    orb.shutdown(true).expect("an ORB that has no request");
}

/// The octets of a database with definitions in JSON; `None` if they are no list of keys and
/// values.
#[must_use]
pub fn repository_image(definitions: &[u8]) -> Option<Vec<u8>> {
    let rows: Vec<(u64, serde_json::Value)> = serde_json::from_slice(definitions).ok()?;
    let octets = Octets::default();
    let database = Database::builder().create_with_backend(octets.clone());
    let database = database.expect("an empty database");
    let transaction = database.begin_write().expect("the only transaction");
    {
        let mut table = transaction.open_table(ENTRIES).expect("a new table");
        for (key, value) in rows {
            let text = value.to_string();
            table.insert(key, text.as_bytes()).expect("room");
        }
        let mut table = transaction.open_table(REPOSITORY).expect("a new table");
        table.insert("format", 1).expect("room");
        table.insert("stamp", 7).expect("room");
    }
    transaction.commit().expect("room");
    drop(database);
    let octets = octets.0.lock().expect("no panic while it was locked");
    Some(octets.clone())
}

fn with_definitions(definitions: &[u8]) {
    if let Some(image) = repository_image(definitions) {
        open(image);
    }
}

/// Each change is an offset in four octets and an octet.
fn with_changed_octets(changes: &[u8]) {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    let image = IMAGE.get_or_init(|| repository_image(BASE.as_bytes()).expect("a list"));
    let mut image = image.clone();
    for change in changes.chunks_exact(5) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], change[3]]) as usize;
        let at = at % image.len();
        image[at] = change[4];
    }
    open(image);
}

fn open(image: Vec<u8>) {
    with_orb(|orb| match InterfaceRepository::from_octets(orb, image) {
        Ok(repository) => {
            describe(&repository.reference());
            written(&repository.reference());
            let more =
                model("module OfTheTarget { struct S { long a; }; interface I { S f(); }; };");
            // The names may be taken.
            if repository.load(&more.expect("IDL")).is_ok() {
                written(&repository.reference());
            }
        }
        Err(refused) => assert!(!refused.to_string().is_empty()),
    });
}

/// Asks for all that a browser asks for.
fn describe(repository: &Repository) {
    let Ok(all) = repository.contents(DefinitionKind::DkAll, true) else {
        return;
    };
    for contained in all.into_iter().flatten().take(100) {
        let _ = contained.describe();
        let _ = contained.absolute_name();
        let id = contained.id().unwrap_or_default();
        let _ = repository.lookup_id(&id);
        if let Ok(interface) = contained.as_object().narrow::<InterfaceDef>() {
            let _ = interface.describe_interface();
        }
    }
}

fn model(idl: &str) -> Option<Model> {
    let mut options = orbium_idl::Options::new();
    options.lenient_names = true;
    let loader = Memory::new().with("main.idl", idl.as_bytes());
    let main = std::path::Path::new("main.idl");
    orbium_idl::compile_with(&options, &loader, main).model
}

fn ids(model: &Model) -> BTreeSet<String> {
    let all = model.definitions();
    all.map(|it| it.repository_id.clone()).collect()
}

/// What is written of a repository compiles.
fn written(repository: &Repository) -> Option<Model> {
    let all = idl_of(repository);
    let sound = sound_idl_of(repository);
    if let (Ok(all), Ok(sound)) = (&all, &sound) {
        assert_eq!(*all, sound.text);
    }
    let sound = sound.ok()?;
    assert_eq!(all.is_ok(), sound.left_out.is_empty());
    let compiled = model(&sound.text);
    assert!(compiled.is_some(), "no IDL: {}", sound.text);
    compiled
}

/// What is loaded comes out with the same repository ids, and is there when it is loaded again.
fn with_idl(text: &[u8]) {
    let Some(model) = std::str::from_utf8(text).ok().and_then(model) else {
        return;
    };
    with_orb(|orb| {
        let repository = InterfaceRepository::in_memory(orb).expect("the only one");
        if repository.load(&model).is_err() {
            return;
        }
        assert_eq!(repository.load(&model), Ok(0));
        describe(&repository.reference());
        if let Some(compiled) = written(&repository.reference()) {
            let (given, out) = (ids(&model), ids(&compiled));
            assert!(out.is_subset(&given), "{out:?} of {given:?}");
        }
    });
}

/// A repository of which each container contains the next list.
struct Liar {
    lists: Mutex<std::vec::IntoIter<Vec<Description>>>,
    own: Arc<OnceLock<ObjectRef>>,
}

impl DynamicImplementation for Liar {
    fn primary_interface(&self) -> String {
        "IDL:omg.org/CORBA/Repository:1.0".to_owned()
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        if request.operation() == "_get_initializers" {
            request.arguments(&[])?;
            let none = Any::new(&Vec::<Initializer>::new()).expect("an empty list");
            return request.set_result(none);
        }
        let mut lists = self.lists.lock().expect("no panic while it was locked");
        let mut list = lists.next().unwrap_or_default();
        for description in &mut list {
            let own = self.own.get().cloned();
            description.contained_object = own.map(Contained::from_object);
        }
        request.arguments(&[])?;
        let list = Any::new(&list).map_err(|_| orbium::ExceptionKind::Marshal)?;
        request.set_result(list)
    }
}

fn with_liar(lists: &[u8]) {
    let mut octets = lists.to_vec();
    let mut reader = CdrReader::new(&mut octets, Format::native());
    let Ok(lists) = Vec::<Vec<Description>>::decode(&mut reader) else {
        return;
    };
    with_orb(|orb| {
        for is_sound in [false, true] {
            let own = Arc::new(OnceLock::new());
            let liar = Liar {
                lists: Mutex::new(lists.clone().into_iter()),
                own: Arc::clone(&own),
            };
            let servant = dynamic_servant(liar).expect("an interface");
            let object = orb.root_poa().activate_servant(&servant).expect("a place");
            own.set(object.clone()).expect("a new liar");
            let repository = Repository::from_object(object);
            let text = if is_sound {
                sound_idl_of(&repository).map(|it| it.text)
            } else {
                idl_of(&repository)
            };
            match text {
                Ok(text) => assert!(model(&text).is_some(), "no IDL: {text}"),
                Err(refused) => said(&refused),
            }
        }
    });
}

fn said(refused: &ExportError) {
    assert!(!refused.to_string().is_empty());
}

/// The octets of a database, as its engine writes them.
#[derive(Clone, Debug, Default)]
struct Octets(Arc<Mutex<Vec<u8>>>);

impl Octets {
    fn with<T>(&self, at: u64, len: usize, act: impl FnOnce(&mut [u8]) -> T) -> io::Result<T> {
        let mut octets = self.0.lock().map_err(|_| io::ErrorKind::Other)?;
        let used = octets.get_mut(at as usize..at as usize + len);
        Ok(act(used.ok_or(io::ErrorKind::InvalidInput)?))
    }
}

impl StorageBackend for Octets {
    fn len(&self) -> io::Result<u64> {
        let octets = self.0.lock().map_err(|_| io::ErrorKind::Other)?;
        Ok(octets.len() as u64)
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.with(offset, len, |used| used.to_vec())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut octets = self.0.lock().map_err(|_| io::ErrorKind::Other)?;
        octets.resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.with(offset, data.len(), |used| used.copy_from_slice(data))
    }
}
