//! A client that cannot be connected to is called back over the connection that it has
//! opened: `cargo run --example firewall`.

use std::sync::mpsc;

use orbium::{
    Call, Config, Orb, SystemException,
    config::{BidirectionalHosts, BidirectionalPolicy},
};
use orbium_tasks::bank::{
    Account, Branch, BranchServant, NoSuchAccount, NoSuchAccountError, Watcher, WatcherServant,
};

/// The server's servant: calls a watcher as soon as it has one, and no more.
struct Greeter;

impl BranchServant for Greeter {
    fn watch(&self, _: &Call<'_>, observer: Option<&Watcher>) -> Result<(), SystemException> {
        match observer {
            Some(watcher) => watcher.changed("Anna", 7),
            None => Ok(()),
        }
    }

    fn open(&self, _: &Call<'_>, _: &str) -> Result<Option<Account>, SystemException> {
        Ok(None)
    }

    fn find(&self, _: &Call<'_>, _: &str) -> Result<Option<Account>, NoSuchAccountError> {
        Err(NoSuchAccount {}.into())
    }

    fn describe(&self, _: &Call<'_>, _: &orbium::Any) -> Result<String, SystemException> {
        Ok(String::new())
    }
}

/// The client's servant.
struct Screen(mpsc::Sender<String>);

impl WatcherServant for Screen {
    fn changed(&self, _: &Call<'_>, owner: &str, balance: i32) -> Result<(), SystemException> {
        let _ = self.0.send(format!("{owner} has {balance}"));
        Ok(())
    }
}

// ANCHOR: main
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Orb::new(Config {
        endpoints: vec!["iiop://localhost:0".parse()?],
        bidirectional: BidirectionalPolicy::Both,
        // The host that the clients announce. By default the server trusts only the address that
        // they connect from.
        bidirectional_hosts: BidirectionalHosts::Listed(vec!["client.example".into()]),
        ..Config::default()
    })?;
    let branch: Branch = server.serve("Branch", Greeter)?;
    let text = server.object_to_string(&branch);

    // Nothing answers at the address in the client's references.
    let client = Orb::new(Config {
        endpoints: vec!["iiop://localhost:0?publish=client.example:2809".parse()?],
        bidirectional: BidirectionalPolicy::Both,
        ..Config::default()
    })?;
    let (line, lines) = mpsc::channel();
    let watcher: Watcher = client.serve("Watcher", Screen(line))?;
    let branch: Branch = client.resolve(&text)?;
    branch.watch(Some(&watcher))?;
    println!("{}", lines.recv()?);
    Ok(())
}
// ANCHOR_END: main
