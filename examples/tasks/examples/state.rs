//! Many objects with state, under ids of the program's own:
//! `cargo run --example state`.

use orbium::{
    Orb,
    poa::{IdAssignment, Lifespan, Policies},
};
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    // ANCHOR: adapter
    let root = orb.root_poa();
    root.manager().activate()?;

    // Persistent: a reference names adapter and id, and is good for the next run too.
    let policies = Policies {
        lifespan: Lifespan::Persistent,
        id_assignment: IdAssignment::User,
        ..Policies::default()
    };
    let accounts = root.create_poa("accounts", Some(root.manager()), policies)?;

    // A servant is one value; each of its methods may run on several threads at once, so
    // its state is behind a lock.
    for owner in ["Anna", "Bert"] {
        let account: Account = accounts.activate_with_id(owner.as_bytes(), Purse::of(owner))?;
        account.deposit(owner.len() as u32)?;
        println!("{} has {}", account.owner()?, account.balance()?);
    }
    // ANCHOR_END: adapter

    // ANCHOR: gone
    accounts.deactivate(b"Bert")?;
    let gone: Account = accounts.create_reference_with_id(b"Bert")?;
    println!("{}", gone.balance().expect_err("it was deactivated").kind);
    // ANCHOR_END: gone
    Ok(())
}
