// SPDX-License-Identifier: MIT OR Apache-2.0
//! References in files: `file:///run/greeter.ref`.

use std::fs::File;
use std::io::Read;

use orbium_config::file_url::path_of;
use orbium_giop::ObjectUrl;
use orbium_invocation::ObjectError;

/// Far longer than any practical reference.
const MAX_URL_LENGTH: u64 = 1 << 20;

/// The URL in a text, or in the file of a `file:` URL.
///
/// # Errors
/// The text is not an object URL. [`ObjectError::File`]: the file cannot be read, is longer than 1
/// MiB, contains no object URL, or names another file.
pub fn object_url(text: &str) -> Result<ObjectUrl, ObjectError> {
    match read(text)? {
        Some(url) => Ok(url),
        None => Ok(ObjectUrl::parse(text)?),
    }
}

/// The object URL in the file of a `file:` URL; `None` for any other text.
///
/// # Errors
/// The file cannot be read, is too long, contains no object URL, or names another file.
fn read(text: &str) -> Result<Option<ObjectUrl>, ObjectError> {
    let Some(path) = path_of(text) else {
        return Ok(None);
    };
    let failed = |reason: String| ObjectError::File {
        path: path.display().to_string(),
        reason,
    };
    let file = File::open(&path).map_err(|error| failed(error.to_string()))?;
    let mut content = String::new();
    file.take(MAX_URL_LENGTH + 1)
        .read_to_string(&mut content)
        .map_err(|error| failed(error.to_string()))?;
    if content.len() as u64 > MAX_URL_LENGTH {
        return Err(failed(format!("longer than {MAX_URL_LENGTH} bytes")));
    }
    let content = content.trim();
    if path_of(content).is_some() {
        return Err(failed("it names a file again".to_owned()));
    }
    let url = ObjectUrl::parse(content).map_err(|error| failed(error.to_string()))?;
    Ok(Some(url))
}
