/*
 * The host's side of CUDA: what programs call between kernels.
 */
#include "machine.h"

using namespace cuda_shim;

namespace {

int device_count()
{
    const char *text = getenv("CUDA_SHIM_DEVICES");
    return text ? atoi(text) : 1;
}

}  // namespace

cudaError_t cuda_shim::start(dim3 grid, dim3 block, cudaStream_t stream, Call *call)
{
    std::shared_ptr<Call> kernel(call);
    Lock lock(machine().mutex);
    unsigned long long threads = 1ull * block.x * block.y * block.z;
    if (threads == 0 || threads > 1024 || block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
        grid.x > INT_MAX || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    Stream *on = stream_of(stream);
    if (on->device != current_device)
        return cudaErrorInvalidResourceHandle;
    on->add([=] { run_kernel(grid, block, *kernel); });
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
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

cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = device_count();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= device_count())
        return cudaErrorInvalidDevice;
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrMultiProcessorCount ? multiprocessors : 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
    *properties = {};
    strcpy(properties->name, "the processor");
    properties->totalGlobalMem = device_memory;
    properties->multiProcessorCount = multiprocessors;
    properties->major = 9;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
    Lock lock(machine().mutex);
    *all = *left = device_memory;
    for (auto &block : machine().blocks)
        *left -= block.second.bytes;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    *pool = device;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    Lock lock(machine().mutex);
    run_all();
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    Lock lock(machine().mutex);
    *stream = new Stream;
    (*stream)->device = current_device;
    machine().streams.push_back(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    Lock lock(machine().mutex);
    stream->run();
    auto &streams = machine().streams;
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    // Events may still name it.
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    Lock lock(machine().mutex);
    stream_of(stream)->run();
    return cudaSuccess;
}

// A stream that is asked makes progress.
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    Lock lock(machine().mutex);
    Stream *on = stream_of(stream);
    if (on->done == on->put)
        return cudaSuccess;
    on->run_until(on->done + 1);
    return cudaErrorNotReady;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
    Lock lock(machine().mutex);
    stream_of(stream)->add([=] { function(argument); });
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new Event;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    Lock lock(machine().mutex);
    Stream *on = stream_of(stream);
    *event = {on, on->put};
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    Lock lock(machine().mutex);
    if (event->stream)
        event->stream->run_until(event->position);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t)
{
    *milliseconds = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    Lock lock(machine().mutex);
    Event seen = *event;
    if (seen.stream)
        stream_of(stream)->add([seen] { seen.stream->run_until(seen.position); });
    return cudaSuccess;
}

cudaError_t cuda_shim::allocate_here(void **memory, size_t bytes)
{
    Lock lock(machine().mutex);
    return allocate(memory, bytes, current_device);
}

cudaError_t cudaFree(void *memory)
{
    Lock lock(machine().mutex);
    run_all();
    if (memory)
        release(memory);
    return cudaSuccess;
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
    Lock lock(machine().mutex);
    stream_of(stream)->add([=] { release(memory); });
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned)
{
    Lock lock(machine().mutex);
    *memory = malloc(bytes);
    memset(*memory, 0xA5, bytes);
    machine().pinned[static_cast<char *>(*memory)] = bytes;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    return cudaHostAlloc(memory, bytes, 0);
}

cudaError_t cudaFreeHost(void *memory)
{
    Lock lock(machine().mutex);
    run_all();
    if (memory && machine().pinned.erase(static_cast<char *>(memory)) == 0)
        die("pinned memory is freed that is not allocated");
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *address)
{
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

void cuda_shim::declare_symbol(void *address, size_t bytes)
{
    Lock lock(machine().mutex);
    machine().symbols[static_cast<char *>(address)] = bytes;
}

// Memory of the host that is not pinned is read at once; what goes to such memory is waited for.
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
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

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    if (error == cudaSuccess)
        cudaStreamSynchronize(nullptr);
    return error;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    Lock lock(machine().mutex);
    check_bytes(memory, bytes);
    stream_of(stream)->add([=] {
        Access access;
        memset(memory, value, bytes);
    });
    return cudaSuccess;
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    return cudaMemsetAsync(memory, value, bytes, nullptr);
}
