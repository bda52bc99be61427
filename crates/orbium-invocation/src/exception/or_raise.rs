// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of libraries used by a servant, raised as system exceptions.

use std::error::Error;
use std::fmt;
use std::sync::LazyLock;

use orbium_giop::SystemException;
use orbium_trace::log::{self, EventLimit};

/// The rate limit of the log of these errors, for all ORBs of the process.
static LIMIT: LazyLock<EventLimit> = LazyLock::new(EventLimit::default);

/// Raises a system exception in place of an error: for a servant's errors of files, databases and
/// parsers, so that `?` works with them.
///
/// The error may be any `std::error::Error`, a boxed one, an `anyhow::Error` or text. It stays in
/// this process: the peer receives the exception, and a log event of the level WARN (target
/// `orbium::request`, at most one in ten seconds) contains the error with its causes. For more
/// information than a kind and a minor code, declare a user exception in IDL.
///
/// `?` further converts the exception into the error enum of an operation with user exceptions.
///
/// ```
/// use orbium_core::{Completion, ExceptionKind, OrRaise, SystemException};
///
/// fn limit(text: &str) -> Result<u32, SystemException> {
///     Ok(text.trim().parse().or_raise(ExceptionKind::BadParam)?)
/// }
///
/// assert_eq!(limit("7"), Ok(7));
/// let raised = limit("seven").unwrap_err();
/// assert_eq!((raised.kind, raised.minor), (ExceptionKind::BadParam, 0));
/// assert_eq!(raised.completed, Completion::No);
/// ```
pub trait OrRaise<T> {
    /// The value, or this exception in place of the error.
    ///
    /// # Errors
    /// The exception; from an [`ExceptionKind`](orbium_giop::ExceptionKind) it has the minor code 0
    /// and completion NO: nothing was done. Otherwise pass a [`SystemException`].
    fn or_raise(self, exception: impl Into<SystemException>) -> Result<T, SystemException>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> OrRaise<T> for Result<T, E> {
    #[inline]
    fn or_raise(self, exception: impl Into<SystemException>) -> Result<T, SystemException> {
        self.map_err(|error| raised(&*error.into(), exception.into()))
    }
}

/// Logs the error; returns the exception.
#[cold]
fn raised(error: &(dyn Error + 'static), exception: SystemException) -> SystemException {
    if let Some(suppressed) = LIMIT.admit() {
        log::warn!(
            target: "orbium::request",
            error = %WithCauses(error),
            raised = %exception.kind,
            suppressed,
            "servant raised a system exception for an error",
        );
    }
    exception
}

/// An error with its causes.
struct WithCauses<'e>(&'e (dyn Error + 'static));

impl fmt::Display for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Limit of the shown causes: errors may refer to themselves.
        const MAX_CAUSES: usize = 8;
        write!(f, "{}", self.0)?;
        let causes = std::iter::successors(self.0.source(), |error| (*error).source());
        causes
            .take(MAX_CAUSES)
            .try_for_each(|cause| write!(f, ": {cause}"))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use orbium_giop::{Completion, ExceptionKind};

    use super::*;

    #[derive(Debug)]
    struct Outer(io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the settings cannot be read")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn an_error_of_any_kind_becomes_the_exception() {
        let kind = ExceptionKind::NoResources;
        let of_a_library: Result<(), _> = Err(Outer(io::ErrorKind::NotFound.into()));
        assert_eq!(of_a_library.or_raise(kind), Err(kind.into()));
        let boxed: Result<(), Box<dyn Error + Send + Sync>> = Err("text".into());
        assert_eq!(boxed.or_raise(kind), Err(kind.into()));
        let text: Result<(), &str> = Err("text");
        assert_eq!(text.or_raise(kind), Err(kind.into()));
        let whole = SystemException::new(kind, 7, Completion::Maybe);
        assert_eq!(Err::<(), _>("text").or_raise(whole), Err(whole));
        assert_eq!(Ok::<_, io::Error>(5).or_raise(kind), Ok(5));
    }

    #[test]
    fn causes_are_logged_behind_the_error() {
        let error = Outer(io::Error::other("disk"));
        let text = WithCauses(&error).to_string();
        assert_eq!(text, "the settings cannot be read: disk");
    }

    #[test]
    fn an_error_that_is_its_own_cause_is_logged_in_bounds() {
        #[derive(Debug)]
        struct Loop;
        impl fmt::Display for Loop {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("loop")
            }
        }
        impl Error for Loop {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(self)
            }
        }
        assert_eq!(WithCauses(&Loop).to_string().matches("loop").count(), 9);
    }
}
