// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unix sockets keep the contract of streams, and are careful with files.

mod paths {
    use crate::conformance;
    use orbium_transport::Unix;

    conformance!(Unix, "uiop://");
}

#[cfg(target_os = "linux")]
mod names {
    use crate::conformance;
    use orbium_transport::Unix;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// One that no other test has.
    fn unique() -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        format!("uiop://@orbium-test-{}-{next}", std::process::id())
    }

    conformance!(Unix, unique());
}

mod files {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::{Path, PathBuf};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use orbium_transport::{
        Deadline, EndpointError, ListenError, Peer, ProtocolProperties, StreamTransport, Unix,
    };

    use crate::conformance::pair::{accept, connect, listen, try_listen};

    /// A directory that goes with the test. Fails if the test left anything.
    struct Directory(PathBuf);

    impl Directory {
        fn new() -> Self {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let next = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("orbium-unix-{}-{next}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn socket(&self) -> PathBuf {
            self.0.join("x.sock")
        }

        fn endpoint(&self) -> String {
            format!("uiop://{}", self.socket().display())
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
            entries
                .map(|e| name(e).to_string_lossy().into_owned())
                .collect()
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn refusal(endpoint: &str) -> io::ErrorKind {
        match try_listen(&Unix, endpoint) {
            Err(ListenError::Io(error)) => error.kind(),
            other => panic!("{endpoint}: {other:?}"),
        }
    }

    /// The file of a socket without a listener.
    fn leave_dead(path: &Path) {
        drop(UnixListener::bind(path).unwrap());
        assert!(fs::metadata(path).unwrap().file_type().is_socket());
    }

    /// Conformance: protocols - Unix sockets: files, modes, credentials of the peer
    #[test]
    fn file_comes_and_goes_with_the_acceptor() {
        let directory = Directory::new();
        let acceptor = listen(&Unix, &directory.endpoint());
        assert_eq!(acceptor.address(), directory.socket().to_str().unwrap());
        assert_eq!(directory.names(), ["x.sock"]);
        drop(acceptor);
        assert_eq!(directory.names(), [""; 0]);
    }

    #[test]
    fn made_up_path_is_ours_alone() {
        let (one, other) = (listen(&Unix, "uiop://"), listen(&Unix, "uiop://"));
        assert_ne!(one.address(), other.address());
        let path = PathBuf::from(one.address());
        let directory = path.parent().unwrap().to_owned();
        let mode = fs::metadata(&directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(one);
        assert!(!directory.exists());
        let open = listen(&Unix, "uiop://?mode=0666");
        let path = PathBuf::from(open.address());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o666);
        assert_eq!(mode(path.parent().unwrap()), 0o711);
    }

    /// Conformance: protocols - Unix sockets: files, modes, credentials of the peer
    #[test]
    fn mode_is_that_of_the_file() {
        let directory = Directory::new();
        for mode in [0o600, 0o660, 0o777] {
            let endpoint = format!("{}?mode={mode:04o}", directory.endpoint());
            let _acceptor = listen(&Unix, &endpoint);
            let found = fs::metadata(directory.socket()).unwrap().permissions();
            assert_eq!(found.mode() & 0o777, mode);
        }
        for bad in ["mode=9", "mode=", "mode=1777", "mode=-1", "mode=+600"] {
            let error = try_listen(&Unix, &format!("{}?{bad}", directory.endpoint()));
            let Err(ListenError::Endpoint(EndpointError::BadParameter(_))) = error else {
                panic!("{bad}: {error:?}");
            };
        }
    }

    #[test]
    fn dead_file_is_replaced_and_a_live_one_is_not() {
        let directory = Directory::new();
        leave_dead(&directory.socket());
        let acceptor = listen(&Unix, &directory.endpoint());
        for _ in 0..2 {
            assert_eq!(refusal(&directory.endpoint()), io::ErrorKind::AddrInUse);
        }
        // The attempts have shown as connections that ended at once.
        let client = connect(&Unix, acceptor.address()).unwrap();
        for _ in 0..2 {
            assert_eq!(accept(&*acceptor).receive(&mut [0; 4]).unwrap(), 0);
        }
        client.send(b"a").unwrap();
        assert_eq!(accept(&*acceptor).receive(&mut [0; 4]).unwrap(), 1);
        drop(acceptor);

        // Nor one of a program that knows nothing of locks.
        let foreign = UnixListener::bind(directory.socket()).unwrap();
        assert_eq!(refusal(&directory.endpoint()), io::ErrorKind::AddrInUse);
        drop(foreign);
        let datagrams = std::os::unix::net::UnixDatagram::bind(directory.0.join("d")).unwrap();
        let endpoint = format!("uiop://{}/d", directory.0.display());
        assert_eq!(refusal(&endpoint), io::ErrorKind::AddrInUse);
        drop(datagrams);
    }

    #[test]
    fn files_that_are_no_socket_are_left_alone() {
        let directory = Directory::new();
        fs::write(directory.socket(), "precious").unwrap();
        assert_eq!(refusal(&directory.endpoint()), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(directory.socket()).unwrap(), "precious");
        fs::remove_file(directory.socket()).unwrap();

        // A link to a dead socket is a link.
        leave_dead(&directory.0.join("dead"));
        symlink("dead", directory.socket()).unwrap();
        assert_eq!(refusal(&directory.endpoint()), io::ErrorKind::AlreadyExists);
        assert!(directory.socket().is_symlink());
        fs::remove_file(directory.socket()).unwrap();

        fs::create_dir(directory.socket()).unwrap();
        assert_eq!(refusal(&directory.endpoint()), io::ErrorKind::AlreadyExists);
        let nowhere = format!("uiop://{}/no/x", directory.0.display());
        assert_eq!(refusal(&nowhere), io::ErrorKind::NotFound);

        // Nor is a lock file that leads elsewhere followed.
        let endpoint = format!("uiop://{}/y", directory.0.display());
        symlink("victim", directory.0.join("y.lock")).unwrap();
        assert!(try_listen(&Unix, &endpoint).is_err());
        assert!(!directory.0.join("victim").exists());
    }

    #[test]
    fn file_of_another_is_not_removed() {
        let directory = Directory::new();
        let acceptor = listen(&Unix, &directory.endpoint());
        fs::remove_file(directory.socket()).unwrap();
        let successor = listen(&Unix, &directory.endpoint());
        drop(acceptor);
        connect(&Unix, successor.address()).unwrap();
        drop(successor);
        assert_eq!(directory.names(), [""; 0]);
    }

    /// Conformance: protocols - Unix sockets: files, modes, credentials of the peer
    #[test]
    fn one_of_many_takes_a_dead_file_over() {
        const THREADS: usize = 8;
        // Without the lock it takes a hundred or so to see two of them.
        for _ in 0..300 {
            let directory = Directory::new();
            leave_dead(&directory.socket());
            let (start, end) = (Barrier::new(THREADS), Barrier::new(THREADS));
            let winners = AtomicU32::new(0);
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        start.wait();
                        let taken = try_listen(&Unix, &directory.endpoint());
                        winners.fetch_add(taken.is_ok().into(), Ordering::Relaxed);
                        end.wait();
                        if taken.is_ok() {
                            connect(&Unix, directory.socket().to_str().unwrap()).unwrap();
                        }
                    });
                }
            });
            assert_eq!(winners.into_inner(), 1);
            assert_eq!(directory.names(), [""; 0]);
        }
    }

    /// Conformance: protocols - endpoints that make no sense
    #[test]
    fn addresses_that_no_socket_can_have() {
        let long = "x".repeat(200);
        let properties = ProtocolProperties::default();
        for address in ["", "@", "/a\0b", &format!("/{long}"), &format!("@{long}")] {
            let error = Unix.connector(address, &properties).unwrap_err();
            assert_eq!(error, EndpointError::BadPath(address.to_owned()));
        }
        for endpoint in [
            format!("uiop:///{long}"),
            format!("uiop://{long}"),
            format!("uiop://@{long}"),
            format!("uiop://?publish=/{long}"),
        ] {
            let error = try_listen(&Unix, &endpoint);
            let Err(ListenError::Endpoint(EndpointError::BadPath(_))) = error else {
                panic!("{endpoint}: {error:?}");
            };
        }
        let error = try_listen(&Unix, "uiop://@orbium?mode=0600");
        assert!(matches!(error, Err(ListenError::Endpoint(_))));
        let error = try_listen(&Unix, "uiop://?moed=0600");
        let Err(ListenError::Endpoint(EndpointError::UnknownParameter(_))) = error else {
            panic!("{error:?}");
        };
    }

    /// Conformance: complaint 13 - behind NAT the private address is handed out; 0.0.0.0 in
    /// references
    #[test]
    fn published_path_may_differ() {
        let directory = Directory::new();
        let inside = format!("{}?publish=/elsewhere/x.sock", directory.endpoint());
        assert_eq!(listen(&Unix, &inside).address(), "/elsewhere/x.sock");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn names_outside_of_the_file_system_are_unique() {
        let endpoint = format!("uiop://@orbium-unique-{}", std::process::id());
        let acceptor = listen(&Unix, &endpoint);
        assert_eq!(refusal(&endpoint), io::ErrorKind::AddrInUse);
        drop(acceptor);
        drop(listen(&Unix, &endpoint));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn kernel_reports_the_credentials_of_the_peer() {
        let acceptor = listen(&Unix, "uiop://");
        let client = connect(&Unix, acceptor.address()).unwrap();
        let server = accept(&*acceptor);
        let expected = Peer::Process {
            pid: Some(std::process::id()),
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        };
        assert_eq!(client.peer(), expected);
        assert_eq!(server.peer(), expected);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn full_queue_is_waited_for_up_to_the_deadline() {
        use socket2::{Domain, SockAddr, Socket, Type};
        let directory = Directory::new();
        let listener = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        let address = SockAddr::unix(directory.socket()).unwrap();
        listener.bind(&address).unwrap();
        listener.listen(0).unwrap();
        let connector = Unix
            .connector(
                directory.socket().to_str().unwrap(),
                &ProtocolProperties::default(),
            )
            .unwrap();
        let mut waiting = Vec::new();
        let error = loop {
            match connector.connect(Deadline::after(Some(Duration::from_millis(20)))) {
                Ok(stream) => waiting.push(stream),
                Err(error) => break error,
            }
            assert!(waiting.len() < 10);
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        // Somebody is there nevertheless.
        assert_eq!(refusal(&directory.endpoint()), io::ErrorKind::AddrInUse);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| connector.connect(crate::conformance::pair::deadline()));
            listener.accept().unwrap();
            waiter.join().unwrap().unwrap();
        });
    }
}
