// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common part of the examples: the generated interfaces, and a servant of an account.

use std::sync::Mutex;

use orbium::{Call, SystemException};

orbium::include_idl!("bank");

use bank::{AccountServant, Overdrawn, OverdrawnError};

// ANCHOR: purse
/// An account in memory.
#[derive(Debug)]
pub struct Purse {
    owner: String,
    balance: Mutex<i32>,
}

impl Purse {
    /// An empty account.
    #[must_use]
    pub fn of(owner: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            balance: Mutex::new(0),
        }
    }
}

impl AccountServant for Purse {
    fn owner(&self, _: &Call<'_>) -> Result<String, SystemException> {
        Ok(self.owner.clone())
    }

    fn balance(&self, _: &Call<'_>) -> Result<i32, SystemException> {
        Ok(*self.balance.lock().unwrap())
    }

    fn deposit(&self, _: &Call<'_>, amount: u32) -> Result<(), SystemException> {
        *self.balance.lock().unwrap() += amount as i32;
        Ok(())
    }

    fn withdraw(&self, _: &Call<'_>, amount: u32) -> Result<(), OverdrawnError> {
        let mut balance = self.balance.lock().unwrap();
        let left = *balance - amount as i32;
        if left < 0 {
            let missing = left.unsigned_abs();
            return Err(Overdrawn { missing }.into());
        }
        *balance = left;
        Ok(())
    }
}
// ANCHOR_END: purse
