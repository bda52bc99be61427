//! Servants that are made when the first request for their object comes:
//! `cargo run --example on_demand`.

use std::sync::Arc;

use orbium::{
    ExceptionKind, Orb, Servant, SystemException,
    poa::{
        IdAssignment, Poa, Policies, RequestProcessing, ServantActivator, ServantError, servant_of,
    },
};
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

// ANCHOR: activator
/// Opens the accounts of customers, whose names are the object ids.
struct Ledger;

impl ServantActivator for Ledger {
    fn incarnate(&self, id: &[u8], _: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        match str::from_utf8(id) {
            Ok(owner @ ("Anna" | "Bert")) => Ok(servant_of::<Account, _>(Purse::of(owner))),
            _ => Err(SystemException::from(ExceptionKind::ObjectNotExist).into()),
        }
    }

    fn etherealize(&self, id: &[u8], _: &Poa, _: Arc<dyn Servant>, _: bool, _: bool) {
        println!("{} is put away", id.escape_ascii());
    }
}
// ANCHOR_END: activator

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    // ANCHOR: adapter
    let root = orb.root_poa();
    root.manager().activate()?;
    let policies = Policies {
        id_assignment: IdAssignment::User,
        request_processing: RequestProcessing::ServantManager,
        ..Policies::default()
    };
    let accounts = root.create_poa("accounts", Some(root.manager()), policies)?;
    accounts.set_servant_activator(Ledger)?;

    // A reference needs no servant; the first call makes one.
    let anna: Account = accounts.create_reference_with_id(b"Anna")?;
    anna.deposit(30)?;
    println!("{} has {}", anna.owner()?, anna.balance()?);
    // ANCHOR_END: adapter

    let nobody: Account = accounts.create_reference_with_id(b"Zora")?;
    println!("{}", nobody.balance().expect_err("no customer").kind);
    accounts.deactivate(b"Anna")?;
    Ok(())
}
