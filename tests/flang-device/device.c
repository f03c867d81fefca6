/* What the device code of flang 22 calls, and that of clang 22 in C, for a device that is the host's processor with other
   memory. One thread runs a region. The iterations of Fortran's loops come in order, or in another if FLANG_DEVICE_ORDER
   holds a number: 1 is backwards, every other number a permutation of its own; so a loop whose iterations depend on each
   other gives another result. The image is linked with nothing else of OpenMP: what is missing here, the linker says. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *Pointer;

/* Whatever is wrong here must not pass for a result. */
static void stop(const char *why)
{
    fprintf(stderr, "flang-device: %s\n", why);
    abort();
}

static uint64_t order(void)
{
    static uint64_t value;
    static int is_read;
    if (!is_read) {
        const char *text = getenv("FLANG_DEVICE_ORDER");
        value = text ? strtoull(text, 0, 10) : 0;
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

/* The iteration that runs as number `i` of `n`: backwards, or an affine permutation that is not the identity. */
static uint64_t iteration(uint64_t i, uint64_t n)
{
    uint64_t factor, shift;
    if (!order() || n < 2)
        return i;
    if (order() == 1)
        return n - 1 - i;
    factor = order() * 2654435761u % n | 1;
    while (common_divisor(factor, n) != 1)
        factor += 2;
    factor %= n;
    shift = order() % n;
    if (factor == 1 && shift == 0)
        shift = 1;
    return (uint64_t)(((unsigned __int128)i * factor + shift) % n);
}

/* A region: it has no threads to start. */
int32_t __kmpc_target_init(Pointer environment, Pointer launch) { return -1; }
void __kmpc_target_deinit(void) {}
int32_t __kmpc_global_thread_num(Pointer location) { return 0; }

/* Outlined code takes as many arguments as it was outlined with; more do no harm on this processor. */
enum { MOST = 16 };
typedef void (*Body)(int32_t *, int32_t *, Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, Pointer,
                     Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, Pointer);

static void call(Pointer body, int64_t count, Pointer *arguments)
{
    int32_t global = 0, bound = 0;
    Pointer a[MOST] = {0};
    if (count > MOST)
        stop("too many arguments");
    for (int64_t i = 0; i < count; i++)
        a[i] = arguments[i];
    ((Body)body)(&global, &bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                 a[14], a[15]);
}

void __kmpc_parallel_60(Pointer location, int32_t thread, int32_t condition, int32_t threads, int bind,
                        Pointer body, Pointer wrapper, Pointer *arguments, int64_t count, int32_t strict)
{
    call(body, count, arguments);
}

void __kmpc_parallel_51(Pointer location, int32_t thread, int32_t condition, int32_t threads, int bind,
                        Pointer body, Pointer wrapper, Pointer *arguments, int64_t count)
{
    call(body, count, arguments);
}

/* Loops of Fortran. */
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

/* Regions and loops of C: the one thread has all of a loop's iterations, in order, chunk by chunk if the loop says so. */
#define FORK(NAME) \
    void NAME(Pointer location, int32_t count, Pointer body, ...) \
    { \
        Pointer arguments[MOST]; \
        va_list rest; \
        va_start(rest, body); \
        for (int32_t i = 0; i < count && i < MOST; i++) \
            arguments[i] = va_arg(rest, Pointer); \
        va_end(rest); \
        call(body, count, arguments); \
    }
FORK(__kmpc_fork_teams)
FORK(__kmpc_fork_call)
void __kmpc_push_num_teams(Pointer location, int32_t thread, int32_t teams, int32_t threads) {}
void __kmpc_push_num_threads(Pointer location, int32_t thread, int32_t threads) {}
enum { CHUNKED = 33, DISTRIBUTE_CHUNKED = 91 };
#define STATIC_INIT(WIDTH, NUMBER, DIFFERENCE) \
    void __kmpc_for_static_init_##WIDTH(Pointer location, int32_t thread, int32_t schedule, int32_t *is_last, \
                                        NUMBER *lower, NUMBER *upper, DIFFERENCE *stride, DIFFERENCE step, \
                                        DIFFERENCE chunk) \
    { \
        int is_chunked = schedule == CHUNKED || schedule == DISTRIBUTE_CHUNKED; \
        *is_last = 1; \
        *stride = is_chunked ? chunk : (DIFFERENCE)(*upper - *lower + 1); \
        *upper = *lower + (*stride - 1); \
    }
STATIC_INIT(4, int32_t, int32_t)
STATIC_INIT(4u, uint32_t, int32_t)
STATIC_INIT(8, int64_t, int64_t)
STATIC_INIT(8u, uint64_t, int64_t)
void __kmpc_for_static_fini(Pointer location, int32_t thread) {}

/* Reductions: the one thread has the result already, and puts it to the variable (1). */
int32_t __kmpc_reduce(Pointer location, int32_t thread, int32_t count, uint64_t size, Pointer data, Pointer combine,
                      Pointer lock)
{
    return 1;
}
int32_t __kmpc_reduce_nowait(Pointer location, int32_t thread, int32_t count, uint64_t size, Pointer data,
                             Pointer combine, Pointer lock)
{
    return 1;
}
void __kmpc_end_reduce(Pointer location, int32_t thread, Pointer lock) {}
void __kmpc_end_reduce_nowait(Pointer location, int32_t thread, Pointer lock) {}

/* Memory and synchronisation of one thread. */
Pointer __kmpc_alloc_shared(uint64_t size) { return malloc(size); }
void __kmpc_free_shared(Pointer memory, uint64_t size) { free(memory); }
void __kmpc_barrier(Pointer location, int32_t thread) {}
void __kmpc_barrier_simple_spmd(Pointer location, int32_t thread) {}
void __kmpc_flush(Pointer location) {}
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
ANSWER(omp_get_device_num, 0)
ANSWER(omp_is_initial_device, 0)
