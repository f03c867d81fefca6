/*
 * The threads of a kernel: fibers, which are switched where they wait.
 */
#include "machine.h"

namespace cuda_shim {
namespace {

jmp_buf scheduler;
Call *body = nullptr;
unsigned block_threads = 0;

// Back to run_block. Jumps between stacks are much faster than swapcontext, which calls the kernel of the system.
__attribute__((noinline)) void yield(Waits why)
{
    Fiber *self = running;
    Unchecked shim;
    self->is_checked = shim.before;
    self->waits = why;
    if (_setjmp(self->place) == 0)
        _longjmp(scheduler, 1);
}

// A fiber runs one block after the other.
void fiber_main()
{
    for (;;) {
        body->run();
        yield(Waits::end);
    }
}

__attribute__((noinline)) std::unique_ptr<Fiber> make_fiber()
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

__attribute__((noinline)) void resume(Fiber &one)
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

// Lets go the lanes that have met; whether there were any.
bool release_warps()
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

void run_block()
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

}  // namespace

const uint64_t *meet(unsigned mask, int operation, uint64_t value)
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

unsigned lane()
{
    Unchecked shim;
    return running->rank % 32;
}

void run_kernel(dim3 grid, dim3 block, Call &call)
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
    body = &call;
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

}  // namespace cuda_shim

using namespace cuda_shim;

void __syncthreads()
{
    if (!is_on_device)
        die("a barrier on the host");
    yield(Waits::block);
}

unsigned __activemask()
{
    Unchecked shim;
    unsigned first = running->rank / 32 * 32, mask = 0;
    for (unsigned lane = 0; lane < 32 && first + lane < block_threads; ++lane)
        if (fibers[first + lane]->waits != Waits::end)
            mask |= 1u << lane;
    return mask;
}

unsigned __ballot_sync(unsigned mask, int predicate)
{
    Unchecked shim;
    const uint64_t *lanes = meet(mask, 5, predicate != 0);
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (mask >> lane & 1 && lanes[lane])
            votes |= 1u << lane;
    return votes;
}
