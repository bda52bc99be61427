// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same transport out of a shared library, in a program that was not linked
//! with it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use orbium::{
    Config, Interface, Orb,
    protocol::{Protocols, TrustedLibrary},
};
use orbium_configurator::Configurator;
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, each_strategy, reach, skipped};

/// A directory of one test, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("orbium-loading-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The library of this package, which Cargo builds beside its tests.
fn library() -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let tests = std::env::current_exe().unwrap();
    let name = format!("{DLL_PREFIX}custom_transport{DLL_SUFFIX}");
    tests.with_file_name(name)
}

/// What a test may load.
fn trusted(path: &Path) -> TrustedLibrary {
    // SAFETY: a test has made the file, in a folder of its own, or Cargo has; those that are
    // libraries have nothing that runs when they are loaded.
    unsafe { TrustedLibrary::new(path) }
}

/// Whether another library has been mapped into this process.
#[cfg(target_os = "linux")]
fn is_mapped(path: &Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.contains(path.file_name().unwrap().to_str().unwrap())
}

/// Both sides have it while they run: for a new endpoint, and for a reference that was there before.
///
/// Conformance: ORB - a running ORB is reconfigured: protocols registered later
#[test]
fn a_library_is_loaded_into_an_orb_that_runs() {
    let folder = Folder::new("later");
    let mut protocols = Protocols::none();
    protocols.load(&trusted(&library())).unwrap();
    let endpoint = format!("pipe://{}", folder.file("served").display());
    let config = Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..Config::default()
    };
    let server = Served::with(config.clone());
    let configurator = Configurator::new(&server.orb, config);
    let pipes = Config {
        endpoints: vec![endpoint.parse().unwrap()],
        ..configurator.config()
    };
    let refused = configurator.reconfigure(pipes).unwrap_err();
    assert!(refused.to_string().contains("`pipe`"), "{refused}");
    configurator.register(protocols.clone()).unwrap();
    let pipes = Config {
        endpoints: vec![endpoint.parse().unwrap()],
        ..configurator.config()
    };
    configurator.reconfigure(pipes).unwrap();

    let state = Arc::new(TargetState::default());
    let object: Target = server.orb.root_poa().activate(state).unwrap();
    let client = Orb::new(Config::default()).unwrap();
    let target = reach(&client, &server.orb.object_to_string(&object));
    assert!(target.noop().is_err());
    let configurator = Configurator::new(&client, Config::default());
    configurator.register(protocols).unwrap();
    assert_eq!(target.echo_string("by pipe").unwrap(), "by pipe");
    let channel = target.as_object().channel().unwrap();
    assert_eq!(channel.scheme, "pipe");
    server.end();
}

/// Conformance: protocols - protocols out of shared libraries
#[test]
fn a_transport_out_of_a_library_is_called_over() {
    let folder = Folder::new("calls");
    let mut protocols = Protocols::none();
    protocols.load(&trusted(&library())).unwrap();
    assert_eq!(protocols.schemes().collect::<Vec<_>>(), ["pipe"]);
    #[cfg(target_os = "linux")]
    assert!(is_mapped(&library()));
    each_strategy(|strategy| {
        let endpoint = format!("pipe://{}", folder.file("served").display());
        let server = Served::with(Config {
            endpoints: vec![endpoint.parse().unwrap()],
            protocols: protocols.clone(),
            strategy,
            ..Config::default()
        });
        let client = Orb::new(Config {
            protocols: protocols.clone(),
            ..Config::default()
        });
        let client = client.unwrap();
        let target = server.seen_by(&client);
        assert_eq!(target.as_object().protocols()[0].to_string(), endpoint);
        assert_eq!(target.echo_string("by pipe").unwrap(), "by pipe");
        let octets = vec![5; 300_000];
        assert_eq!(target.echo_octets(&octets).unwrap(), octets);
        server.end();
    });
}

/// Conformance: TAO 36 - several ORBs of different configuration in a process - loadable modules
#[test]
fn protocols_of_a_library_are_added_to_those_present() {
    let mut protocols = Protocols::default();
    let before: Vec<String> = protocols.schemes().map(str::to_owned).collect();
    protocols.load(&trusted(&library())).unwrap();
    let after: Vec<&str> = protocols.schemes().collect();
    assert_eq!(after[..before.len()], before);
    assert_eq!(after[before.len()..], ["pipe"]);
    // Once more changes nothing.
    let mut again = protocols.clone();
    again.load(&trusted(&library())).unwrap();
    assert_eq!(again.schemes().count(), protocols.schemes().count());
    // By name, as a configuration lists them.
    let chosen = protocols.only(["pipe", "giop-lite"]).unwrap();
    assert_eq!(chosen.schemes().collect::<Vec<_>>(), ["pipe"]);
    assert_eq!(chosen.messaging().collect::<Vec<_>>(), ["giop-lite"]);
    let refused = protocols.only(["pipe", "telex"]).unwrap_err().to_string();
    let sentence = "there is no transport and no messaging `telex` here, only iiop, ";
    assert!(refused.starts_with(sentence), "{refused}");
}

/// Loads what adds nothing; returns the sentence behind the path.
#[track_caller]
fn refusal(path: &Path) -> String {
    let mut protocols = Protocols::none();
    let refused = protocols.load(&trusted(path)).unwrap_err().to_string();
    assert_eq!(protocols, Protocols::none());
    let named = format!("`{}` ", path.display());
    let sentence = refused.strip_prefix(&named);
    sentence.unwrap_or_else(|| panic!("{refused}")).to_owned()
}

/// Conformance: protocols - libraries that are refused
#[test]
fn a_file_that_is_not_there_or_no_library_is_refused() {
    let folder = Folder::new("files");
    let nowhere = refusal(&folder.file("nowhere.so"));
    assert!(nowhere.starts_with("cannot be loaded: "), "{nowhere}");
    let text = folder.file("text.so");
    std::fs::write(&text, "a library, I promise\n".repeat(100)).unwrap();
    let text = refusal(&text);
    assert!(text.starts_with("cannot be loaded: "), "{text}");
    let cut = folder.file("cut.so");
    std::fs::write(&cut, &std::fs::read(library()).unwrap()[..40]).unwrap();
    let cut = refusal(&cut);
    assert!(cut.starts_with("cannot be loaded: "), "{cut}");
}

/// Makes a library of a source in Rust; `None` if there is no compiler.
fn compiled(folder: &Folder, name: &str, source: &str) -> Option<PathBuf> {
    let (input, output) = (folder.file(&format!("{name}.rs")), folder.file(name));
    std::fs::write(&input, source).unwrap();
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let made = Command::new(compiler)
        .args([
            "--crate-type",
            "cdylib",
            "--edition",
            "2024",
            "--crate-name",
            name,
        ])
        .arg("-o")
        .args([&output, &input])
        .output();
    match made {
        Ok(made) if made.status.success() => Some(output),
        Ok(made) => panic!("{}", String::from_utf8_lossy(&made.stderr)),
        Err(error) => {
            skipped(&format!("no compiler to make a library with: {error}"));
            None
        }
    }
}

/// Conformance: protocols - libraries that are refused
#[test]
fn a_library_of_something_else_is_refused() {
    let folder = Folder::new("else");
    let source = "#[unsafe(no_mangle)] pub extern \"C\" fn anything() -> i32 { 5 }";
    let Some(library) = compiled(&folder, "anything", source) else {
        return;
    };
    assert_eq!(
        refusal(&library),
        "exports no ORBIUM_LIBRARY: it was not made for this program"
    );
    let source = "#[unsafe(no_mangle)] pub static ORBIUM_LIBRARY: [u8; 256] = [7; 256];";
    let Some(library) = compiled(&folder, "other_magic", source) else {
        return;
    };
    assert_eq!(
        refusal(&library),
        "exports a ORBIUM_LIBRARY that means something else"
    );
}

/// A declaration by another compiler, whose function must not be called.
const OLD: &str = r#"
#[repr(C)]
pub struct Declaration {
    magic: [u8; 8],
    size: u64,
    built_with: [u8; 112],
    make: fn() -> Box<dyn std::any::Any + Send>,
}

const fn text() -> [u8; 112] {
    let (text, mut octets, mut i) = (b"orbium 0.0.1, rustc 1.0.0", [0; 112], 0);
    while i < text.len() {
        octets[i] = text[i];
        i += 1;
    }
    octets
}

fn make() -> Box<dyn std::any::Any + Send> {
    std::process::abort()
}

#[unsafe(no_mangle)]
pub static ORBIUM_LIBRARY: Declaration = Declaration {
    magic: *b"orbium\x001",
    size: std::mem::size_of::<Declaration>() as u64,
    built_with: text(),
    make,
};
"#;

/// Conformance: protocols - libraries that are refused
#[test]
fn a_library_of_another_compiler_is_refused_uncalled() {
    let folder = Folder::new("old");
    let Some(library) = compiled(&folder, "old", OLD) else {
        return;
    };
    let refused = refusal(&library);
    let start = "was built with orbium 0.0.1, rustc 1.0.0, this program with orbium ";
    assert!(refused.starts_with(start), "{refused}");
    assert!(refused.ends_with(": they must be the same"), "{refused}");
}
