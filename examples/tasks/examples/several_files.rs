//! An IDL project of several files: `cargo run --example several_files`.
//!
//! `build.rs` compiles `pumps.idl` and `alarms.idl` together. Both include `types.idl`
//! and reopen its module; what they share is one Rust type.

use orbium::{Call, Orb, SystemException};
use plant::{Alarms, AlarmsServant, Pump, PumpServant, Reading};

orbium::include_idl!("pumps");

struct Hall;

impl PumpServant for Hall {
    fn pressure(&self, _: &Call<'_>) -> Result<Reading, SystemException> {
        Ok(Reading {
            sensor: "P-101".to_owned(),
            value: 6.5,
        })
    }
}

impl AlarmsServant for Hall {
    fn too_high(&self, _: &Call<'_>, measured: &Reading) -> Result<bool, SystemException> {
        Ok(measured.value > 6.0)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    // ANCHOR: main
    let pump: Pump = orb.serve("Pump", Hall)?;
    let alarms: Alarms = orb.serve("Alarms", Hall)?;
    // ANCHOR_END: main
    let reading = pump.pressure()?;
    println!(
        "{}: too high is {}",
        reading.sensor,
        alarms.too_high(&reading)?
    );
    Ok(())
}
