/*
 * acc2omp_cuda.h: OpenACC's run-time library, data environment and device operations on CUDA.
 *
 * Written by acc2omp beside the programs that it translates. It is yours: use, change and pass it on freely (CC0-1.0).
 * The first part is C99 and C++ and needs no CUDA: any compiler may build the files that include it. The second part is
 * C++17 for nvcc. Sections are those of OpenACC 3.3. What is not said to fail otherwise ends the program with a line
 * on standard error and exit status 1 if it fails.
 */
#ifndef ACC2OMP_CUDA_H
#define ACC2OMP_CUDA_H

#include <stddef.h>

/* What `_OPENACC` was: the translation asks for this one. */
#define ACC2OMP_CUDA 201711

#if defined(__CUDACC__) || defined(ACC2OMP_ON_CPU)
/* ACC2OMP_ON_CPU: a test of acc2omp itself runs the kernels on the processor. */
#define ACC2OMP_HAS_CUDA 1
#include <cuda_runtime.h>
#endif

/* `bool`, which C has by this name only where `<stdbool.h>` is included. */
#ifdef __cplusplus
typedef bool acc2omp_bool;
#else
typedef _Bool acc2omp_bool;
#endif

/* Before a function that `routine` names, where it stands: the host and the device have it. */
#ifdef __CUDACC__
#define ACC2OMP_ROUTINE __host__ __device__
#else
#define ACC2OMP_ROUTINE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------------
 * OpenACC's run-time library, chapter 3. Any thread of the host may call any of it.
 * ------------------------------------------------------------------------------------------------------------------ */

/* Kinds of device (3.1). Here `not_host`, `default` and `nvidia` are all CUDA devices; there is no `radeon`. */
typedef enum acc_device_t {
    acc_device_current = -1,
    acc_device_none = 0,
    acc_device_default = 1,
    acc_device_host = 2,
    acc_device_not_host = 4,
    acc_device_nvidia = 5,
    acc_device_radeon = 8
} acc_device_t;

/* Enumerations are integers of the size of `int` to the library and to device code: without -fshort-enums. */
typedef char acc2omp_enum_has_the_size_of_int[sizeof(acc_device_t) == sizeof(int) ? 1 : -1];

/* What acc_get_property is asked for (3.1). */
typedef enum acc_device_property_t {
    acc_property_none = 0,
    acc_property_memory = 1,
    acc_property_free_memory = 2,
    acc_property_shared_memory_support = 3,
    acc_property_name = 0x10001,
    acc_property_vendor = 0x10002,
    acc_property_driver = 0x10003
} acc_device_property_t;

/*
 * Values of an async argument beside 0, 1, 2 ... (2.16): `async` without a value; no queue, the host waits; and, for
 * acc_set_default_async only, what the default was at the start.
 */
typedef enum acc_async_t { acc_async_noval = -1, acc_async_sync = -2, acc_async_default = -3 } acc_async_t;

/* How many devices of that kind there are (3.2.1); the host counts as one. */
int acc_get_num_devices(acc_device_t type);
/*
 * The kind of device that this thread uses (3.2.2, 3.2.3). With acc_device_host the routines below that move data do
 * nothing and give the host's addresses, but translated constructs still run on the CUDA device.
 */
void acc_set_device_type(acc_device_t type);
acc_device_t acc_get_device_type(void);
/* The device that this thread uses, from 0 (3.2.4, 3.2.5). A negative number stands for the default device. */
void acc_set_device_num(int number, acc_device_t type);
int acc_get_device_num(acc_device_t type);
/* A property of a device, 0 or NULL if it is not known (3.2.6). Memory is in bytes. */
size_t acc_get_property(int number, acc_device_t type, acc_device_property_t property);
const char *acc_get_property_string(int number, acc_device_t type, acc_device_property_t property);
/* Starts a device before its first use (3.2.7). */
void acc_init(acc_device_t type);
void acc_init_device(int number, acc_device_t type);
/* Waits for all queues of a device, forgets and frees all data there (3.2.8). Not inside of data regions. */
void acc_shutdown(acc_device_t type);
void acc_shutdown_device(int number, acc_device_t type);

/* Whether all that was queued is done: 1 or 0 (3.2.9 to 3.2.12). */
int acc_async_test(int queue);
int acc_async_test_device(int queue, int device);
int acc_async_test_all(void);
int acc_async_test_all_device(int device);
/* The host waits for a queue, for several, for all (3.2.13 to 3.2.20). acc_wait_any gives the index of one that is done. */
void acc_wait(int queue);
void acc_wait_device(int queue, int device);
void acc_wait_all(void);
void acc_wait_all_device(int device);
int acc_wait_any(int count, int queues[]);
int acc_wait_any_device(int count, int queues[], int device);
/* What comes next on `waiting` waits for what is on `queue`, or on any queue, now; the host goes on. */
void acc_wait_async(int queue, int waiting);
void acc_wait_device_async(int queue, int waiting, int device);
void acc_wait_all_async(int waiting);
void acc_wait_all_device_async(int waiting, int device);
/* The names that acc_wait and acc_wait_all had in OpenACC 1.0. */
void acc_async_wait(int queue);
void acc_async_wait_all(void);
/* The queue that acc_async_noval stands for, of this thread (3.2.21, 3.2.22). */
int acc_get_default_async(void);
void acc_set_default_async(int queue);

/* Whether this runs on such a device: nonzero or 0 (3.2.17). On a CUDA device it is answered in device code. */
#ifndef ACC2OMP_HAS_CUDA
int acc_on_device(acc_device_t type);
#endif

/* Memory of the device (3.2.23, 3.2.24). NULL if there is not enough. acc_free waits for the device. */
void *acc_malloc(size_t bytes);
void acc_free(void *data_dev);

/*
 * `enter data` (3.2.25, 3.2.26): adds one to the dynamic counter of what is present, else makes it. The address on the
 * device. `_async`: on a queue; without it the transfer is over at return.
 */
void *acc_copyin(void *data, size_t bytes);
void *acc_copyin_async(void *data, size_t bytes, int queue);
void *acc_create(void *data, size_t bytes);
void *acc_create_async(void *data, size_t bytes, int queue);
/* The same under the names of OpenACC 2.0. */
void *acc_present_or_copyin(void *data, size_t bytes);
void *acc_pcopyin(void *data, size_t bytes);
void *acc_present_or_create(void *data, size_t bytes);
void *acc_pcreate(void *data, size_t bytes);
/*
 * `exit data` (3.2.27, 3.2.28): takes one from the dynamic counter, or sets it to zero (`_finalize`); when both counters
 * are zero the data leaves, with acc_copyout after a copy to the host. Data that is not present is no error.
 */
void acc_copyout(void *data, size_t bytes);
void acc_copyout_async(void *data, size_t bytes, int queue);
void acc_copyout_finalize(void *data, size_t bytes);
void acc_copyout_finalize_async(void *data, size_t bytes, int queue);
void acc_delete(void *data, size_t bytes);
void acc_delete_async(void *data, size_t bytes, int queue);
void acc_delete_finalize(void *data, size_t bytes);
void acc_delete_finalize_async(void *data, size_t bytes, int queue);
/* `update` (3.2.29, 3.2.30). Data that is not present is an error. Pointers that are attached stay as they are. */
void acc_update_device(void *data, size_t bytes);
void acc_update_device_async(void *data, size_t bytes, int queue);
void acc_update_self(void *data, size_t bytes);
void acc_update_self_async(void *data, size_t bytes, int queue);
/* Makes memory of the device stand for data of the host, and takes that back (3.2.31, 3.2.32). */
void acc_map_data(void *data, void *data_dev, size_t bytes);
void acc_unmap_data(void *data);
/* One address for the other, NULL if it is not present (3.2.33, 3.2.34). */
void *acc_deviceptr(void *data);
void *acc_hostptr(void *data_dev);
/* Whether all of it is present: 1 or 0 (3.2.35). */
int acc_is_present(void *data, size_t bytes);
/* Copies between addresses; nothing need be present (3.2.36 to 3.2.38). */
void acc_memcpy_to_device(void *to_dev, void *from_host, size_t bytes);
void acc_memcpy_to_device_async(void *to_dev, void *from_host, size_t bytes, int queue);
void acc_memcpy_from_device(void *to_host, void *from_dev, size_t bytes);
void acc_memcpy_from_device_async(void *to_host, void *from_dev, size_t bytes, int queue);
void acc_memcpy_device(void *to_dev, void *from_dev, size_t bytes);
void acc_memcpy_device_async(void *to_dev, void *from_dev, size_t bytes, int queue);
/* From one device to another, by addresses of the host that are present there (3.2.41). */
void acc_memcpy_d2d(void *to_host, void *from_host, size_t bytes, int to_device, int from_device);
void acc_memcpy_d2d_async(void *to_host, void *from_host, size_t bytes, int to_device, int from_device, int queue);
/*
 * The attach and detach actions (2.7.2, 3.2.39, 3.2.40) for the pointer variable at an address of the host. Nothing if
 * that variable, or what it points to, is not present.
 */
void acc_attach(void **pointer);
void acc_attach_async(void **pointer, int queue);
void acc_detach(void **pointer);
void acc_detach_async(void **pointer, int queue);
void acc_detach_finalize(void **pointer);
void acc_detach_finalize_async(void **pointer, int queue);

/* CUDA's own names for things: the current device's number, as a pointer; its context (NULL: the primary one). */
void *acc_get_current_cuda_device(void);
void *acc_get_current_cuda_context(void);
/* The cudaStream_t of a queue, to be given to libraries; and one that replaces it, after which 1 is returned. */
void *acc_get_cuda_stream(int queue);
int acc_set_cuda_stream(int queue, void *stream);

/* ---------------------------------------------------------------------------------------------------------------------
 * Structured data regions, 2.6.5 and 2.7: what `data`, `host_data` and `declare` become.
 *
 * Each thread has a stack of open regions. A region remembers what its items did and undoes it, last first, at its end.
 * ------------------------------------------------------------------------------------------------------------------ */

/*
 * Opens a region. `where` is its place for messages, such as "jacobi.c:28", and must outlive the region. `queue` is what
 * `async` said, else acc_async_sync: then every transfer is over before the host goes on.
 */
void acc2omp_begin(const char *where, int queue);
/* Closes this thread's newest region: detaches, copies out, frees what nothing else holds. */
void acc2omp_end(void);

/*
 * Data clauses of the newest region, for `bytes` bytes at `data`, called `name` in messages. Each gives the address on
 * the device. All but `present` and `no_create` make the data if it is not present, and add one to its structured
 * counter. If only a part is present, that is an error. `bytes` may be 0: then nothing is made, and an address is given
 * if one is known, else `data`.
 */
void *acc2omp_copy(const char *name, const void *data, size_t bytes);         /* copied in, and out at the end */
void *acc2omp_copyin(const char *name, const void *data, size_t bytes);       /* copied in */
void *acc2omp_copyout(const char *name, const void *data, size_t bytes);      /* copied out at the end */
void *acc2omp_copyout_zero(const char *name, const void *data, size_t bytes); /* `zero:` */
void *acc2omp_create(const char *name, const void *data, size_t bytes);
void *acc2omp_create_zero(const char *name, const void *data, size_t bytes);  /* `zero:` */
void *acc2omp_present(const char *name, const void *data, size_t bytes);      /* an error unless all of it is present */
void *acc2omp_no_create(const char *name, const void *data, size_t bytes);    /* `data` itself if it is not present */
/* `host_data use_device` without `if_present`: where `data` is on the device; an error if it is not present. */
void *acc2omp_use_device(const char *where, const char *name, const void *data);
/*
 * The attach action for the pointer variable at `pointer_variable`, undone at the end of the region. Nothing if the
 * variable is not in present memory, or points to nothing that is present. Behind the clause for `p[10:n]` it counts as
 * present that p points before that section.
 */
void acc2omp_attach(const char *name, const void *pointer_variable);

/* `enter data create(zero: ...)`: acc_create_async, with zeros if the data is made now. `acc_async_sync`: no queue. */
void *acc2omp_create_zero_dynamic(const char *name, const void *data, size_t bytes, int queue);

/* The attach action of `enter data copyin(p[2:n])` for the pointer variable; `section` is the address of p[2]. */
void acc2omp_attach_dynamic(const char *name, const void *pointer_variable, const void *section, int queue);

/*
 * A global variable of `declare` (2.13): present from the first use of a device to its shutdown. `device_address` gives
 * the address of its twin among the device's globals; NULL: memory is made. With `copy_at_start` the twin gets the value that
 * the variable has when this is called, which is before main; memory gets the one of the first use. Calls nothing of CUDA,
 * and nothing changes if it is called again.
 */
void acc2omp_declare(const void *host, size_t bytes, void *(*device_address)(void), int copy_at_start);

/*
 * Ends the program if a source and its device code were built with options (`-DN=100`) that choose different code: `ours`
 * and `theirs` say what each has chosen. May be called before main.
 */
void acc2omp_compare(const char *source, const char *ours, const char *theirs);

/* A size, an alignment or the place of a member, in bytes, and what it is. */
typedef struct acc2omp_layout {
    const char *what;
    size_t bytes;
} acc2omp_layout;

/*
 * Ends the program if structs lie in memory in another way in a source than in its device code, as with `-fpack-struct`
 * for one of them. Both lists end with {0, 0}. May be called before main.
 */
void acc2omp_compare_layouts(const char *source, const acc2omp_layout *ours, const acc2omp_layout *theirs);

/* Entries of such a list: of a type, and of the type and up to eight of its members. */
#define ACC2OMP_SIZE(T) {"the size of " #T, sizeof(T)}, {"the alignment of " #T, __alignof__(T)}
#define ACC2OMP_LAYOUT(T, ...) \
    ACC2OMP_SIZE(T), ACC2OMP_NINTH(__VA_ARGS__, ACC2OMP_8, ACC2OMP_7, ACC2OMP_6, ACC2OMP_5, ACC2OMP_4, ACC2OMP_3, \
                                   ACC2OMP_2, ACC2OMP_1, 0)(T, __VA_ARGS__)
#define ACC2OMP_NINTH(a, b, c, d, e, f, g, h, ninth, ...) ninth
#define ACC2OMP_1(T, m) {"the place of " #m " in " #T, offsetof(T, m)}
#define ACC2OMP_2(T, m, ...) ACC2OMP_1(T, m), ACC2OMP_1(T, __VA_ARGS__)
#define ACC2OMP_3(T, m, ...) ACC2OMP_1(T, m), ACC2OMP_2(T, __VA_ARGS__)
#define ACC2OMP_4(T, m, ...) ACC2OMP_1(T, m), ACC2OMP_3(T, __VA_ARGS__)
#define ACC2OMP_5(T, m, ...) ACC2OMP_1(T, m), ACC2OMP_4(T, __VA_ARGS__)
#define ACC2OMP_6(T, m, ...) ACC2OMP_1(T, m), ACC2OMP_5(T, __VA_ARGS__)
#define ACC2OMP_7(T, m, ...) ACC2OMP_1(T, m), ACC2OMP_6(T, __VA_ARGS__)
#define ACC2OMP_8(T, m, ...) ACC2OMP_1(T, m), ACC2OMP_7(T, __VA_ARGS__)

/*
 * For acc2omp_cuda_module.f90: a text that outlives all regions; the bytes of an element, by its descriptor (Fortran 2018, 18.5.3);
 * and the end of the program, since data called `name` are not contiguous.
 */
const char *acc2omp_text(const char *text, size_t length);
size_t acc2omp_element(const void *descriptor);
void acc2omp_stop(const char *name);
/*
 * `update` of a section called `name` that is not contiguous, piece by piece. Fortran says of the descriptor's array how many
 * dimensions and elements it has; a descriptor that does not say the same is one of a compiler that is not known here.
 */
void acc2omp_update(const char *name, const void *descriptor, int rank, const size_t *extents, int to_device, int queue);

/* What a macro stands for, as a string. */
#define ACC2OMP_TEXT(...) ACC2OMP_AS_TEXT(__VA_ARGS__)
#define ACC2OMP_AS_TEXT(...) #__VA_ARGS__

#ifdef __cplusplus
}
#endif

#if defined(__cplusplus) && defined(ACC2OMP_HAS_CUDA)

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

// An option of the build, as -DT=8, means nothing here.
#pragma push_macro("A")
#undef A
#pragma push_macro("B")
#undef B
#pragma push_macro("F")
#undef F
#pragma push_macro("P")
#undef P
#pragma push_macro("S")
#undef S
#pragma push_macro("T")
#undef T
#pragma push_macro("V")
#undef V
#pragma push_macro("block")
#undef block
#pragma push_macro("blocks")
#undef blocks
#pragma push_macro("count")
#undef count
#pragma push_macro("height")
#undef height
#pragma push_macro("rows")
#undef rows
#pragma push_macro("size")
#undef size
#pragma push_macro("threads")
#undef threads
#pragma push_macro("width")
#undef width

namespace acc2omp {

// Where the elements of an array begin and end on the device, counted from where a pointer leads into it; made by
// Region::extent. Without bounds for memory that the library does not know.
struct Extent {
    long long from, end;
};

namespace detail {

// What the host does for the classes below; a Region's memory is that of the newest data region of its thread.
int on_device(int type);
void begin_launch(const char *where, int queue);
void end_launch();
void *pointer(const char *name, const void *data);
void *scratch(size_t bytes);
Extent extent(const void *device, size_t element);
void wait(int queue);
void wait_all();
cudaStream_t stream();
bool start_clock();  // whether this launch is timed
void stop_clock();
const char *where();
[[noreturn]] void fail(const char *what, const char *why);

// Where a reduction finds its initial values and leaves its results, and the memory it works in.
struct Places {
    const void *from;
    void *to;
    void *partials;
    unsigned *arrived;
};
Places places(const char *name, void *host, size_t element, size_t count, size_t blocks, bool by_value);

}  // namespace detail
}  // namespace acc2omp

// Whether this runs on such a device: nonzero or 0 (3.2.17).
extern "C"
#ifndef ACC2OMP_IMPLEMENTATION
    inline
#endif
    __host__ __device__ int
    acc_on_device(acc_device_t type)
{
#ifdef __CUDA_ARCH__
    return type == acc_device_not_host || type == acc_device_nvidia || type == acc_device_default ||
           type == acc_device_current;
#else
    return acc2omp::detail::on_device(type);
#endif
}

// The same for code that keeps the type in an integer, as C does.
__host__ __device__ inline int acc_on_device(int type)
{
    return acc_on_device(static_cast<acc_device_t>(type));
}

namespace acc2omp {

// ---------------------------------------------------------------------------------------------------------------------
// The mathematical functions with the types of C's prototypes, for macros of C programs: `sqrt` of a `float` is a `double`.
// ---------------------------------------------------------------------------------------------------------------------

namespace c {

#define ACC2OMP_OF_ONE(type, name, param) \
    __host__ __device__ inline type name(param x) { return ::name(x); }
#define ACC2OMP_OF_TWO(name) \
    __host__ __device__ inline double name(double x, double y) { return ::name(x, y); }

ACC2OMP_OF_ONE(double, acos, double)
ACC2OMP_OF_ONE(double, acosh, double)
ACC2OMP_OF_ONE(double, asin, double)
ACC2OMP_OF_ONE(double, asinh, double)
ACC2OMP_OF_ONE(double, atan, double)
ACC2OMP_OF_ONE(double, atanh, double)
ACC2OMP_OF_ONE(double, cbrt, double)
ACC2OMP_OF_ONE(double, ceil, double)
ACC2OMP_OF_ONE(double, cos, double)
ACC2OMP_OF_ONE(double, cosh, double)
ACC2OMP_OF_ONE(double, erf, double)
ACC2OMP_OF_ONE(double, erfc, double)
ACC2OMP_OF_ONE(double, exp, double)
ACC2OMP_OF_ONE(double, exp2, double)
ACC2OMP_OF_ONE(double, expm1, double)
ACC2OMP_OF_ONE(double, fabs, double)
ACC2OMP_OF_ONE(double, floor, double)
ACC2OMP_OF_ONE(double, lgamma, double)
ACC2OMP_OF_ONE(double, log, double)
ACC2OMP_OF_ONE(double, log10, double)
ACC2OMP_OF_ONE(double, log1p, double)
ACC2OMP_OF_ONE(double, log2, double)
ACC2OMP_OF_ONE(double, logb, double)
ACC2OMP_OF_ONE(double, nearbyint, double)
ACC2OMP_OF_ONE(double, rint, double)
ACC2OMP_OF_ONE(double, round, double)
ACC2OMP_OF_ONE(double, sin, double)
ACC2OMP_OF_ONE(double, sinh, double)
ACC2OMP_OF_ONE(double, sqrt, double)
ACC2OMP_OF_ONE(double, tan, double)
ACC2OMP_OF_ONE(double, tanh, double)
ACC2OMP_OF_ONE(double, tgamma, double)
ACC2OMP_OF_ONE(double, trunc, double)
ACC2OMP_OF_ONE(double, j0, double)
ACC2OMP_OF_ONE(double, j1, double)
ACC2OMP_OF_ONE(double, y0, double)
ACC2OMP_OF_ONE(double, y1, double)
ACC2OMP_OF_ONE(int, abs, int)
ACC2OMP_OF_ONE(int, ilogb, double)
ACC2OMP_OF_ONE(long, lrint, double)
ACC2OMP_OF_ONE(long, lround, double)
ACC2OMP_OF_ONE(long long, llrint, double)
ACC2OMP_OF_ONE(long long, llround, double)
ACC2OMP_OF_TWO(atan2)
ACC2OMP_OF_TWO(copysign)
ACC2OMP_OF_TWO(fdim)
ACC2OMP_OF_TWO(fmax)
ACC2OMP_OF_TWO(fmin)
ACC2OMP_OF_TWO(fmod)
ACC2OMP_OF_TWO(hypot)
ACC2OMP_OF_TWO(nextafter)
ACC2OMP_OF_TWO(pow)
ACC2OMP_OF_TWO(remainder)

#undef ACC2OMP_OF_ONE
#undef ACC2OMP_OF_TWO

__host__ __device__ inline double fma(double x, double y, double z) { return ::fma(x, y, z); }
__host__ __device__ inline double ldexp(double x, int n) { return ::ldexp(x, n); }
__host__ __device__ inline double scalbn(double x, int n) { return ::scalbn(x, n); }
__host__ __device__ inline double scalbln(double x, long n) { return ::scalbln(x, n); }
__host__ __device__ inline double frexp(double x, int *n) { return ::frexp(x, n); }
__host__ __device__ inline double modf(double x, double *n) { return ::modf(x, n); }
__host__ __device__ inline double remquo(double x, double y, int *n) { return ::remquo(x, y, n); }

// The comparisons of <math.h>, which C++ has as functions of the host. No comparison of the device raises an exception.
template <class A, class B>
__host__ __device__ inline bool isunordered(A x, B y) { return x != x || y != y; }
template <class A, class B>
__host__ __device__ inline bool isgreater(A x, B y) { return x > y; }
template <class A, class B>
__host__ __device__ inline bool isgreaterequal(A x, B y) { return x >= y; }
template <class A, class B>
__host__ __device__ inline bool isless(A x, B y) { return x < y; }
template <class A, class B>
__host__ __device__ inline bool islessequal(A x, B y) { return x <= y; }
template <class A, class B>
__host__ __device__ inline bool islessgreater(A x, B y) { return x < y || x > y; }
__host__ __device__ inline int fpclassify(float x)
{
    const float size = x < 0 ? -x : x;
    return x != x ? FP_NAN : size > FLT_MAX ? FP_INFINITE : size == 0 ? FP_ZERO : size < FLT_MIN ? FP_SUBNORMAL : FP_NORMAL;
}
__host__ __device__ inline int fpclassify(double x)
{
    const double size = x < 0 ? -x : x;
    return x != x ? FP_NAN : size > DBL_MAX ? FP_INFINITE : size == 0 ? FP_ZERO : size < DBL_MIN ? FP_SUBNORMAL : FP_NORMAL;
}
template <class A>
__host__ __device__ inline bool isnormal(A x) { return c::fpclassify(x) == FP_NORMAL; }

}  // namespace c

// ---------------------------------------------------------------------------------------------------------------------
// Operators. `T operator()(T, T)`, and `identity<T>()`, which changes nothing. The logical ones give 0 or 1.
// `mixed` is for `x op= value` where the types differ: computed in C's common type.
// ---------------------------------------------------------------------------------------------------------------------

namespace detail {

// The least and the largest value of a type, where the operators below begin.
template <class T>
struct Limits {
    using Of = std::numeric_limits<T>;
    static constexpr T least = Of::has_infinity ? static_cast<T>(-Of::infinity()) : Of::lowest();
    static constexpr T largest = Of::has_infinity ? Of::infinity() : Of::max();
};

}  // namespace detail

#define ACC2OMP_OPERATOR(NAME, EXPRESSION)                                                 \
    struct NAME {                                                                          \
        template <class A, class B>                                                        \
        __host__ __device__ static auto mixed(A a, B b)                                    \
        {                                                                                  \
            return EXPRESSION;                                                             \
        }                                                                                  \
        template <class T>                                                                 \
        __host__ __device__ T operator()(T a, T b) const                                   \
        {                                                                                  \
            return static_cast<T>(mixed(a, b));                                            \
        }

#define ACC2OMP_IDENTITY(EXPRESSION)                                                       \
        template <class T>                                                                 \
        __host__ __device__ static T identity()                                            \
        {                                                                                  \
            return EXPRESSION;                                                             \
        }                                                                                  \
    };

// For reductions (2.5.15) and atomics (2.12).
ACC2OMP_OPERATOR(Plus, a + b)
ACC2OMP_IDENTITY(static_cast<T>(0))
ACC2OMP_OPERATOR(Times, a *b)
ACC2OMP_IDENTITY(static_cast<T>(1))
ACC2OMP_OPERATOR(Min, b < a ? b : a)
ACC2OMP_IDENTITY(detail::Limits<T>::largest)
ACC2OMP_OPERATOR(Max, a < b ? b : a)
ACC2OMP_IDENTITY(detail::Limits<T>::least)
ACC2OMP_OPERATOR(BitAnd, a &b)
ACC2OMP_IDENTITY(static_cast<T>(-1))
ACC2OMP_OPERATOR(BitOr, a | b)
ACC2OMP_IDENTITY(static_cast<T>(0))
ACC2OMP_OPERATOR(BitXor, a ^ b)
ACC2OMP_IDENTITY(static_cast<T>(0))
ACC2OMP_OPERATOR(And, a != A(0) && b != B(0))
ACC2OMP_IDENTITY(static_cast<T>(1))
ACC2OMP_OPERATOR(Or, a != A(0) || b != B(0))
ACC2OMP_IDENTITY(static_cast<T>(0))

// For atomics only. `Reverse`: x = value op x.
ACC2OMP_OPERATOR(Minus, a - b) };
ACC2OMP_OPERATOR(Divide, a / b) };
ACC2OMP_OPERATOR(ShiftLeft, a << b) };
ACC2OMP_OPERATOR(ShiftRight, a >> b) };
ACC2OMP_OPERATOR(ReverseMinus, b - a) };
ACC2OMP_OPERATOR(ReverseDivide, b / a) };
ACC2OMP_OPERATOR(ReverseShiftLeft, b << a) };
ACC2OMP_OPERATOR(ReverseShiftRight, b >> a) };

#undef ACC2OMP_OPERATOR
#undef ACC2OMP_IDENTITY

// ---------------------------------------------------------------------------------------------------------------------
// Complex numbers, as C has them: real numbers are not made complex where they meet others, and a complex number in the
// place of a real one is its real part. The functions are those of <complex.h> that say their name.
// ---------------------------------------------------------------------------------------------------------------------

template <class T>
struct Complex {
    T real, imaginary;

    Complex() = default;
    template <class A, class = typename std::enable_if<std::is_arithmetic<A>::value>::type>
    __host__ __device__ constexpr Complex(A real, T imaginary = T()) : real(static_cast<T>(real)), imaginary(imaginary)
    {
    }
    template <class A>
    __host__ __device__ constexpr Complex(const Complex<A> &other)
        : real(static_cast<T>(other.real)), imaginary(static_cast<T>(other.imaginary))
    {
    }
    template <class A, class = typename std::enable_if<std::is_arithmetic<A>::value && !std::is_same<A, bool>::value>::type>
    __host__ __device__ constexpr operator A() const
    {
        return static_cast<A>(real);
    }
    __host__ __device__ explicit constexpr operator bool() const { return real != 0 || imaginary != 0; }

    template <class A>
    __host__ __device__ Complex &operator+=(A other)
    {
        return *this = *this + other;
    }
    template <class A>
    __host__ __device__ Complex &operator-=(A other)
    {
        return *this = *this - other;
    }
    template <class A>
    __host__ __device__ Complex &operator*=(A other)
    {
        return *this = *this * other;
    }
    template <class A>
    __host__ __device__ Complex &operator/=(A other)
    {
        return *this = *this / other;
    }
};

namespace detail {

template <class A>
struct Parts {
    using Type = A;
    static constexpr bool is_complex = false, is_number = std::is_arithmetic<A>::value;
};
template <class T>
struct Parts<Complex<T>> {
    using Type = T;
    static constexpr bool is_complex = true, is_number = true;
};

// The type of the parts of `a op b`, where one of them is complex.
template <class A, class B, bool is_meant>
struct CommonOf {};
template <class A, class B>
struct CommonOf<A, B, true> {
    using Type = decltype(typename Parts<A>::Type() + typename Parts<B>::Type());
};
template <class A, class B>
using Common = typename CommonOf<A, B,
                                 Parts<A>::is_number && Parts<B>::is_number &&
                                     (Parts<A>::is_complex || Parts<B>::is_complex)>::Type;

template <class T>
__host__ __device__ T unit_of(T value)  // an infinity becomes 1, anything else 0
{
    return copysign(isinf(value) ? T(1) : T(0), value);
}

template <class T>
__host__ __device__ T number_of(T value)  // what is no number becomes 0
{
    return isnan(value) ? copysign(T(0), value) : value;
}

// C's annex G: infinities do not become what is no number.
template <class T>
__host__ __device__ Complex<T> product(T a, T b, T c, T d)
{
    T x = a * c - b * d, y = a * d + b * c;
    if (isnan(x) && isnan(y)) {
        bool is_infinite = false;
        if (isinf(a) || isinf(b)) {
            a = unit_of(a), b = unit_of(b), c = number_of(c), d = number_of(d);
            is_infinite = true;
        }
        if (isinf(c) || isinf(d)) {
            c = unit_of(c), d = unit_of(d), a = number_of(a), b = number_of(b);
            is_infinite = true;
        }
        if (!is_infinite && (isinf(a * c) || isinf(b * d) || isinf(a * d) || isinf(b * c))) {
            a = number_of(a), b = number_of(b), c = number_of(c), d = number_of(d);
            is_infinite = true;
        }
        if (is_infinite) {
            const T infinity = Limits<T>::largest;
            x = infinity * (a * c - b * d);
            y = infinity * (a * d + b * c);
        }
    }
    return {x, y};
}

template <class T>
__host__ __device__ Complex<T> quotient(T a, T b, T c, T d)
{
    const int scale = c == 0 && d == 0 ? 0 : ilogb(fmax(fabs(c), fabs(d)));
    const bool is_finite = isfinite(c) && isfinite(d);
    const T e = is_finite ? scalbn(c, -scale) : c, f = is_finite ? scalbn(d, -scale) : d;
    const T all = e * e + f * f;
    T x = (a * e + b * f) / all, y = (b * e - a * f) / all;
    if (is_finite) {
        x = scalbn(x, -scale);
        y = scalbn(y, -scale);
    }
    if (isnan(x) && isnan(y)) {
        const T infinity = Limits<T>::largest;
        if (all == 0 && (!isnan(a) || !isnan(b))) {
            x = copysign(infinity, c) * a;
            y = copysign(infinity, c) * b;
        } else if ((isinf(a) || isinf(b)) && isfinite(c) && isfinite(d)) {
            a = unit_of(a), b = unit_of(b);
            x = infinity * (a * c + b * d);
            y = infinity * (b * c - a * d);
        } else if ((isinf(c) || isinf(d)) && isfinite(a) && isfinite(b)) {
            c = unit_of(c), d = unit_of(d);
            x = T(0) * (a * c + b * d);
            y = T(0) * (b * c - a * d);
        }
    }
    return {x, y};
}

template <class T, class A>
__host__ __device__ constexpr T real(A value)
{
    if constexpr (Parts<A>::is_complex)
        return static_cast<T>(value.real);
    else
        return static_cast<T>(value);
}

template <class T, class A>
__host__ __device__ constexpr T imaginary(A value)
{
    if constexpr (Parts<A>::is_complex)
        return static_cast<T>(value.imaginary);
    else
        return T(0);
}

}  // namespace detail

template <class A, class B, class T = detail::Common<A, B>>
__host__ __device__ Complex<T> operator+(A a, B b)
{
    return {detail::real<T>(a) + detail::real<T>(b), detail::Parts<A>::is_complex && detail::Parts<B>::is_complex
                                                         ? detail::imaginary<T>(a) + detail::imaginary<T>(b)
                                                     : detail::Parts<A>::is_complex ? detail::imaginary<T>(a)
                                                                                    : detail::imaginary<T>(b)};
}

template <class A, class B, class T = detail::Common<A, B>>
__host__ __device__ Complex<T> operator-(A a, B b)
{
    return {detail::real<T>(a) - detail::real<T>(b), detail::Parts<A>::is_complex && detail::Parts<B>::is_complex
                                                         ? detail::imaginary<T>(a) - detail::imaginary<T>(b)
                                                     : detail::Parts<A>::is_complex ? detail::imaginary<T>(a)
                                                                                    : -detail::imaginary<T>(b)};
}

template <class A, class B, class T = detail::Common<A, B>>
__host__ __device__ Complex<T> operator*(A a, B b)
{
    const T x = detail::real<T>(a), y = detail::imaginary<T>(a), u = detail::real<T>(b), v = detail::imaginary<T>(b);
    if constexpr (!detail::Parts<A>::is_complex)
        return {x * u, x * v};
    else if constexpr (!detail::Parts<B>::is_complex)
        return {x * u, y * u};
    else
        return detail::product(x, y, u, v);
}

template <class A, class B, class T = detail::Common<A, B>>
__host__ __device__ Complex<T> operator/(A a, B b)
{
    const T x = detail::real<T>(a), y = detail::imaginary<T>(a), u = detail::real<T>(b), v = detail::imaginary<T>(b);
    if constexpr (!detail::Parts<B>::is_complex)
        return {x / u, y / u};
    else
        return detail::quotient(x, y, u, v);
}

template <class A, class B, class T = detail::Common<A, B>>
__host__ __device__ constexpr bool operator==(A a, B b)
{
    return detail::real<T>(a) == detail::real<T>(b) && detail::imaginary<T>(a) == detail::imaginary<T>(b);
}

template <class A, class B, class T = detail::Common<A, B>>
__host__ __device__ constexpr bool operator!=(A a, B b)
{
    return !(a == b);
}

template <class T>
__host__ __device__ constexpr Complex<T> operator-(Complex<T> z)
{
    return {-z.real, -z.imaginary};
}

template <class T>
__host__ __device__ constexpr Complex<T> operator+(Complex<T> z)
{
    return z;
}

// `name(z)` for double, and the same with an f for float.
#define ACC2OMP_COMPLEX(NAME, RESULT, EXPRESSION)           \
    template <class A>                                      \
    __host__ __device__ RESULT<double> NAME(Complex<A> given) \
    {                                                       \
        using T = double;                                   \
        const Complex<T> z = given;                         \
        return EXPRESSION;                                  \
    }                                                       \
    template <class A>                                      \
    __host__ __device__ RESULT<float> NAME##f(Complex<A> given) \
    {                                                       \
        using T = float;                                    \
        const Complex<T> z = given;                         \
        return EXPRESSION;                                  \
    }

namespace detail {

template <class T>
using Real = T;

template <class T>
__host__ __device__ Complex<T> turned(T length, T angle)
{
    return {length * static_cast<T>(cos(angle)), length * static_cast<T>(sin(angle))};
}

template <class T>
__host__ __device__ Complex<T> root(Complex<T> z)
{
    if (z.real == 0 && z.imaginary == 0)
        return {T(0), z.imaginary};
    const T side = sqrt((fabs(z.real) + hypot(z.real, z.imaginary)) / 2);
    if (z.real >= 0)
        return {side, z.imaginary / (2 * side)};
    return {fabs(z.imaginary) / (2 * side), copysign(side, z.imaginary)};
}

}  // namespace detail

ACC2OMP_COMPLEX(creal, detail::Real, z.real)
ACC2OMP_COMPLEX(cimag, detail::Real, z.imaginary)
ACC2OMP_COMPLEX(cabs, detail::Real, static_cast<T>(hypot(z.real, z.imaginary)))
ACC2OMP_COMPLEX(carg, detail::Real, static_cast<T>(atan2(z.imaginary, z.real)))
ACC2OMP_COMPLEX(conj, Complex, (Complex<T>(z.real, -z.imaginary)))
ACC2OMP_COMPLEX(csqrt, Complex, detail::root(z))
ACC2OMP_COMPLEX(cexp, Complex, detail::turned(static_cast<T>(exp(z.real)), z.imaginary))
ACC2OMP_COMPLEX(clog, Complex, (Complex<T>(log(hypot(z.real, z.imaginary)), atan2(z.imaginary, z.real))))
#undef ACC2OMP_COMPLEX

// ---------------------------------------------------------------------------------------------------------------------
// Reductions inside of a block. A worker is a row of threads, all with the same threadIdx.y (and z); blockDim.x is its
// number of lanes. The order of the operations depends on the shape of the block only.
// ---------------------------------------------------------------------------------------------------------------------

namespace detail {

constexpr unsigned warp_lanes = 32;
constexpr size_t largest_value = 32;  // bytes of a type that can be reduced

__device__ inline unsigned rank()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ inline unsigned threads()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

// The lanes of this thread's worker within its warp; for workers that are not larger than a warp.
__device__ inline unsigned worker_mask(unsigned lanes)
{
    unsigned first = rank() % warp_lanes / lanes * lanes;
    return lanes >= warp_lanes ? 0xffffffffu : ((1u << lanes) - 1) << first;
}

// The lanes of this thread's warp that exist.
__device__ inline unsigned warp_size()
{
    unsigned behind = threads() - rank() / warp_lanes * warp_lanes;
    return behind < warp_lanes ? behind : warp_lanes;
}

// Which lane a value comes from: by its own number and a distance, or the first one.
enum class From { beyond, opposite, first };

// The value of another lane of the `width` that belong together, of any type.
template <From from, class T>
__device__ T shuffle(unsigned mask, T value, unsigned distance, unsigned width)
{
    static_assert(std::is_trivially_copyable<T>::value, "a value that is reduced is copied as bytes");
    unsigned words[(sizeof(T) + sizeof(unsigned) - 1) / sizeof(unsigned)] = {};
    memcpy(words, &value, sizeof(T));
    for (unsigned &word : words)
        word = from == From::beyond     ? __shfl_down_sync(mask, word, distance, static_cast<int>(width))
               : from == From::opposite ? __shfl_xor_sync(mask, word, static_cast<int>(distance), static_cast<int>(width))
                                        : __shfl_sync(mask, word, 0, static_cast<int>(width));
    memcpy(static_cast<void *>(&value), words, sizeof(T));
    return value;
}

// A value for each warp of the block; one piece of memory for all reductions.
__device__ inline unsigned char *warp_values()
{
    struct alignas(16) Room {
        unsigned char bytes[largest_value];
    };
    __shared__ Room rooms[warp_lanes];
    return rooms[0].bytes;
}

}  // namespace detail

// The reduction over all threads of the block, of any shape; all of them call it and all get the result.
template <class Op, class T>
__device__ T block_reduce(T value)
{
    static_assert(sizeof(T) <= detail::largest_value, "a type of a reduction");
    using namespace detail;
    Op op;
    unsigned lane = rank() % warp_lanes, lanes = warp_size(), warps = (threads() + warp_lanes - 1) / warp_lanes;
    unsigned mask = lanes == warp_lanes ? 0xffffffffu : (1u << lanes) - 1;
    for (unsigned distance = warp_lanes / 2; distance > 0; distance /= 2) {
        T other = shuffle<From::beyond>(mask, value, distance, warp_lanes);
        if (lane + distance < lanes)
            value = op(value, other);
    }
    T *values = reinterpret_cast<T *>(warp_values());
    __syncthreads();  // what is left of a reduction before this one has been read
    if (lane == 0)
        values[rank() / warp_lanes] = value;
    __syncthreads();
    value = values[0];
    for (unsigned warp = 1; warp < warps; ++warp)
        value = op(value, values[warp]);
    return value;
}

// The reduction over the lanes of this thread's worker: all of them call it and all get the result. Their number is a
// power of two; 0: that of the launch. Above 32 the block must have one worker.
template <class Op, unsigned lanes = 0, class T>
__device__ T vector_reduce(T value)
{
    const unsigned width = lanes == 0 ? blockDim.x : lanes;
    if (width > detail::warp_lanes)
        return block_reduce<Op>(value);
    Op op;
    const unsigned mask = detail::worker_mask(width);
    for (unsigned distance = width / 2; distance > 0; distance /= 2)
        value = op(value, detail::shuffle<detail::From::opposite>(mask, value, distance, width));
    __syncwarp(mask);  // what the lanes have read before may be written now
    return value;
}

// The reduction over the workers of a value that is the same in all lanes of a worker: all threads of the block call it
// and all get the result.
template <class Op, class T>
__device__ T worker_reduce(T value)
{
    return block_reduce<Op>(threadIdx.x == 0 ? value : Op::template identity<T>());
}

// The value that the first thread of the block has; all threads call it and all get the value.
template <class T>
__device__ T gang_broadcast(T value)
{
    static_assert(sizeof(T) <= detail::largest_value, "a type of a value that is handed on");
    T *values = reinterpret_cast<T *>(detail::warp_values());
    __syncthreads();  // what is left of a reduction before this has been read
    if (detail::rank() == 0)
        values[0] = value;
    __syncthreads();
    return values[0];
}

// The value that the first lane of this thread's worker has; all its lanes call it and all get the value.
template <class T>
__device__ T vector_broadcast(T value)
{
    if (blockDim.x > detail::warp_lanes)
        return gang_broadcast(value);
    const unsigned mask = detail::worker_mask(blockDim.x);
    value = detail::shuffle<detail::From::first>(mask, value, 0, blockDim.x);
    __syncwarp(mask);  // what the lanes have read before may be written now
    return value;
}

namespace detail {

// What one thread has in an array or an object, piece by piece.
template <class T, class Broadcast>
__device__ void broadcast_pieces(T &whole, Broadcast broadcast)
{
    struct Piece {
        unsigned char bytes[8];
    };
    unsigned char *bytes = reinterpret_cast<unsigned char *>(&whole);
    for (size_t at = 0; at < sizeof(T); at += sizeof(Piece)) {
        const size_t length = sizeof(T) - at < sizeof(Piece) ? sizeof(T) - at : sizeof(Piece);
        Piece piece = {};
        memcpy(&piece, bytes + at, length);
        piece = broadcast(piece);
        memcpy(bytes + at, &piece, length);
    }
}

}  // namespace detail

// The same for an array or an object, of which each thread has one: what the first one's holds.
template <class T>
__device__ void gang_broadcast_whole(T &whole)
{
    detail::broadcast_pieces(whole, [](auto piece) { return gang_broadcast(piece); });
}

template <class T>
__device__ void vector_broadcast_whole(T &whole)
{
    detail::broadcast_pieces(whole, [](auto piece) { return vector_broadcast(piece); });
}

// A barrier of the lanes of one worker, as many as above; above 32 lanes, of the block.
template <unsigned lanes = 0>
__device__ void vector_sync()
{
    const unsigned width = lanes == 0 ? blockDim.x : lanes;
    if (width > detail::warp_lanes)
        __syncthreads();
    else
        __syncwarp(detail::worker_mask(width));
}

// Fetches the elements from `first` on into shared memory, as far as there are any. All threads of the block call it, with
// the same values.
template <class T, unsigned size>
__device__ void fetch(T (&window)[size], const T *array, long long first, Extent there)
{
    __syncthreads();  // what the window held before has been read
    for (unsigned at = detail::rank(); at < size; at += detail::threads())
        if (first + at >= there.from && first + at < there.end)
            window[at] = array[first + at];
    __syncthreads();
}

// Fills a gang's copy of an array. All threads of the block call it, and find it filled.
template <class T>
__device__ void fill(T *copy, const T *from, size_t count)
{
    for (size_t at = detail::rank(); at < count; at += detail::threads())
        copy[at] = from[at];
    __syncthreads();
}

// ---------------------------------------------------------------------------------------------------------------------
// Reductions over gangs. The result does not depend on which block is first: it is the same in every run with one grid.
// ---------------------------------------------------------------------------------------------------------------------

namespace detail {

// What is in memory, where another block may have written it during this launch.
template <class T>
__device__ T fresh(const T *place)
{
    using Unit = typename std::conditional<sizeof(T) % 4 == 0 && alignof(T) % 4 == 0, unsigned, unsigned char>::type;
    Unit units[sizeof(T) / sizeof(Unit)];
    const volatile Unit *from = reinterpret_cast<const volatile Unit *>(place);
    for (size_t at = 0; at < sizeof(T) / sizeof(Unit); ++at)
        units[at] = from[at];
    T value;
    memcpy(static_cast<void *>(&value), units, sizeof(T));
    return value;
}

}  // namespace detail

// Where a kernel leaves the result of one reduction; made by Region::result and passed by value.
template <class T>
struct Result {
    T initial;          // the variable's value before the kernel, unless `from` says where that is
    const T *from;
    T *to;              // gets op(value before, total)
    T *partials;        // one for each block
    unsigned *arrived;  // how many blocks have left theirs; 0 between launches
};

// The same for the elements of an array; made by Region::result_array.
template <class T>
struct ResultArray {
    const T *from;
    T *to;
    T *partials;
    unsigned *arrived;

    // The element's own; for device code.
    __device__ Result<T> operator[](size_t element) const
    {
        size_t blocks = static_cast<size_t>(gridDim.x) * gridDim.y * gridDim.z;
        return {T(), from + element, to + element, partials + element * blocks, arrived + element};
    }
};

// Gives a block's total to the reduction. All threads of every block call it, once for a Result in a launch, with a value
// that is valid in thread 0.
template <class Op, class T>
__device__ void combine(Result<T> result, T gang_value)
{
    Op op;
    unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    __shared__ bool is_last;
    __syncthreads();  // `is_last` of a reduction before this one has been read
    if (detail::rank() == 0) {
        result.partials[block] = gang_value;
        __threadfence();
        is_last = atomicInc(result.arrived, blocks - 1) == blocks - 1;  // the last one sets it back to 0
    }
    __syncthreads();
    if (!is_last)
        return;
    __threadfence();
    T total = Op::template identity<T>();
    for (unsigned one = detail::rank(); one < blocks; one += detail::threads())
        total = op(total, detail::fresh(result.partials + one));
    total = block_reduce<Op>(total);
    if (detail::rank() == 0)
        *result.to = op(result.from ? *result.from : result.initial, total);
}

// ---------------------------------------------------------------------------------------------------------------------
// Loops.
// ---------------------------------------------------------------------------------------------------------------------

namespace detail {

// How often `for (i = first; i < end; i += step)` runs; `with_end`: `i <= end`.
template <class Common, class S>
__host__ __device__ constexpr unsigned long long count(Common first, Common end, S step, bool with_end)
{
    if (with_end ? end < first : end <= first)
        return 0;
    if constexpr (std::is_floating_point<Common>::value)
        return static_cast<unsigned long long>(with_end ? floor((end - first) / step) + 1 : ceil((end - first) / step));
    unsigned long long distance = static_cast<unsigned long long>(end) - static_cast<unsigned long long>(first);
    if (!with_end)
        --distance;
    return step == 1 ? distance + 1 : distance / static_cast<unsigned long long>(step) + 1;
}

}  // namespace detail

// How often `for (i = first; i < end; i += step)` runs, compared in C's common type; `step` is positive.
template <class A, class B, class S = int>
__host__ __device__ constexpr unsigned long long trips(A first, B end, S step = 1)
{
    if constexpr (std::is_pointer<A>::value)
        return trips(0, end - first, step);
    else
        return detail::count<decltype(first + end)>(first, end, step, false);
}

// The same for `i <= last`.
template <class A, class B, class S = int>
__host__ __device__ constexpr unsigned long long trips_to(A first, B last, S step = 1)
{
    if constexpr (std::is_pointer<A>::value)
        return trips_to(0, last - first, step);
    else
        return detail::count<decltype(first + last)>(first, last, step, true);
}

// How often `for (I i = first; i != end; ++i)` runs: past its greatest value an unsigned variable, or one that is narrower than
// an `int`, goes on with its least.
template <class I, class A, class B>
__host__ __device__ constexpr unsigned long long trips_until(A first, B end)
{
    using Common = decltype(first + end);
    if constexpr (std::is_integral<I>::value && (std::is_unsigned<I>::value || sizeof(I) < sizeof(int))) {
        const unsigned long long distance =
            static_cast<unsigned long long>(end) - static_cast<unsigned long long>(first);
        return distance & (~0ull >> (64 - 8 * sizeof(I)));
    } else if constexpr (std::is_integral<Common>::value && std::is_unsigned<Common>::value) {
        return static_cast<Common>(end) - static_cast<Common>(first);
    } else {
        return trips(first, end);
    }
}

// The tiles in which gangs take the iterations of a nest of two loops, each thread an element of a tile: what rows and
// columns nearby read, too, is in the cache. `count`: how many there are; in those at the edges, `row` and `column` may be
// beyond `rows` and `columns`. The width is a warp's, but as little of a tile as may be outside.
template <class Index>
struct Tiles {
    Index rows, columns, width, height, across, count, row_within, column_within;

    __device__ Tiles(unsigned long long rows, unsigned long long columns)
        : rows(static_cast<Index>(rows)), columns(static_cast<Index>(columns)), width(1)
    {
        const unsigned threads = detail::threads();
        while (width < 32 && width < columns && threads % (width * 2) == 0)
            width *= 2;
        while (threads / width % 2 == 0 && threads / width / 2 >= rows)
            width *= 2;
        height = threads / width;
        across = (this->columns + width - 1) / width;
        count = (this->rows + height - 1) / height * across;
        row_within = detail::rank() / width;
        column_within = detail::rank() % width;
    }

    // Where this thread's element of a tile is.
    __device__ Index row(Index tile) const { return tile / across * height + row_within; }
    __device__ Index column(Index tile) const { return tile % across * width + column_within; }
};

// The number of gangs that a program asks for, as far as a grid goes: at least one.
inline unsigned gangs(long long count)
{
    const long long most = 1 << 20;
    return static_cast<unsigned>(count < 1 ? 1 : count < most ? count : most);
}

// ---------------------------------------------------------------------------------------------------------------------
// Atomics (2.12): relaxed, among all threads of the device. T is a scalar of 1, 2, 4 or 8 bytes, of 16 from sm_90 on.
// ---------------------------------------------------------------------------------------------------------------------

namespace detail {

template <size_t bytes>
struct Bits;
template <>
struct Bits<1> {
    using Type = unsigned char;
};
template <>
struct Bits<2> {
    using Type = unsigned short;
};
template <>
struct Bits<4> {
    using Type = unsigned;
};
template <>
struct Bits<8> {
    using Type = unsigned long long;
};
struct alignas(16) TwoWords {
    unsigned long long low, high;

    __device__ bool operator!=(const TwoWords &other) const { return low != other.low || high != other.high; }
};
template <>
struct Bits<16> {
    using Type = TwoWords;
};

template <class To, class From>
__device__ To as(const From &value)
{
    static_assert(sizeof(To) == sizeof(From), "the same bytes");
    To other;
    memcpy(static_cast<void *>(&other), &value, sizeof(To));
    return other;
}

// A byte: by the word that it is in.
template <class Next>
__device__ unsigned char replace_byte(unsigned char *place, Next next)
{
    size_t address = reinterpret_cast<size_t>(place);
    unsigned *word = reinterpret_cast<unsigned *>(address & ~static_cast<size_t>(3));
    unsigned shift = static_cast<unsigned>(address & 3) * 8;
    unsigned old = atomicOr(word, 0u), seen;
    do {
        seen = old;
        unsigned value = static_cast<unsigned char>(next(static_cast<unsigned char>(seen >> shift)));
        old = atomicCAS(word, seen, (seen & ~(0xffu << shift)) | value << shift);
    } while (old != seen);
    return static_cast<unsigned char>(old >> shift);
}

// Replaces what is at `place` by next(that), and gives what was there.
template <class T, class Next>
__device__ T replace(T *place, Next next)
{
    static_assert(std::is_trivially_copyable<T>::value, "an atomic value is copied as bytes");
    if constexpr (sizeof(T) == 1) {
        unsigned char old = replace_byte(reinterpret_cast<unsigned char *>(place), [&](unsigned char byte) {
            return as<unsigned char>(next(as<T>(byte)));
        });
        return as<T>(old);
    } else {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
        static_assert(sizeof(T) <= 8, "16 bytes are atomic from sm_90 on");
#endif
        using Word = typename Bits<sizeof(T)>::Type;
        Word *word = reinterpret_cast<Word *>(place);
        Word old = as<Word>(fresh(place)), seen;
        do {
            seen = old;
            old = atomicCAS(word, seen, as<Word>(next(as<T>(seen))));
        } while (old != seen);
        return as<T>(old);
    }
}

// Whether `*place op= value` is the same with a value of T, and done by an instruction.
template <class Op, class T, class V>
struct Native {
    static constexpr bool word = sizeof(T) == 4 || sizeof(T) == 8;
    static constexpr bool integers = std::is_integral<T>::value && std::is_integral<V>::value;
    static constexpr bool doubles = std::is_same<T, double>::value && std::is_arithmetic<V>::value;
    static constexpr bool floats =
        std::is_same<T, float>::value && (std::is_same<V, float>::value || std::is_integral<V>::value);
    static constexpr bool sums = std::is_same<Op, Plus>::value || std::is_same<Op, Minus>::value;
    static constexpr bool extremes = std::is_same<Op, Min>::value || std::is_same<Op, Max>::value;
    static constexpr bool bits =
        std::is_same<Op, BitAnd>::value || std::is_same<Op, BitOr>::value || std::is_same<Op, BitXor>::value;
    static constexpr bool value = word && ((sums && (integers || doubles || floats)) || (bits && integers) ||
                                           (extremes && integers && std::is_same<T, V>::value));
};

// The type that CUDA's atomics have for an integer.
template <class T, bool keeps_sign>
using Integer = typename std::conditional<
    sizeof(T) == 4,
    typename std::conditional<keeps_sign && std::is_signed<T>::value, int, unsigned>::type,
    typename std::conditional<keeps_sign && std::is_signed<T>::value, long long, unsigned long long>::type>::type;

template <class Op, class T>
__device__ T native(T *place, T value)
{
    if constexpr (std::is_floating_point<T>::value) {
        return atomicAdd(place, std::is_same<Op, Minus>::value ? -value : value);
    } else {
        constexpr bool extremes = std::is_same<Op, Min>::value || std::is_same<Op, Max>::value;
        using Word = Integer<T, extremes>;
        Word *word = reinterpret_cast<Word *>(place);
        Word operand = static_cast<Word>(value);
        if constexpr (std::is_same<Op, Plus>::value)
            return static_cast<T>(atomicAdd(word, operand));
        else if constexpr (std::is_same<Op, Minus>::value)
            return static_cast<T>(atomicAdd(word, static_cast<Word>(0) - operand));
        else if constexpr (std::is_same<Op, Min>::value)
            return static_cast<T>(atomicMin(word, operand));
        else if constexpr (std::is_same<Op, Max>::value)
            return static_cast<T>(atomicMax(word, operand));
        else if constexpr (std::is_same<Op, BitAnd>::value)
            return static_cast<T>(atomicAnd(word, operand));
        else if constexpr (std::is_same<Op, BitOr>::value)
            return static_cast<T>(atomicOr(word, operand));
        else
            return static_cast<T>(atomicXor(word, operand));
    }
}

}  // namespace detail

// *place = *place op value, or value op *place for the operators called Reverse. Gives what was there before.
template <class Op, class T, class V>
__device__ T atomic_update(T *place, V value)
{
    if constexpr (detail::Native<Op, T, V>::value)
        return detail::native<Op>(place, static_cast<T>(value));
    else
        return detail::replace(place, [&](T old) { return static_cast<T>(Op::mixed(old, value)); });
}

// The same, but gives what is there afterwards.
template <class Op, class T, class V>
__device__ T atomic_result(T *place, V value)
{
    return static_cast<T>(Op::mixed(atomic_update<Op>(place, value), value));
}

// What is there.
template <class T>
__device__ T atomic_read(const T *place)
{
    if constexpr (sizeof(T) <= 8) {
        using Word = typename detail::Bits<sizeof(T)>::Type;
        Word word = *reinterpret_cast<const volatile Word *>(place);
        return detail::as<T>(word);
    } else {
        return detail::replace(const_cast<T *>(place), [](T old) { return old; });
    }
}

// *place = value. Gives what was there before.
template <class T, class V>
__device__ T atomic_exchange(T *place, V value)
{
    using detail::as;
    T next = static_cast<T>(value);
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
        using Word = typename detail::Bits<sizeof(T)>::Type;
        return as<T>(atomicExch(reinterpret_cast<Word *>(place), as<Word>(next)));
    } else {
        return detail::replace(place, [&](T) { return next; });
    }
}

// *place = value.
template <class T, class V>
__device__ void atomic_write(T *place, V value)
{
    using detail::as;
    T next = static_cast<T>(value);
    if constexpr (sizeof(T) <= 8) {
        using Word = typename detail::Bits<sizeof(T)>::Type;
        *reinterpret_cast<volatile Word *>(place) = as<Word>(next);
    } else {
        atomic_exchange(place, next);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tables: a kernel that does nothing to an array but update its elements, in any order, does it in a table that each block
// has in shared memory, and adds the table to the array at its end.
// ---------------------------------------------------------------------------------------------------------------------

namespace detail {

constexpr size_t table_room = 24 * 1024;  // bytes for the tables of a block: 8 blocks of a multiprocessor have them

// The shared memory that a launch asks for.
__device__ inline unsigned char *room()
{
#ifdef __CUDACC__
    extern __shared__ unsigned long long bytes[];
    return reinterpret_cast<unsigned char *>(bytes);
#else
    alignas(8) static unsigned char bytes[table_room];
    return bytes;
#endif
}

}  // namespace detail

// A table; made by Region::table and passed by value. `Op` is what all updates amount to: Plus for Minus, too.
template <class T>
struct Table {
    static_assert(std::is_integral<T>::value && (sizeof(T) == 4 || sizeof(T) == 8), "numbers that may come in any order");
    T *first;
    unsigned count;  // elements of the table; 0: there is none, and updates go to the array
    unsigned place;  // of the table in the room, in bytes

    // All threads of the block call these, before the first update and behind the last one.
    template <class Op>
    __device__ void begin() const
    {
        if (count == 0)
            return;
        for (unsigned at = detail::rank(); at < count; at += detail::threads())
            own()[at] = Op::template identity<T>();
        __syncthreads();
    }
    template <class Op>
    __device__ void end() const
    {
        if (count == 0)
            return;
        __syncthreads();
        for (unsigned at = detail::rank(); at < count; at += detail::threads())
            if (own()[at] != Op::template identity<T>())
                atomic_update<Op>(first + at, own()[at]);
    }

    // `*element op= value`, of an element of the array.
    template <class Op, class V>
    __device__ void update(T *element, V value) const
    {
        static_assert(std::is_integral<V>::value, "an integer");
        size_t at = static_cast<size_t>(element - first);
        if (at < count)
            atomic_update<Op>(own() + at, value);
        else
            atomic_update<Op>(element, value);
    }

private:
    __device__ T *own() const { return reinterpret_cast<T *>(detail::room() + place); }
};

// ---------------------------------------------------------------------------------------------------------------------
// Launches, for the host.
// ---------------------------------------------------------------------------------------------------------------------

// The type of a variable without `const` and references, and what an array holds or a pointer points to.
template <class T>
using Value = typename std::remove_cv<typename std::remove_reference<T>::type>::type;
template <class T>
using Element = Value<typename std::remove_pointer<typename std::remove_all_extents<Value<T>>::type>::type>;

// Where the device has a variable whose type the translation did not see: a pointer is a value.
namespace detail {

template <class T>
struct Held {
    T value;
    __device__ const T &operator*() const { return value; }
};

}  // namespace detail

template <class T>
using There = typename std::conditional<std::is_pointer<T>::value, detail::Held<T>, T *>::type;

// A compute construct: its data region and its queue. Everything in it happens on the queue, in order; with
// acc_async_sync the host waits at its end, and errors of the kernels are told there.
class Region {
public:
    // `where` as in acc2omp_begin. Makes this thread's device current for CUDA.
    Region(const char *where, int queue) { detail::begin_launch(where, queue); }
    ~Region() { detail::end_launch(); }
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;

    // Data clauses, as the functions of the first part, for `count` elements.
    template <class T>
    T *copy(const char *name, T *data, size_t count)
    {
        return static_cast<T *>(acc2omp_copy(name, data, count * sizeof(T)));
    }
    template <class T>
    T *copyin(const char *name, T *data, size_t count)
    {
        return static_cast<T *>(acc2omp_copyin(name, data, count * sizeof(T)));
    }
    template <class T>
    T *copyout(const char *name, T *data, size_t count)
    {
        return static_cast<T *>(acc2omp_copyout(name, data, count * sizeof(T)));
    }
    template <class T>
    T *copyout_zero(const char *name, T *data, size_t count)
    {
        return static_cast<T *>(acc2omp_copyout_zero(name, data, count * sizeof(T)));
    }
    template <class T>
    T *create(const char *name, T *data, size_t count)
    {
        return static_cast<T *>(acc2omp_create(name, data, count * sizeof(T)));
    }
    template <class T>
    T *create_zero(const char *name, T *data, size_t count)
    {
        return static_cast<T *>(acc2omp_create_zero(name, data, count * sizeof(T)));
    }
    template <class T>
    T *present(const char *name, T *data, size_t count)
    {
        return static_cast<T *>(acc2omp_present(name, data, count * sizeof(T)));
    }
    template <class T>
    T *no_create(const char *name, T *data, size_t count)
    {
        return static_cast<T *>(acc2omp_no_create(name, data, count * sizeof(T)));
    }
    // A pointer without a clause (2.6.2): the device's address of what is present; NULL, and an address that the device
    // can use already, stay as they are. Else it is an error.
    template <class T>
    T *pointer(const char *name, T *data)
    {
        return static_cast<T *>(detail::pointer(name, data));
    }
    // A variable without a clause whose type the translation did not see: a pointer as above, anything else by its value.
    template <class T>
    T argument(const char *name, const T &value)
    {
        if constexpr (std::is_pointer<T>::value)
            return pointer(name, value);
        else
            return value;
    }
    // Such a variable in a clause that names no section: a pointer as above, an object by what brings it.
    template <class T, class F>
    There<Value<T>> named(const char *name, T *variable, F bring)
    {
        if constexpr (std::is_pointer<T>::value)
            return {pointer(name, *variable)};
        else
            return const_cast<Value<T> *>(bring());
    }
    // As acc2omp_attach.
    void attach(const char *name, const void *pointer_variable) { acc2omp_attach(name, pointer_variable); }

    // The place of a reduction over the `blocks` of one launch. The value of `*host` is the initial one, and the result is
    // there when the region's queue has done its work; if `*host` is present, the device's copy is used instead.
    template <class T>
    Result<T> result(const char *name, T *host, dim3 blocks)
    {
        size_t count = static_cast<size_t>(blocks.x) * blocks.y * blocks.z;
        detail::Places places = detail::places(name, host, sizeof(T), 1, count, true);
        return {places.from ? T() : *host, static_cast<const T *>(places.from), static_cast<T *>(places.to),
                static_cast<T *>(places.partials), places.arrived};
    }
    // The same for `count` elements at `host`.
    template <class T>
    ResultArray<T> result_array(const char *name, T *host, size_t count, dim3 blocks)
    {
        size_t all = static_cast<size_t>(blocks.x) * blocks.y * blocks.z;
        detail::Places places = detail::places(name, host, sizeof(T), count, all, false);
        return {static_cast<const T *>(places.from), static_cast<T *>(places.to), static_cast<T *>(places.partials),
                places.arrived};
    }

    // A table for the array at `first` on the device, for one launch of so many blocks: if the array is small, and there
    // are more updates, one for each of the `trips`, than elements of all tables.
    template <class T>
    Table<T> table(T *first, unsigned long long trips, dim3 blocks)
    {
        size_t place = (room_ + sizeof(T) - 1) / sizeof(T) * sizeof(T), count = static_cast<size_t>(extent(first).end);
        if (place >= detail::table_room || count > (detail::table_room - place) / sizeof(T) ||
            trips / 2 < static_cast<unsigned long long>(count) * blocks.x)
            count = 0;
        if (count > 0)
            room_ = place + count * sizeof(T);
        return {first, static_cast<unsigned>(count), static_cast<unsigned>(place)};
    }
    // The bytes of shared memory that tables take.
    size_t room() const { return room_; }

    // Memory of the device, of any content, until the launches of this region are over.
    template <class T>
    T *scratch(size_t count)
    {
        return static_cast<T *>(detail::scratch(count * sizeof(T)));
    }

    // Where the elements of an array are that `device` leads into.
    template <class T>
    Extent extent(const T *device)
    {
        return detail::extent(device, sizeof(T));
    }

    // A copy of what the host has at `data` now, until the launches of this region are over: `firstprivate` arrays.
    template <class T>
    const T *first(const T *data, size_t count)
    {
        T *there = scratch<T>(count);
        cudaError_t error = cudaMemcpyAsync(there, data, count * sizeof(T), cudaMemcpyHostToDevice, stream());
        if (error != cudaSuccess)
            detail::fail("an array cannot be copied to the device", cudaGetErrorString(error));
        return there;
    }

    // The `wait` clause (2.5.3): what comes next here waits for what is on `queue`, or on any queue, now.
    void wait(int queue) { detail::wait(queue); }
    void wait_all() { detail::wait_all(); }

    // The stream of the region's queue.
    cudaStream_t stream() const { return detail::stream(); }

private:
    size_t room_ = 0;
};

// How many blocks a loop of `trips` iterations gets whose blocks take `threads` at a time: one turn for each thread, as far
// as CUDA has blocks, and at least one block.
unsigned blocks(unsigned long long trips, unsigned threads);

namespace detail {

unsigned resident_blocks(unsigned long long trips, unsigned threads, unsigned held);

}  // namespace detail

// The same, but no more blocks than the device holds at a time: for what each block does once, as a reduction. Each thread
// strides over the iterations. A block that takes fewer iterations at a time than it has threads has `block` of them.
inline unsigned resident_blocks(unsigned long long trips, unsigned threads, unsigned block = 0)
{
    const unsigned size = block == 0 ? threads : block;
    return detail::resident_blocks(trips, threads, size < 2048 ? 2048 / size : 1);
}

// The same for a kernel: of one that takes many registers, the device holds fewer.
template <class... P>
unsigned resident_blocks(void (*kernel)(P...), unsigned long long trips, unsigned threads, unsigned block = 0)
{
    int held = 0;
    const int size = static_cast<int>(block == 0 ? threads : block);
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, kernel, size, 0) != cudaSuccess || held < 1)
        return resident_blocks(trips, threads, block);
    return detail::resident_blocks(trips, threads, static_cast<unsigned>(held));
}

// As many blocks as are wanted, or 16 times as many as the device holds at a time: for what each block does before its
// iterations, which costs less if it runs more of them.
template <class... P>
unsigned fewer_blocks(void (*kernel)(P...), unsigned wanted, unsigned threads)
{
    const unsigned most = 16 * resident_blocks(kernel, ~0ull, threads);
    return wanted < most ? wanted : most;
}

// The largest of several grids: for several loops in one kernel.
inline unsigned most(unsigned blocks)
{
    return blocks;
}
template <class... Others>
unsigned most(unsigned blocks, Others... others)
{
    const unsigned other = most(others...);
    return blocks < other ? other : blocks;
}

// Starts a kernel on the region's queue. A grid without blocks starts nothing.
template <class... P, class... A>
void launch(const Region &region, dim3 grid, dim3 block, void (*kernel)(P...), A... arguments)
{
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return;
    const bool is_timed = detail::start_clock();
#ifdef __CUDACC__
    kernel<<<grid, block, region.room(), region.stream()>>>(static_cast<P>(arguments)...);
    cudaError_t error = cudaGetLastError();
#else
    cudaError_t error = cudaLaunchOnCpu(grid, block, region.stream(), kernel, static_cast<P>(arguments)...);
#endif
    if (error != cudaSuccess)
        detail::fail("a kernel cannot be started", cudaGetErrorString(error));
    if (is_timed)
        detail::stop_clock();
}

// A construct that stays in its place: its code is a lambda, which each thread calls.
template <unsigned threads, class F>
__global__ void __launch_bounds__(threads) run(F body)
{
    body();
}

template <unsigned threads, class F>
void launch(const Region &region, dim3 grid, dim3 block, F body)
{
    launch(region, grid, block, run<threads, F>, body);
}

}  // namespace acc2omp

#pragma pop_macro("A")
#pragma pop_macro("B")
#pragma pop_macro("F")
#pragma pop_macro("P")
#pragma pop_macro("S")
#pragma pop_macro("T")
#pragma pop_macro("V")
#pragma pop_macro("block")
#pragma pop_macro("blocks")
#pragma pop_macro("count")
#pragma pop_macro("height")
#pragma pop_macro("rows")
#pragma pop_macro("size")
#pragma pop_macro("threads")
#pragma pop_macro("width")

#endif
#endif
