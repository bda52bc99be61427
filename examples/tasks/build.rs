//! The interfaces of the examples.

fn main() {
    orbium_build::compile("idl/bank.idl");
    // Several files that share definitions and reopen a module: one module tree.
    orbium_build::compile(["idl/plant/pumps.idl", "idl/plant/alarms.idl"]);
}
