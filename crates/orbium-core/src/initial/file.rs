// SPDX-License-Identifier: MIT OR Apache-2.0
//! References in files: `file:///run/greeter.ref`.

use std::fs::File;
use std::io::Read;
#[cfg(feature = "configuration")]
use std::path::Path;
use std::path::PathBuf;

use orbium_giop::ObjectUrl;

use super::ObjectError;

/// Far more than the longest reference that is of use.
const LONGEST: u64 = 1 << 20;

/// The path of a `file:` URL; `None` for any other text. `file:///run/x` is
/// `/run/x`, as is `file://localhost/run/x`; `file://x` and `file:x` are relative.
pub(crate) fn path_of(text: &str) -> Option<PathBuf> {
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

/// The URL of the same file for a reader elsewhere: a relative path is taken from
/// `folder`. `None` if it is no `file:` URL or its path is absolute.
#[cfg(feature = "configuration")]
pub(crate) fn from_folder(text: &str, folder: &Path) -> Option<String> {
    let path = path_of(text).filter(|path| path.is_relative())?;
    let path = folder.join(path);
    let path = path.to_str()?.replace('%', "%25");
    Some(format!("file:{path}"))
}

/// Takes `%20` for the octet that it stands for; what is no such escape stays.
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

/// The object URL that the file of a `file:` URL holds; `None` for any other text.
///
/// # Errors
/// The file cannot be read, is too long, holds no object URL, or names a file again.
pub(super) fn read(text: &str) -> Result<Option<ObjectUrl>, ObjectError> {
    let Some(path) = path_of(text) else {
        return Ok(None);
    };
    let failed = |reason: String| ObjectError::File {
        path: path.display().to_string(),
        reason,
    };
    let file = File::open(&path).map_err(|error| failed(error.to_string()))?;
    let mut content = String::new();
    file.take(LONGEST + 1)
        .read_to_string(&mut content)
        .map_err(|error| failed(error.to_string()))?;
    if content.len() as u64 > LONGEST {
        return Err(failed(format!("longer than {LONGEST} bytes")));
    }
    let content = content.trim();
    if path_of(content).is_some() {
        return Err(failed("it names a file again".to_owned()));
    }
    let url = ObjectUrl::parse(content).map_err(|error| failed(error.to_string()))?;
    Ok(Some(url))
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
    #[cfg(feature = "configuration")]
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
