// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values from shared libraries, loaded at run time.
//!
//! A library exports one [`Declaration`] under the name [`SYMBOL`]. It begins with data that can be
//! read regardless of the compiler: only if compiler and crate are identical to ours is any of its
//! code called.
#![expect(unsafe_code, reason = "loads code and reads what it exports")]

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};

/// The name under which a library exports its declaration.
pub const SYMBOL: &str = "ORBIUM_LIBRARY";

/// The first bytes of every declaration.
const MAGIC: [u8; 8] = *b"orbium\x001";

/// Octets for the text that identifies the build of a library.
const TEXT: usize = 112;

/// The compiler and the version of this crate.
const BUILT_WITH: &str = concat!(
    "orbium ",
    env!("CARGO_PKG_VERSION"),
    ", ",
    env!("ORBIUM_COMPILER")
);

/// Exports of a library; see [`export_library!`](crate::export_library).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Declaration {
    magic: [u8; 8],
    size: u64,
    built_with: [u8; TEXT],
    make: fn() -> Box<dyn Any + Send>,
}

impl fmt::Debug for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Declaration")
            .field("built_with", &text(&self.built_with))
            .finish_non_exhaustive()
    }
}

impl Declaration {
    /// A declaration of the value that `make` creates.
    #[must_use]
    pub const fn new(make: fn() -> Box<dyn Any + Send>) -> Self {
        Self {
            magic: MAGIC,
            size: size_of::<Self>() as u64,
            built_with: padded(BUILT_WITH),
            make,
        }
    }
}

const fn padded(text: &str) -> [u8; TEXT] {
    let mut octets = [0; TEXT];
    let mut i = 0;
    while i < text.len() && i < TEXT {
        octets[i] = text.as_bytes()[i];
        i += 1;
    }
    octets
}

fn text(octets: &[u8; TEXT]) -> String {
    let end = octets.iter().position(|octet| *octet == 0);
    String::from_utf8_lossy(&octets[..end.unwrap_or(TEXT)]).into_owned()
}

/// Error of loading something from a library.
pub enum LibraryError {
    /// The file cannot be loaded: it does not exist, is not a library, is for another machine, or
    /// has missing dependencies.
    NotLoaded(String),
    /// It exports no declaration.
    NoDeclaration,
    /// The symbol of that name is not a declaration.
    NotADeclaration,
    /// It was built with another compiler or another version: the build of the library, and that of
    /// this program.
    BuiltWith {
        /// The library.
        library: String,
        /// This program.
        program: String,
    },
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded(why) => write!(f, "cannot be loaded: {why}"),
            Self::NoDeclaration => {
                write!(f, "exports no {SYMBOL}: it was not made for this program")
            }
            Self::NotADeclaration => write!(f, "exports a {SYMBOL} that means something else"),
            Self::BuiltWith { library, program } => write!(
                f,
                "was built with {library}, this program with {program}: they must be the same"
            ),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LibraryError {}

/// The path of a shared library with code that may run in this process: loading a library runs its
/// initialisers, independently of its other contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedLibrary(PathBuf);

impl TrustedLibrary {
    /// A library that the caller trusts.
    ///
    /// # Safety
    /// While the value is used to load from that path, the file there must be
    ///
    /// * a library with code as trustworthy as the program's: its initialisers and
    ///   finalisers, those of all libraries that it needs, and everything that it exports
    ///   are sound to run here and now, concurrently with the existing threads;
    /// * if it exports [`SYMBOL`], one made by [`export_library!`](crate::export_library) (of any version; versions and compilers
    ///   are compared before anything is called), by a program that uses the same allocator,
    ///   which is so unless one of the two chooses its own;
    /// * a file that no less trusted user can replace or write.
    #[must_use]
    pub unsafe fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Loads a library permanently and creates the declared value. The caller downcasts it, which fails
/// unless the types are identical.
///
/// # Errors
/// [`LibraryError`]; then no code of the library was called except by the system on loading.
pub fn load_library(library: &TrustedLibrary) -> Result<Box<dyn Any + Send>, LibraryError> {
    let path = library.path();
    // SAFETY: loading runs the library's initialisers. That they are fit to run
    // is what the caller of `TrustedLibrary::new` has vouched for.
    let library = unsafe { libloading::Library::new(path) };
    let library = library.map_err(|error| LibraryError::NotLoaded(error.to_string()))?;
    // SAFETY: it is an address of something in the library, which is loaded as
    // long as it is used below; what is there is not looked at yet.
    let symbol = unsafe { library.get::<*const u8>(SYMBOL.as_bytes()) };
    let symbol = symbol.map_err(|_| LibraryError::NoDeclaration)?;
    let start: *const u8 = *symbol;
    // SAFETY: a static of this name has eight octets to be read, as was vouched for
    // above: every declaration has them, of whatever version.
    let magic: [u8; 8] = unsafe { start.cast::<[u8; 8]>().read_unaligned() };
    if magic != MAGIC {
        return Err(LibraryError::NotADeclaration);
    }
    // SAFETY: the magic vouches for the fields up to the text; their layout is that of
    // C.
    let (size, built_with) = unsafe {
        let size = start.add(8).cast::<u64>().read_unaligned();
        let built_with = start.add(16).cast::<[u8; TEXT]>().read_unaligned();
        (size, built_with)
    };
    if size != size_of::<Declaration>() as u64 || built_with != padded(BUILT_WITH) {
        return Err(LibraryError::BuiltWith {
            library: text(&built_with),
            program: BUILT_WITH.to_owned(),
        });
    }
    // SAFETY: it was made by `Declaration::new` of this very version, with the
    // same compiler, so the type is the same; the rest of the library is sound, as was
    // vouched for.
    let declaration = unsafe { start.cast::<Declaration>().read_unaligned() };
    // The value's code is in the library, and the value may live as long as the program.
    std::mem::forget(library);
    Ok((declaration.make)())
}

/// Exports a value from a shared library (`crate-type = ["cdylib"]`):
/// `export_library!(|| value)`. Once per library.
#[macro_export]
macro_rules! export_library {
    ($make:expr) => {
        // SAFETY: nothing else has a name like this; a library that exports it
        // twice is not linked.
        #[unsafe(no_mangle)]
        #[doc(hidden)]
        pub static ORBIUM_LIBRARY: $crate::library::Declaration =
            $crate::library::Declaration::new(|| ::std::boxed::Box::new(($make)()));
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_libraries_are_refused() {
        // SAFETY: there is no such file, so nothing is loaded.
        let library = unsafe { TrustedLibrary::new("/nowhere/at/all.so") };
        let error = load_library(&library).unwrap_err();
        assert!(matches!(error, LibraryError::NotLoaded(_)), "{error}");
    }

    #[test]
    fn declarations_say_what_they_were_built_with() {
        let declaration = Declaration::new(|| Box::new(5_u8));
        assert_eq!(text(&declaration.built_with), BUILT_WITH);
        assert!(BUILT_WITH.len() <= TEXT, "{BUILT_WITH}");
        assert!(BUILT_WITH.contains("rustc "), "{BUILT_WITH}");
        assert_eq!((declaration.make)().downcast_ref(), Some(&5_u8));
    }
}
