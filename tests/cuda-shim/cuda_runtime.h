/*
 * CUDA on the processor, for the tests of acc2omp: enough of it to run what acc2omp writes, and to see what is wrong.
 *
 *     g++ -std=c++17 -fno-strict-aliasing -DACC2OMP_ON_CPU -I tests/cuda-shim -x c++ foo_acc.cu acc2omp_cuda.cu \
 *         tests/cuda-shim/{checks,fibers,host,machine,races}.cpp
 *
 * (`xtask/src/cuda/mod.rs` builds these once, and adds the checks.) Here is what programs see; as each of them reads it,
 * it is short. `machine.h` has what it stands on.
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

#include <cassert>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include <math.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __noinline__  // the standard library writes it in attributes, and nothing is inlined without optimisation
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
// Kernels.
// ---------------------------------------------------------------------------------------------------------------------

namespace cuda_shim {

struct Stream;
struct Event;

[[noreturn]] void die(const char *what);

inline bool is_on_device = false;
inline thread_local bool is_checked = false;  // the code of a kernel runs, and not the shim's on its behalf
inline thread_local bool is_atomic = false;   // the access that comes is part of an atomic operation

// A variable of a block: g++ checks no access of a static variable at a place in it that it knows, but each by a reference.
template <class T>
T &watched(T &place)
{
    return place;
}

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

// A kernel with its arguments.
struct Call {
    virtual ~Call() = default;
    // What one thread does.
    virtual void run() = 0;
};

template <class... P>
class CallOf final : public Call {
public:
    CallOf(void (*kernel)(P...), P... values) : kernel(kernel), values(values...) {}
    void run() override { unpack(std::index_sequence_for<P...>()); }

private:
    template <size_t... I>
    void unpack(std::index_sequence<I...>)
    {
        enter(kernel, std::get<I>(values)...);
    }
    // The arguments lie on the stack of the thread.
    static void enter(void (*kernel)(P...), P... arguments)
    {
        is_checked = true;
        kernel(arguments...);
        is_checked = false;
    }
    void (*kernel)(P...);
    std::tuple<P...> values;
};

// What a kernel gets of an address: one of the host's memory can be passed on, but not used.
const void *passed(const void *address);

template <class T>
T argument(T value)
{
    return value;
}

template <class T>
T *argument(T *value)
{
    if constexpr (std::is_function<T>::value)
        return value;
    else
        return static_cast<T *>(const_cast<void *>(passed(const_cast<const void *>(static_cast<const volatile void *>(value)))));
}

}  // namespace cuda_shim

typedef cuda_shim::Stream *cudaStream_t;
typedef cuda_shim::Event *cudaEvent_t;
typedef void (*cudaHostFn_t)(void *);

namespace cuda_shim {

// Puts a kernel on a stream; the call becomes the stream's.
cudaError_t start(dim3 grid, dim3 block, cudaStream_t stream, Call *call);

}  // namespace cuda_shim

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
    return start(grid, block, stream, new CallOf<P...>(kernel, argument(static_cast<P>(arguments))...));
}

// ---------------------------------------------------------------------------------------------------------------------
// The host's side.
// ---------------------------------------------------------------------------------------------------------------------

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int);

template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T, int threads, size_t)
{
    *blocks = threads < 2048 ? 2048 / threads : 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaMemGetInfo(size_t *left, size_t *all);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0);

namespace cuda_shim {

cudaError_t allocate_here(void **memory, size_t bytes);
// Says that a variable is the device's.
void declare_symbol(void *address, size_t bytes);

}  // namespace cuda_shim

template <class T>
cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    void *place = nullptr;
    cudaError_t error = cuda_shim::allocate_here(&place, bytes);
    *memory = static_cast<T *>(place);
    return error;
}

template <class T>
cudaError_t cudaMallocAsync(T **memory, size_t bytes, cudaStream_t)
{
    return cudaMalloc(memory, bytes);
}

cudaError_t cudaFree(void *memory);
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *address);

template <class T>
cudaError_t cudaGetSymbolAddress(void **address, const T &symbol)
{
    *address = const_cast<char *>(&reinterpret_cast<const char &>(symbol));
    cuda_shim::declare_symbol(*address, sizeof symbol);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemset(void *memory, int value, size_t bytes);

// ---------------------------------------------------------------------------------------------------------------------
// The device's side.
// ---------------------------------------------------------------------------------------------------------------------

namespace cuda_shim {

// A step that the lanes in `mask` take together; what each gives is seen by all.
const uint64_t *meet(unsigned mask, int operation, uint64_t value);
// The place of the thread in its warp.
unsigned lane();
// `races.cpp`: what a thread did before comes before what others do after.
void thread_fences();

}  // namespace cuda_shim

void __syncthreads();

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

unsigned __activemask();

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

unsigned __ballot_sync(unsigned mask, int predicate);

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
