// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time priorities of threads, where they may be had.

/// The native priority of the high-priority client and lane, under SCHED_FIFO.
pub(crate) const HIGH: i32 = 50;

/// Gives the calling thread SCHED_FIFO at a native priority; 0 leaves it as it
/// is.
///
/// # Errors
/// Why not, in words.
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

/// Whether a thread may have that priority; the sentence that says why not.
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

/// What the kernel does to real-time threads that leave nothing to others.
pub(crate) fn throttling() -> Option<String> {
    let microseconds = std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").ok()?;
    let microseconds = microseconds.trim();
    (microseconds != "-1").then(|| {
        format!(
            "Real-time threads that use more than {microseconds} µs of a period together stand still \
             for its rest (rt throttling; from Linux 6.12 on, as long as others starve)."
        )
    })
}

/// Lets this process have as many descriptors as it ever may.
#[cfg(target_os = "linux")]
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // What it has will do if it may not have more.
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn raise_descriptor_limit() {}
