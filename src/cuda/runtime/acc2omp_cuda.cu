/*
 * acc2omp_cuda.cu: what acc2omp_cuda.h declares.
 *
 * Written by acc2omp beside the programs that it translates. It is yours: use, change and pass it on freely (CC0-1.0).
 *
 * Each device has a table of what is present there, and queues, which are streams. One mutex guards all tables. It is
 * held while data enters, so that nobody finds data whose transfer is not yet in a stream; never while waiting for the
 * device. Work that the host waits for runs on a stream that belongs to the host's thread.
 */
#define ACC2OMP_IMPLEMENTATION
// An option of the build, as -DT=8, means nothing here.
#undef A
#undef B
#undef C
#undef D
#undef E
#undef F
#undef K
#undef L
#undef M
#undef N
#undef P
#undef R
#undef S
#undef T
#undef U
#undef V
#undef W
#undef X
#undef Y
#undef Z
#undef block
#undef blocks
#undef count
#undef height
#undef rows
#undef size
#undef threads
#undef width

#include "acc2omp_cuda.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

using Lock = std::unique_lock<std::mutex>;

// ---------------------------------------------------------------------------------------------------------------------
// What is known.
// ---------------------------------------------------------------------------------------------------------------------

// A stream, and the memory that reductions on it share: what is in one stream runs one after the other.
struct Queue {
    cudaStream_t stream = nullptr;
    bool is_ours = true;       // else given by acc_set_cuda_stream
    uint64_t issued = 0;       // how much was put on it that others might have to wait for
    uint64_t done = 0;         // how much of that is known to be over
    char *partials = nullptr;
    size_t partial_bytes = 0;
    unsigned *arrived = nullptr;
    size_t counters = 0;
    std::vector<void *> outgrown;  // earlier `partials` and `arrived`; launches may still hold them
};

// A pointer in present memory that holds an address of the device there.
struct Attachment {
    unsigned count;
    void *target;  // what it points to on the host
};

// Data that is present.
struct Entry {
    char *host;
    size_t bytes;
    char *device;
    unsigned structured = 0, dynamic = 0;  // the counters of 2.6.7
    bool is_ours = true;                   // the memory is freed with it
    bool stays = false;                    // a global of `declare`
    std::map<size_t, Attachment> attachments;  // by their offset
    Queue *made_on = nullptr;              // the data is there when `made_on` has done as much as `made_at`
    uint64_t made_at = 0;
    std::set<Queue *> users;               // queues of ended regions, which may still be at work on it
    std::string name, where;               // for messages

    bool covers(const void *data, size_t size) const
    {
        size_t offset = static_cast<size_t>(static_cast<const char *>(data) - host);
        return host <= data && offset <= bytes && size <= bytes - offset;
    }
    char *translate(const void *data) const { return device + (static_cast<const char *>(data) - host); }
};

struct Device {
    int number = 0;
    bool is_started = false;
    unsigned generation = 0;  // grows with each shutdown: queues of an earlier one are gone
    bool has_pool = false;
    unsigned multiprocessors = 1;
    size_t declared = 0;      // how many globals are present
    std::map<const char *, Entry> table;  // by address on the host
    std::map<int, std::unique_ptr<Queue>> queues;
    std::vector<std::unique_ptr<Queue>> own_queues;  // those of threads
    std::vector<Queue *> idle_queues;                // those of threads that have ended
    std::string name;
};

struct Declared {
    const void *host;
    size_t bytes;
    void *(*device_address)(void);
    bool copies;
    const char *values;  // what is copied: of a twin those that `host` has where the program begins; null: zeros
};

// Memory of the host that a kernel can write.
struct Slot {
    void *memory;
    size_t bytes;
};

// A reduction's result on its way to the host.
struct Pending {
    Slot slot;
    void *host;
    size_t bytes;
    cudaStream_t stream;  // what brings it
};

// A launch that is timed, and what all of a construct took.
struct Timed {
    const char *where;
    cudaEvent_t start, end;
};

struct Times {
    unsigned long launches = 0;
    double all = 0, best = 0;  // milliseconds
};

struct State {
    std::mutex mutex;
    std::vector<std::unique_ptr<Device>> devices;
    std::vector<Declared> declared;
    std::set<const void *> empty;  // arrays without elements that directives named
    std::string driver;
    std::vector<Timed> timed;
    std::map<std::string, Times> times;
    bool has_exit_handler = false;
    std::atomic<bool> is_failing{false};  // the mutex may be held for ever

    // Guards what is below; held by callbacks of streams, hence never while CUDA is called.
    std::mutex slot_mutex;
    std::multimap<size_t, void *> free_slots;  // by their size
    std::vector<void *> slot_memory;           // what was allocated for them
    std::set<const Pending *> coming;          // results of queues that the host has not got yet
};

// Lives as long as the program, so that it can be used before `main` and behind it.
State &state()
{
    static State *one = new State;
    return *one;
}

enum class Kind { copy, copyin, copyout, copyout_zero, create, create_zero, present, no_create, attach };

// What a region has done.
struct Item {
    Kind kind;
    const void *data;  // the pointer variable of an attach
    size_t bytes;
    Entry *entry;
};

struct Open {
    const char *where;
    Device *device;
    Queue *queue;
    bool waits;  // the host waits at its end
    bool is_launch;
    std::vector<Item> items;
    Entry *latest = nullptr;  // of the data clause before; an attach belongs to it
    std::vector<void *> scratch;
    std::vector<Pending> results;
    size_t partial_bytes = 0, counters = 0;  // how much of the queue's memory its reductions have
    Timed clock = {};                        // of the launch that is being started
};

struct OwnQueue {
    unsigned generation;
    Queue *queue;
};

// The default queue at the start; its number is one that programs may compute with.
constexpr int first_queue = 0;

// What belongs to a thread of the host.
struct Thread {
    int number = -1;  // its device; below 0: not yet chosen
    bool is_host = false;
    bool is_chosen = false;
    int default_async = first_queue;
    std::vector<Open> regions;
    std::map<int, OwnQueue> queues;  // by device

    ~Thread()
    {
        if (state().is_failing)
            return;
        Lock lock(state().mutex);
        for (auto &own : queues) {
            Device &device = *state().devices[static_cast<size_t>(own.first)];
            if (device.generation == own.second.generation)
                device.idle_queues.push_back(own.second.queue);
        }
    }
};

thread_local Thread thread;

// ---------------------------------------------------------------------------------------------------------------------
// Errors.
// ---------------------------------------------------------------------------------------------------------------------

[[noreturn]] void stop(const std::string &text)
{
    fprintf(stderr, "%s", text.c_str());
    state().is_failing = true;
    exit(1);
}

std::string quoted(const char *name, const void *data, size_t bytes)
{
    char text[64];
    snprintf(text, sizeof text, "(%p, %zu bytes)", data, bytes);
    return (name && *name ? "`" + std::string(name) + "` " : std::string()) + text;
}

[[noreturn]] void fail(const char *where, const std::string &what)
{
    stop("acc2omp: " + std::string(where) + ": " + what + "\n");
}

void check(cudaError_t error, const char *where, const char *what)
{
    if (error != cudaSuccess)
        fail(where, std::string(what) + ": " + cudaGetErrorString(error));
}

[[noreturn]] void fail_absent(const char *where, const char *name, const void *data, size_t bytes, const Entry *part)
{
    std::string text = "acc2omp: " + std::string(where) + ": " + quoted(name, data, bytes);
    text += part ? " is present on the device only in part\n" : " is not present on the device\n";
    if (part) {
        text += "acc2omp: " + part->where + ": " + quoted(part->name.c_str(), part->host, part->bytes);
        text += " is what is present\n";
    }
    stop(text);
}

// The place of this thread's newest region, or else the name of a routine.
const char *place(const char *routine)
{
    return routine || thread.regions.empty() ? routine : thread.regions.back().where;
}

// ---------------------------------------------------------------------------------------------------------------------
// Devices and queues. What is below is called with the mutex held, if it does not say otherwise.
// ---------------------------------------------------------------------------------------------------------------------

int device_count()
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return count;
}

bool is_word(const char *text, const char *word)
{
    for (; *text && *word; ++text, ++word)
        if ((*text | 0x20) != (*word | 0x20))
            return false;
    return !*text && !*word;
}

// Chapter 4: what the environment says of the device, unless the program has.
void choose()
{
    if (!thread.is_chosen) {
        const char *type = getenv("ACC_DEVICE_TYPE"), *number = getenv("ACC_DEVICE_NUM");
        thread.is_host = type && is_word(type, "host");
        thread.number = number ? atoi(number) : 0;
        thread.is_chosen = true;
    }
}

bool is_host()
{
    choose();
    return thread.is_host;
}

void end_program();
void map_declared(Device &device, const char *where);

// A device that can be used; it becomes CUDA's current one.
Device &start(int number, const char *where)
{
    State &all = state();
    if (all.devices.empty()) {
        int count = device_count();
        for (int one = 0; one < count; ++one) {
            all.devices.push_back(std::make_unique<Device>());
            all.devices.back()->number = one;
        }
    }
    if (number < 0 || static_cast<size_t>(number) >= all.devices.size())
        fail(where, all.devices.empty() ? "there is no CUDA device"
                                        : "there is no CUDA device " + std::to_string(number));
    check(cudaSetDevice(number), where, "the device cannot be used");
    Device &device = *all.devices[static_cast<size_t>(number)];
    if (!device.is_started) {
        int value = 0;
        check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, number), where, "the device");
        device.multiprocessors = static_cast<unsigned>(value);
        check(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryPoolsSupported, number), where, "the device");
        device.has_pool = value != 0;
        if (device.has_pool) {
            cudaMemPool_t pool;
            uint64_t everything = UINT64_MAX;
            check(cudaDeviceGetDefaultMemPool(&pool, number), where, "the device's memory");
            check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything), where,
                  "the device's memory");
        }
        device.is_started = true;
        if (!all.has_exit_handler) {
            all.has_exit_handler = true;
            atexit(end_program);
        }
    }
    map_declared(device, where);
    return device;
}

// The device of this thread.
Device &current(const char *where)
{
    choose();
    return start(thread.number, where);
}

std::unique_ptr<Queue> make_queue(const char *where)
{
    auto queue = std::make_unique<Queue>();
    check(cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking), where, "a stream cannot be made");
    return queue;
}

// acc_async_noval and acc_async_default are the thread's default queue, which may be acc_async_sync.
int resolve(int queue)
{
    return queue == acc_async_noval || queue == acc_async_default ? thread.default_async : queue;
}

// The queue of a number that is resolved.
Queue &queue_of(Device &device, int number, const char *where)
{
    if (number != acc_async_sync) {
        auto &queue = device.queues[number];
        if (!queue)
            queue = make_queue(where);
        return *queue;
    }
    auto own = thread.queues.find(device.number);
    if (own != thread.queues.end() && own->second.generation == device.generation)
        return *own->second.queue;
    if (device.idle_queues.empty()) {
        device.own_queues.push_back(make_queue(where));
        device.idle_queues.push_back(device.own_queues.back().get());
    }
    Queue *queue = device.idle_queues.back();
    device.idle_queues.pop_back();
    thread.queues[device.number] = {device.generation, queue};
    return *queue;
}

// What comes next on `after` waits for what is on `before`.
void order(const Queue &before, const Queue &after, const char *where)
{
    if (before.stream == after.stream)
        return;
    cudaEvent_t event;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), where, "an event cannot be made");
    check(cudaEventRecord(event, before.stream), where, "an event");
    check(cudaStreamWaitEvent(after.stream, event, 0), where, "an event");
    check(cudaEventDestroy(event), where, "an event");
}

// The host waits. Without the mutex.
void synchronize(Queue &queue, const char *where, const char *what)
{
    uint64_t issued;
    {
        Lock lock(state().mutex);
        issued = queue.issued;
    }
    check(cudaStreamSynchronize(queue.stream), where, what);
    Lock lock(state().mutex);
    if (queue.done < issued)
        queue.done = issued;
}

void *allocate(Device &device, Queue &queue, size_t bytes, const char *where)
{
    void *memory = nullptr;
    // Atomics of one byte change the word that holds it: all of it is there.
    const size_t words = (bytes + 3) / 4 * 4;
    auto once = [&] {
        return device.has_pool ? cudaMallocAsync(&memory, words, queue.stream) : cudaMalloc(&memory, words);
    };
    cudaError_t error = once();
    if (error == cudaErrorMemoryAllocation) {
        // What was freed on other streams can be used when they are done.
        cudaGetLastError();
        check(cudaDeviceSynchronize(), where, "an earlier kernel or transfer failed");
        error = once();
    }
    if (error != cudaSuccess)
        fail(where, std::to_string(bytes) + " bytes of the device's memory: " + cudaGetErrorString(error));
    return memory;
}

void release(Device &device, Queue &queue, void *memory, const char *where)
{
    check(device.has_pool ? cudaFreeAsync(memory, queue.stream) : cudaFree(memory), where, "memory cannot be freed");
}

// ---------------------------------------------------------------------------------------------------------------------
// The table of what is present.
// ---------------------------------------------------------------------------------------------------------------------

// The entry with all of some bytes; of none, one that has the address.
Entry *find(Device &device, const void *data, size_t bytes)
{
    auto behind = device.table.upper_bound(static_cast<const char *>(data));
    if (behind == device.table.begin())
        return nullptr;
    Entry &entry = std::prev(behind)->second;
    return entry.covers(data, bytes ? bytes : 1) ? &entry : nullptr;
}

// An entry with some of them.
Entry *find_part(Device &device, const void *data, size_t bytes)
{
    const char *first = static_cast<const char *>(data);
    auto behind = device.table.lower_bound(first + bytes);
    if (behind == device.table.begin())
        return nullptr;
    Entry &entry = std::prev(behind)->second;
    return first < entry.host + entry.bytes ? &entry : nullptr;
}

// The entry with all of them, in order with the queue that wants it; having a part only is an error.
Entry *find_whole(Device &device, Queue &queue, const char *name, const void *data, size_t bytes, const char *where)
{
    Entry *entry = find(device, data, bytes);
    if (!entry && bytes) {
        if (Entry *part = find_part(device, data, bytes))
            fail_absent(where, name, data, bytes, part);
    }
    if (entry && entry->made_on && entry->made_on != &queue && entry->made_on->done < entry->made_at)
        order(*entry->made_on, queue, where);
    return entry;
}

// A copy between the host and the device.
struct Transfer {
    void *to;
    const void *from;
    size_t bytes;
    cudaMemcpyKind kind;
};

// Waits for the results that come to memory of the host. CUDA reads such memory when a copy is asked for, if it is not pinned,
// and not when the queue has done what comes before.
void await_results(const void *data, size_t bytes, const char *where)
{
    State &all = state();
    const char *start = static_cast<const char *>(data);
    auto comes_there = [&](const Pending *one) {
        const char *host = static_cast<const char *>(one->host);
        return start < host + one->bytes && host < start + bytes;
    };
    for (;;) {
        cudaStream_t stream;
        {
            std::lock_guard<std::mutex> lock(all.slot_mutex);
            auto found = std::find_if(all.coming.begin(), all.coming.end(), comes_there);
            if (found == all.coming.end())
                return;
            stream = (*found)->stream;
        }
        check(cudaStreamSynchronize(stream), where, "a kernel or a transfer failed");
    }
}

void issue(const std::vector<Transfer> &transfers, Queue &queue, const char *where)
{
    for (const Transfer &one : transfers) {
        if (one.kind == cudaMemcpyHostToDevice)
            await_results(one.from, one.bytes, where);
        check(cudaMemcpyAsync(one.to, one.from, one.bytes, one.kind, queue.stream), where, "data cannot be copied");
    }
}

// The copies for a part of an entry. They leave out pointers that are attached: each side keeps its own.
void add_transfers(std::vector<Transfer> &transfers, const Entry &entry, const void *data, size_t bytes, bool to_device)
{
    size_t at = static_cast<size_t>(static_cast<const char *>(data) - entry.host), end = at + bytes;
    auto add = [&](size_t until) {
        if (at >= until)
            return;
        void *host = entry.host + at, *device = entry.device + at;
        if (to_device)
            transfers.push_back({device, host, until - at, cudaMemcpyHostToDevice});
        else
            transfers.push_back({host, device, until - at, cudaMemcpyDeviceToHost});
    };
    auto one = entry.attachments.lower_bound(at < sizeof(void *) ? 0 : at - sizeof(void *) + 1);
    for (; one != entry.attachments.end() && one->first < end; ++one) {
        add(one->first);
        at = one->first + sizeof(void *);
    }
    add(end);
}

enum class Content { none, zero, host };

// Makes data present.
Entry &make(Device &device, Queue &queue, const char *name, const void *data, size_t bytes, Content content,
            const char *where)
{
    char *host = const_cast<char *>(static_cast<const char *>(data));
    Entry &entry = device.table[host];
    entry.host = host;
    entry.bytes = bytes;
    entry.device = static_cast<char *>(allocate(device, queue, bytes, where));
    entry.name = name ? name : "";
    entry.where = where;
    if (content == Content::zero)
        check(cudaMemsetAsync(entry.device, 0, bytes, queue.stream), where, "data cannot be set to zero");
    if (content == Content::host)
        issue({{entry.device, host, bytes, cudaMemcpyHostToDevice}}, queue, where);
    entry.made_on = &queue;
    entry.made_at = ++queue.issued;
    return entry;
}

// Takes data out of the table if both counters are zero. The memory is the caller's to free.
bool leave(Device &device, Entry &entry, Entry &left)
{
    if (entry.structured || entry.dynamic || entry.stays)
        return false;
    left = std::move(entry);
    device.table.erase(left.host);
    return true;
}

// The attach action (2.7.2). A pointer whose target has changed is attached to the new one. `section`: what is present of
// the target, if that may begin behind it, as in `copy(p[10:n])`.
Entry *attach(Device &device, Queue &queue, const char *name, const void *pointer_variable, Entry *section,
              const char *where)
{
    Entry *holder = find_whole(device, queue, name, pointer_variable, sizeof(void *), where);
    if (!holder)
        return nullptr;
    void *target;
    memcpy(&target, pointer_variable, sizeof target);
    Entry *pointed = target ? find_whole(device, queue, name, target, 0, where) : nullptr;
    if (!pointed && target)
        pointed = section;
    if (!pointed)
        return nullptr;
    size_t offset = static_cast<size_t>(static_cast<const char *>(pointer_variable) - holder->host);
    auto found = holder->attachments.find(offset);
    if (found != holder->attachments.end() && found->second.target == target) {
        ++found->second.count;
        return holder;
    }
    void *address = pointed->translate(target);
    issue({{holder->device + offset, &address, sizeof address, cudaMemcpyHostToDevice}}, queue, where);
    ++queue.issued;
    if (found == holder->attachments.end())
        holder->attachments[offset] = {1, target};
    else
        found->second = {found->second.count + 1, target};
    return holder;
}

// The detach action: the device's pointer gets the host's address again.
void detach(Queue &queue, Entry &holder, const void *pointer_variable, bool finalize, const char *where)
{
    size_t offset = static_cast<size_t>(static_cast<const char *>(pointer_variable) - holder.host);
    auto found = holder.attachments.find(offset);
    if (found == holder.attachments.end())
        return;
    if (!finalize && --found->second.count > 0)
        return;
    holder.attachments.erase(found);
    issue({{holder.device + offset, pointer_variable, sizeof(void *), cudaMemcpyHostToDevice}}, queue, where);
}

void map_declared(Device &device, const char *where)
{
    State &all = state();
    bool copies = false;
    for (; device.declared < all.declared.size(); ++device.declared) {
        const Declared &one = all.declared[device.declared];
        Queue &queue = queue_of(device, acc_async_sync, where);
        char *host = const_cast<char *>(static_cast<const char *>(one.host));
        // A variable of a module may have been brought before it is known to be one of `declare`.
        auto found = device.table.find(host);
        if (found != device.table.end() && found->second.bytes >= one.bytes) {
            found->second.stays = true;
            continue;
        }
        Entry &entry = device.table[host];
        entry.host = host;
        entry.bytes = one.bytes;
        entry.is_ours = !one.device_address;
        entry.device = static_cast<char *>(one.device_address ? one.device_address()
                                                              : allocate(device, queue, one.bytes, where));
        if (!entry.device)
            fail(where, "a global variable of the device has no address");
        entry.stays = true;
        entry.where = "declare";
        if (one.copies && one.values)
            issue({{entry.device, one.values, one.bytes, cudaMemcpyHostToDevice}}, queue, where);
        else if (one.copies)
            check(cudaMemsetAsync(entry.device, 0, one.bytes, queue.stream), where, "data cannot be set to zero");
        copies = true;
    }
    // They are there for all queues from now on. The wait is short: it is the first use of the device.
    if (copies)
        check(cudaDeviceSynchronize(), where, "global variables cannot be copied");
}

// ---------------------------------------------------------------------------------------------------------------------
// Slots.
// ---------------------------------------------------------------------------------------------------------------------

Slot take_slot(size_t bytes, const char *where)
{
    State &all = state();
    size_t size = 64;
    while (size < bytes)
        size *= 2;
    {
        std::lock_guard<std::mutex> lock(all.slot_mutex);
        auto found = all.free_slots.find(size);
        if (found != all.free_slots.end()) {
            Slot slot = {found->second, size};
            all.free_slots.erase(found);
            return slot;
        }
    }
    size_t many = size < 4096 ? 4096 / size : 1;
    void *memory;
    check(cudaHostAlloc(&memory, size * many, cudaHostAllocMapped | cudaHostAllocPortable), where,
          "memory for results");
    std::lock_guard<std::mutex> lock(all.slot_mutex);
    all.slot_memory.push_back(memory);
    for (size_t one = 1; one < many; ++one)
        all.free_slots.emplace(size, static_cast<char *>(memory) + one * size);
    return {memory, size};
}

void give_slot(Slot slot)
{
    std::lock_guard<std::mutex> lock(state().slot_mutex);
    state().free_slots.emplace(slot.bytes, slot.memory);
}

// Callbacks of streams: the host's values go to a slot before the kernel, and come back after it.
void CUDART_CB load_result(void *argument)
{
    std::unique_ptr<Pending> pending(static_cast<Pending *>(argument));
    memcpy(pending->slot.memory, pending->host, pending->bytes);
}

void CUDART_CB store_result(void *argument)
{
    std::unique_ptr<Pending> pending(static_cast<Pending *>(argument));
    memcpy(pending->host, pending->slot.memory, pending->bytes);
    {
        std::lock_guard<std::mutex> lock(state().slot_mutex);
        state().coming.erase(pending.get());
    }
    give_slot(pending->slot);
}

// ---------------------------------------------------------------------------------------------------------------------
// Regions.
// ---------------------------------------------------------------------------------------------------------------------

Open &newest(const char *what)
{
    if (thread.regions.empty())
        fail(what, "there is no open region");
    return thread.regions.back();
}

void begin(const char *where, int number, bool is_launch)
{
    number = resolve(number);
    Lock lock(state().mutex);
    Device &device = current(where);
    Queue &queue = queue_of(device, number, where);
    thread.regions.emplace_back();
    Open &region = thread.regions.back();
    region.where = where;
    region.device = &device;
    region.queue = &queue;
    region.waits = number == acc_async_sync;
    region.is_launch = is_launch;
}

std::vector<Queue *> chosen(Device &device, const int *number);

void end()
{
    Open region = std::move(newest("acc2omp_end"));
    thread.regions.pop_back();
    Device &device = *region.device;
    Queue &queue = *region.queue;
    const char *where = region.where;
    std::vector<Transfer> transfers;
    std::vector<void *> memory = std::move(region.scratch);
    bool has_changed = false;
    {
        Lock lock(state().mutex);
        check(cudaSetDevice(device.number), where, "the device cannot be used");
        for (auto item = region.items.rbegin(); item != region.items.rend(); ++item) {
            if (item->kind == Kind::attach) {
                detach(queue, *item->entry, item->data, false, where);
                has_changed = true;
                continue;
            }
            Entry left;
            --item->entry->structured;
            item->entry->users.insert(&queue);
            if (!leave(device, *item->entry, left))
                continue;
            for (const Queue *user : left.users)
                order(*user, queue, where);
            if (item->kind == Kind::copy || item->kind == Kind::copyout || item->kind == Kind::copyout_zero)
                add_transfers(transfers, left, item->data, item->bytes, false);
            if (left.is_ours)
                memory.push_back(left.device);
        }
        // What other queues do in a data region is done before its data leave.
        const bool leaves = !transfers.empty() || !memory.empty();
        if (leaves && region.waits && !region.is_launch)
            for (Queue *before : chosen(device, nullptr))
                if (before != &queue)
                    order(*before, queue, where);
        ++queue.issued;
    }
    issue(transfers, queue, where);
    for (void *one : memory)
        release(device, queue, one, where);
    if (region.waits) {
        if (region.is_launch || has_changed || !transfers.empty())
            synchronize(queue, where, "a kernel or a transfer failed");
        for (const Pending &one : region.results) {
            memcpy(one.host, one.slot.memory, one.bytes);
            give_slot(one.slot);
        }
    } else {
        for (const Pending &one : region.results) {
            Pending *sent = new Pending(one);
            {
                std::lock_guard<std::mutex> lock(state().slot_mutex);
                state().coming.insert(sent);
            }
            check(cudaLaunchHostFunc(queue.stream, store_result, sent), where, "a result");
        }
    }
}

// An array without elements needs no memory on the device: code there may have its address.
void *without_elements(const void *data)
{
    if (data)
        state().empty.insert(data);
    return const_cast<void *>(data);
}

// The address at which the device reaches memory that is not in the table: its own, managed, or pinned. Else the end.
void *reached_by_device(const char *where, const char *name, const void *data)
{
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess)
        cudaGetLastError();
    else if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged)
        return const_cast<void *>(data);
    else if (attributes.type == cudaMemoryTypeHost && attributes.devicePointer)
        return attributes.devicePointer;
    char text[32];
    snprintf(text, sizeof text, "(%p)", data);
    fail(where, "`" + std::string(name) + "` " + text + " is not present on the device");
}

// A data clause.
void *enter(Kind kind, const char *name, const void *data, size_t bytes)
{
    Open &region = newest("a data clause");
    Device &device = *region.device;
    Queue &queue = *region.queue;
    Entry *entry;
    bool is_new = false;
    region.latest = nullptr;
    {
        Lock lock(state().mutex);
        entry = find_whole(device, queue, name, data, bytes, region.where);
        if (bytes == 0 || !data)
            return entry ? entry->translate(data) : without_elements(data);
        if (!entry) {
            if (kind == Kind::no_create)
                return const_cast<void *>(data);
            if (kind == Kind::present)
                fail_absent(region.where, name, data, bytes, nullptr);
            Content content = kind == Kind::copy || kind == Kind::copyin                ? Content::host
                              : kind == Kind::copyout_zero || kind == Kind::create_zero ? Content::zero
                                                                                        : Content::none;
            entry = &make(device, queue, name, data, bytes, content, region.where);
            is_new = true;
        }
        ++entry->structured;
    }
    region.items.push_back({kind, data, bytes, entry});
    region.latest = entry;
    // The data must be there before the host goes on. A launch waits at its end.
    if (is_new && region.waits && !region.is_launch)
        synchronize(queue, region.where, "data cannot be copied");
    return entry->translate(data);
}

// ---------------------------------------------------------------------------------------------------------------------
// Dynamic data.
// ---------------------------------------------------------------------------------------------------------------------

// A routine on a queue: what it needs, and that the host waits if there is none.
struct Call {
    const char *routine;
    bool waits;
    Device *device;
    Queue *queue;

    // Takes the mutex.
    Call(const char *routine, int number, Lock &lock) : routine(routine)
    {
        number = resolve(number);
        waits = number == acc_async_sync;
        lock = Lock(state().mutex);
        device = &current(routine);
        queue = &queue_of(*device, number, routine);
    }
    // Without the mutex.
    void finish()
    {
        if (waits)
            synchronize(*queue, routine, "a transfer failed");
    }
};

void *enter_dynamic(const char *routine, const char *name, void *data, size_t bytes, Content content, int number)
{
    Lock lock;
    Call call(routine, number, lock);
    Entry *entry = find_whole(*call.device, *call.queue, name, data, bytes, routine);
    if (bytes == 0 || !data)
        return entry ? entry->translate(data) : without_elements(data);
    bool is_new = !entry;
    if (is_new)
        entry = &make(*call.device, *call.queue, name, data, bytes, content, routine);
    ++entry->dynamic;
    void *address = entry->translate(data);
    lock.unlock();
    if (is_new)
        call.finish();
    return address;
}

void exit_dynamic(const char *routine, void *data, size_t bytes, bool copies, bool finalize, int number)
{
    if (is_host())
        return;
    Lock lock;
    Call call(routine, number, lock);
    Entry *entry = find_whole(*call.device, *call.queue, nullptr, data, bytes, routine);
    if (!entry)
        return;
    if (finalize)
        entry->dynamic = 0;
    else if (entry->dynamic > 0)
        --entry->dynamic;
    Entry left;
    if (!leave(*call.device, *entry, left))
        return;
    ++call.queue->issued;
    lock.unlock();
    std::vector<Transfer> transfers;
    if (copies)
        add_transfers(transfers, left, data, bytes, false);
    issue(transfers, *call.queue, routine);
    if (left.is_ours)
        release(*call.device, *call.queue, left.device, routine);
    if (copies)
        call.finish();
}

void update(const char *routine, void *data, size_t bytes, bool to_device, int number)
{
    if (is_host() || bytes == 0)
        return;
    Lock lock;
    Call call(routine, number, lock);
    Entry *entry = find_whole(*call.device, *call.queue, nullptr, data, bytes, routine);
    if (!entry)
        fail_absent(routine, nullptr, data, bytes, nullptr);
    std::vector<Transfer> transfers;
    add_transfers(transfers, *entry, data, bytes, to_device);
    ++call.queue->issued;
    lock.unlock();
    issue(transfers, *call.queue, routine);
    call.finish();
}

void copy(const char *routine, void *to, const void *from, size_t bytes, cudaMemcpyKind kind, int number)
{
    if (bytes == 0)
        return;
    if (is_host()) {
        memmove(to, from, bytes);
        return;
    }
    Lock lock;
    Call call(routine, number, lock);
    ++call.queue->issued;
    lock.unlock();
    issue({{to, from, bytes, kind}}, *call.queue, routine);
    call.finish();
}

void detach_dynamic(const char *routine, void **pointer, bool finalize, int number)
{
    if (is_host())
        return;
    Lock lock;
    Call call(routine, number, lock);
    Entry *holder = find(*call.device, pointer, sizeof(void *));
    if (!holder)
        return;
    detach(*call.queue, *holder, pointer, finalize, routine);
    ++call.queue->issued;
    lock.unlock();
    call.finish();
}

// ---------------------------------------------------------------------------------------------------------------------
// Queues, seen from outside.
// ---------------------------------------------------------------------------------------------------------------------

// Makes a device CUDA's current one, until the end of its life.
class Visit {
public:
    Visit(int number, const char *where, Lock &lock)
    {
        choose();
        lock = Lock(state().mutex);
        device_ = &start(number < 0 ? thread.number : number, where);
        home_ = thread.number;
    }
    ~Visit()
    {
        if (home_ != device_->number)
            cudaSetDevice(home_);
    }
    Device &device() { return *device_; }

private:
    Device *device_;
    int home_;
};

std::vector<Queue *> chosen(Device &device, const int *number)
{
    std::vector<Queue *> queues;
    for (auto &one : device.queues)
        if (!number || one.first == *number)
            queues.push_back(one.second.get());
    return queues;
}

// `queue`: NULL for all.
void wait_for(const char *routine, const int *queue, int device_number)
{
    Lock lock;
    Visit visit(device_number, routine, lock);
    int number = queue ? resolve(*queue) : 0;
    std::vector<Queue *> queues = chosen(visit.device(), queue ? &number : nullptr);
    lock.unlock();
    for (Queue *one : queues)
        synchronize(*one, routine, "a kernel or a transfer failed");
}

void wait_async(const char *routine, const int *queue, int waiting, int device_number)
{
    if (resolve(waiting) == acc_async_sync)
        return wait_for(routine, queue, device_number);
    Lock lock;
    Visit visit(device_number, routine, lock);
    int number = queue ? resolve(*queue) : 0;
    Queue &after = queue_of(visit.device(), resolve(waiting), routine);
    for (Queue *before : chosen(visit.device(), queue ? &number : nullptr))
        order(*before, after, routine);
}

int test(const char *routine, const int *queue, int device_number)
{
    Lock lock;
    Visit visit(device_number, routine, lock);
    int number = queue ? resolve(*queue) : 0;
    for (Queue *one : chosen(visit.device(), queue ? &number : nullptr)) {
        cudaError_t error = cudaStreamQuery(one->stream);
        if (error == cudaErrorNotReady) {
            cudaGetLastError();
            return 0;
        }
        check(error, routine, "a kernel or a transfer failed");
    }
    return 1;
}

// ---------------------------------------------------------------------------------------------------------------------
// The end.
// ---------------------------------------------------------------------------------------------------------------------

void stop_queue(Queue &queue)
{
    cudaStreamSynchronize(queue.stream);
    cudaFree(queue.partials);
    cudaFree(queue.arrived);
    for (void *one : queue.outgrown)
        cudaFree(one);
    if (queue.is_ours)
        cudaStreamDestroy(queue.stream);
}

// Waits for the launches that are timed, and counts them.
void count_times()
{
    State &all = state();
    for (const Timed &one : all.timed) {
        float time = 0;
        cudaEventSynchronize(one.end);
        if (cudaEventElapsedTime(&time, one.start, one.end) == cudaSuccess) {
            Times &times = all.times[one.where];
            times.best = times.launches == 0 || time < times.best ? time : times.best;
            times.all += time;
            ++times.launches;
        }
        cudaEventDestroy(one.start);
        cudaEventDestroy(one.end);
    }
    all.timed.clear();
}

// Errors are of no interest any more.
void stop_device(Device &device)
{
    if (!device.is_started || cudaSetDevice(device.number) != cudaSuccess)
        return;
    cudaDeviceSynchronize();
    count_times();
    for (auto &one : device.table)
        if (one.second.is_ours)
            cudaFree(one.second.device);
    device.table.clear();
    for (auto &one : device.queues)
        stop_queue(*one.second);
    for (auto &one : device.own_queues)
        stop_queue(*one);
    device.queues.clear();
    device.own_queues.clear();
    device.idle_queues.clear();
    cudaMemPool_t pool;
    if (device.has_pool && cudaDeviceGetDefaultMemPool(&pool, device.number) == cudaSuccess)
        cudaMemPoolTrimTo(pool, 0);
    device.declared = 0;
    device.is_started = false;
    ++device.generation;
    cudaGetLastError();
}

void end_program()
{
    State &all = state();
    if (all.is_failing)
        return;
    Lock lock(all.mutex);
    for (auto &device : all.devices)
        stop_device(*device);
    for (auto &one : all.times) {
        const Times &times = one.second;
        fprintf(stderr, "acc2omp: %s: %lu launches, %.4f ms, each %.4f ms, best %.4f ms\n", one.first.c_str(),
                times.launches, times.all, times.all / static_cast<double>(times.launches), times.best);
    }
    all.times.clear();
    std::lock_guard<std::mutex> slots(all.slot_mutex);
    for (void *memory : all.slot_memory)
        cudaFreeHost(memory);
    all.slot_memory.clear();
    all.free_slots.clear();
}

bool is_cuda(acc_device_t type)
{
    choose();
    switch (type) {
    case acc_device_default:
    case acc_device_not_host:
    case acc_device_nvidia:
        return true;
    case acc_device_current:
        return !thread.is_host;
    case acc_device_none:
    case acc_device_host:
    case acc_device_radeon:
        break;
    }
    return false;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// What the header declares.
// ---------------------------------------------------------------------------------------------------------------------

int acc_get_num_devices(acc_device_t type)
{
    if (is_cuda(type))
        return device_count();
    return type == acc_device_host || type == acc_device_current ? 1 : 0;
}

void acc_set_device_type(acc_device_t type)
{
    choose();
    thread.is_host = type == acc_device_host;
}

acc_device_t acc_get_device_type(void)
{
    if (is_host())
        return acc_device_host;
    return device_count() > 0 ? acc_device_nvidia : acc_device_none;
}

void acc_set_device_num(int number, acc_device_t type)
{
    choose();
    if (!is_cuda(type)) {
        thread.is_host = type == acc_device_host || thread.is_host;
        return;
    }
    thread.is_host = false;
    const char *first = getenv("ACC_DEVICE_NUM");
    thread.number = number >= 0 ? number : first ? atoi(first) : 0;
    Lock lock(state().mutex);
    current("acc_set_device_num");
}

int acc_get_device_num(acc_device_t type)
{
    return is_cuda(type) ? thread.number : 0;
}

size_t acc_get_property(int number, acc_device_t type, acc_device_property_t property)
{
    if (!is_cuda(type) || (property != acc_property_memory && property != acc_property_free_memory))
        return 0;
    Lock lock;
    Visit visit(number, "acc_get_property", lock);
    size_t left = 0, all = 0;
    check(cudaMemGetInfo(&left, &all), "acc_get_property", "the device's memory");
    return property == acc_property_memory ? all : left;
}

const char *acc_get_property_string(int number, acc_device_t type, acc_device_property_t property)
{
    if (!is_cuda(type))
        return nullptr;
    if (property == acc_property_vendor)
        return "NVIDIA";
    Lock lock;
    Visit visit(number, "acc_get_property_string", lock);
    if (property == acc_property_name) {
        std::string &name = visit.device().name;
        if (name.empty()) {
            cudaDeviceProp properties;
            check(cudaGetDeviceProperties(&properties, visit.device().number), "acc_get_property_string",
                  "the device");
            name = properties.name;
        }
        return name.c_str();
    }
    if (property == acc_property_driver) {
        std::string &driver = state().driver;
        if (driver.empty()) {
            int version = 0;
            check(cudaDriverGetVersion(&version), "acc_get_property_string", "the driver");
            driver = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
        }
        return driver.c_str();
    }
    return nullptr;
}

void acc_init(acc_device_t type)
{
    acc_init_device(-1, type);
}

void acc_init_device(int number, acc_device_t type)
{
    if (!is_cuda(type))
        return;
    Lock lock;
    Visit visit(number, "acc_init", lock);
}

void acc_shutdown(acc_device_t type)
{
    if (!is_cuda(type))
        return;
    if (!thread.regions.empty())
        fail("acc_shutdown", std::string("the region at ") + thread.regions.back().where + " is open");
    Lock lock(state().mutex);
    for (auto &device : state().devices)
        stop_device(*device);
}

void acc_shutdown_device(int number, acc_device_t type)
{
    if (!is_cuda(type))
        return;
    if (!thread.regions.empty())
        fail("acc_shutdown", std::string("the region at ") + thread.regions.back().where + " is open");
    Lock lock(state().mutex);
    if (number < 0)
        number = thread.number;
    if (static_cast<size_t>(number) < state().devices.size())
        stop_device(*state().devices[static_cast<size_t>(number)]);
}

int acc_async_test(int queue)
{
    return test("acc_async_test", &queue, -1);
}

int acc_async_test_device(int queue, int device)
{
    return test("acc_async_test_device", &queue, device);
}

int acc_async_test_all(void)
{
    return test("acc_async_test_all", nullptr, -1);
}

int acc_async_test_all_device(int device)
{
    return test("acc_async_test_all_device", nullptr, device);
}

void acc_wait(int queue)
{
    wait_for("acc_wait", &queue, -1);
}

void acc_wait_device(int queue, int device)
{
    wait_for("acc_wait_device", &queue, device);
}

void acc_wait_all(void)
{
    wait_for("acc_wait_all", nullptr, -1);
}

void acc_wait_all_device(int device)
{
    wait_for("acc_wait_all_device", nullptr, device);
}

int acc_wait_any(int count, int queues[])
{
    return acc_wait_any_device(count, queues, -1);
}

int acc_wait_any_device(int count, int queues[], int device)
{
    // The host's own work is done: acc_async_sync is no queue to wait for.
    int first = -1;
    for (int one = 0; one < count; ++one) {
        if (queues[one] == acc_async_sync)
            continue;
        if (test("acc_wait_any", &queues[one], device))
            return one;
        first = first < 0 ? one : first;
    }
    if (first >= 0)
        wait_for("acc_wait_any", &queues[first], device);
    return first;
}

void acc_wait_async(int queue, int waiting)
{
    wait_async("acc_wait_async", &queue, waiting, -1);
}

void acc_wait_device_async(int queue, int waiting, int device)
{
    wait_async("acc_wait_device_async", &queue, waiting, device);
}

void acc_wait_all_async(int waiting)
{
    wait_async("acc_wait_all_async", nullptr, waiting, -1);
}

void acc_wait_all_device_async(int waiting, int device)
{
    wait_async("acc_wait_all_device_async", nullptr, waiting, device);
}

void acc_async_wait(int queue)
{
    acc_wait(queue);
}

void acc_async_wait_all(void)
{
    acc_wait_all();
}

int acc_get_default_async(void)
{
    return thread.default_async;
}

void acc_set_default_async(int queue)
{
    thread.default_async = queue == acc_async_default || queue == acc_async_noval ? first_queue : queue;
}

void *acc_malloc(size_t bytes)
{
    if (is_host())
        return malloc(bytes);
    Lock lock(state().mutex);
    current("acc_malloc");
    lock.unlock();
    void *memory = nullptr;
    if (bytes == 0 || cudaMalloc(&memory, bytes) != cudaSuccess) {
        cudaGetLastError();
        return nullptr;
    }
    return memory;
}

void acc_free(void *data_dev)
{
    if (is_host())
        free(data_dev);
    else if (data_dev)
        check(cudaFree(data_dev), "acc_free", "memory cannot be freed");
}

void *acc_copyin(void *data, size_t bytes)
{
    return acc_copyin_async(data, bytes, acc_async_sync);
}

void *acc_copyin_async(void *data, size_t bytes, int queue)
{
    return is_host() ? data : enter_dynamic("acc_copyin", nullptr, data, bytes, Content::host, queue);
}

void *acc_create(void *data, size_t bytes)
{
    return acc_create_async(data, bytes, acc_async_sync);
}

void *acc_create_async(void *data, size_t bytes, int queue)
{
    return is_host() ? data : enter_dynamic("acc_create", nullptr, data, bytes, Content::none, queue);
}

void *acc_present_or_copyin(void *data, size_t bytes)
{
    return acc_copyin(data, bytes);
}

void *acc_pcopyin(void *data, size_t bytes)
{
    return acc_copyin(data, bytes);
}

void *acc_present_or_create(void *data, size_t bytes)
{
    return acc_create(data, bytes);
}

void *acc_pcreate(void *data, size_t bytes)
{
    return acc_create(data, bytes);
}

void acc_copyout(void *data, size_t bytes)
{
    exit_dynamic("acc_copyout", data, bytes, true, false, acc_async_sync);
}

void acc_copyout_async(void *data, size_t bytes, int queue)
{
    exit_dynamic("acc_copyout_async", data, bytes, true, false, queue);
}

void acc_copyout_finalize(void *data, size_t bytes)
{
    exit_dynamic("acc_copyout_finalize", data, bytes, true, true, acc_async_sync);
}

void acc_copyout_finalize_async(void *data, size_t bytes, int queue)
{
    exit_dynamic("acc_copyout_finalize_async", data, bytes, true, true, queue);
}

void acc_delete(void *data, size_t bytes)
{
    exit_dynamic("acc_delete", data, bytes, false, false, acc_async_sync);
}

void acc_delete_async(void *data, size_t bytes, int queue)
{
    exit_dynamic("acc_delete_async", data, bytes, false, false, queue);
}

void acc_delete_finalize(void *data, size_t bytes)
{
    exit_dynamic("acc_delete_finalize", data, bytes, false, true, acc_async_sync);
}

void acc_delete_finalize_async(void *data, size_t bytes, int queue)
{
    exit_dynamic("acc_delete_finalize_async", data, bytes, false, true, queue);
}

void acc_update_device(void *data, size_t bytes)
{
    update("acc_update_device", data, bytes, true, acc_async_sync);
}

void acc_update_device_async(void *data, size_t bytes, int queue)
{
    update("acc_update_device_async", data, bytes, true, queue);
}

void acc_update_self(void *data, size_t bytes)
{
    update("acc_update_self", data, bytes, false, acc_async_sync);
}

void acc_update_self_async(void *data, size_t bytes, int queue)
{
    update("acc_update_self_async", data, bytes, false, queue);
}

void acc_map_data(void *data, void *data_dev, size_t bytes)
{
    if (is_host())
        return;
    Lock lock(state().mutex);
    Device &device = current("acc_map_data");
    if (!data || !data_dev || bytes == 0)
        fail("acc_map_data", quoted(nullptr, data, bytes) + " cannot be mapped");
    if (Entry *part = find_part(device, data, bytes))
        fail("acc_map_data", quoted(nullptr, data, bytes) + " is present already, from " + part->where);
    Entry &entry = device.table[static_cast<char *>(data)];
    entry.host = static_cast<char *>(data);
    entry.bytes = bytes;
    entry.device = static_cast<char *>(data_dev);
    entry.dynamic = 1;
    entry.is_ours = false;
    entry.where = "acc_map_data";
}

void acc_unmap_data(void *data)
{
    if (is_host())
        return;
    Lock lock(state().mutex);
    Device &device = current("acc_unmap_data");
    auto found = device.table.find(static_cast<char *>(data));
    if (found == device.table.end() || found->second.is_ours || found->second.stays)
        fail("acc_unmap_data", quoted(nullptr, data, 0) + " was not mapped by acc_map_data");
    device.table.erase(found);
}

void *acc_deviceptr(void *data)
{
    if (is_host())
        return data;
    Lock lock(state().mutex);
    Entry *entry = find(current("acc_deviceptr"), data, 0);
    return entry ? entry->translate(data) : nullptr;
}

void *acc_hostptr(void *data_dev)
{
    if (is_host())
        return data_dev;
    Lock lock(state().mutex);
    for (auto &one : current("acc_hostptr").table) {
        Entry &entry = one.second;
        if (entry.device <= data_dev && data_dev < entry.device + entry.bytes)
            return entry.host + (static_cast<char *>(data_dev) - entry.device);
    }
    return nullptr;
}

int acc_is_present(void *data, size_t bytes)
{
    if (is_host())
        return 1;
    Lock lock(state().mutex);
    return find(current("acc_is_present"), data, bytes) != nullptr;
}

void acc_memcpy_to_device(void *to_dev, void *from_host, size_t bytes)
{
    copy("acc_memcpy_to_device", to_dev, from_host, bytes, cudaMemcpyHostToDevice, acc_async_sync);
}

void acc_memcpy_to_device_async(void *to_dev, void *from_host, size_t bytes, int queue)
{
    copy("acc_memcpy_to_device_async", to_dev, from_host, bytes, cudaMemcpyHostToDevice, queue);
}

void acc_memcpy_from_device(void *to_host, void *from_dev, size_t bytes)
{
    copy("acc_memcpy_from_device", to_host, from_dev, bytes, cudaMemcpyDeviceToHost, acc_async_sync);
}

void acc_memcpy_from_device_async(void *to_host, void *from_dev, size_t bytes, int queue)
{
    copy("acc_memcpy_from_device_async", to_host, from_dev, bytes, cudaMemcpyDeviceToHost, queue);
}

void acc_memcpy_device(void *to_dev, void *from_dev, size_t bytes)
{
    copy("acc_memcpy_device", to_dev, from_dev, bytes, cudaMemcpyDeviceToDevice, acc_async_sync);
}

void acc_memcpy_device_async(void *to_dev, void *from_dev, size_t bytes, int queue)
{
    copy("acc_memcpy_device_async", to_dev, from_dev, bytes, cudaMemcpyDeviceToDevice, queue);
}

void acc_memcpy_d2d(void *to_host, void *from_host, size_t bytes, int to_device, int from_device)
{
    acc_memcpy_d2d_async(to_host, from_host, bytes, to_device, from_device, acc_async_sync);
}

void acc_memcpy_d2d_async(void *to_host, void *from_host, size_t bytes, int to_device, int from_device, int queue)
{
    const char *routine = "acc_memcpy_d2d";
    if (is_host() || bytes == 0)
        return;
    Lock lock;
    Call call(routine, queue, lock);
    auto find_on = [&](int number, void *data) {
        Device &device = start(number, routine);
        Entry *entry = find(device, data, bytes);
        if (!entry)
            fail_absent(routine, nullptr, data, bytes, find_part(device, data, bytes));
        if (entry->made_on && entry->made_on->done < entry->made_at)
            order(*entry->made_on, *call.queue, routine);
        return entry->translate(data);
    };
    void *to = find_on(to_device, to_host), *from = find_on(from_device, from_host);
    check(cudaSetDevice(call.device->number), routine, "the device cannot be used");
    ++call.queue->issued;
    lock.unlock();
    check(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, call.queue->stream), routine,
          "data cannot be copied");
    call.finish();
}

void acc_attach(void **pointer)
{
    acc_attach_async(pointer, acc_async_sync);
}

void acc_attach_async(void **pointer, int queue)
{
    if (is_host())
        return;
    Lock lock;
    Call call("acc_attach", queue, lock);
    attach(*call.device, *call.queue, nullptr, pointer, nullptr, "acc_attach");
    lock.unlock();
    call.finish();
}

void acc_detach(void **pointer)
{
    detach_dynamic("acc_detach", pointer, false, acc_async_sync);
}

void acc_detach_async(void **pointer, int queue)
{
    detach_dynamic("acc_detach_async", pointer, false, queue);
}

void acc_detach_finalize(void **pointer)
{
    detach_dynamic("acc_detach_finalize", pointer, true, acc_async_sync);
}

void acc_detach_finalize_async(void **pointer, int queue)
{
    detach_dynamic("acc_detach_finalize_async", pointer, true, queue);
}

void *acc_get_current_cuda_device(void)
{
    choose();
    return reinterpret_cast<void *>(static_cast<intptr_t>(thread.number));
}

void *acc_get_current_cuda_context(void)
{
    return nullptr;
}

void *acc_get_cuda_stream(int queue)
{
    Lock lock(state().mutex);
    return queue_of(current("acc_get_cuda_stream"), resolve(queue), "acc_get_cuda_stream").stream;
}

int acc_set_cuda_stream(int queue, void *stream)
{
    int number = resolve(queue);
    if (number == acc_async_sync || !stream)
        return 0;
    Lock lock(state().mutex);
    Queue &old = queue_of(current("acc_set_cuda_stream"), number, "acc_set_cuda_stream");
    lock.unlock();
    synchronize(old, "acc_set_cuda_stream", "a kernel or a transfer failed");
    lock.lock();
    if (old.is_ours)
        check(cudaStreamDestroy(old.stream), "acc_set_cuda_stream", "a stream");
    old.stream = static_cast<cudaStream_t>(stream);
    old.is_ours = false;
    return 1;
}

void acc2omp_begin(const char *where, int queue)
{
    begin(where, queue, false);
}

void acc2omp_end(void)
{
    end();
}

void *acc2omp_copy(const char *name, const void *data, size_t bytes)
{
    return enter(Kind::copy, name, data, bytes);
}

void *acc2omp_copyin(const char *name, const void *data, size_t bytes)
{
    return enter(Kind::copyin, name, data, bytes);
}

void *acc2omp_copyout(const char *name, const void *data, size_t bytes)
{
    return enter(Kind::copyout, name, data, bytes);
}

void *acc2omp_copyout_zero(const char *name, const void *data, size_t bytes)
{
    return enter(Kind::copyout_zero, name, data, bytes);
}

void *acc2omp_create(const char *name, const void *data, size_t bytes)
{
    return enter(Kind::create, name, data, bytes);
}

void *acc2omp_create_zero(const char *name, const void *data, size_t bytes)
{
    return enter(Kind::create_zero, name, data, bytes);
}

void *acc2omp_present(const char *name, const void *data, size_t bytes)
{
    return enter(Kind::present, name, data, bytes);
}

void *acc2omp_no_create(const char *name, const void *data, size_t bytes)
{
    return enter(Kind::no_create, name, data, bytes);
}

void acc2omp_attach(const char *name, const void *pointer_variable)
{
    Open &region = newest("acc2omp_attach");
    Lock lock(state().mutex);
    Entry *holder = attach(*region.device, *region.queue, name, pointer_variable, region.latest, region.where);
    if (!holder)
        return;
    region.items.push_back({Kind::attach, pointer_variable, sizeof(void *), holder});
    lock.unlock();
    if (region.waits && !region.is_launch)
        synchronize(*region.queue, region.where, "a pointer cannot be attached");
}

const char *acc2omp_text(const char *text, size_t length)
{
    static std::mutex guard;
    static std::set<std::string> *texts = new std::set<std::string>;
    std::lock_guard<std::mutex> lock(guard);
    return texts->emplace(text, length).first->c_str();
}

size_t acc2omp_element(const void *descriptor)
{
    struct Beginning {
        void *first;
        size_t element;
    };
    return static_cast<const Beginning *>(descriptor)->element;
}

void acc2omp_stop(const char *name)
{
    fail(name, "data of this name are not contiguous: bring all of the array to the device, or a copy of the part");
}

void acc2omp_update(const char *name, const void *descriptor, int rank, const size_t *extents, int to_device, int queue)
{
    // As gfortran and flang have it behind the members whose order the standard gives.
    struct Dimension {
        ptrdiff_t lower, extent, stride;  // bytes
    };
    struct Descriptor {
        char *first;
        size_t element;
        int version;
        unsigned char rank, rest[3];
        Dimension dimensions[15];
    };
    const Descriptor &array = *static_cast<const Descriptor *>(descriptor);
    bool is_known = rank > 0 && rank <= 15 && array.rank == rank;
    for (int at = 0; is_known && at < rank; ++at)
        is_known = array.dimensions[at].extent == static_cast<ptrdiff_t>(extents[at]);
    if (!is_known)
        acc2omp_stop(name);
    size_t bytes = array.element;
    int inner = 0;  // dimensions that are one piece
    while (inner < rank && array.dimensions[inner].stride == static_cast<ptrdiff_t>(bytes))
        bytes *= extents[inner++];
    size_t at[15] = {};
    for (;;) {
        char *piece = array.first;
        for (int outer = inner; outer < rank; ++outer)
            piece += static_cast<ptrdiff_t>(at[outer]) * array.dimensions[outer].stride;
        to_device ? acc_update_device_async(piece, bytes, queue) : acc_update_self_async(piece, bytes, queue);
        int outer = inner;
        while (outer < rank && ++at[outer] == extents[outer])
            at[outer++] = 0;
        if (outer == rank)
            break;
    }
}

void *acc2omp_create_zero_dynamic(const char *name, const void *data, size_t bytes, int queue)
{
    void *host = const_cast<void *>(data);
    return is_host() ? host : enter_dynamic("enter data", name, host, bytes, Content::zero, queue);
}

void acc2omp_attach_dynamic(const char *name, const void *pointer_variable, const void *section, int queue)
{
    if (is_host())
        return;
    Lock lock;
    Call call("enter data", queue, lock);
    Entry *behind = find(*call.device, section, 0);
    attach(*call.device, *call.queue, name, pointer_variable, behind, "enter data");
    lock.unlock();
    call.finish();
}

void *acc2omp_use_device(const char *where, const char *name, const void *data)
{
    if (is_host() || !data)
        return const_cast<void *>(data);
    {
        Lock lock(state().mutex);
        if (Entry *entry = find(current(where), data, 0))
            return entry->translate(data);
        if (state().empty.count(data))
            return const_cast<void *>(data);
    }
    return reached_by_device(where, name, data);
}

void acc2omp_declare(const void *host, size_t bytes, void *(*device_address)(void), int copy_at_start)
{
    Lock lock(state().mutex);
    std::vector<Declared> &all = state().declared;
    for (const Declared &one : all)
        if (one.host == host)
            return;
    const char *values = static_cast<const char *>(host);
    if (copy_at_start && device_address) {
        // The program has not begun, and may change them before it uses a device. Each device, and each start of one, needs
        // them, so that they are never freed.
        bool is_zero = std::all_of(values, values + bytes, [](char byte) { return byte == 0; });
        char *kept = is_zero ? nullptr : new char[bytes];
        if (kept)
            std::memcpy(kept, values, bytes);
        values = kept;
    }
    all.push_back({host, bytes, device_address, copy_at_start != 0, values});
}

void acc2omp_compare(const char *source, const char *ours, const char *theirs)
{
    if (std::strcmp(ours, theirs) == 0)
        return;
    std::fprintf(stderr, "acc2omp: %s and its device code were built with different options:%s is not%s\n", source, ours,
                 theirs);
    std::exit(1);
}

void acc2omp_compare_layouts(const char *source, const acc2omp_layout *ours, const acc2omp_layout *theirs)
{
    for (; ours->what && theirs->what; ours++, theirs++)
        if (ours->bytes != theirs->bytes) {
            std::fprintf(stderr, "acc2omp: %s and its device code were built with different layouts: %s is %zu, not %zu\n",
                         source, ours->what, ours->bytes, theirs->bytes);
            std::exit(1);
        }
    if (ours->what || theirs->what) {
        std::fprintf(stderr, "acc2omp: %s and its device code were translated from different sources\n", source);
        std::exit(1);
    }
}

namespace acc2omp {
namespace detail {

int on_device(int type)
{
#ifdef ACC2OMP_ON_CPU
    if (cudaIsOnDevice())
        return type == acc_device_not_host || type == acc_device_nvidia || type == acc_device_default ||
               type == acc_device_current;
#endif
    return type == acc_device_host || type == acc_device_none;
}

void begin_launch(const char *where, int queue)
{
    begin(where, queue, true);
}

void end_launch()
{
    end();
}

void *pointer(const char *name, const void *data)
{
    void *same = const_cast<void *>(data);
    if (!data)
        return same;
    Open &region = newest("a pointer");
    {
        Lock lock(state().mutex);
        if (Entry *entry = find_whole(*region.device, *region.queue, name, data, 0, region.where))
            return entry->translate(data);
        if (state().empty.count(data))
            return same;
    }
    return reached_by_device(region.where, name, data);
}

void *scratch(size_t bytes)
{
    Open &region = newest("scratch memory");
    if (bytes == 0)
        return nullptr;
    Lock lock(state().mutex);
    void *memory = allocate(*region.device, *region.queue, bytes, region.where);
    region.scratch.push_back(memory);
    return memory;
}

// The bytes from an address of the device to the end of the data that is present there; 0 if none is.
Extent extent(const void *device, size_t element)
{
    Open &region = newest("an array");
    Lock lock(state().mutex);
    const char *place = static_cast<const char *>(device);
    for (auto &one : region.device->table) {
        const Entry &entry = one.second;
        if (entry.device <= place && place < entry.device + entry.bytes)
            return {(entry.device - place) / static_cast<long long>(element),
                    (entry.device + entry.bytes - place) / static_cast<long long>(element)};
    }
    return {LLONG_MIN, LLONG_MAX};
}

void wait(int queue)
{
    Open &region = newest("a wait clause");
    Lock lock(state().mutex);
    int number = resolve(queue);
    for (Queue *before : chosen(*region.device, &number))
        order(*before, *region.queue, region.where);
}

void wait_all()
{
    Open &region = newest("a wait clause");
    Lock lock(state().mutex);
    for (Queue *before : chosen(*region.device, nullptr))
        order(*before, *region.queue, region.where);
}

cudaStream_t stream()
{
    return newest("a launch").queue->stream;
}

bool start_clock()
{
    static const bool is_wanted = getenv("ACC2OMP_TIMES") != nullptr;
    if (!is_wanted)
        return false;
    Open &region = newest("a launch");
    Lock lock(state().mutex);
    if (state().timed.size() >= 256)
        count_times();
    Timed timed = {region.where, nullptr, nullptr};
    check(cudaEventCreate(&timed.start), region.where, "a clock");
    check(cudaEventCreate(&timed.end), region.where, "a clock");
    check(cudaEventRecord(timed.start, region.queue->stream), region.where, "a clock");
    region.clock = timed;
    return true;
}

void stop_clock()
{
    Open &region = newest("a launch");
    Lock lock(state().mutex);
    check(cudaEventRecord(region.clock.end, region.queue->stream), region.where, "a clock");
    state().timed.push_back(region.clock);
}

void fail(const char *what, const char *why)
{
    const char *where = place(nullptr);
    ::fail(where ? where : what, std::string(what) + ": " + why);
}

Places places(const char *name, void *host, size_t element, size_t count, size_t blocks, bool by_value)
{
    Open &region = newest("a reduction");
    Queue &queue = *region.queue;
    Places places = {nullptr, nullptr, nullptr, nullptr};
    size_t bytes = element * count;
    {
        Lock lock(state().mutex);
        // A step that suits every type.
        size_t partial_bytes = (bytes * blocks + 63) / 64 * 64;
        if (region.partial_bytes + partial_bytes > queue.partial_bytes) {
            size_t size = (region.partial_bytes + partial_bytes) * 2;
            if (queue.partials)
                queue.outgrown.push_back(queue.partials);
            queue.partials = static_cast<char *>(allocate(*region.device, queue, size, region.where));
            queue.partial_bytes = size;
        }
        if (region.counters + count > queue.counters) {
            size_t size = (region.counters + count) * 2 + 64;
            if (queue.arrived)
                queue.outgrown.push_back(queue.arrived);
            queue.arrived =
                static_cast<unsigned *>(allocate(*region.device, queue, size * sizeof(unsigned), region.where));
            queue.counters = size;
            check(cudaMemsetAsync(queue.arrived, 0, size * sizeof(unsigned), queue.stream), region.where,
                  "memory for a reduction");
        }
        places.partials = queue.partials + region.partial_bytes;
        places.arrived = queue.arrived + region.counters;
        region.partial_bytes += partial_bytes;
        region.counters += count;
        if (Entry *entry = find_whole(*region.device, queue, name, host, bytes, region.where)) {
            places.to = entry->translate(host);
            places.from = places.to;
            return places;
        }
    }
    Pending pending = {take_slot(bytes, region.where), host, bytes, queue.stream};
    places.to = pending.slot.memory;
    if (!region.waits) {
        // An earlier launch on the queue may still have to set the value.
        check(cudaLaunchHostFunc(queue.stream, load_result, new Pending(pending)), region.where, "a result");
        places.from = places.to;
    } else if (!by_value) {
        memcpy(pending.slot.memory, host, bytes);
        places.from = places.to;
    }
    region.results.push_back(pending);
    return places;
}

}  // namespace detail

unsigned blocks(unsigned long long trips, unsigned threads)
{
    const unsigned long long most = (1ull << 31) - 1, wanted = trips / threads + (trips % threads != 0);
    return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

namespace detail {

// `held`: how many blocks a multiprocessor holds.
unsigned resident_blocks(unsigned long long trips, unsigned threads, unsigned held)
{
    Lock lock(state().mutex);
    const char *where = place(nullptr);
    Device &device = thread.regions.empty() ? current(where ? where : "a launch") : *thread.regions.back().device;
    const unsigned long long most = static_cast<unsigned long long>(device.multiprocessors) * held;
    unsigned long long wanted = trips / threads + (trips % threads != 0);
    return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

}  // namespace detail
}  // namespace acc2omp
