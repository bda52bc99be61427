// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Orb::serve`, `Orb::resolve`, and references in files.

use std::fs;
use std::path::PathBuf;

use orbium::{
    Config, Interface, Orb,
    config::Configure as _,
    poa::{ManagerState, PoaError},
    reference::{NarrowError, ObjectError, ResolveError},
};
use orbium_testkit::kitchen;
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, client, each_strategy};

fn server(config: Config) -> (Orb, Target) {
    let orb = Orb::new(config).unwrap();
    let target = orb.serve("Target", TargetState::default()).unwrap();
    (orb, target)
}

fn listening() -> Config {
    Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..Config::default()
    }
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("orbium-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        format!("file://{}", path.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_object_is_served_in_one_call_and_reached_in_another() {
    each_strategy(|strategy| {
        let (server, target) = server(Config {
            strategy,
            ..listening()
        });
        assert_eq!(server.root_poa().manager().state(), ManagerState::Active);
        let client = client();
        let port = server.addresses().unwrap()[0].port;
        let url = format!("corbaloc::127.0.0.1:{port}/Target");
        for text in [url, server.object_to_string(&target)] {
            let target: Target = client.resolve(&text).unwrap();
            assert_eq!(target.echo_long(7), Ok(7));
        }
        server.shutdown(true).unwrap();
    });
}

/// The key of a `corbaloc` is forwarded to the object before the first call of an operation. Each call then
/// looked for a servant of the client's own ORB, which made it twice as long.
#[test]
fn a_reference_that_was_forwarded_before_its_first_call_is_known_to_be_remote() {
    let (server, _) = server(listening());
    let port = server.addresses().unwrap()[0].port;
    let url = format!("corbaloc::127.0.0.1:{port}/Target");
    let target: Target = client().resolve(&url).unwrap();
    assert_eq!(target.echo_long(7), Ok(7));
    assert!(!target.as_object().may_be_collocated());
    // One of the ORB's own is called in place all the same.
    let own: Target = server.resolve(&url).unwrap();
    assert_eq!(own.echo_long(7), Ok(7));
    assert!(own.as_object().may_be_collocated());
    server.shutdown(true).unwrap();
}

#[test]
fn a_reference_is_read_from_a_file() {
    let (server, target) = server(listening());
    let client = client();
    let folder = Folder::new("short-forms");
    let text = server.object_to_string(&target);
    let port = server.addresses().unwrap()[0].port;
    for content in [
        text.clone(),
        format!("\n {text}\r\n"),
        format!("corbaloc::127.0.0.1:{port}/Target\n"),
    ] {
        let url = folder.file("a reference", content.as_bytes());
        for url in [url.clone(), url.replace(' ', "%20")] {
            let target: Target = client.resolve(&url).unwrap();
            assert_eq!(target.echo_long(7), Ok(7));
        }
    }
    server.shutdown(true).unwrap();
}

#[test]
fn a_file_without_a_reference_is_an_error_that_names_it() {
    let orb = client();
    let folder = Folder::new("no-references");
    let again = folder.file("again", b"file:///etc/hostname");
    let binary = folder.file("binary", &[0xFF; 40]);
    let endless = folder.file("endless", &vec![b' '; (1 << 20) + 1]);
    let missing = format!("file://{}", folder.0.join("missing").display());
    let empty = folder.file("empty", b"\n");
    for url in [again, binary, endless, missing, empty, "file:".to_owned()] {
        let error = orb.string_to_object(&url).unwrap_err();
        assert!(matches!(error, ObjectError::File { .. }), "{url}: {error}");
        let shown = error.to_string();
        assert!(url.len() < 7 || shown.contains(&url[7..]), "{shown}");
    }
}

/// `initial_reference = NAME=file:…` was refused as no object URL, while `Orb::resolve` read
/// the same text.
#[test]
fn initial_references_come_from_files() {
    let (server, target) = server(listening());
    let folder = Folder::new("initial-references");
    let url = folder.file("Target.ref", server.object_to_string(&target).as_bytes());
    let here = folder.0.display();
    let in_file = |text: &str| {
        let path = folder.0.join("orb.toml");
        fs::write(&path, text).unwrap();
        Config::from_file(path).unwrap()
    };
    let mut args = vec!["-ORBInitRef".to_owned(), format!("Mine={url}")];
    for config in [
        Config::from_args(&mut args).unwrap(),
        in_file(&format!("initial_reference.Mine = '{url}'\n")),
        // Relative paths begin at the folder of the file.
        in_file("initial_reference.Mine = 'file:Target.ref'\n"),
        in_file("initial_reference = ['Mine=file://Target.ref']\n"),
    ] {
        let client = Orb::new(config).unwrap();
        let object = client.resolve_initial_references("Mine").unwrap();
        assert_eq!(object.non_existent(), Ok(false));
        let same: Target = client.resolve("corbaloc:rir:/Mine").unwrap();
        assert_eq!(same.echo_long(7), Ok(7));
        assert_eq!(client.list_initial_services(), ["Mine"]);
    }
    // The name is that of the file.
    folder.file("Other", server.object_to_string(&target).as_bytes());
    let client = Orb::new(in_file("default_initial_reference = 'file:.'\n")).unwrap();
    assert!(client.resolve_initial_references("Other").is_ok());
    // A file that is not there, no reference, or one that leads back.
    folder.file("nonsense", b"?");
    folder.file("circle", b"corbaloc:rir:/circle");
    for (name, said) in [
        ("missing", format!("{here}/./missing: ")),
        (
            "nonsense",
            format!("no initial reference `nonsense`: the file {here}"),
        ),
        ("circle", "no initial reference `circle`".to_owned()),
    ] {
        let error = client.resolve_initial_references(name).unwrap_err();
        assert!(error.to_string().contains(&said), "{error}");
        let error = client.resolve::<Target>(&format!("corbaloc:rir:/{name}"));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&said), "{error}");
    }
    let nothing = Config::default().set("initial_reference", "X=file:");
    let nothing = nothing.unwrap_err().to_string();
    assert!(nothing.contains("names no file"), "{nothing}");
    server.shutdown(true).unwrap();
}

#[test]
fn unresolvable_names_are_reported_in_a_sentence() {
    let (server, target) = server(listening());
    let client = client();
    let text = server.object_to_string(&target);
    let wrong = client.resolve::<kitchen::Peer>(&text).unwrap_err();
    assert!(matches!(
        wrong,
        ResolveError::Interface {
            error: NarrowError::WrongType,
            ..
        }
    ));
    let shown = format!("{wrong:?}");
    assert!(shown.starts_with("`IOR:"), "{shown}");
    assert!(shown.len() < 250, "{shown}");
    assert!(shown.contains(kitchen::Peer::REPOSITORY_ID), "{shown}");
    let nonsense = client.resolve::<Target>("nonsense").unwrap_err();
    assert!(nonsense.to_string().starts_with("`nonsense`: "));
    server.shutdown(true).unwrap();
}

#[test]
fn nothing_is_served_by_an_orb_that_has_ended() {
    let orb = Orb::new(listening()).unwrap();
    orb.shutdown(true).unwrap();
    let refused = orb.serve::<Target, _>("Target", TargetState::default());
    assert!(matches!(refused, Err(PoaError::System(_))), "{refused:?}");
}
