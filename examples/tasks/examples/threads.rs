//! Threads of a server: `cargo run --example threads`.
//!
//! The same four words stand in configuration files and after `-ORB`: see
//! docs/configuration.md.

use std::sync::Barrier;

use orbium::{Config, Orb, config::ServerStrategy};
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for strategy in [
        "thread-per-connection",
        "reactive",
        "leader-followers:2",
        "worker-pool:2/64",
    ] {
        // ANCHOR: config
        let server = Orb::new(Config {
            endpoints: vec!["iiop://localhost:0".parse()?],
            strategy: strategy.parse::<ServerStrategy>()?,
            ..Config::default()
        })?;
        let account: Account = server.serve("Account", Purse::of("Anna"))?;
        // ANCHOR_END: config
        let client = Orb::builder().build()?;
        let account: Account = client.resolve(&server.object_to_string(&account))?;

        // ANCHOR: threads
        // References are shared by threads; four of them call at once.
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..25 {
                        account.deposit(1).expect("the server is there");
                    }
                });
            }
        });
        println!("{strategy}: {}", account.balance()?);
        // ANCHOR_END: threads
        client.shutdown(true)?;
        server.shutdown(true)?;
    }
    Ok(())
}
