// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prefaulting of memory: a page fault in a request costs more than the request.
#![cfg_attr(
    target_env = "gnu",
    expect(unsafe_code, reason = "how glibc's allocator keeps memory")
)]

use std::hint::black_box;

/// Octets of a page; where pages are larger, some are touched twice.
const PAGE: usize = 4096;

/// Touches that many octets of the calling thread's stack, and up to two pages more, so that
/// requests cause no page faults there. The number must be less than the stack's size by the part
/// in use and some reserve.
pub fn prefault_stack(octets: usize) {
    let here = 0_u8;
    if octets > 0 {
        touch_stack((&raw const here).addr(), octets);
    }
}

/// A frame of one page, and those below it until that many octets are touched: frames are a little
/// larger than their pages.
// A separate frame for each call: frames touch the stack.
#[inline(never)]
fn touch_stack(start: usize, octets: usize) -> u8 {
    let mut page = [0_u8; PAGE];
    black_box(&mut page);
    let touched = start.abs_diff(page.as_ptr().addr());
    let below = if touched < octets {
        touch_stack(start, octets)
    } else {
        0
    };
    // Read afterwards, so that this is not a tail call and each frame remains.
    black_box(&page)[0].wrapping_add(below)
}

/// Allocates that many octets on the heap, touches them and frees them; with the allocator of glibc
/// they remain with the process, as does all memory freed later. Other allocators may differ.
pub fn prefault_heap(octets: usize) {
    if octets == 0 {
        return;
    }
    keep_heap();
    // In pieces below the size from which allocators map memory directly.
    const PIECE: usize = 64 << 10;
    let pieces: Vec<Vec<u8>> = (0..octets.div_ceil(PIECE))
        .map(|_| {
            let mut piece = vec![0; PIECE];
            for octet in piece.iter_mut().step_by(PAGE) {
                *octet = 1;
            }
            piece
        })
        .collect();
    drop(black_box(pieces));
}

/// Configures the allocator to retain freed memory.
#[cfg(target_env = "gnu")]
fn keep_heap() {
    // SAFETY: both take numbers and change what the allocator does later on,
    // under its own lock. Values it does not like are refused.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, -1);
        libc::mallopt(libc::M_MMAP_MAX, 0);
    }
}

#[cfg(not(target_env = "gnu"))]
fn keep_heap() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;

    use super::*;

    /// Minor page faults of the calling thread so far.
    fn faults() -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let after_name = stat.rsplit(") ").next().unwrap();
        after_name.split(' ').nth(7).unwrap().parse().unwrap()
    }

    #[test]
    fn a_stack_that_was_touched_is_there() {
        let thread = thread::Builder::new().stack_size(4 << 20);
        let (before, after) = thread
            .spawn(|| {
                let at_first = faults();
                prefault_stack(2 << 20);
                let touched = faults();
                prefault_stack(1 << 20);
                (touched - at_first, faults() - touched)
            })
            .unwrap()
            .join()
            .unwrap();
        // Large pages may cover many at once, and the stacks of a process with locked memory, as by
        // the test below, are present from the beginning.
        assert!(after <= 2 + before / 50, "{after} of {before}");
    }

    /// Regression: frames were counted as pages, so that more was touched than available.
    #[test]
    fn prefault_touches_only_the_requested_size() {
        let thread = thread::Builder::new().stack_size(4 << 20);
        let touched = thread.spawn(|| prefault_stack((4 << 20) - (16 << 10)));
        touched.unwrap().join().unwrap();
    }

    #[test]
    fn nothing_is_touched_for_nothing() {
        prefault_stack(0);
        prefault_heap(0);
    }
}
