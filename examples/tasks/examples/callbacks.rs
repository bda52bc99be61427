//! A client that serves an object of its own, which the server calls:
//! `cargo run --example callbacks`.

use std::sync::{Mutex, PoisonError, mpsc};

use orbium::{Any, Call, Orb, SystemException};
use orbium_tasks::Purse;
use orbium_tasks::bank::{
    Account, Branch, BranchServant, NoSuchAccount, NoSuchAccountError, Watcher, WatcherServant,
};

// ANCHOR: server
/// The server's servant: notifies every watcher of each new account.
#[derive(Default)]
struct BankBranch {
    watchers: Mutex<Vec<Watcher>>,
}

impl BranchServant for BankBranch {
    fn open(&self, call: &Call<'_>, owner: &str) -> Result<Option<Account>, SystemException> {
        let account: Account = call.poa().activate(Purse::of(owner))?;
        // A copy: no lock is held while another process is called.
        let watchers = self
            .watchers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for watcher in watchers {
            watcher.changed(owner, 0)?;
        }
        Ok(Some(account))
    }
    // ANCHOR_END: server

    fn find(&self, _: &Call<'_>, _: &str) -> Result<Option<Account>, NoSuchAccountError> {
        Err(NoSuchAccount {}.into())
    }

    fn watch(&self, _: &Call<'_>, observer: Option<&Watcher>) -> Result<(), SystemException> {
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        watchers.extend(observer.cloned());
        Ok(())
    }

    // ANCHOR: describe
    fn describe(&self, _: &Call<'_>, thing: &Any) -> Result<String, SystemException> {
        Ok(thing.type_code().name().into())
    }
    // ANCHOR_END: describe
}

// ANCHOR: client
/// The client's servant.
struct Screen(mpsc::Sender<String>);

impl WatcherServant for Screen {
    fn changed(&self, _: &Call<'_>, owner: &str, balance: i32) -> Result<(), SystemException> {
        let _ = self.0.send(format!("{owner} has {balance}"));
        Ok(())
    }
}
// ANCHOR_END: client

// ANCHOR: main
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let branch: Branch = server.serve("Branch", BankBranch::default())?;
    let text = server.object_to_string(&branch);

    // A client that is called back listens too.
    let client = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let (line, lines) = mpsc::channel();
    let watcher: Watcher = client.serve("Watcher", Screen(line))?;
    let branch: Branch = client.resolve(&text)?;
    branch.watch(Some(&watcher))?;
    branch.open("Anna")?;
    println!("{}", lines.recv()?);
    Ok(())
}
// ANCHOR_END: main
