// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-experiment server|client [--object NAME=REF]… [-ORB options]: omniORB's side of `orbium-bench inversion`,
// `threads` and `locks`. Understands the lines that orbium's own processes understand; crates/orbium-cli says which.
#include "cubit.hh"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <pthread.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// Defined in the program that counts, and in no other.
extern "C" unsigned long experiment_lock_operations() __attribute__((weak));

namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

constexpr std::uint64_t BUSY = 1'000'000;
constexpr Nanoseconds HIGH_PERIOD = std::chrono::milliseconds(50);
constexpr Nanoseconds LOW_PERIOD = std::chrono::milliseconds(100);
constexpr int HIGH_PRIORITY = 50;

std::uint64_t used()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::uint64_t(now.tv_sec) * 1'000'000'000 + std::uint64_t(now.tv_nsec);
}

/// Keeps a processor busy until this thread has had so much of it.
void burn(std::uint64_t nanoseconds)
{
    const std::uint64_t end = used() + nanoseconds;
    while (used() < end) {
    }
}

class CubeServant final : public POA_Cubit::Cube {
public:
    explicit CubeServant(bool is_busy) : is_busy_(is_busy) {}

    void noop() override {}
    void post(CORBA::Long) override {}
    CORBA::Octet cube_octet(CORBA::Octet v) override
    {
        if (is_busy_)
            burn(BUSY);
        return static_cast<CORBA::Octet>(v * v * v);
    }
    CORBA::Short cube_short(CORBA::Short) override { throw CORBA::NO_IMPLEMENT(); }
    CORBA::Long cube_long(CORBA::Long) override { throw CORBA::NO_IMPLEMENT(); }
    Cubit::Many cube_many(const Cubit::Many&) override { throw CORBA::NO_IMPLEMENT(); }
    Cubit::Oneof cube_union(const Cubit::Oneof&) override { throw CORBA::NO_IMPLEMENT(); }
    void cube_longs(const Cubit::Longs&, Cubit::Longs_out) override { throw CORBA::NO_IMPLEMENT(); }
    Cubit::Octets* echo_octets(const Cubit::Octets&) override { throw CORBA::NO_IMPLEMENT(); }
    Cubit::Longs* echo_longs(const Cubit::Longs&) override { throw CORBA::NO_IMPLEMENT(); }
    Cubit::Manys* echo_manys(const Cubit::Manys&) override { throw CORBA::NO_IMPLEMENT(); }
    CORBA::ULongLong calls() override { throw CORBA::NO_IMPLEMENT(); }
    void shutdown() override { throw CORBA::NO_IMPLEMENT(); }

private:
    const bool is_busy_;
};

std::string locks()
{
    if (!experiment_lock_operations)
        return "null";
    return "{\"operations\":" + std::to_string(experiment_lock_operations()) + "}";
}

void serve(CORBA::ORB_ptr orb)
{
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    for (const char* name : {"high", "low", "busy-high", "busy-low"}) {
        PortableServer::Servant_var<CubeServant> servant(new CubeServant(name[0] == 'b'));
        PortableServer::ObjectId_var id = poa->activate_object(servant);
        CORBA::Object_var object = poa->id_to_reference(id);
        CORBA::String_var reference = orb->object_to_string(object);
        std::cout << name << ' ' << reference.in() << '\n';
    }
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    std::cout << "READY" << std::endl;
    std::string line;
    while (std::getline(std::cin, line))
        std::cout << (line == "locks" ? locks() : "null") << std::endl;
}

/// Lets so many threads go at once, as often as they like.
class Barrier {
public:
    explicit Barrier(std::size_t threads) : threads_(threads) {}

    void wait()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        const std::size_t round = round_;
        if (++waiting_ == threads_) {
            waiting_ = 0;
            ++round_;
            all_.notify_all();
        } else {
            all_.wait(lock, [&] { return round_ != round; });
        }
    }

private:
    const std::size_t threads_;
    std::mutex mutex_;
    std::condition_variable all_;
    std::size_t waiting_ = 0, round_ = 0;
};

struct Found {
    std::vector<std::uint64_t> nanoseconds;
    std::uint64_t failed = 0;
};

/// Calls once per period while there are more to make; what was missed is not made up for.
Found periodic(Cubit::Cube_ptr cube, Nanoseconds period, Barrier& barrier, const std::function<bool()>& more)
{
    Found found;
    const auto call = [&] {
        try {
            cube->cube_octet(7);
            return true;
        } catch (const CORBA::Exception&) {
            ++found.failed;
            return false;
        }
    };
    // All at once, so that all connections are made that will be needed.
    barrier.wait();
    call();
    call();
    barrier.wait();
    auto next = Clock::now();
    while (true) {
        const auto begin = Clock::now();
        if (call())
            found.nanoseconds.push_back(std::uint64_t(Nanoseconds(Clock::now() - begin).count()));
        if (!more())
            return found;
        next += period;
        const auto now = Clock::now();
        if (next > now)
            std::this_thread::sleep_until(next);
        else
            next = now;
    }
}

std::string list(const std::vector<std::uint64_t>& values)
{
    std::ostringstream text;
    const char* separator = "";
    text << '[';
    for (const std::uint64_t value : values)
        text << separator << value, separator = ",";
    text << ']';
    return text.str();
}

using Objects = std::map<std::string, Cubit::Cube_var>;

std::string paced(Objects& objects, bool saturating, unsigned long low_clients, unsigned long milliseconds)
{
    const std::string prefix = saturating ? "busy-" : "";
    Cubit::Cube_var high = objects.at(prefix + "high"), low = objects.at(prefix + "low");
    Barrier barrier(low_clients + 1);
    std::atomic<bool> ends{false};
    std::vector<Found> found(low_clients + 1);
    bool is_real_time = false;
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        sched_param parameters{};
        parameters.sched_priority = HIGH_PRIORITY;
        is_real_time = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0;
        auto left = std::max<long>(1, long(std::chrono::milliseconds(milliseconds) / HIGH_PERIOD));
        found[0] = periodic(high, HIGH_PERIOD, barrier, [&] { return --left > 0; });
        ends = true;
    });
    for (unsigned long i = 1; i <= low_clients; ++i)
        threads.emplace_back([&, i] {
            found[i] = periodic(low, saturating ? Nanoseconds(0) : LOW_PERIOD, barrier, [&] { return !ends; });
        });
    for (std::thread& thread : threads)
        thread.join();
    std::vector<std::uint64_t> all;
    std::uint64_t failed = found[0].failed;
    for (unsigned long i = 1; i <= low_clients; ++i) {
        all.insert(all.end(), found[i].nanoseconds.begin(), found[i].nanoseconds.end());
        failed += found[i].failed;
    }
    return "{\"high\":" + list(found[0].nanoseconds) + ",\"low\":" + list(all) + ",\"failed\":" + std::to_string(failed) +
           (is_real_time ? ",\"refused\":null}" : ",\"refused\":\"no real-time priority\"}");
}

/// Runs that in so many threads at once, after each has warmed up; `go` runs when all are ready.
void in_threads(Cubit::Cube_ptr cube, unsigned long threads, const std::function<void(unsigned long)>& work,
                const std::function<void()>& go)
{
    Barrier barrier(threads + 1);
    std::vector<std::thread> all;
    for (unsigned long i = 0; i < threads; ++i)
        all.emplace_back([&, i] {
            for (int warm_up = 0; warm_up < 50; ++warm_up)
                cube->noop();
            barrier.wait();
            // Between the two, what was counted so far is noted.
            barrier.wait();
            work(i);
        });
    barrier.wait();
    go();
    barrier.wait();
    for (std::thread& thread : all)
        thread.join();
}

std::string load(Cubit::Cube_ptr cube, unsigned long threads, unsigned long milliseconds)
{
    std::atomic<bool> ends{false};
    std::vector<std::uint64_t> made(threads);
    std::thread timer;
    std::uint64_t elapsed = 0;
    in_threads(
        cube, threads,
        [&](unsigned long i) {
            std::uint64_t own = 0;
            for (; !ends; ++own)
                cube->noop();
            made[i] = own;
        },
        [&] {
            timer = std::thread([&] {
                const auto begin = Clock::now();
                std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
                ends = true;
                elapsed = std::uint64_t(Nanoseconds(Clock::now() - begin).count());
            });
        });
    timer.join();
    std::uint64_t calls = 0;
    for (const std::uint64_t own : made)
        calls += own;
    return "{\"calls\":" + std::to_string(calls) + ",\"nanoseconds\":" + std::to_string(elapsed) + "}";
}

std::string count(Cubit::Cube_ptr cube, unsigned long threads, unsigned long calls)
{
    unsigned long before = 0, after = 0;
    in_threads(
        cube, threads,
        [&](unsigned long) {
            for (unsigned long made = 0; made < calls; ++made)
                cube->noop();
        },
        [&] { before = experiment_lock_operations ? experiment_lock_operations() : 0; });
    after = experiment_lock_operations ? experiment_lock_operations() : 0;
    return "{\"calls\":" + std::to_string(threads * calls) + ",\"locks\":" +
           (experiment_lock_operations ? "{\"operations\":" + std::to_string(after - before) + "}" : "null") + "}";
}

void call(Objects& objects)
{
    std::cout << "READY" << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string what;
        unsigned long first = 0, second = 0;
        words >> what >> first >> second;
        if (what == "paced" || what == "saturated")
            std::cout << paced(objects, what == "saturated", first, second);
        else if (what == "load")
            std::cout << load(objects.at("high"), first, second);
        else if (what == "calls")
            std::cout << count(objects.at("high"), first, second);
        else
            throw std::runtime_error("unknown: " + line);
        std::cout << std::endl;
    }
}

}  // namespace

int main(int argc, char** argv)
try {
    std::ios::sync_with_stdio(false);
    std::vector<std::string> references;
    std::vector<char*> rest{argv[0]};
    for (int i = 2; i < argc; ++i)
        if (std::string(argv[i]) == "--object" && i + 1 < argc)
            references.emplace_back(argv[++i]);
        else
            rest.push_back(argv[i]);
    int count = int(rest.size());
    rest.push_back(nullptr);
    const char* here[][2] = {{"endPoint", "giop:tcp:127.0.0.1:0"}, {nullptr, nullptr}};
    CORBA::ORB_var orb = CORBA::ORB_init(count, rest.data(), "omniORB4", here);
    const std::string role = argc > 1 ? argv[1] : "";
    if (count > 1 || (role != "server" && role != "client")) {
        std::cerr << "usage: omni-experiment server|client [--object NAME=REF]... [-ORB options]\n";
        return 2;
    }
    if (role == "server") {
        serve(orb);
    } else {
        Objects objects;
        for (const std::string& named : references) {
            const std::size_t at = named.find('=');
            CORBA::Object_var object = orb->string_to_object(named.c_str() + at + 1);
            objects[named.substr(0, at)] = Cubit::Cube::_narrow(object);
        }
        call(objects);
    }
    std::cout.flush();
    orb->shutdown(true);
    orb->destroy();
} catch (const CORBA::Exception& e) {
    std::cerr << "omni-experiment: " << e._name() << '\n';
    return 1;
} catch (const std::exception& e) {
    std::cerr << "omni-experiment: " << e.what() << '\n';
    return 1;
}
