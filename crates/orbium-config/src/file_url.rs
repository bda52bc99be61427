// SPDX-License-Identifier: MIT OR Apache-2.0
//! `file:` URLs: `file:///run/greeter.ref`.

use std::path::{Path, PathBuf};

/// The path of a `file:` URL; `None` for any other text. `file:///run/x` is
/// `/run/x`, as is `file://localhost/run/x`; `file://x` and `file:x` are relative.
#[must_use]
pub fn path_of(text: &str) -> Option<PathBuf> {
    let scheme = text.get(..5)?;
    if !scheme.eq_ignore_ascii_case("file:") {
        return None;
    }
    let rest = &text[5..];
    let path = match rest.strip_prefix("//") {
        Some(rest) => match rest.strip_prefix("localhost/") {
            Some(_) => &rest["localhost".len()..],
            None => rest,
        },
        None => rest,
    };
    Some(PathBuf::from(unescaped(path)))
}

/// The URL of the same file for a reader elsewhere: a relative path is resolved against `folder`.
/// `None` if it is not a `file:` URL or its path is absolute.
#[must_use]
pub fn from_folder(text: &str, folder: &Path) -> Option<String> {
    let path = path_of(text).filter(|path| path.is_relative())?;
    let path = folder.join(path);
    let path = path.to_str()?.replace('%', "%25");
    Some(format!("file:{path}"))
}

/// Decodes `%20` and the like; other text is unchanged.
fn unescaped(text: &str) -> String {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        if let Some((high, low)) = escaped {
            octets.push(high << 4 | low);
            rest = &tail[2..];
        } else {
            octets.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(octets).unwrap_or_else(|_| text.to_owned())
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::path_of;

    #[test]
    fn paths_are_absolute_or_relative() {
        for (url, path) in [
            ("file:///run/greeter.ref", "/run/greeter.ref"),
            ("FILE://localhost/run/greeter.ref", "/run/greeter.ref"),
            ("file://greeter.ref", "greeter.ref"),
            ("file:greeter.ref", "greeter.ref"),
            ("file:///a%20b/100%", "/a b/100%"),
        ] {
            assert_eq!(path_of(url).as_deref(), Some(Path::new(path)), "{url}");
        }
        assert_eq!(path_of("corbaloc::h:1/file:"), None);
        assert_eq!(path_of("fil"), None);
    }

    #[test]
    fn relative_paths_begin_at_a_folder() {
        let folder = Path::new("/etc/a %20");
        for (url, path) in [
            ("file:b.ref", Some("/etc/a %20/b.ref")),
            ("file://c%20d/b.ref", Some("/etc/a %20/c d/b.ref")),
            ("file:///run/b.ref", None),
            ("corbaloc::h:1/b.ref", None),
        ] {
            let moved = super::from_folder(url, folder);
            assert_eq!(
                moved.as_deref().and_then(path_of).as_deref(),
                path.map(Path::new),
                "{url}"
            );
        }
    }
}
