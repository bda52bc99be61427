// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium name`, and names wherever a reference is expected, with omniNames.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::{env, fs, thread};

use orbium::giop::Ior;
use orbium_testkit::{FakeServer, PATIENCE, reference};

use crate::program::{Server, run};

/// omniNames, until it is dropped.
struct OmniNames {
    child: Child,
    data: PathBuf,
    port: u16,
}

impl OmniNames {
    /// `None`, and a line that says so, where it is not installed.
    fn start(test: &str) -> Option<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        if !env::split_paths(&path).any(|folder| folder.join("omniNames").is_file()) {
            orbium_testkit::skipped_peer("omniNames is missing");
            return None;
        }
        let data = env::temp_dir().join(format!("orbium-name-{}-{test}", std::process::id()));
        fs::create_dir_all(&data).unwrap();
        let mut child = Command::new("omniNames")
            .args(["-start", "-ORBendPoint", "giop:tcp:127.0.0.1:0", "-datadir"])
            .arg(&data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let mut names = Self {
            child,
            data,
            port: 0,
        };
        let (send, received) = mpsc::channel();
        thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if let Some(at) = line.find("IOR:") {
                    let _ = send.send(line[at..].trim_end_matches('.').to_owned());
                }
            }
        });
        let reference = received.recv_timeout(PATIENCE).expect("a reference");
        let ior: Ior = reference.parse().unwrap();
        names.port = ior.iiop_profiles().next().unwrap().port;
        Some(names)
    }

    /// `corbaname:` of a name.
    fn url(&self, name: &str) -> String {
        format!("corbaname::127.0.0.1:{}#{name}", self.port)
    }
}

impl Drop for OmniNames {
    fn drop(&mut self) {
        // It may have ended, and the folder is only clutter.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.data);
    }
}

/// Conformance: names - `orbium name`, and names in references of the command line
#[test]
fn names_are_bound_listed_resolved_and_unbound() {
    let Some(names) = OmniNames::start("all") else {
        return;
    };
    let server = Server::start([]);
    let (root, cube) = (names.url(""), server.corbaloc("Cube"));
    let (root, plant) = (root.as_str(), names.url("plant"));

    run(["name", "bind", root, "plant/hall.h/cube", cube]).assert_failed_saying(
        "`plant/hall.h/cube`: `plant`, of the rest `plant/hall.h/cube`, is not bound",
    );
    run(["name", "bind", "--parents", root, "plant/hall.h/cube", cube]).assert_done();
    run(["name", "bind", root, "plant/hall.h/cube", cube]).assert_failed_saying("bound already");
    run(["name", "bind", "--rebind", root, "plant/hall.h/cube", cube]).assert_done();
    run(["name", "bind", &plant, r"with\.dot", cube]).assert_done();
    // A context within itself.
    run(["name", "bind", "--context-binding", &plant, "again", &plant]).assert_done();

    let listed = run(["name", "list", &plant]);
    listed.assert_done();
    assert_eq!(listed.stdout, "again/\nhall.h/\nwith\\.dot\n");
    let listed = run(["name", "list", "--json", &plant]).json();
    assert_eq!(listed[1]["name"], "hall.h");
    assert_eq!(listed[1]["kind"], "context");
    let tree = run(["name", "tree", root]);
    tree.assert_done();
    assert_eq!(
        tree.stdout,
        "plant/\n  again/  (shown already)\n  hall.h/\n    cube\n  with\\.dot\n"
    );
    let tree = run(["name", "tree", root, "--json"]).json();
    assert_eq!(tree[0]["bindings"][1]["bindings"][0]["name"], "cube");

    // The name, in every place.
    let url = names.url("plant/hall.h/cube");
    run(["ping", &url, "-c", "1"]).assert_done();
    run(["ping", &names.url("plant/hall.h/sphere")]).assert_failed_saying("`sphere` is not bound");
    let service = format!("NameService=corbaloc::127.0.0.1:{}/NameService", names.port);
    let arguments = ["--init-ref", &service];
    let resolved = run(["name", "resolve", "rir", "plant/hall.h/cube"]
        .into_iter()
        .chain(arguments));
    resolved.assert_done();
    assert!(resolved.stdout.starts_with("IOR:"), "{resolved:?}");
    run(["name", "list", "rir"]).assert_failed_saying("no initial reference `NameService`");

    run(["name", "unbind", &plant, "hall.h/cube"]).assert_done();
    run(["name", "unbind", &plant, "hall.h/cube"]).assert_failed_saying("`cube` is not bound");
    let wrong = run(["name", "unbind", root, "a//b"]);
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
}

/// Regression: the first 100,000 bindings looked like all, with the status of success.
#[test]
fn a_list_that_is_cut_says_so_and_fails() {
    for command in ["list", "tree"] {
        let server = FakeServer::listen();
        let mut context = reference(2, &[server.port()], b"names", &[]);
        context.type_id = "IDL:omg.org/CosNaming/NamingContext:1.0".to_owned();
        let answering = thread::spawn(move || {
            let mut peer = server.accept();
            let request = peer.expect_request("list");
            peer.answer(&request, |writer| {
                writer.write_u32(100_001);
                for _ in 0..100_001 {
                    // A name of one component, and the kind of an object.
                    writer.write_u32(1);
                    writer.write_name("a");
                    writer.write_name("");
                    writer.write_u32(0);
                }
                // No iterator: a nil reference.
                writer.write_name("");
                writer.write_u32(0);
            });
            peer.expect_end();
        });
        let ran = run(["name", command, &context.to_string()]);
        assert_eq!(ran.status, Some(1), "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("not all bindings"), "{}", ran.stderr);
        assert_eq!(ran.stdout.lines().count(), 100_000);
        answering.join().unwrap();
    }
}
