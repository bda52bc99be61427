// SPDX-License-Identifier: MIT OR Apache-2.0
//! Name look-ups in progress: one thread for each name and scheduling of callers, for any number of
//! waiting callers, including those that have timed out.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::Scheduling;
use orbium_sys::fork::PerProcess;

use crate::{Deadline, HostPort};

/// The addresses, or the reason why there are none.
pub(crate) type Found = Result<Vec<SocketAddr>, String>;

/// The result of a look-up, once it is complete.
#[derive(Default)]
struct Answer {
    found: Mutex<Option<Found>>,
    there: Condvar,
}

/// A thread has the scheduling of its initiator, so that an urgent caller does not wait for a less
/// urgent thread.
type Key = (HostPort, Option<Scheduling>);

type UnderWay = HashMap<Key, Arc<Answer>>;

/// The threads of its parent are not in a forked child.
static UNDER_WAY: PerProcess<Mutex<UnderWay>> = PerProcess::new();

fn under_way() -> MutexGuard<'static, UnderWay> {
    UNDER_WAY.get_or_init(Mutex::default).lock()
}

/// Asks the system.
pub(crate) fn look_up(at: &HostPort) -> Found {
    let mut addresses = Vec::new();
    let why = match (at.host.as_str(), at.port).to_socket_addrs() {
        Ok(found) => {
            addresses.extend(found);
            if !addresses.is_empty() {
                return Ok(addresses);
            }
            "it has no address".into()
        }
        Err(error) => error.to_string(),
    };
    Err(format!("host `{}`: {why}", at.host))
}

/// The result of `look_up`, on a thread that is abandoned at the deadline; or that of a look-up in
/// progress.
///
/// # Errors
/// `TimedOut`; the system refuses a thread.
pub(crate) fn look_up_before(
    at: &HostPort,
    deadline: Deadline,
    look_up: impl FnOnce(&HostPort) -> Found + Send + 'static,
) -> io::Result<Found> {
    let answer = begin_or_join(at, look_up)?;
    let mut found = answer.found.lock();
    loop {
        if let Some(found) = &*found {
            return Ok(found.clone());
        }
        found = answer.there.wait_at_most(found, deadline.remaining()?);
    }
}

fn begin_or_join(
    at: &HostPort,
    look_up: impl FnOnce(&HostPort) -> Found + Send + 'static,
) -> io::Result<Arc<Answer>> {
    let key = (at.clone(), Scheduling::of_this_thread().ok());
    let mut all = under_way();
    if let Some(answer) = all.get(&key) {
        return Ok(Arc::clone(answer));
    }
    let answer = Arc::new(Answer::default());
    let (given, own) = (Arc::clone(&answer), key.clone());
    let job = move || {
        let found = look_up(&own.0);
        // First: subsequent callers start a new look-up.
        under_way().remove(&own);
        *given.found.lock() = Some(found);
        given.there.notify_all();
    };
    orbium_sys::spawn_detached("orbium-resolve", None, Box::new(job))?;
    all.insert(key, Arc::clone(&answer));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// Regression: with a resolver that did not answer, each call that timed out added a thread.
    #[test]
    fn a_caller_joins_the_look_up_that_another_has_left() {
        let at = HostPort {
            host: "no-answer.test".to_owned(),
            port: 7,
        };
        let (open, gate) = channel::<()>();
        let soon = || Deadline::after(Some(Duration::from_millis(1)));
        let silent = move |_: &HostPort| {
            let _ = gate.recv();
            Err("too late".to_owned())
        };
        let left = look_up_before(&at, soon(), silent);
        assert_eq!(left.unwrap_err().kind(), ErrorKind::TimedOut);
        let held = Arc::new(());
        let token = Arc::clone(&held);
        let (done, over) = channel::<()>();
        let another = move |_: &HostPort| {
            let _ = over.recv();
            drop(token);
            Ok(Vec::new())
        };
        let joined = look_up_before(&at, soon(), another);
        assert_eq!(joined.unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(Arc::strong_count(&held), 1, "a second look-up is under way");
        drop((open, done));
    }

    #[test]
    fn a_look_up_that_has_ended_is_not_joined() {
        let at = HostPort {
            host: "moved.test".to_owned(),
            port: 7,
        };
        for port in [1, 2] {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let found = look_up_before(&at, Deadline::NEVER, move |_| Ok(vec![address]));
            assert_eq!(found.unwrap(), Ok(vec![address]));
        }
    }
}
