orbium::include_idl!("hello");
