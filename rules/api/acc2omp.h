/*
 * acc2omp.h: what OpenACC's run-time library has and OpenMP 4.5 has no routine for.
 *
 * Written by acc2omp beside the sources that include it. It is yours: use, change and pass it on freely (CC0-1.0).
 * C99 and C++11. Every function says which routine of OpenACC it stands for.
 */
#ifndef ACC2OMP_H
#define ACC2OMP_H

#include <stddef.h>

/*
 * Without OpenMP the directives are comments: there is the host alone, where everything is present, as OpenMP's own stubs
 * have it (OpenMP 4.5, A.1). A program that calls OpenMP's routines itself must be linked with them.
 */
#ifdef _OPENMP
#include <omp.h>
#else
#include <string.h>
#ifdef __has_include
#if __has_include(<omp.h>)
#include <omp.h>
#endif
#endif

static inline int acc2omp_serial_device(void)
{
    return 0;
}

static inline void acc2omp_serial_set_device(int number)
{
    (void)number;
}

static inline int acc2omp_serial_is_host(void)
{
    return 1;
}

static inline int acc2omp_serial_is_present(const void *p, int device)
{
    (void)p;
    (void)device;
    return 1;
}

static inline int acc2omp_serial_copy(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset,
                                      int to_device, int from_device)
{
    (void)to_device;
    (void)from_device;
    memmove((char *)to + to_offset, (const char *)from + from_offset, bytes);
    return 0;
}

#define omp_get_default_device acc2omp_serial_device
#define omp_get_initial_device acc2omp_serial_device
#define omp_get_num_devices acc2omp_serial_device
#define omp_set_default_device acc2omp_serial_set_device
#define omp_is_initial_device acc2omp_serial_is_host
#define omp_target_is_present acc2omp_serial_is_present
#define omp_target_memcpy acc2omp_serial_copy
#endif

/* acc_device_t. ACC2OMP_DEVICE is the type that the default device counts as, where it is not the host. */
typedef enum acc2omp_device_t {
    acc2omp_device_none,
    acc2omp_device_default,
    acc2omp_device_host,
    acc2omp_device_not_host,
    acc2omp_device_nvidia,
    acc2omp_device_radeon,
    acc2omp_device_current
} acc2omp_device_t;

#ifndef ACC2OMP_DEVICE
#define ACC2OMP_DEVICE acc2omp_device_nvidia
#endif

/* acc_device_property_t. */
typedef enum acc2omp_device_property_t {
    acc2omp_property_none,
    acc2omp_property_memory,
    acc2omp_property_free_memory,
    acc2omp_property_shared_memory_support,
    acc2omp_property_name,
    acc2omp_property_vendor,
    acc2omp_property_driver
} acc2omp_device_property_t;

/* Values of an async argument. */
enum { acc2omp_async_noval = -1, acc2omp_async_sync = -2, acc2omp_async_default = -3 };

static inline int acc2omp_is_host(void)
{
    return omp_get_default_device() == omp_get_initial_device() || omp_get_num_devices() == 0;
}

/* acc_get_device_type */
static inline acc2omp_device_t acc2omp_get_device_type(void)
{
    return acc2omp_is_host() ? acc2omp_device_host : ACC2OMP_DEVICE;
}

/* acc_set_device_type */
static inline void acc2omp_set_device_type(acc2omp_device_t type)
{
    if (type == acc2omp_device_host)
        omp_set_default_device(omp_get_initial_device());
    else if (omp_get_default_device() == omp_get_initial_device())
        omp_set_default_device(0);
}

/* acc_get_num_devices */
static inline int acc2omp_get_num_devices(acc2omp_device_t type)
{
    if (type == acc2omp_device_none)
        return 0;
    if (type == acc2omp_device_host)
        return 1;
    if (type == acc2omp_device_current && acc2omp_is_host())
        return 1;
    return omp_get_num_devices();
}

/* acc_set_device_num */
static inline void acc2omp_set_device_num(int number, acc2omp_device_t type)
{
    omp_set_default_device(type == acc2omp_device_host ? omp_get_initial_device() : number);
}

/* acc_get_device_num */
static inline int acc2omp_get_device_num(acc2omp_device_t type)
{
    return type == acc2omp_device_host || acc2omp_is_host() ? 0 : omp_get_default_device();
}

/* acc_get_default_async, acc_set_default_async; one variable for the whole program. */
__attribute__((weak)) int acc2omp_default_async = acc2omp_async_noval;

static inline int acc2omp_get_default_async(void)
{
    return acc2omp_default_async;
}

static inline void acc2omp_set_default_async(int queue)
{
    acc2omp_default_async = queue == acc2omp_async_default ? (int)acc2omp_async_noval : queue;
}

/*
 * Queues. Constructs of one queue depend on one object, so that they run one after the other while the host goes on.
 * Each device has its own; the queues of a device share a few objects: two that meet in one wait for each other, which
 * costs time and changes no result.
 * Dependences order what one thread (in OpenMP's words: one task) has queued; so does waiting.
 */
enum { acc2omp_queue_objects = 61, acc2omp_queue_devices = 64 };
__attribute__((weak)) char acc2omp_queues[acc2omp_queue_devices][acc2omp_queue_objects];

static inline char *acc2omp_queue_object_of(int queue, int device)
{
    if (queue == acc2omp_async_noval || queue == acc2omp_async_default)
        queue = acc2omp_default_async;
    return &acc2omp_queues[(unsigned)device % (unsigned)acc2omp_queue_devices]
                          [(unsigned)queue % (unsigned)acc2omp_queue_objects];
}

static inline char *acc2omp_queue_object(int queue)
{
    return acc2omp_queue_object_of(queue, omp_get_default_device());
}

/* OpenMP's number of a device of the current type. */
static inline int acc2omp_device_of(int number)
{
    return acc2omp_is_host() ? omp_get_initial_device() : number;
}

/* What stands in `depend` for a queue of the current device, and of another one. */
#define acc2omp_queue(number) (*acc2omp_queue_object(number))
#define acc2omp_queue_of(number, device) (*acc2omp_queue_object_of(number, acc2omp_device_of(device)))

static inline void acc2omp_wait_object(char *object)
{
    (void)object;
#pragma omp task if (0) depend(inout : object[0])
    {
    }
}

/* acc_wait */
static inline void acc2omp_wait(int queue)
{
    acc2omp_wait_object(acc2omp_queue_object(queue));
}

/* acc_wait_device */
static inline void acc2omp_wait_device(int queue, int device)
{
    acc2omp_wait_object(acc2omp_queue_object_of(queue, acc2omp_device_of(device)));
}

/* acc_wait_all: for all devices. */
static inline void acc2omp_wait_all(void)
{
#pragma omp taskwait
}

static inline void acc2omp_wait_objects(char *first, int waiting)
{
    char *second = acc2omp_queue_object(waiting);
    if (waiting == acc2omp_async_sync) {
        acc2omp_wait_object(first);
    } else if (first != second) {
#pragma omp task depend(in : first[0]) depend(inout : second[0])
        {
        }
    }
}

/* acc_wait_async: what is queued behind this on `waiting` runs after what is on `queue`. */
static inline void acc2omp_wait_async(int queue, int waiting)
{
    acc2omp_wait_objects(acc2omp_queue_object(queue), waiting);
}

/* The same for a queue of another device. */
static inline void acc2omp_wait_device_async(int queue, int device, int waiting)
{
    acc2omp_wait_objects(acc2omp_queue_object_of(queue, acc2omp_device_of(device)), waiting);
}

/* acc_wait_any: all are waited for, and the first is as good as any. */
static inline int acc2omp_wait_any(int count, const int queues[])
{
    int at;
    for (at = 0; at < count; at++)
        acc2omp_wait(queues[at]);
    return count > 0 ? 0 : -1;
}

/* acc_wait_any_device */
static inline int acc2omp_wait_any_device(int count, const int queues[], int device)
{
    int at;
    for (at = 0; at < count; at++)
        acc2omp_wait_device(queues[at], device);
    return count > 0 ? 0 : -1;
}

/* acc_async_test: waits, so that the answer is yes. */
static inline int acc2omp_async_test(int queue)
{
    acc2omp_wait(queue);
    return 1;
}

/* acc_async_test_device */
static inline int acc2omp_async_test_device(int queue, int device)
{
    acc2omp_wait_device(queue, device);
    return 1;
}

/* acc_async_test_all: waits, so that the answer is yes. */
static inline int acc2omp_async_test_all(void)
{
    acc2omp_wait_all();
    return 1;
}

/* acc_deviceptr: null if the data is absent. */
static inline void *acc2omp_deviceptr(void *p)
{
    char *found = (char *)p;
    void *device = NULL;
    if (p == NULL || !omp_target_is_present(p, omp_get_default_device()))
        return NULL;
#pragma omp target data use_device_ptr(found)
    device = found;
    return device;
}

/* acc_is_present: the first and the last byte are there. */
static inline int acc2omp_is_present(const void *p, size_t bytes)
{
    char *first = (char *)p;
    int device = omp_get_default_device();
    return p != NULL && omp_target_is_present(first, device)
           && (bytes == 0 || omp_target_is_present(first + bytes - 1, device));
}

/* acc_copyin */
static inline void *acc2omp_copyin(void *p, size_t bytes)
{
    char *data = (char *)p;
    (void)data;
#pragma omp target enter data map(to : data[0 : bytes])
    return acc2omp_deviceptr(p);
}

/* acc_create */
static inline void *acc2omp_create(void *p, size_t bytes)
{
    char *data = (char *)p;
    (void)data;
#pragma omp target enter data map(alloc : data[0 : bytes])
    return acc2omp_deviceptr(p);
}

/* `create(zero:)`: memory that is new on the device is cleared there; what is present stays as it is. */
static inline void acc2omp_create_zero(void *p, size_t bytes)
{
    char *data = (char *)p;
    int is_new = !acc2omp_is_present(p, bytes);
    size_t at;
    (void)data;
    acc2omp_create(p, bytes);
    if (is_new) {
#pragma omp target teams distribute parallel for map(alloc : data[0 : bytes])
        for (at = 0; at < bytes; at++)
            data[at] = 0;
    }
}

/* acc_copyout */
static inline void acc2omp_copyout(void *p, size_t bytes)
{
    char *data = (char *)p;
    (void)data;
#pragma omp target exit data map(from : data[0 : bytes])
}

/* acc_delete */
static inline void acc2omp_delete(void *p, size_t bytes)
{
    char *data = (char *)p;
    (void)data;
#pragma omp target exit data map(release : data[0 : bytes])
}

/* acc_delete_finalize */
static inline void acc2omp_delete_finalize(void *p, size_t bytes)
{
    char *data = (char *)p;
    (void)data;
#pragma omp target exit data map(delete : data[0 : bytes])
}

/* acc_update_self */
static inline void acc2omp_update_self(void *p, size_t bytes)
{
    char *data = (char *)p;
    (void)data;
#pragma omp target update from(data[0 : bytes])
}

/* acc_update_device */
static inline void acc2omp_update_device(void *p, size_t bytes)
{
    char *data = (char *)p;
    (void)data;
#pragma omp target update to(data[0 : bytes])
}

/* acc_copyout_finalize */
static inline void acc2omp_copyout_finalize(void *p, size_t bytes)
{
    if (acc2omp_is_present(p, bytes)) {
        acc2omp_update_self(p, bytes);
        acc2omp_delete_finalize(p, bytes);
    }
}

/* acc_attach: the device's copy of the pointer points to the device's copy of its target. */
static inline void acc2omp_attach(void **pointer)
{
    void *at = acc2omp_deviceptr(pointer);
    void *target = acc2omp_deviceptr(*pointer);
    if (at != NULL && target != NULL)
        omp_target_memcpy(at, &target, sizeof target, 0, 0, omp_get_default_device(), omp_get_initial_device());
}

/* acc_detach: the device's copy of the pointer holds the host's address again. */
static inline void acc2omp_detach(void **pointer)
{
    void *at = acc2omp_deviceptr(pointer);
    if (at != NULL)
        omp_target_memcpy(at, pointer, sizeof *pointer, 0, 0, omp_get_default_device(), omp_get_initial_device());
}

/*
 * Rows behind an array of pointers: `count` of them from number `first` on, and of each `bytes` bytes from byte `offset` on.
 * The device's copy of a pointer points to the device's row; the pointers never come back.
 */
static inline void acc2omp_attach_row(void **row, size_t offset)
{
    char *at = (char *)acc2omp_deviceptr(row);
    char *target = (char *)acc2omp_deviceptr((char *)*row + offset);
    if (at != NULL && target != NULL && !acc2omp_is_host()) {
        target -= offset;
        omp_target_memcpy(at, &target, sizeof target, 0, 0, omp_get_default_device(), omp_get_initial_device());
    }
}

static inline void acc2omp_copyin_rows(void **rows, size_t first, size_t count, size_t offset, size_t bytes)
{
    size_t at;
    acc2omp_create(rows + first, count * sizeof *rows);
    for (at = first; at < first + count; at++) {
        acc2omp_copyin((char *)rows[at] + offset, bytes);
        acc2omp_attach_row(rows + at, offset);
    }
}

static inline void acc2omp_create_rows(void **rows, size_t first, size_t count, size_t offset, size_t bytes)
{
    size_t at;
    acc2omp_create(rows + first, count * sizeof *rows);
    for (at = first; at < first + count; at++) {
        acc2omp_create((char *)rows[at] + offset, bytes);
        acc2omp_attach_row(rows + at, offset);
    }
}

static inline void acc2omp_create_zero_rows(void **rows, size_t first, size_t count, size_t offset, size_t bytes)
{
    size_t at;
    acc2omp_create(rows + first, count * sizeof *rows);
    for (at = first; at < first + count; at++) {
        acc2omp_create_zero((char *)rows[at] + offset, bytes);
        acc2omp_attach_row(rows + at, offset);
    }
}

static inline void acc2omp_copyout_rows(void **rows, size_t first, size_t count, size_t offset, size_t bytes)
{
    size_t at;
    for (at = first; at < first + count; at++)
        acc2omp_copyout((char *)rows[at] + offset, bytes);
    acc2omp_delete(rows + first, count * sizeof *rows);
}

static inline void acc2omp_delete_rows(void **rows, size_t first, size_t count, size_t offset, size_t bytes)
{
    size_t at;
    for (at = first; at < first + count; at++)
        acc2omp_delete((char *)rows[at] + offset, bytes);
    acc2omp_delete(rows + first, count * sizeof *rows);
}

static inline void acc2omp_update_self_rows(void **rows, size_t first, size_t count, size_t offset, size_t bytes)
{
    size_t at;
    for (at = first; at < first + count; at++)
        acc2omp_update_self((char *)rows[at] + offset, bytes);
}

static inline void acc2omp_update_device_rows(void **rows, size_t first, size_t count, size_t offset, size_t bytes)
{
    size_t at;
    for (at = first; at < first + count; at++)
        acc2omp_update_device((char *)rows[at] + offset, bytes);
}

/*
 * Reductions of complex numbers, which OpenMP has under their own names only for some compilers: clang 19 makes atomic
 * operations of 16 bytes of them and does not find these when it links for a device; gcc 12 knows + but lets nobody
 * declare it anew.
 */
#pragma omp declare reduction(acc2omp_add : float _Complex, double _Complex, long double _Complex : \
        omp_out += omp_in) initializer(omp_priv = 0)
#pragma omp declare reduction(acc2omp_multiply : float _Complex, double _Complex, long double _Complex : \
        omp_out *= omp_in) initializer(omp_priv = 1)
#pragma omp declare reduction(acc2omp_and : float _Complex, double _Complex, long double _Complex : \
        omp_out = omp_out && omp_in) initializer(omp_priv = 1)
#pragma omp declare reduction(acc2omp_or : float _Complex, double _Complex, long double _Complex : \
        omp_out = omp_out || omp_in) initializer(omp_priv = 0)

/* acc_on_device */
#pragma omp declare target
static inline int acc2omp_on_device(acc2omp_device_t type)
{
    int is_host = omp_is_initial_device();
    switch (type) {
    case acc2omp_device_none:
        return 0;
    case acc2omp_device_host:
        return is_host;
    case acc2omp_device_default:
    case acc2omp_device_current:
        return 1;
    default:
        return !is_host;
    }
}
#pragma omp end declare target

/* The number of gangs, and that of the gang that calls, in procedures with `routine gang`. */
#pragma omp declare target
static inline unsigned acc2omp_gangs(void)
{
#ifdef _OPENMP
    return (unsigned)omp_get_num_teams();
#else
    return 1;
#endif
}

static inline unsigned acc2omp_gang(void)
{
#ifdef _OPENMP
    return (unsigned)omp_get_team_num();
#else
    return 0;
#endif
}
#pragma omp end declare target

#ifndef _OPENMP
#undef omp_get_default_device
#undef omp_get_initial_device
#undef omp_get_num_devices
#undef omp_set_default_device
#undef omp_is_initial_device
#undef omp_target_is_present
#undef omp_target_memcpy
#endif

#endif
