//! The interface of the air frame, and what its operations need.

fn main() {
    orbium_build::Config::new()
        .rt_infos("operations")
        .compile("idl/avionics.idl");
}
