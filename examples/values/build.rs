fn main() {
    orbium_build::compile("idl/gallery.idl");
}
