// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detection of runtime names in generated code.

/// Whether code uses a name of `orb`: comments, text, and names that only end with it do not count.
pub(crate) fn names_runtime(code: &str) -> bool {
    let (mut text, mut escaped, mut before) = (false, false, b' ');
    for line in code.lines() {
        for (at, octet) in line.bytes().enumerate() {
            match octet {
                _ if escaped => escaped = false,
                b'\\' if text => escaped = true,
                b'"' => text = !text,
                _ if text => {}
                b'/' if before == b'/' => break,
                b'o' if line.as_bytes()[at..].starts_with(b"orb::") => {
                    let part = before.is_ascii_alphanumeric() || matches!(before, b'_' | b':');
                    if !part {
                        return true;
                    }
                }
                _ => {}
            }
            before = octet;
        }
        before = b' ';
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_into_the_runtime_count() {
        assert!(names_runtime("pub s: Vec<orb::Any>,"));
        assert!(names_runtime("f(\"a \\\" b\", &orb::X)"));
        for other in [
            "/// IDL module `orb::M`.",
            "pub const A: i32 = 1; // orb::A",
            "pub const A: &str = \"orb::A\";",
            "pub b: super::borb::B,",
            "pub b: ::my::orb::B,",
        ] {
            assert!(!names_runtime(other), "{other}");
        }
    }
}
