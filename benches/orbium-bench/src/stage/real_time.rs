// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time priorities of threads, if they are permitted.

/// The native priority of the high-priority client and lane, under SCHED_FIFO.
pub(crate) const HIGH: i32 = 50;

/// Sets SCHED_FIFO at a native priority for the calling thread; 0 leaves it unchanged.
///
/// # Errors
/// The reason, in words.
#[cfg(target_os = "linux")]
pub(crate) fn become_real_time(priority: i32) -> Result<(), String> {
    if priority == 0 {
        return Ok(());
    }
    let scheduling = orbium_sys::Scheduling::fifo(priority);
    scheduling
        .apply_to_this_thread()
        .map_err(|error| error.to_string())
}

/// The native priority of the calling thread; 0 without a real-time policy.
#[cfg(target_os = "linux")]
pub(crate) fn own_priority() -> i32 {
    orbium_sys::Scheduling::of_this_thread().map_or(0, |scheduling| scheduling.priority)
}

/// The processors that this process may use; none if the system does not report them.
#[cfg(target_os = "linux")]
pub(crate) fn usable_processors() -> Vec<usize> {
    orbium_sys::processors_of_this_thread().unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn usable_processors() -> Vec<usize> {
    Vec::new()
}

/// Whether a thread may have that priority; the error is a sentence with the reason.
#[cfg(target_os = "linux")]
pub(crate) fn can_be_real_time(priority: i32) -> Result<(), String> {
    let scheduling = orbium_sys::Scheduling::fifo(priority);
    scheduling.try_out().map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn become_real_time(priority: i32) -> Result<(), String> {
    match priority {
        0 => Ok(()),
        _ => can_be_real_time(priority),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn own_priority() -> i32 {
    0
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn can_be_real_time(_priority: i32) -> Result<(), String> {
    Err("real-time priorities are there on Linux only".to_owned())
}

/// The throttling of real-time threads by the kernel, if it is enabled.
pub(crate) fn throttling() -> Option<String> {
    let microseconds = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?;
        text.trim().parse().ok()
    };
    let (runtime, period) = ("sched_rt_runtime_us", "sched_rt_period_us");
    throttling_by(microseconds(runtime)?, microseconds(period)?)
}

/// The same by the values of the kernel. A runtime of -1 or of the period is no limit.
fn throttling_by(runtime: i64, period: i64) -> Option<String> {
    (0..period).contains(&runtime).then(|| {
        format!(
            "Real-time threads that use more than {runtime} µs of {period} µs together stand still \
             for the rest (rt throttling; from Linux 6.12 on, as long as others starve)."
        )
    })
}

/// Raises the limit of this process's descriptors to its maximum.
#[cfg(target_os = "linux")]
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // The present limit suffices if it cannot be raised.
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn raise_descriptor_limit() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttling_is_reported_where_the_runtime_is_below_the_period() {
        for (runtime, period) in [(-1, 1_000_000), (1_000_000, 1_000_000), (2_000, 1_000)] {
            assert_eq!(throttling_by(runtime, period), None);
        }
        let rule = throttling_by(950_000, 1_000_000).unwrap();
        assert!(rule.contains("950000 µs of 1000000 µs"), "{rule}");
    }
}
