fn main() {
    orbium_build::compile("idl/hello.idl");
}
