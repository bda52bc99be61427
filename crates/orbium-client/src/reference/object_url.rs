// SPDX-License-Identifier: MIT OR Apache-2.0
//! References in files: `file:///run/greeter.ref`.

use std::fs::File;
use std::io::Read;

use orbium_config::file_url::path_of;
use orbium_giop::ObjectUrl;
use orbium_invocation::ObjectError;

/// Far more than the longest reference that is of use.
const MAX_URL_LENGTH: u64 = 1 << 20;

/// The URL that a text is, or that is in the file that it names by a `file:` URL.
///
/// # Errors
/// The text is no object URL. [`ObjectError::File`]: the file cannot be read, is longer than 1 MiB,
/// holds no object URL, or names a file again.
pub fn object_url(text: &str) -> Result<ObjectUrl, ObjectError> {
    match read(text)? {
        Some(url) => Ok(url),
        None => Ok(ObjectUrl::parse(text)?),
    }
}

/// The object URL that the file of a `file:` URL holds; `None` for any other text.
///
/// # Errors
/// The file cannot be read, is too long, holds no object URL, or names a file again.
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
