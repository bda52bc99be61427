// SPDX-License-Identifier: MIT OR Apache-2.0
//! The examples of `docs/protocols.md`, and tests that keep that page true: its
//! commands are run, its code is compiled here or in the examples, its addresses
//! are read.
#![cfg(target_os = "linux")]

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::program::Folder;
use custom_messaging::Checksum;
use orbium::giop::ObjectUrl;
use orbium::media::{FrameKind, MediaOptions, MediaReceiver, MediaSender, Time};
use orbium::{
    Config, Interface, Orb,
    poa::Policies,
    protocol::{Protocols, TrustedLibrary},
    transport::{Endpoint, ProtocolProperties, Transport},
};
use orbium_demo::ReceiverServant;
use orbium_demo::cubit::Cube;
use orbium_demo::ttcp::Receiver;
use orbium_testkit::essence;
use orbium_tls::{ClientAuthentication, Tls, TlsConfig};

type Tested = Result<(), Box<dyn Error>>;

#[test]
fn several_protocols_and_policies() -> Tested {
    let server = Orb::builder()
        .endpoint("iiop://127.0.0.1:0")?
        .endpoint("uiop://")?
        .endpoint("iiop://127.0.0.1:0?messaging=giop-lite")?
        .build()?;
    let served = orbium_demo::serve(&server)?;
    let reference = server.object_to_string(&served.cube);
    let client = Orb::builder()
        .client_protocols("uiop,iiop".parse()?)
        .build()?;
    let cube: Cube = orbium::narrow(client.string_to_object(&reference)?)?;
    let remote = cube.with_protocols("iiop/giop-lite".parse()?);
    cube.noop()?;
    remote.noop()?;
    let used = |cube: &Cube| cube.as_object().protocols()[0].channel.clone();
    assert_eq!(used(&cube).map(|used| used.protocol()), Some("uiop".into()));
    assert_eq!(
        used(&remote).map(|used| used.protocol()),
        Some("iiop/giop-lite".into())
    );

    let root = server.root_poa();
    let policies = Policies {
        protocols: Some("iiop".parse()?),
        ..Policies::default()
    };
    let public = root.create_poa("public", Some(root.manager()), policies)?;
    let receiver: Receiver = public.activate(ReceiverServant::default())?;
    let object = client
        .string_to_object(&server.object_to_string(&receiver))?
        .ok_or("nil")?;
    for offered in object.protocols() {
        println!("{offered}");
    }
    assert_eq!(object.protocols().len(), 1);

    let cube = cube.with_protocols("ssliop".parse()?);
    if let Err(exception) = cube.noop() {
        match orbium::diagnostics::last_failure().filter(|failure| failure.exception == exception) {
            Some(failure) => println!("{failure}"),
            None => println!("{exception}"),
        }
    }
    let reasons = orbium::diagnostics::last_failure()
        .ok_or("a failure")?
        .reasons();
    assert_eq!(
        reasons.matches("the policy does not name it").count(),
        3,
        "{reasons}"
    );
    Ok(())
}

#[test]
fn protocols_that_are_chosen() -> Tested {
    let config = Config {
        protocols: Protocols::default().only(["uiop", "giop-lite"])?,
        ..Config::default()
    };
    assert_eq!(config.protocols.schemes().collect::<Vec<_>>(), ["uiop"]);
    Ok(())
}

#[test]
fn tls() -> Tested {
    let folder = Folder::new();
    let own = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    folder.file("server.pem", own.cert.pem());
    folder.file("authority.pem", own.cert.pem());
    folder.file("server.key", own.signing_key.serialize_pem());
    let folder = PathBuf::from(folder.path(""));
    let tls = Tls::new(TlsConfig {
        certificate: Some(folder.join("server.pem")),
        key: Some(folder.join("server.key")),
        authorities: Some(folder.join("authority.pem")),
        client_authentication: ClientAuthentication::Require,
        ..TlsConfig::default()
    })?;
    let orb = Orb::builder()
        .transport(Transport::stream(tls))
        .endpoint("ssliop://127.0.0.1:0")?
        .build()?;
    assert_eq!(orb.channels()?[0].protocol(), "ssliop");
    Ok(())
}

#[test]
fn a_group() -> Tested {
    let member = Orb::builder()
        .endpoint("miop://239.255.0.7:0?interface=lo")?
        .build()?;
    let receiver: Receiver = member.root_poa().activate(ReceiverServant::default())?;
    let at = &member.channels()?[0].address;
    let url = format!("corbaloc:miop:1.0@1.0-lab-7/{at}");
    let group = member.string_to_object(&url)?.ok_or("a group")?;
    member.join_group(&group, receiver.as_object())?;
    Ok(())
}

#[test]
fn media() -> Tested {
    let orb = Orb::builder().build()?;
    let picture = [7; 5000];
    let receiver = MediaReceiver::bind(&orb, "diop://127.0.0.1:0", MediaOptions::default())?;
    let reference = orb.object_to_string(receiver.reference());
    let target = orb.string_to_object(&reference)?.ok_or("nil")?;
    let mut sender = MediaSender::connect(&orb, &target)?;
    sender.send(FrameKind::Key, Time::Ticks(3600), &picture)?;
    let mut receiver = receiver;
    assert_eq!(receiver.receive()?.payload(), picture);
    Ok(())
}

/// The library of `examples/custom-transport`, which Cargo builds with these
/// tests.
fn library() -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let tests = std::env::current_exe().unwrap();
    tests.with_file_name(format!("{DLL_PREFIX}custom_transport{DLL_SUFFIX}"))
}

#[test]
fn a_library() -> Tested {
    let library = library();
    let mut config = Config::default();
    // SAFETY: no other user can write this file, and it was built with this program.
    let library = unsafe { TrustedLibrary::new(library) };
    config.protocols.load(&library)?;
    assert!(config.protocols.transport("pipe").is_some());
    Ok(())
}

#[test]
fn a_checksum() -> Tested {
    let orb = Orb::builder()
        .messaging(Checksum)
        .endpoint("uiop://?messaging=giop-lite,checksum")?
        .build()?;
    let served = orbium_demo::serve(&orb)?;
    let client = Orb::builder().messaging(Checksum).build()?;
    let reference = orb.object_to_string(&served.cube);
    let cube: Cube = orbium::narrow(client.string_to_object(&reference)?)?;
    assert_eq!(cube.cube_long(3)?, 27);
    Ok(())
}

// What keeps the page true.

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/protocols.md")).unwrap()
}

/// What stands behind the back-quotes of a block, and the block.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("\n```").skip(1).step_by(2);
    blocks
        .map(|block| block.split_once('\n').unwrap_or((block, "")))
        .collect()
}

/// All files of a folder and of those in it, one after the other.
fn all_files(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.push_str(&all_files(&path));
        } else {
            all.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    all
}

/// Code is compiled in this file or in the examples; `…` stands for what is left
/// out.
///
/// Conformance: protocols - the page on protocols is true
#[test]
fn every_piece_of_code_is_real() {
    let page = page();
    let examples = root().join("examples");
    let own = fs::read_to_string(root().join("crates/orbium-cli/tests/suite/protocols_page.rs"));
    let sources = own.unwrap()
        + &all_files(&examples.join("custom-transport"))
        + &all_files(&examples.join("custom-messaging"));
    let (rust, plain) = (essence(&sources), sources);
    let mut pieces = 0;
    for (fence, code) in blocks(&page) {
        match fence {
            "rust" => {
                for piece in essence(code).split('…') {
                    assert!(
                        rust.contains(piece),
                        "compiled nowhere:\n{piece}\nof\n{code}"
                    );
                }
            }
            "toml" => assert!(plain.contains(code.trim()), "in no manifest:\n{code}"),
            "sh" | "sh server" | "sh refused" | "text" => continue,
            other => panic!("who looks whether `{other}` is true?"),
        }
        pieces += 1;
    }
    assert!(pieces > 20, "only {pieces} pieces of code");
}

/// Whatever looks like an endpoint or an object URL can be read as one.
///
/// Conformance: protocols - the page on protocols is true
#[test]
fn every_address_can_be_read() {
    let page = page();
    let (mut endpoints, mut urls) = (0, 0);
    for quoted in page.split('`').skip(1).step_by(2) {
        let text = quoted.replace("\\|", "|");
        if text.starts_with("corbaloc:") && text.len() > "corbaloc:".len() {
            if let Err(error) = ObjectUrl::parse(&text) {
                panic!("{text}: {error}");
            }
            urls += 1;
        } else if text.contains("://") && !text.contains(['\n', ' ']) && !text.starts_with("://") {
            if let Err(error) = text.parse::<Endpoint>() {
                panic!("{text}: {error}");
            }
            endpoints += 1;
        }
    }
    assert!(
        endpoints > 10 && urls > 6,
        "{endpoints} endpoints, {urls} URLs"
    );
}

#[test]
fn every_protocol_property_is_on_the_page() {
    let page = page();
    let names = [
        ProtocolProperties::TCP_NAMES,
        ProtocolProperties::UNIX_NAMES,
        ProtocolProperties::UDP_NAMES,
        ProtocolProperties::MULTICAST_NAMES,
    ];
    for name in names.into_iter().flatten() {
        assert!(page.contains(&format!("`{name}`")), "{name} is missing");
    }
    let protocols = Protocols::default();
    for name in protocols.schemes().chain(protocols.messaging()) {
        assert!(page.contains(&format!("| `{name}` |")), "{name} is missing");
    }
}

/// A server that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Neither matters to one that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A shell in a folder, to which `orbium` is the program that was built.
fn shell(folder: &Folder, script: &str) -> Command {
    let built = Path::new(env!("CARGO_BIN_EXE_orbium")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell
        .args(["-e", "-c", script])
        .env("PATH", format!("{}:{path}", built.display()))
        .current_dir(folder.path(""))
        .stdin(Stdio::null());
    shell
}

/// Starts what serves and waits until it does.
fn start(folder: &Folder, script: &str) -> Running {
    // The shell makes way for it, so that it ends with this test.
    let mut child = shell(folder, &format!("exec {script}"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let running = Running(child);
    let mut lines = output.lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "READY"), "not ready:\n{script}");
    running
}

fn assert_says(ran: &Output, expected: &str, script: &str) {
    let said = String::from_utf8_lossy(&ran.stderr);
    let mut rest = &*said;
    for piece in expected.trim_end_matches('\n').split('…') {
        let Some((_, behind)) = rest.split_once(piece) else {
            panic!("{script}\nsays\n{said}\nand not\n{expected}");
        };
        rest = behind;
    }
}

/// Commands are run one after the other in an empty folder: servers go on until
/// the end, all others have to succeed, or to be refused with the text that
/// follows.
///
/// Conformance: protocols - the page on protocols is true
#[test]
fn every_command_works() {
    let has_openssl = Command::new("openssl").arg("version").output().is_ok();
    if !has_openssl {
        orbium_testkit::skipped("the commands about TLS of docs/protocols.md: no openssl");
    }
    let folder = Folder::new();
    fs::copy(library(), folder.path("libcustom_transport.so")).unwrap();
    let (page, mut servers, mut refused, mut commands) = (page(), Vec::new(), None, 0);
    for (fence, script) in blocks(&page) {
        let of_tls = script.contains("openssl") || script.contains("--tls");
        if of_tls && !has_openssl {
            refused = None;
            continue;
        }
        match fence {
            "sh server" => servers.push(start(&folder, script)),
            "sh" => {
                let ran = shell(&folder, script).output().unwrap();
                assert!(ran.status.success(), "{script}\n{ran:?}");
            }
            "sh refused" => {
                let ran = shell(&folder, script).output().unwrap();
                assert!(!ran.status.success(), "not refused:\n{script}");
                refused = Some((ran, script));
                continue;
            }
            "text" => {
                if let Some((ran, command)) = refused.take() {
                    assert_says(&ran, script, command);
                }
                continue;
            }
            _ => continue,
        }
        commands += 1;
    }
    assert!(commands > 12, "only {commands} commands");
}
