/*
 * CUDA on the processor, for the tests of acc2omp: enough of it to run what acc2omp writes, and to see what is wrong.
 *
 *     g++ -std=c++17 -fno-strict-aliasing -DACC2OMP_ON_CPU -I tests/cuda-shim -x c++ foo_acc.cu acc2omp_cuda.cu
 *
 * (`xtask/src/cuda/mod.rs` adds the checks.)
 *
 * - Each thread of a block is a fiber. They are switched at barriers and shuffles, and run in an order that is shuffled
 *   (CUDA_SHIM_SEED): a barrier that is missing shows in the results. A barrier that some threads of the block never
 *   reach, or a shuffle without all its lanes, ends the program. Blocks run one after the other, shuffled too.
 * - Streams are lazy: what is put on one runs when somebody waits for it. A wait that is missing shows in the results.
 * - Memory of the device lies apart. It is filled with 0xA5 when it is allocated and 0xDE when it is freed, and the host
 *   cannot touch it. A kernel's argument that points to memory of the host is spoilt, so that using it is caught.
 * - Device code is built so that it asks `checks.cpp` before each access: memory of the host (its heap, its stacks, the
 *   variables of its C files), memory beyond what was allocated, and the stack of another thread end the program, and so
 *   does an access that nothing orders after another thread's (`races.cpp`).
 * - With CUDA_SHIM_LEAKS set, memory that is not freed at the end makes the program fail.
 * - With CUDA_SHIM_LOG set, each kernel that runs is told on standard error.
 * CUDA_SHIM_DEVICES is the number of devices (1).
 *
 * Nobody's interface but the tests': what acc2omp's output does not use is not here.
 */
#ifndef ACC2OMP_CUDA_SHIM
#define ACC2OMP_CUDA_SHIM

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <math.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __shared__ static
#define CUDART_CB

// ---------------------------------------------------------------------------------------------------------------------
// Types and errors.
// ---------------------------------------------------------------------------------------------------------------------

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600
};

inline const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorInvalidDevice:
        return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
        return "invalid resource handle";
    case cudaErrorNotReady:
        return "device not ready";
    }
    return "unknown error";
}

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int multiProcessorCount;
    int major, minor;
};
enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMemoryPoolsSupported = 115
};
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
typedef int cudaMemPool_t;
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventDisableTiming = 2 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
enum { cudaMemAttachGlobal = 1 };

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
constexpr int warpSize = 32;

// ---------------------------------------------------------------------------------------------------------------------
// The machine.
// ---------------------------------------------------------------------------------------------------------------------

namespace cuda_shim {

constexpr size_t stack_bytes = 256 * 1024;
constexpr size_t arena_bytes = size_t(1) << 36;
constexpr size_t margin = size_t(1) << 32;  // addresses before the first allocation that are the device's too
constexpr size_t device_memory = size_t(1) << 34;
constexpr int multiprocessors = 2;
constexpr uintptr_t spoilt = uintptr_t(1) << 54;  // no processor has such addresses

[[noreturn]] inline void die(const char *what)
{
    fprintf(stderr, "cuda-shim: %s\n", what);
    fflush(nullptr);
    _exit(3);
}

inline bool is_on_device = false;
inline thread_local bool is_checked = false;  // the code of a kernel runs, and not the shim's on its behalf
inline char *arena = nullptr;

// `races.cpp`: what orders the accesses of threads.
void launch_begins(size_t blocks, unsigned threads);
void launch_ends();
void block_begins(size_t number);
void block_meets();
void warp_meets(unsigned rank);
void thread_fences();

inline thread_local bool is_atomic = false;  // the access that comes is part of an atomic operation

struct Atomic {
    Atomic() { is_atomic = true; }
    ~Atomic() { is_atomic = false; }
};

// What the shim does on behalf of a kernel is not the kernel's access.
struct Unchecked {
    bool before = is_checked;
    Unchecked() { is_checked = false; }
    ~Unchecked() { is_checked = before; }
};

// --- Memory.

struct Block {
    size_t bytes;
    int device;
};

struct Stream;

struct Machine {
    std::recursive_mutex mutex;
    std::map<char *, Block> blocks;
    std::multimap<size_t, char *> free_blocks;
    size_t top = margin;
    std::map<char *, size_t> pinned, symbols;
    std::vector<Stream *> streams;
    std::mt19937 random;

    Machine()
    {
        const char *seed = getenv("CUDA_SHIM_SEED");
        random.seed(seed ? unsigned(atoi(seed)) : 1);
        void *memory = mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            die("no address space");
        arena = static_cast<char *>(memory);
        watch();
    }
    static void watch();
};

inline Machine &machine()
{
    static Machine *one = new Machine;
    return *one;
}

// Made before `main`, so that it sees the end of everything else.
inline Machine &first_use = machine();

using Lock = std::lock_guard<std::recursive_mutex>;

inline void caught(int, siginfo_t *info, void *)
{
    char *address = static_cast<char *>(info->si_addr);
    bool is_device = arena && arena <= address && address < arena + arena_bytes;
    const char *text = is_on_device ? (is_device ? "a kernel used memory that was never allocated\n"
                                                 : "a kernel used memory that is not the device's, or its stack is full\n")
                       : is_device  ? "the host used memory of the device\n"
                                    : "the host used memory that is not there\n";
    ssize_t done = write(2, "cuda-shim: ", 11);
    done += write(2, text, strlen(text));
    (void)done;
    _exit(3);
}

inline void Machine::watch()
{
    static char stack[65536];
    stack_t other = {};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = caught;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
    atexit([] {
        if (!getenv("CUDA_SHIM_LEAKS"))
            return;
        Machine &all = machine();
        for (auto &block : all.blocks)
            fprintf(stderr, "cuda-shim: %zu bytes of device %d are not freed\n", block.second.bytes, block.second.device);
        if (!all.pinned.empty())
            fprintf(stderr, "cuda-shim: %zu pieces of pinned memory are not freed\n", all.pinned.size());
        if (!all.blocks.empty() || !all.pinned.empty()) {
            fflush(nullptr);
            _exit(3);
        }
    });
}

// The host may not touch the device's memory, but what is done on its behalf may.
class Access {
public:
    Access()
    {
        if (depth_++ == 0)
            protect(PROT_READ | PROT_WRITE);
    }
    ~Access()
    {
        if (--depth_ == 0)
            protect(PROT_NONE);
    }

private:
    static void protect(int how)
    {
        Machine &all = machine();
        if (all.top > margin && mprotect(arena + margin, all.top - margin, how) != 0)
            die("mprotect");
    }
    static inline int depth_ = 0;
};

inline bool is_in_arena(const void *address)
{
    return arena && arena <= address && address < arena + arena_bytes;
}

template <class Map>
bool is_in(const Map &map, const void *address)
{
    char *place = static_cast<char *>(const_cast<void *>(address));
    auto behind = map.upper_bound(place);
    if (behind == map.begin())
        return false;
    --behind;
    return place < behind->first + behind->second;
}

inline const std::pair<char *const, Block> *block_at(const void *address)
{
    Machine &all = machine();
    auto behind = all.blocks.upper_bound(static_cast<char *>(const_cast<void *>(address)));
    if (behind == all.blocks.begin())
        return nullptr;
    --behind;
    return address < behind->first + behind->second.bytes ? &*behind : nullptr;
}

// The bytes are of one allocation, where they are of the device at all.
inline void check_bytes(const void *address, size_t bytes)
{
    if (!is_in_arena(address))
        return;
    auto *block = block_at(address);
    if (!block || static_cast<const char *>(address) + bytes > block->first + block->second.bytes)
        die("a transfer leaves the memory that was allocated");
}

inline cudaError_t allocate(void **memory, size_t bytes, int device)
{
    Machine &all = machine();
    size_t size = (bytes + 255) / 256 * 256 + 256;
    if (bytes > device_memory)
        return cudaErrorMemoryAllocation;
    char *place;
    auto found = all.free_blocks.find(size);
    {
        Access access;
        if (found != all.free_blocks.end()) {
            place = found->second;
            all.free_blocks.erase(found);
        } else {
            size_t page = size_t(sysconf(_SC_PAGESIZE));
            size_t old = (all.top + page - 1) / page * page;
            place = arena + all.top;
            all.top += size;
            size_t end = (all.top + page - 1) / page * page;
            if (all.top > arena_bytes)
                return cudaErrorMemoryAllocation;
            if (end > old && mprotect(arena + old, end - old, PROT_READ | PROT_WRITE) != 0)
                die("mprotect");
        }
        memset(place, 0xA5, bytes);
    }
    all.blocks[place] = {bytes, device};
    *memory = place;
    return cudaSuccess;
}

inline void release(void *memory)
{
    Machine &all = machine();
    auto found = all.blocks.find(static_cast<char *>(memory));
    if (found == all.blocks.end())
        die("memory is freed that is not allocated");
    Access access;
    memset(memory, 0xDE, found->second.bytes);
    all.free_blocks.emplace((found->second.bytes + 255) / 256 * 256 + 256, found->first);
    all.blocks.erase(found);
}

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

inline Stream *stream_of(Stream *stream)
{
    if (stream)
        return stream;
    static Stream *none[16] = {};
    Stream *&one = none[current_device];
    if (!one) {
        one = new Stream;
        one->device = current_device;
        machine().streams.push_back(one);
    }
    return one;
}

inline void run_all()
{
    std::vector<Stream *> streams = machine().streams;
    for (Stream *one : streams)
        one->run();
}

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

inline jmp_buf scheduler;
inline std::vector<std::unique_ptr<Fiber>> fibers;
inline Fiber *running = nullptr;
inline const std::function<void()> *body = nullptr;
inline unsigned block_threads = 0;

// Back to run_block. Jumps between stacks are much faster than swapcontext, which calls the kernel of the system.
__attribute__((noinline)) inline void yield(Waits why)
{
    Fiber *self = running;
    Unchecked shim;
    self->is_checked = shim.before;
    self->waits = why;
    if (_setjmp(self->place) == 0)
        _longjmp(scheduler, 1);
}

// A fiber runs one block after the other.
inline void fiber_main()
{
    for (;;) {
        (*body)();
        yield(Waits::end);
    }
}

__attribute__((noinline)) inline std::unique_ptr<Fiber> make_fiber()
{
    size_t page = size_t(sysconf(_SC_PAGESIZE));
    void *stack = mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE) != 0)
        die("no memory for a stack");
    auto fiber = std::make_unique<Fiber>();
    getcontext(&fiber->context);
    fiber->stack = static_cast<char *>(stack) + page;
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = stack_bytes;
    fiber->context.uc_link = nullptr;
    makecontext(&fiber->context, fiber_main, 0);
    return fiber;
}

__attribute__((noinline)) inline void resume(Fiber &one)
{
    running = &one;
    threadIdx = one.index;
    if (_setjmp(scheduler) != 0)
        return;
    if (one.has_started)
        _longjmp(one.place, 1);
    one.has_started = true;
    setcontext(&one.context);
}

// A step that the lanes in `mask` take together; what each gives is seen by all.
inline const uint64_t *meet(unsigned mask, int operation, uint64_t value)
{
    if (!is_on_device)
        die("a warp operation on the host");
    Unchecked shim;
    Fiber *self = running;
    if (!(mask >> self->rank % 32 & 1))
        die("a lane is not in its own mask");
    self->mask = mask;
    self->operation = operation;
    self->value = value;
    yield(Waits::warp);
    return self->lanes;
}

// Lets go the lanes that have met; whether there were any.
inline bool release_warps()
{
    bool any = false;
    for (unsigned first = 0; first < block_threads; first += 32) {
        unsigned count = std::min(32u, block_threads - first);
        for (unsigned lane = 0; lane < count; ++lane) {
            Fiber &one = *fibers[first + lane];
            if (one.waits != Waits::warp)
                continue;
            bool all = true;
            for (unsigned other = 0; other < 32 && all; ++other)
                if (one.mask >> other & 1) {
                    if (other >= count)
                        die("a mask names a lane that is not there");
                    Fiber &two = *fibers[first + other];
                    all = two.waits == Waits::warp && two.mask == one.mask && two.operation == one.operation;
                }
            if (!all)
                continue;
            uint64_t lanes[32];
            for (unsigned other = 0; other < 32; ++other)
                lanes[other] = one.mask >> other & 1 ? fibers[first + other]->value : 0xA5A5A5A5A5A5A5A5u;
            unsigned mask = one.mask;
            const bool is_barrier = one.operation == 0;
            for (unsigned other = 0; other < 32; ++other)
                if (mask >> other & 1) {
                    if (is_barrier)
                        warp_meets(first + other);
                    memcpy(fibers[first + other]->lanes, lanes, sizeof lanes);
                    fibers[first + other]->waits = Waits::no;
                }
            any = true;
        }
    }
    return any;
}

inline void run_block()
{
    std::vector<Fiber *> ready;
    size_t ended = 0;
    for (unsigned rank = 0; rank < block_threads; ++rank) {
        if (fibers.size() <= rank)
            fibers.push_back(make_fiber());
        Fiber &one = *fibers[rank];
        one.waits = Waits::no;
        one.rank = rank;
        one.index = {rank % blockDim.x, rank / blockDim.x % blockDim.y, rank / blockDim.x / blockDim.y};
    }
    while (ended < block_threads) {
        ready.clear();
        size_t at_barrier = 0;
        for (unsigned rank = 0; rank < block_threads; ++rank) {
            Fiber &one = *fibers[rank];
            at_barrier += one.waits == Waits::block;
            if (one.waits == Waits::no)
                ready.push_back(&one);
        }
        if (ready.empty()) {
            if (release_warps())
                continue;
            if (at_barrier < block_threads)
                die(at_barrier ? "a barrier that not all threads of the block reach"
                               : "a warp operation that not all lanes of its mask reach");
            for (unsigned rank = 0; rank < block_threads; ++rank)
                fibers[rank]->waits = Waits::no;
            block_meets();
            continue;
        }
        std::shuffle(ready.begin(), ready.end(), machine().random);
        for (Fiber *one : ready) {
            resume(*one);
            ended += one->waits == Waits::end;
        }
    }
    running = nullptr;
}

inline void run_kernel(dim3 grid, dim3 block, std::function<void()> kernel)
{
    static const bool is_told = getenv("CUDA_SHIM_LOG");
    if (is_told)
        fprintf(stderr, "cuda-shim: a kernel of %u x %u x %u blocks of %u x %u x %u threads\n", grid.x, grid.y, grid.z,
                block.x, block.y, block.z);
    Access access;
    is_on_device = true;
    gridDim = grid;
    blockDim = block;
    block_threads = block.x * block.y * block.z;
    body = &kernel;
    std::vector<unsigned> order(size_t(grid.x) * grid.y * grid.z);
    for (unsigned at = 0; at < order.size(); ++at)
        order[at] = at;
    std::shuffle(order.begin(), order.end(), machine().random);
    launch_begins(order.size(), block_threads);
    for (unsigned at : order) {
        block_begins(at);
        blockIdx = {at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y};
        run_block();
    }
    launch_ends();
    is_on_device = false;
}

// Calls a kernel. Its arguments lie on the stack of the thread.
template <class... P>
void enter(void (*kernel)(P...), P... arguments)
{
    is_checked = true;
    kernel(arguments...);
    is_checked = false;
}

// An argument of a kernel; one that points to the host's memory can be passed on, but not used.
template <class T>
T argument(T value)
{
    return value;
}

template <class T>
T *argument(T *value)
{
    if constexpr (std::is_function<T>::value) {
        return value;
    } else {
        const void *address = const_cast<const void *>(static_cast<const volatile void *>(value));
        Machine &all = machine();
        if (!address || is_in_arena(address) || is_in(all.pinned, address) || is_in(all.symbols, address))
            return value;
        return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(address) ^ spoilt);
    }
}

inline int device_count()
{
    const char *text = getenv("CUDA_SHIM_DEVICES");
    return text ? atoi(text) : 1;
}

}  // namespace cuda_shim

typedef cuda_shim::Stream *cudaStream_t;
typedef cuda_shim::Event *cudaEvent_t;
typedef void (*cudaHostFn_t)(void *);

// Whether a kernel runs now.
inline bool cudaIsOnDevice()
{
    return cuda_shim::is_on_device;
}

// kernel<<<grid, block, 0, stream>>>(arguments...)
template <class... P, class... A>
cudaError_t cudaLaunchOnCpu(dim3 grid, dim3 block, cudaStream_t stream, void (*kernel)(P...), A... arguments)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    unsigned long long threads = 1ull * block.x * block.y * block.z;
    if (threads == 0 || threads > 1024 || block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
        grid.x > INT_MAX || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    Stream *on = stream_of(stream);
    if (on->device != current_device)
        return cudaErrorInvalidResourceHandle;
    std::tuple<P...> values(argument(static_cast<P>(arguments))...);
    on->add([=] { run_kernel(grid, block, [&values, kernel] { std::apply(enter<P...>, std::tuple_cat(std::tuple(kernel), values)); }); });
    return cudaSuccess;
}

// ---------------------------------------------------------------------------------------------------------------------
// The host's side.
// ---------------------------------------------------------------------------------------------------------------------

inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

inline cudaError_t cudaGetDeviceCount(int *count)
{
    *count = cuda_shim::device_count();
    return cudaSuccess;
}

inline cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= cuda_shim::device_count())
        return cudaErrorInvalidDevice;
    cuda_shim::current_device = device;
    return cudaSuccess;
}

inline cudaError_t cudaGetDevice(int *device)
{
    *device = cuda_shim::current_device;
    return cudaSuccess;
}

inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrMultiProcessorCount ? cuda_shim::multiprocessors : 1;
    return cudaSuccess;
}

template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T, int threads, size_t)
{
    *blocks = threads < 2048 ? 2048 / threads : 1;
    return cudaSuccess;
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
    *properties = {};
    strcpy(properties->name, "the processor");
    properties->totalGlobalMem = cuda_shim::device_memory;
    properties->multiProcessorCount = cuda_shim::multiprocessors;
    properties->major = 9;
    return cudaSuccess;
}

inline cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

inline cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    *all = *left = device_memory;
    for (auto &block : machine().blocks)
        *left -= block.second.bytes;
    return cudaSuccess;
}

inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    *pool = device;
    return cudaSuccess;
}

inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
    return cudaSuccess;
}

inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t)
{
    return cudaSuccess;
}

inline cudaError_t cudaDeviceSynchronize()
{
    cuda_shim::Lock lock(cuda_shim::machine().mutex);
    cuda_shim::run_all();
    return cudaSuccess;
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    *stream = new Stream;
    (*stream)->device = current_device;
    machine().streams.push_back(*stream);
    return cudaSuccess;
}

inline cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

inline cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    stream->run();
    auto &streams = machine().streams;
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    // Events may still name it.
    return cudaSuccess;
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cuda_shim::Lock lock(cuda_shim::machine().mutex);
    cuda_shim::stream_of(stream)->run();
    return cudaSuccess;
}

// A stream that is asked makes progress.
inline cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    Stream *on = stream_of(stream);
    if (on->done == on->put)
        return cudaSuccess;
    on->run_until(on->done + 1);
    return cudaErrorNotReady;
}

inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
    cuda_shim::Lock lock(cuda_shim::machine().mutex);
    cuda_shim::stream_of(stream)->add([=] { function(argument); });
    return cudaSuccess;
}

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new cuda_shim::Event;
    return cudaSuccess;
}

inline cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

inline cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    Stream *on = stream_of(stream);
    *event = {on, on->put};
    return cudaSuccess;
}

inline cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cuda_shim::Lock lock(cuda_shim::machine().mutex);
    if (event->stream)
        event->stream->run_until(event->position);
    return cudaSuccess;
}

inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t)
{
    *milliseconds = 0;
    return cudaSuccess;
}

inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    Event seen = *event;
    if (seen.stream)
        stream_of(stream)->add([seen] { seen.stream->run_until(seen.position); });
    return cudaSuccess;
}

template <class T>
cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    void *place = nullptr;
    cudaError_t error = allocate(&place, bytes, current_device);
    *memory = static_cast<T *>(place);
    return error;
}

template <class T>
cudaError_t cudaMallocAsync(T **memory, size_t bytes, cudaStream_t)
{
    return cudaMalloc(memory, bytes);
}

inline cudaError_t cudaFree(void *memory)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    run_all();
    if (memory)
        release(memory);
    return cudaSuccess;
}

inline cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    stream_of(stream)->add([=] { release(memory); });
    return cudaSuccess;
}

inline cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    *memory = malloc(bytes);
    memset(*memory, 0xA5, bytes);
    machine().pinned[static_cast<char *>(*memory)] = bytes;
    return cudaSuccess;
}

inline cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    return cudaHostAlloc(memory, bytes, 0);
}

inline cudaError_t cudaFreeHost(void *memory)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    run_all();
    if (memory && machine().pinned.erase(static_cast<char *>(memory)) == 0)
        die("pinned memory is freed that is not allocated");
    free(memory);
    return cudaSuccess;
}

inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *address)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    void *same = const_cast<void *>(address);
    *attributes = {};
    if (auto *block = block_at(address))
        *attributes = {cudaMemoryTypeDevice, block->second.device, same, nullptr};
    else if (is_in(machine().symbols, address))
        *attributes = {cudaMemoryTypeDevice, 0, same, nullptr};
    else if (is_in(machine().pinned, address))
        *attributes = {cudaMemoryTypeHost, 0, same, same};
    return cudaSuccess;
}

template <class T>
cudaError_t cudaGetSymbolAddress(void **address, const T &symbol)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    *address = const_cast<char *>(&reinterpret_cast<const char &>(symbol));
    machine().symbols[static_cast<char *>(*address)] = sizeof symbol;
    return cudaSuccess;
}

// Memory of the host that is not pinned is read at once; what goes to such memory is waited for.
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    Stream *on = stream_of(stream);
    auto is_pageable = [](const void *address) {
        return !is_in_arena(address) && !is_in(machine().pinned, address) && !is_in(machine().symbols, address);
    };
    if ((kind == cudaMemcpyHostToDevice && (is_in_arena(from) || is_pageable(to))) ||
        (kind == cudaMemcpyDeviceToHost && (is_in_arena(to) || is_pageable(from))) ||
        (kind == cudaMemcpyDeviceToDevice && (is_pageable(to) || is_pageable(from))))
        return cudaErrorInvalidValue;
    check_bytes(to, bytes);
    check_bytes(from, bytes);
    if (is_pageable(from)) {
        auto staged = std::make_shared<std::vector<char>>(static_cast<const char *>(from),
                                                          static_cast<const char *>(from) + bytes);
        on->add([=] {
            Access access;
            memcpy(to, staged->data(), bytes);
        });
    } else {
        on->add([=] {
            Access access;
            memmove(to, from, bytes);
        });
    }
    if (is_pageable(to))
        on->run();
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    if (error == cudaSuccess)
        cudaStreamSynchronize(nullptr);
    return error;
}

inline cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

inline cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    using namespace cuda_shim;
    Lock lock(machine().mutex);
    check_bytes(memory, bytes);
    stream_of(stream)->add([=] {
        Access access;
        memset(memory, value, bytes);
    });
    return cudaSuccess;
}

inline cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    return cudaMemsetAsync(memory, value, bytes, nullptr);
}

// ---------------------------------------------------------------------------------------------------------------------
// The device's side.
// ---------------------------------------------------------------------------------------------------------------------

inline void __syncthreads()
{
    if (!cuda_shim::is_on_device)
        cuda_shim::die("a barrier on the host");
    cuda_shim::yield(cuda_shim::Waits::block);
}

inline void __threadfence()
{
    cuda_shim::thread_fences();
}
inline void __threadfence_block() {}
inline void __threadfence_system()
{
    cuda_shim::thread_fences();
}

inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    cuda_shim::meet(mask, 0, 0);
}

inline unsigned __activemask()
{
    cuda_shim::Unchecked shim;
    unsigned first = cuda_shim::running->rank / 32 * 32, mask = 0;
    for (unsigned lane = 0; lane < 32 && first + lane < cuda_shim::block_threads; ++lane)
        if (cuda_shim::fibers[first + lane]->waits != cuda_shim::Waits::end)
            mask |= 1u << lane;
    return mask;
}

namespace cuda_shim {

template <class T>
T shuffle(unsigned mask, T value, unsigned source, int operation)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "what a shuffle takes");
    Unchecked shim;
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    const uint64_t *lanes = meet(mask, operation, bits);
    memcpy(&value, &lanes[source], sizeof value);
    return value;
}

inline unsigned lane()
{
    Unchecked shim;
    return running->rank % 32;
}

}  // namespace cuda_shim

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    unsigned first = cuda_shim::lane() / unsigned(width) * unsigned(width);
    return cuda_shim::shuffle(mask, value, first + unsigned(source) % unsigned(width), 1);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int other, int width = 32)
{
    unsigned lane = cuda_shim::lane(), source = lane ^ unsigned(other);
    unsigned end = (lane / unsigned(width) + 1) * unsigned(width);
    return cuda_shim::shuffle(mask, value, source < end ? source : lane, 2);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    unsigned lane = cuda_shim::lane(), source = lane + distance;
    return cuda_shim::shuffle(mask, value, source / unsigned(width) == lane / unsigned(width) ? source : lane, 3);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    unsigned lane = cuda_shim::lane(), first = lane / unsigned(width) * unsigned(width);
    return cuda_shim::shuffle(mask, value, lane - first >= distance ? lane - distance : lane, 4);
}

inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    cuda_shim::Unchecked shim;
    const uint64_t *lanes = cuda_shim::meet(mask, 5, predicate != 0);
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (mask >> lane & 1 && lanes[lane])
            votes |= 1u << lane;
    return votes;
}

inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

inline int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) == mask;
}

// Fibers are not interrupted: what follows is atomic. The types are CUDA's.
#define CUDA_SHIM_ATOMIC(NAME, T, NEXT)             \
    inline T NAME(T *place, T value)                \
    {                                               \
        cuda_shim::Atomic atomic;                   \
        T old = *place;                             \
        *place = NEXT;                              \
        return old;                                 \
    }
#define CUDA_SHIM_INTEGERS(NAME, NEXT)              \
    CUDA_SHIM_ATOMIC(NAME, int, NEXT)               \
    CUDA_SHIM_ATOMIC(NAME, unsigned, NEXT)          \
    CUDA_SHIM_ATOMIC(NAME, unsigned long long, NEXT)
CUDA_SHIM_INTEGERS(atomicAdd, static_cast<decltype(old)>(static_cast<unsigned long long>(old) + static_cast<unsigned long long>(value)))
CUDA_SHIM_ATOMIC(atomicAdd, float, old + value)
CUDA_SHIM_ATOMIC(atomicAdd, double, old + value)
CUDA_SHIM_INTEGERS(atomicExch, value)
CUDA_SHIM_ATOMIC(atomicExch, float, value)
CUDA_SHIM_INTEGERS(atomicMin, value < old ? value : old)
CUDA_SHIM_INTEGERS(atomicMax, value > old ? value : old)
CUDA_SHIM_ATOMIC(atomicMin, long long, value < old ? value : old)
CUDA_SHIM_ATOMIC(atomicMax, long long, value > old ? value : old)
CUDA_SHIM_INTEGERS(atomicAnd, old &value)
CUDA_SHIM_INTEGERS(atomicOr, old | value)
CUDA_SHIM_INTEGERS(atomicXor, old ^ value)
CUDA_SHIM_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
CUDA_SHIM_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
#undef CUDA_SHIM_INTEGERS
#undef CUDA_SHIM_ATOMIC

inline int atomicSub(int *place, int value)
{
    return atomicAdd(place, -value);
}

inline unsigned atomicSub(unsigned *place, unsigned value)
{
    return atomicAdd(place, 0u - value);
}

template <class T>
typename std::enable_if<sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, T>::type
atomicCAS(T *place, T seen, T next)
{
    if (reinterpret_cast<uintptr_t>(place) % sizeof(T) != 0)
        cuda_shim::die("an atomic operation on an address that is not aligned");
    cuda_shim::Atomic atomic;
    T old = *place;
    if (memcmp(&old, &seen, sizeof(T)) == 0)
        *place = next;
    return old;
}

template <class T>
T __ldg(const T *place)
{
    return *place;
}

// nvcc has these for all arithmetic types.
template <class A, class B>
typename std::enable_if<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value,
                        typename std::common_type<A, B>::type>::type
min(A a, B b)
{
    typename std::common_type<A, B>::type left = a, right = b;
    return right < left ? right : left;
}

template <class A, class B>
typename std::enable_if<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value,
                        typename std::common_type<A, B>::type>::type
max(A a, B b)
{
    typename std::common_type<A, B>::type left = a, right = b;
    return left < right ? right : left;
}

#endif
