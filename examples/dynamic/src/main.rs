// SPDX-License-Identifier: MIT OR Apache-2.0
//! `dynamic IDL REFERENCE`: prints a reference for clients to use in place of the other one,
//! and then every call.

use std::path::Path;

use dynamic::Front;
use orbium::Orb;
use orbium_dynamic::{Definitions, dynamic_servant};
use orbium_idl::{Options, compile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(idl), Some(reference)) = (arguments.next(), arguments.next()) else {
        return Err("usage: dynamic IDL REFERENCE".into());
    };
    let compilation = compile(&Options::new(), Path::new(&idl));
    let errors = compilation.to_string();
    let definitions = Definitions::new(compilation.model.ok_or(errors)?);

    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let behind = orb.string_to_object(&reference)?.ok_or("nil")?;
    let front = Front::new(behind, &definitions, |line| println!("{line}"))?;
    let front = orb.root_poa().activate_servant(&dynamic_servant(front)?)?;
    orb.root_poa().manager().activate()?;
    println!("{}", orb.object_to_string(&front));
    Ok(orb.run()?)
}
