// SPDX-License-Identifier: MIT OR Apache-2.0
//! Categories of processor time, by the names of functions.

use crate::statistics::samples::Frame;

/// Category of processor time, in the order of [`ALL`](Self::ALL).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    Synchronisation,
    System,
    Protocol,
    Memory,
    Servant,
    Rest,
}

impl Category {
    pub(crate) const ALL: [Self; 6] = [
        Self::Synchronisation,
        Self::System,
        Self::Protocol,
        Self::Memory,
        Self::Servant,
        Self::Rest,
    ];

    /// The name in tables, drawings and JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Synchronisation => "synchronisation",
            Self::System => "I/O and system",
            Self::Protocol => "protocol",
            Self::Memory => "memory",
            Self::Servant => "servant",
            Self::Rest => "rest",
        }
    }

    /// The category of a sample, the innermost frame first. Time in the kernel belongs to the
    /// purpose of its entry.
    pub(crate) fn of(sample: &[Frame<'_>]) -> Self {
        let Some(leaf) = sample.first() else {
            return Self::Rest;
        };
        if is_kernel(leaf) {
            let entered = |names: &[&str]| {
                let mut frames = sample.iter().take_while(|frame| is_kernel(frame));
                frames.any(|frame| has(frame.symbol, names))
            };
            return if entered(&KERNEL_SYNCHRONISATION) {
                Self::Synchronisation
            } else if entered(&KERNEL_MEMORY) {
                Self::Memory
            } else {
                Self::System
            };
        }
        let rules: [(&[&str], Self); 4] = [
            (&SERVANT, Self::Servant),
            (&SYNCHRONISATION, Self::Synchronisation),
            (&MEMORY, Self::Memory),
            (&SYSTEM, Self::System),
        ];
        let found = rules.iter().find(|(names, _)| has(leaf.symbol, names));
        found.map_or_else(|| by_object(leaf), |(_, category)| *category)
    }
}

fn has(symbol: &str, names: &[&str]) -> bool {
    names.iter().any(|name| symbol.contains(name))
}

fn is_kernel(frame: &Frame<'_>) -> bool {
    frame.object.starts_with("[kernel") || frame.object.starts_with("[guest.kernel")
}

/// The category by the library, if the name does not determine it: the C library waits and reads
/// the clock, and the rest of an ORB's code marshals, finds objects and manages connections.
fn by_object(leaf: &Frame<'_>) -> Category {
    let file = leaf.object.rsplit('/').next().unwrap_or_default();
    let is_java = leaf.is_compiled_by_java() && has(leaf.symbol, &JAVA_PROTOCOL);
    let is_orb = is_java || PROGRAMS.iter().any(|name| file.starts_with(name));
    let is_libc = file.starts_with("libc.so") || file.starts_with("libc-");
    if is_libc || leaf.object == "[vdso]" {
        Category::System
    } else if is_orb {
        Category::Protocol
    } else {
        Category::Rest
    }
}

const KERNEL_SYNCHRONISATION: [&str; 2] = ["futex", "sys_sched_yield"];
const KERNEL_MEMORY: [&str; 6] = [
    "page_fault",
    "sys_brk",
    "sys_mmap",
    "sys_munmap",
    "sys_madvise",
    "sys_mprotect",
];
/// Functions of the servants of this program, of omniORB's, of JacORB's.
const SERVANT: [&str; 5] = [
    "orbium_demo::servant::",
    "CubeServant::noop",
    "CubeServant::cube_octet",
    "::burn",
    "Experiment$Servant",
];
const SYNCHRONISATION: [&str; 24] = [
    "pthread_mutex",
    "pthread_cond",
    "pthread_rwlock",
    "pthread_spin",
    "sem_wait",
    "sem_post",
    "lll_lock",
    "lll_unlock",
    "futex",
    "std::sync::",
    "std::sys::sync::",
    "std::thread::park",
    "Thread::unpark",
    "parking_lot",
    "crossbeam",
    "orbium_sync::",
    "omni_mutex",
    "omni_condition",
    "omni_semaphore",
    "omni_tracedmutex",
    "ObjectMonitor",
    "ObjectSynchronizer",
    "java.util.concurrent.locks",
    "Unsafe.park",
];
const MEMORY: [&str; 19] = [
    "malloc",
    "calloc",
    "realloc",
    "_int_free",
    "__libc_free",
    "cfree",
    "unlink_chunk",
    "tcache",
    "sysmalloc",
    "operator new",
    "operator delete",
    "memcpy",
    "memmove",
    "memset",
    "__rust_alloc",
    "__rust_dealloc",
    "alloc::raw_vec",
    "CollectedHeap",
    "DefNew",
];
const SYSTEM: [&str; 10] = [
    "orbium_transport::",
    "orbium_sys::",
    "orbium_shm::",
    "rustix::",
    "std::net::",
    "std::sys::net",
    "std::sys::fd",
    "omni::tcp",
    "omni::Socket",
    "sun.nio.ch",
];
const JAVA_PROTOCOL: [&str; 3] = ["org.jacorb", "org.omg", "interop."];
/// Programs and libraries of which the remaining functions belong to an ORB.
const PROGRAMS: [&str; 4] = ["orbium-bench", "omni-experiment", "libomni", "libCOS"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::samples::JAVA_SYMBOLS;

    const KERNEL: &str = "[kernel.kallsyms]";
    const PROGRAM: &str = "/target/release/orbium-bench";
    const LIBC: &str = "/usr/lib/libc.so.6";

    #[test]
    fn categories_are_numbered_in_their_order() {
        for (number, category) in Category::ALL.into_iter().enumerate() {
            assert_eq!(category as usize, number, "{}", category.name());
        }
    }

    fn of(frames: &[(&str, &str)]) -> Category {
        let frames = frames
            .iter()
            .map(|(symbol, object)| Frame { symbol, object });
        Category::of(&frames.collect::<Vec<_>>())
    }

    #[test]
    fn time_in_the_kernel_belongs_to_what_it_was_entered_for() {
        let switch = ("finish_task_switch", KERNEL);
        let waiting = of(&[switch, ("do_futex", KERNEL), ("x", PROGRAM)]);
        assert_eq!(waiting, Category::Synchronisation);
        let receiving = of(&[switch, ("tcp_recvmsg", KERNEL), ("futex_wait", LIBC)]);
        assert_eq!(receiving, Category::System);
        let fault = of(&[("clear_page", KERNEL), ("asm_exc_page_fault", KERNEL)]);
        assert_eq!(fault, Category::Memory);
    }

    #[test]
    fn time_of_a_program_goes_by_the_function() {
        let java = format!("{JAVA_SYMBOLS}7.map");
        for (symbol, object, expected) in [
            ("orbium_giop::header::read", PROGRAM, Category::Protocol),
            (
                "omni::giopStream::sendChunk",
                "/lib/libomniORB4.so.2.5",
                Category::Protocol,
            ),
            (
                "void org.jacorb.orb.CDRInputStream.read()",
                &java,
                Category::Protocol,
            ),
            ("Interpreter", &java, Category::Rest),
            (
                "std::sys::sync::mutex::futex::Mutex::lock",
                PROGRAM,
                Category::Synchronisation,
            ),
            ("pthread_mutex_lock", LIBC, Category::Synchronisation),
            ("malloc", LIBC, Category::Memory),
            ("__libc_recv", LIBC, Category::System),
            (
                "orbium_transport::tcp::Stream::send",
                PROGRAM,
                Category::System,
            ),
            ("__vdso_clock_gettime", "[vdso]", Category::System),
            (
                "orbium_demo::servant::cube::CubeServant::count",
                PROGRAM,
                Category::Servant,
            ),
            ("_dl_lookup", "/lib/ld-linux.so.2", Category::Rest),
        ] {
            assert_eq!(of(&[(symbol, object)]), expected, "{symbol}");
        }
        assert_eq!(of(&[]), Category::Rest);
    }
}
