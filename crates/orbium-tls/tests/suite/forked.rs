// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process with TLS connections forks, and both go on. Once the child's copy of a
//! connection sent records with numbers that the parent's then had again, and its
//! end sent the server an alert that ended the parent's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use orbium::{Config, Orb, transport::Transport};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, calling_by, each_client_strategy, in_child, in_own_process};
use orbium_tls::{Tls, TlsConfig};

use crate::realm::{About, Realm};

fn with_tls(config: Config, tls: TlsConfig) -> Config {
    let mut config = config;
    let tls = Tls::new(tls).unwrap();
    config.protocols.register(Transport::stream(tls));
    config
}

fn call(target: &Target, caller: i32) {
    for number in 0..300 {
        let own = caller * 1_000_000 + number;
        assert_eq!(target.echo_long(own), Ok(own), "caller {caller}");
    }
}

/// Conformance: forks - parent and child have their own answers, in every client strategy, over
/// TCP, Unix sockets and shared memory - over TLS
/// Conformance: complaint 19 - calls after `fork` time out
#[test]
fn each_process_has_connections_of_its_own() {
    in_own_process!(|| {
        let realm = Realm::new("authority");
        each_client_strategy(|strategy| {
            let endpoints = vec!["ssliop://127.0.0.1:0".parse().unwrap()];
            let config = Config {
                endpoints,
                ..Config::default()
            };
            let served = Served::with(with_tls(config, realm.config(&About::named("server"))));
            let client = Orb::new(with_tls(calling_by(strategy), realm.trusting())).unwrap();
            let target = served.seen_by(&client);
            call(&target, 0);
            for round in 0..3 {
                let child = in_child(|| {
                    call(&target, 1000 + round);
                    client.shutdown(true).unwrap();
                });
                call(&target, 1 + round);
                child.join();
            }
            // Nor does the end of the child's copies end what the parent has.
            call(&target, 9);
            served.end();
        });
    });
}

// A thread that read the files at the time of a fork held a lock that its copy in the child
// had for ever, and a look under way there was never over: the child waited for both.
#[test]
fn a_child_of_a_process_that_reads_its_files_reads_them_itself() {
    in_own_process!(|| {
        let realm = Realm::new("authority");
        let mut config = realm.config(&About::named("server"));
        config.watch_files = true;
        let tls = Tls::new(config).unwrap();
        let reload = tls.reload();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    reload.now().unwrap();
                }
            });
            for _ in 0..20 {
                in_child(|| reload.now().unwrap()).join();
            }
            stop.store(true, Ordering::Relaxed);
        });
    });
}

/// The child once deadlocked on locks held by threads of its parent: that of the current
/// material, and those of the session caches.
#[test]
fn a_child_connects_while_its_parent_reads_files_and_connects() {
    in_own_process!(|| {
        let realm = Realm::new("authority");
        let endpoints = vec!["ssliop://127.0.0.1:0".parse().unwrap()];
        let config = Config {
            endpoints,
            ..Config::default()
        };
        let served = Served::with(with_tls(config, realm.config(&About::named("server"))));
        let tls = Tls::new(realm.trusting()).unwrap();
        let connect = || {
            let mut config = Config::default();
            config.protocols.register(Transport::stream(tls.clone()));
            let client = Orb::new(config).unwrap();
            assert_eq!(served.seen_by(&client).echo_long(7), Ok(7));
            client.shutdown(true).unwrap();
        };
        let reload = tls.reload();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    reload.now().unwrap();
                }
            });
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    connect();
                }
            });
            for _ in 0..40 {
                in_child(connect).join();
            }
        });
        served.end();
    });
}

/// A child of a process that has dropped the right to read its key.
#[test]
fn a_child_that_cannot_read_the_files_uses_the_material_of_its_parent() {
    in_own_process!(|| {
        let realm = Realm::new("authority");
        let endpoints = vec!["ssliop://127.0.0.1:0".parse().unwrap()];
        let config = Config {
            endpoints,
            ..Config::default()
        };
        let served = Served::with(with_tls(config, realm.config(&About::named("server"))));
        let trusting = realm.trusting();
        let authorities = trusting.authorities.clone().unwrap();
        let client = Orb::new(with_tls(Config::default(), trusting)).unwrap();
        let target = served.seen_by(&client);
        call(&target, 0);
        std::fs::remove_file(authorities).unwrap();
        in_child(|| call(&target, 1000)).join();
        served.end();
    });
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
