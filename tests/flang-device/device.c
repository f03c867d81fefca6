/* What flang's device code calls, for a device that is the host's processor with other memory. One thread runs a region:
   iterations come in order, or, if FLANG_DEVICE_ORDER holds a seed, in another, so that a loop whose iterations depend on
   each other gives another result. */
#include <stdint.h>
#include <stdlib.h>

typedef void *Pointer;

static uint64_t seed(void)
{
    static uint64_t value;
    static int is_read;
    if (!is_read) {
        const char *text = getenv("FLANG_DEVICE_ORDER");
        value = text ? strtoull(text, 0, 10) * 2 + 1 : 0;
        is_read = 1;
    }
    return value;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The iteration that runs as number `i` of `n`: an affine permutation. */
static uint64_t iteration(uint64_t i, uint64_t n)
{
    uint64_t factor;
    if (!seed() || n < 2)
        return i;
    factor = (seed() * 2654435761u) % n | 1;
    while (common_divisor(factor, n) != 1)
        factor += 2;
    return (uint64_t)(((unsigned __int128)i * (factor % n) + seed()) % n);
}

/* A region: it has no threads to start. */
int32_t __kmpc_target_init(Pointer environment, Pointer launch) { return -1; }
void __kmpc_target_deinit(void) {}
int32_t __kmpc_global_thread_num(Pointer location) { return 0; }

void __kmpc_parallel_60(Pointer location, int32_t thread, int32_t condition, int32_t threads, int bind,
                        Pointer body, Pointer wrapper, Pointer *arguments, int64_t count, int32_t strict)
{
    int32_t global = 0, bound = 0;
    Pointer *a = arguments;
    switch (count) {
    case 0: ((void (*)(Pointer, Pointer))body)(&global, &bound); break;
    case 1: ((void (*)(Pointer, Pointer, Pointer))body)(&global, &bound, a[0]); break;
    case 2: ((void (*)(Pointer, Pointer, Pointer, Pointer))body)(&global, &bound, a[0], a[1]); break;
    case 3: ((void (*)(Pointer, Pointer, Pointer, Pointer, Pointer))body)(&global, &bound, a[0], a[1], a[2]); break;
    default: abort();
    }
}

void __kmpc_parallel_51(Pointer location, int32_t thread, int32_t condition, int32_t threads, int bind,
                        Pointer body, Pointer wrapper, Pointer *arguments, int64_t count)
{
    __kmpc_parallel_60(location, thread, condition, threads, bind, body, wrapper, arguments, count, 0);
}

#define RUN_ALL \
    for (Number i = 0; i < n; i++) \
    body((Number)iteration(i, n), argument)
#define LOOPS(WIDTH, NUMBER) \
    void __kmpc_distribute_for_static_loop_##WIDTH(Pointer location, void (*body)(NUMBER, Pointer), Pointer argument, \
                                                   NUMBER n, NUMBER threads, NUMBER block, NUMBER chunk, uint8_t once) \
    { typedef NUMBER Number; RUN_ALL; } \
    void __kmpc_distribute_static_loop_##WIDTH(Pointer location, void (*body)(NUMBER, Pointer), Pointer argument, \
                                               NUMBER n, NUMBER block, uint8_t once) \
    { typedef NUMBER Number; RUN_ALL; } \
    void __kmpc_for_static_loop_##WIDTH(Pointer location, void (*body)(NUMBER, Pointer), Pointer argument, NUMBER n, \
                                        NUMBER threads, NUMBER chunk, uint8_t once) \
    { typedef NUMBER Number; RUN_ALL; }
LOOPS(4, int32_t)
LOOPS(4u, uint32_t)
LOOPS(8, int64_t)
LOOPS(8u, uint64_t)

/* Memory, reductions and synchronisation of one thread. */
Pointer __kmpc_alloc_shared(uint64_t size) { return malloc(size); }
void __kmpc_free_shared(Pointer memory, uint64_t size) { free(memory); }
int32_t __kmpc_nvptx_parallel_reduce_nowait_v2(Pointer location, uint64_t size, Pointer data, Pointer shuffle,
                                               Pointer copy)
{
    return 1;
}
int32_t __kmpc_nvptx_teams_reduce_nowait_v2(Pointer location, Pointer buffer, uint32_t records, uint64_t size,
                                            Pointer data, Pointer shuffle, Pointer copy, Pointer to_global,
                                            Pointer reduce_global, Pointer from_global, Pointer reduce)
{
    return 1;
}
Pointer __kmpc_reduction_get_fixed_buffer(void)
{
    static char buffer[1 << 20];
    return buffer;
}
void __kmpc_nvptx_end_reduce_nowait(int32_t thread) {}
void __kmpc_barrier(Pointer location, int32_t thread) {}
void __kmpc_barrier_simple_spmd(Pointer location, int32_t thread) {}
int32_t __kmpc_get_hardware_num_threads_in_block(void) { return 1; }
int32_t __kmpc_get_hardware_thread_id_in_block(void) { return 0; }
int32_t __kmpc_get_hardware_num_blocks(void) { return 1; }
int32_t __kmpc_get_warp_size(void) { return 1; }
int32_t __kmpc_shuffle_int32(int32_t value, int16_t offset, int16_t width) { return value; }
int64_t __kmpc_shuffle_int64(int64_t value, int16_t offset, int16_t width) { return value; }
void __kmpc_critical(Pointer location, int32_t thread, Pointer lock) {}
void __kmpc_end_critical(Pointer location, int32_t thread, Pointer lock) {}
int32_t __kmpc_single(Pointer location, int32_t thread) { return 1; }
void __kmpc_end_single(Pointer location, int32_t thread) {}
int32_t __kmpc_master(Pointer location, int32_t thread) { return 1; }
void __kmpc_end_master(Pointer location, int32_t thread) {}
void __kmpc_serialized_parallel(Pointer location, int32_t thread) {}
void __kmpc_end_serialized_parallel(Pointer location, int32_t thread) {}

/* OpenMP's own routines, as C and Fortran call them. */
#define ANSWER(name, value) \
    int name(void) { return value; } \
    int name##_(void) { return value; }
ANSWER(omp_get_thread_num, 0)
ANSWER(omp_get_num_threads, 1)
ANSWER(omp_get_team_num, 0)
ANSWER(omp_get_num_teams, 1)
ANSWER(omp_is_initial_device, 0)
