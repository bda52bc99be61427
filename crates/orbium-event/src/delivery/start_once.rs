// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that start on demand.

use orbium::lock::Mutex;

/// Whether a thread has started.
#[derive(Debug, Default)]
pub(crate) struct StartOnce(Mutex<bool>);

impl StartOnce {
    /// Starts the thread unless there is one. A concurrent caller waits for the outcome: it relies
    /// on the thread too, and retries if there is none.
    ///
    /// # Errors
    /// The error of `start`.
    pub(crate) fn run<E>(&self, start: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let mut has_thread = self.0.lock();
        if !*has_thread {
            start()?;
            *has_thread = true;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_does_not_start_is_started_by_the_next_caller() {
        let thread = StartOnce::default();
        std::thread::scope(|scope| {
            let mut second = None;
            let refused = thread.run(|| {
                second = Some(scope.spawn(|| {
                    let mut has_started = false;
                    let outcome = thread.run(|| {
                        has_started = true;
                        Ok::<(), &str>(())
                    });
                    (outcome, has_started)
                }));
                Err("refused")
            });
            assert_eq!(refused, Err("refused"));
            let second = second.map(|it| it.join().unwrap());
            assert_eq!(second, Some((Ok(()), true)));
        });
        assert_eq!(thread.run(|| Err("again")), Ok(()));
    }
}
