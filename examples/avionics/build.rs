//! The interface of the air frame, and what its operations need.

fn main() {
    orbium_build::Config::new()
        .extend(orbium_ridl::RtInfos::module("operations"))
        .compile("idl/avionics.idl");
}
