// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts the operations on mutexes of the whole program, the ORB's libraries included: linked into a program, these
// functions come before the C library's.
#include <atomic>
#include <dlfcn.h>
#include <pthread.h>

namespace {

std::atomic<unsigned long> operations{0};

using Function = int (*)(pthread_mutex_t*);

/// The C library's own, looked up at the first use.
int forward(std::atomic<Function>& known, const char* name, pthread_mutex_t* mutex)
{
    Function function = known.load(std::memory_order_relaxed);
    if (!function) {
        function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
        known.store(function, std::memory_order_relaxed);
    }
    operations.fetch_add(1, std::memory_order_relaxed);
    return function(mutex);
}

std::atomic<Function> lock{nullptr}, try_lock{nullptr}, unlock{nullptr};

}  // namespace

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept { return forward(lock, "pthread_mutex_lock", mutex); }
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept { return forward(try_lock, "pthread_mutex_trylock", mutex); }
int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept { return forward(unlock, "pthread_mutex_unlock", mutex); }

unsigned long experiment_lock_operations() { return operations.load(std::memory_order_relaxed); }

}
