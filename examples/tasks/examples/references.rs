//! References in files: the server writes one, the client reads it.
//! `cargo run --example references`.

use std::fs;

use orbium::Orb;
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("orbium-references-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let file = folder.join("account.ref");

    // ANCHOR: file
    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let account: Account = server.serve("Account", Purse::of("Anna"))?;
    fs::write(&file, server.object_to_string(&account))?;

    let client = Orb::builder().build()?;
    let account: Account = client.resolve(&format!("file://{}", file.display()))?;
    println!("{}", account.owner()?);
    // ANCHOR_END: file

    // ANCHOR: url
    // An address and a key do as well, where both are known.
    let port = server.addresses()?[0].port;
    let account: Account = client.resolve(&format!("corbaloc::localhost:{port}/Account"))?;
    println!("{}", account.owner()?);
    // ANCHOR_END: url
    fs::remove_dir_all(&folder)?;
    Ok(())
}
