// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes two interfaces that differ in nothing but the number of their
//! operations, with servants and a table of the stubs for each.

use std::fmt::Write;
use std::path::Path;

fn main() {
    let out = std::env::var("OUT_DIR").expect("Cargo sets OUT_DIR");
    let out = Path::new(&out);
    let mut idl = String::from("module Scale {\n");
    let mut rust = String::new();
    interface("Narrow", 5, &mut idl, &mut rust);
    interface("Wide", 500, &mut idl, &mut rust);
    idl.push_str("};\n");
    let file = out.join("scale.idl");
    std::fs::write(&file, idl).expect("OUT_DIR can be written");
    std::fs::write(out.join("servants.rs"), rust).expect("OUT_DIR can be written");
    orbium_build::compile(&file);
    orbium_build::compile(Path::new("../../idl/ttcp.idl"));
    println!("cargo:rerun-if-changed=build.rs");
}

fn interface(name: &str, operations: usize, idl: &mut String, rust: &mut String) {
    // Writing to a String does not fail.
    let _ = writeln!(idl, "  interface {name} {{");
    let _ = writeln!(
        rust,
        "pub(crate) const {}: [Stub<scale::{name}>; {operations}] = [",
        name.to_uppercase()
    );
    for n in 0..operations {
        let _ = writeln!(idl, "    void operation_{n:03}();");
        let _ = writeln!(rust, "    scale::{name}::operation_{n:03},");
    }
    let _ = writeln!(idl, "  }};");
    let _ = writeln!(rust, "];\nimpl scale::{name}Servant for Nothing {{");
    for n in 0..operations {
        let _ = writeln!(
            rust,
            "    fn operation_{n:03}(&self, _: &Call<'_>) -> Result<(), SystemException> {{ Ok(()) }}"
        );
    }
    rust.push_str("}\n");
}
