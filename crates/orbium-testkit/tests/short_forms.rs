// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Orb::serve`, `Orb::resolve`, and references in files.

use std::fs;
use std::path::PathBuf;

use orbium::{
    Config, Interface, ManagerState, NarrowError, ObjectError, Orb, PoaError, ResolveError,
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
    for url in [again, binary, endless, missing, "file:".to_owned()] {
        let error = orb.string_to_object(&url).unwrap_err();
        assert!(matches!(error, ObjectError::File { .. }), "{url}: {error}");
        let shown = error.to_string();
        assert!(url.len() < 7 || shown.contains(&url[7..]), "{shown}");
    }
    let empty = folder.file("empty", b"\n");
    let error = orb.string_to_object(&empty).unwrap_err();
    assert!(matches!(error, ObjectError::Url(_)), "{error}");
}

#[test]
fn what_cannot_be_resolved_is_told_in_a_sentence() {
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
