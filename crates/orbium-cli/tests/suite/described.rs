// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls by the description of one interface of a large repository.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use orbium::interceptor::{Interceptors, Interrupt, ReceiveRequest, ServerInterceptor};
use orbium::{Config, Orb};
use orbium_demo::serve;
use orbium_idl::{Options, compile_source};
use orbium_ifr::InterfaceRepository;

use crate::program::{orbium, project_idl, run, run_with};

/// Records the operations that are called.
struct Observer(Arc<Mutex<Vec<String>>>);

impl ServerInterceptor for Observer {
    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        let operation = request.operation().into_owned();
        self.0.lock().unwrap().push(operation);
        Ok(())
    }
}

/// `Cubit::Cube` and `Kitchen::Peer`, and a repository that defines them among 1,000 other
/// interfaces.
struct Large {
    orb: Orb,
    repository: InterfaceRepository,
    cube: String,
    peer: String,
    operations: Arc<Mutex<Vec<String>>>,
}

impl Large {
    fn new() -> Self {
        let operations = Arc::<Mutex<Vec<String>>>::default();
        let mut interceptors = Interceptors::new();
        let observer = Observer(Arc::clone(&operations));
        interceptors.add_server(observer).unwrap();
        let orb = Orb::new(Config {
            endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
            interceptors,
            ..Config::default()
        });
        let orb = orb.unwrap();
        let served = serve(&orb).unwrap();
        let repository = InterfaceRepository::in_memory(&orb).unwrap();
        let files = ["cubit.idl", "kitchen.idl"].map(|it| {
            let text = std::fs::read_to_string(project_idl(it));
            text.unwrap()
        });
        let mut idl = files.join("\n");
        for number in 0..1000 {
            let _ = writeln!(idl, "interface Other{number} {{ void noop(); }};");
        }
        let compiled = compile_source(&Options::new(), "large.idl", &idl);
        repository.load(&compiled.model.unwrap()).unwrap();
        Self {
            cube: orb.object_to_string(&served.cube),
            peer: orb.object_to_string(&served.peer),
            orb,
            repository,
            operations,
        }
    }

    fn repository(&self) -> String {
        self.orb.object_to_string(&self.repository.reference())
    }

    /// The operations that were called since the last time.
    fn called(&self) -> Vec<String> {
        std::mem::take(&mut self.operations.lock().unwrap())
    }

    /// Asserts that one interface was described, and nothing else of the repository was read.
    #[track_caller]
    fn assert_one_described(&self) {
        let called = self.called();
        let described = called.iter().filter(|it| it.starts_with("describe_"));
        assert_eq!(described.count(), 1, "{called:?}");
        assert!(called.len() <= 8, "{called:?}");
    }
}

impl Large {
    /// Asserts that the 1,000 other interfaces were not read.
    #[track_caller]
    fn assert_little_read(&self) {
        let called = self.called();
        assert!((1..=400).contains(&called.len()), "{}", called.len());
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

/// Conformance: ORB - Interface Repository - `orbium call` has the one interface described
#[test]
fn a_call_reads_one_interface_of_a_repository() {
    let large = Large::new();
    let repository = large.repository();
    let key = large.cube.clone();
    let ways: [&[&str]; 3] = [
        &["--ifr", &repository],
        &[],
        &["--ifr", &repository, "--interface", "Cubit::Cube"],
    ];
    for way in ways {
        let call = ["call", "--json", &key]
            .into_iter()
            .chain(way.iter().copied());
        let ran = run(call.clone().chain(["cube_long", "3"]));
        ran.assert_done();
        assert_eq!(ran.stdout, "{\"$return\":27}\n");
        large.assert_one_described();

        let ran = run(call.clone().chain(["calls"]));
        ran.assert_done();
        large.assert_one_described();

        let refused = run(call.chain(["cube_long", "2000"]));
        assert!(
            refused.json()["$exception"] == "IDL:Cubit/TooBig:1.0",
            "{refused:?}"
        );
        large.assert_one_described();
    }
}

/// Conformance: ORB - Interface Repository - `orbium describe` reads the one interface and what it
/// names
#[test]
fn a_description_reads_one_interface_of_a_repository() {
    let large = Large::new();
    let repository = large.repository();
    for (reference, idl) in [(&large.cube, "cubit.idl"), (&large.peer, "kitchen.idl")] {
        let by_file = run(["describe", reference, "--idl", &project_idl(idl)]);
        by_file.assert_done();
        // Comments are not in a repository.
        let lines = by_file.stdout.lines();
        let lines = lines.filter(|it| !it.trim_start().starts_with("//"));
        let mut expected: Vec<_> = lines.collect();
        expected.sort_unstable();
        for way in [&["--ifr", &*repository][..], &[]] {
            large.called();
            let described = run(["describe", reference]
                .into_iter()
                .chain(way.iter().copied()));
            described.assert_done();
            large.assert_little_read();
            // In another order, where IDL leaves that open.
            let mut lines: Vec<_> = described.stdout.lines().collect();
            lines.sort_unstable();
            assert_eq!(lines, expected);
        }
    }
}

/// Conformance: ORB - Interface Repository - `orbium shell` reads the one interface and what it
/// names, and the whole for a call with values
#[test]
fn a_shell_reads_one_interface_of_a_repository() {
    let large = Large::new();
    let ran = run_with(
        ["shell", &large.cube],
        "cube_long 3\n:describe\n:operations\ncalls\n",
    );
    ran.assert_done();
    assert!(ran.stdout.starts_with("27\n"), "{ran:?}");
    large.assert_little_read();

    let ran = run_with(["shell", &large.peer], "label a\nlabel\n");
    ran.assert_done();
    large.assert_little_read();

    let lines =
        "echo_any {\"$type\":\"IDL:Cubit/Many:1.0\",\"$value\":{\"o\":1,\"l\":2,\"s\":3}}\n";
    let ran = run_with(["shell", &large.peer], lines);
    ran.assert_done();
    assert!(ran.stdout.contains("IDL:Cubit/Many:1.0"), "{ran:?}");
    let whole = large.called().into_iter();
    let whole = whole.filter(|it| it == "describe_contents").count();
    assert!(whole > 1000, "{whole}");
}

/// What cannot be called by the description alone is refused as with IDL from a file.
#[test]
fn an_operation_that_an_interface_lacks_is_refused_with_those_that_it_has() {
    let large = Large::new();
    run(["call", &large.cube, "unheard"]).assert_failed_saying("Cubit::Cube has no operation");
    run(["call", &large.cube, "calls", "5"])
        .assert_failed_saying("the attribute `calls` is readonly");
}

/// Conformance: ORB - Interface Repository - completion has the one interface described
#[test]
fn completion_reads_one_interface_of_a_repository() {
    let large = Large::new();
    let mut command = orbium(["--", "orbium", "call", &large.cube, "c"]);
    command
        .env("ORBIUM_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "3")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_SPACE", "true");
    let offered = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let calls = offered.lines().filter(|line| *line == "calls");
    assert_eq!(calls.count(), 1, "{offered}");
    assert!(offered.contains("cube_long"), "{offered}");
    large.assert_one_described();
}
