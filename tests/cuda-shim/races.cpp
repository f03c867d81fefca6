/*
 * Races between the threads of a kernel: two accesses of one place, at least one of which changes it, by two threads that
 * nothing orders. Orders are: a barrier of the block, __syncwarp, and between blocks a fence after the first access. A
 * store that leaves the value as it was is none, as OpenACC's gangs may all do the same; atomic operations do not meet each
 * other, and reading what they change is left to the program.
 *
 * What happened to a place last is kept for every fourth byte, and for each byte of accesses that are not aligned so.
 */
#include "checks.h"

#include <unordered_map>

namespace cuda_shim {
namespace {

struct Step {
    uint32_t thread = 0;  // number in the launch, from 1; 0 is nobody
    uint32_t time = 0;
    const void *code = nullptr;
};

// The last two threads that read a place: one of them is another one than any that writes.
struct Cell {
    Step write, reads[2];
};

// A store whose value is not known yet.
struct Pending {
    bool is_there;
    Accessed access;
    Scope scope;
    uint32_t thread;
    unsigned char before[16];
};

// A launch, as far as it is about order. Times count what orders accesses.
struct Launch {
    std::unordered_map<const char *, Cell> cells;
    uint32_t now = 0;
    size_t block = 0;                 // the block that runs
    unsigned threads = 0;             // of a block
    uint32_t met = 0;                 // when the threads of this block met last
    std::vector<uint32_t> warp_met;   // the same for __syncwarp, by thread of this block
    std::vector<uint32_t> fenced;     // when a thread fenced last
    std::vector<uint32_t> published;  // by block: what it did before has been fenced
    Pending pending = {};
};

Launch &launch = *new Launch;

bool is_ordered(const Step &before, uint32_t thread, Scope scope)
{
    if (before.thread == 0 || before.thread == thread)
        return true;
    const uint32_t first = before.thread - 1, second = thread - 1;
    if (first / launch.threads == second / launch.threads) {
        const uint32_t one = first % launch.threads, two = second % launch.threads;
        const bool same_warp = one / 32 == two / 32;
        return launch.met > before.time ||
               (same_warp && std::min(launch.warp_met[one], launch.warp_met[two]) > before.time);
    }
    return scope == Scope::block || launch.fenced[first] > before.time ||
           launch.published[first / launch.threads] > before.time;
}

void check(const Step &before, const char *did, const Pending &one)
{
    if (is_ordered(before, one.thread, one.scope))
        return;
    const std::string here = function_at(static_cast<const char *>(one.access.code));
    const std::string there = function_at(static_cast<const char *>(before.code));
    fprintf(stderr,
            "cuda-shim: a race: thread %u of block %u %s %zu bytes in `%s` that thread %u of block %u %s in `%s`, and "
            "nothing orders the two\n",
            (one.thread - 1) % launch.threads, (one.thread - 1) / launch.threads,
            one.access.is_write ? "writes" : "reads", one.access.bytes, here.c_str(),
            (before.thread - 1) % launch.threads, (before.thread - 1) / launch.threads, did, there.c_str());
    fflush(nullptr);
    _exit(3);
}

template <class F>
void each_place(const Accessed &one, F use)
{
    const bool is_aligned = one.bytes >= 4 && reinterpret_cast<uintptr_t>(one.address) % 4 == 0;
    for (size_t at = 0; at < one.bytes; at += is_aligned ? 4 : 1)
        use(launch.cells[one.address + at]);
}

// A store has happened: if it changed the value, it is compared with what others did.
void settle()
{
    Pending one = launch.pending;
    launch.pending.is_there = false;
    const size_t known = std::min(one.access.bytes, sizeof one.before);
    if (!one.is_there || (known == one.access.bytes && memcmp(one.before, one.access.address, known) == 0))
        return;
    each_place(one.access, [&](Cell &cell) {
        check(cell.write, "wrote", one);
        if (one.access.is_atomic)
            return;
        for (const Step &read : cell.reads)
            check(read, "read", one);
        cell.write = {one.thread, launch.now, one.access.code};
    });
}

}  // namespace

void note_access(const Accessed &access, Scope scope)
{
    settle();
    Pending one = {true, access, scope, uint32_t(launch.block * launch.threads + running->rank + 1), {}};
    if (access.is_write) {
        memcpy(one.before, access.address, std::min(access.bytes, sizeof one.before));
        launch.pending = one;
        return;
    }
    each_place(access, [&](Cell &cell) {
        check(cell.write, "wrote", one);
        if (access.is_atomic)
            return;
        if (cell.reads[0].thread != one.thread)
            cell.reads[1] = cell.reads[0];
        cell.reads[0] = {one.thread, launch.now, access.code};
    });
}

void forget(const char *first, size_t bytes)
{
    settle();
    for (size_t at = 0; at < bytes; ++at)
        launch.cells.erase(first + at);
}

void launch_begins(size_t blocks, unsigned threads)
{
    launch.cells.clear();
    launch.threads = threads;
    launch.fenced.assign(blocks * threads, 0);
    launch.published.assign(blocks, 0);
    launch.now = 0;
}

void launch_ends()
{
    settle();
}

void block_begins(size_t number)
{
    settle();
    launch.block = number;
    launch.met = ++launch.now;
    launch.warp_met.assign(launch.threads, 0);
}

void block_meets()
{
    settle();
    launch.met = ++launch.now;
}

void warp_meets(unsigned rank)
{
    settle();
    launch.warp_met[rank] = ++launch.now;
}

void thread_fences()
{
    if (!is_on_device)
        return;
    Unchecked shim;
    settle();
    launch.fenced[launch.block * launch.threads + running->rank] = ++launch.now;
    launch.published[launch.block] = launch.met;
    ++launch.now;
}

}  // namespace cuda_shim
