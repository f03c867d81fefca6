/*
 * The machine below `cuda_runtime.h`: memory of the device, streams, and the fibers that are its threads.
 */
#ifndef ACC2OMP_CUDA_SHIM_MACHINE
#define ACC2OMP_CUDA_SHIM_MACHINE

#include "cuda_runtime.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace cuda_shim {

constexpr size_t stack_bytes = 256 * 1024;
constexpr size_t arena_bytes = size_t(1) << 36;
constexpr size_t margin = size_t(1) << 32;  // addresses before the first allocation that are the device's too
constexpr size_t device_memory = size_t(1) << 34;
constexpr int multiprocessors = 2;

inline char *arena = nullptr;

// `races.cpp`: what orders the accesses of threads.
void launch_begins(size_t blocks, unsigned threads);
void launch_ends();
void block_begins(size_t number);
void block_meets();
void warp_meets(unsigned rank);

// --- Memory.

struct Block {
    size_t bytes;
    int device;
};

struct Machine {
    std::recursive_mutex mutex;
    std::map<char *, Block> blocks;
    std::multimap<size_t, char *> free_blocks;
    size_t top = margin;
    std::map<char *, size_t> pinned, symbols;
    std::vector<Stream *> streams;
    std::mt19937 random;

    Machine();
};

Machine &machine();

using Lock = std::lock_guard<std::recursive_mutex>;

// The host may not touch the device's memory, but what is done on its behalf may.
class Access {
public:
    Access();
    ~Access();
};

inline bool is_in_arena(const void *address)
{
    return arena && arena <= address && address < arena + arena_bytes;
}

template <class Map>
bool is_in(const Map &map, const void *address)
{
    char *place = static_cast<char *>(const_cast<void *>(address));
    auto after = map.upper_bound(place);
    if (after == map.begin())
        return false;
    --after;
    return place < after->first + after->second;
}

// The allocation that an address is in; null if there is none.
const std::pair<char *const, Block> *block_at(const void *address);
// The bytes are of one allocation, where they are of the device at all.
void check_bytes(const void *address, size_t bytes);
cudaError_t allocate(void **memory, size_t bytes, int device);
void release(void *memory);

// --- Streams.

struct Stream {
    int device = 0;
    std::deque<std::function<void()>> work;
    uint64_t put = 0, done = 0;
    bool is_running = false;

    void add(std::function<void()> one)
    {
        work.push_back(std::move(one));
        ++put;
    }
    void run_until(uint64_t position)
    {
        if (is_running && done < position)
            die("streams wait for each other");
        while (done < position) {
            std::function<void()> one = std::move(work.front());
            work.pop_front();
            is_running = true;
            one();
            is_running = false;
            ++done;
        }
    }
    void run() { run_until(put); }
};

struct Event {
    Stream *stream = nullptr;
    uint64_t position = 0;
};

inline thread_local int current_device = 0;

Stream *stream_of(Stream *stream);
void run_all();

// --- Blocks of threads.

enum class Waits { no, block, warp, end };

struct Fiber {
    ucontext_t context;  // where it starts
    char *stack = nullptr;
    jmp_buf place;       // where it goes on
    bool has_started = false;
    bool is_checked = false;  // as it goes on
    Waits waits = Waits::no;
    uint3 index = {};
    unsigned rank = 0;
    unsigned mask = 0;       // of the warp operation that it waits for
    int operation = 0;
    uint64_t value = 0;      // what it gives to it
    uint64_t lanes[32] = {};  // what all gave
};

inline std::vector<std::unique_ptr<Fiber>> fibers;
inline Fiber *running = nullptr;

void run_kernel(dim3 grid, dim3 block, Call &call);

}  // namespace cuda_shim

#endif
