/*
 * Memory of the device, which the host cannot touch, and streams.
 */
#include "machine.h"

namespace cuda_shim {
namespace {

constexpr uintptr_t spoilt = uintptr_t(1) << 54;  // no processor has such addresses

int accesses = 0;  // how many of them are under way

void protect(int how)
{
    Machine &all = machine();
    if (all.top > margin && mprotect(arena + margin, all.top - margin, how) != 0)
        die("mprotect");
}

void caught(int, siginfo_t *info, void *)
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

// What is wrong at the end of the program.
void at_end()
{
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
}

// Sees accesses that nothing else catches, and the end.
void watch()
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
    atexit(at_end);
}

// Made before `main` and before the variables of the program, so that it sees the end of everything else.
struct First {
    First() { machine(); }
} first __attribute__((init_priority(101)));

}  // namespace

void die(const char *what)
{
    fprintf(stderr, "cuda-shim: %s\n", what);
    fflush(nullptr);
    _exit(3);
}

Machine::Machine()
{
    const char *seed = getenv("CUDA_SHIM_SEED");
    random.seed(seed ? unsigned(atoi(seed)) : 1);
    void *memory = mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        die("no address space");
    arena = static_cast<char *>(memory);
    watch();
}

Machine &machine()
{
    static Machine *one = new Machine;
    return *one;
}

Access::Access()
{
    if (accesses++ == 0)
        protect(PROT_READ | PROT_WRITE);
}

Access::~Access()
{
    if (--accesses == 0)
        protect(PROT_NONE);
}

const std::pair<char *const, Block> *block_at(const void *address)
{
    Machine &all = machine();
    auto after = all.blocks.upper_bound(static_cast<char *>(const_cast<void *>(address)));
    if (after == all.blocks.begin())
        return nullptr;
    --after;
    return address < after->first + after->second.bytes ? &*after : nullptr;
}

void check_bytes(const void *address, size_t bytes)
{
    if (!is_in_arena(address))
        return;
    auto *block = block_at(address);
    if (!block || static_cast<const char *>(address) + bytes > block->first + block->second.bytes)
        die("a transfer leaves the memory that was allocated");
}

cudaError_t allocate(void **memory, size_t bytes, int device)
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

void release(void *memory)
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

const void *passed(const void *address)
{
    Machine &all = machine();
    Lock lock(all.mutex);
    if (!address || is_in_arena(address) || is_in(all.pinned, address) || is_in(all.symbols, address))
        return address;
    return reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(address) ^ spoilt);
}

Stream *stream_of(Stream *stream)
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

void run_all()
{
    std::vector<Stream *> streams = machine().streams;
    for (Stream *one : streams)
        one->run();
}

}  // namespace cuda_shim
