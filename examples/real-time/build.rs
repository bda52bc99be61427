fn main() {
    orbium_build::compile("idl/valve.idl");
}
