/* jacobi.c by hand: a block reduction, then an atomic maximum; the host reads the residual of each step. */
#include <cstdlib>

#include "clock.h"

constexpr int N = 4096, STEPS = 50, THREADS = 256;

__global__ void relax(const double *__restrict__ a, double *__restrict__ next, unsigned long long *largest)
{
    double error = 0.0;
    for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < (N - 2) * (N - 2); at += gridDim.x * blockDim.x) {
        unsigned j = at / (N - 2) + 1, i = at % (N - 2) + 1, here = j * N + i;
        double value = 0.25 * (a[here + 1] + a[here - 1] + a[here - N] + a[here + N]);
        error = fmax(error, fabs(value - a[here]));
        next[here] = value;
    }
    for (int distance = 16; distance > 0; distance /= 2)
        error = fmax(error, __shfl_xor_sync(0xffffffffu, error, distance));
    __shared__ double warps[THREADS / 32];
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = error;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (double one : warps)
            error = fmax(error, one);
        // Numbers that are not negative are ordered as their bits are.
        atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(error)));
    }
}

__global__ void copy(double *__restrict__ a, const double *__restrict__ next)
{
    for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < (N - 2) * (N - 2); at += gridDim.x * blockDim.x) {
        unsigned here = (at / (N - 2) + 1) * N + at % (N - 2) + 1;
        a[here] = next[here];
    }
}

int main()
{
    size_t bytes = sizeof(double) * N * N;
    double *host = static_cast<double *>(malloc(bytes)), *a, *next, error = 0.0, start = 0.0;
    unsigned long long *largest;
    int multiprocessors;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            host[j * N + i] = i == 0 ? 1.0 : 0.0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    cudaMalloc(&a, bytes);
    cudaMalloc(&next, bytes);
    cudaMalloc(&largest, sizeof *largest);
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    for (int step = 0; step <= STEPS; step++) {
        if (step == 1)
            start = now();
        cudaMemsetAsync(largest, 0, sizeof *largest);
        relax<<<multiprocessors * 8, THREADS>>>(a, next, largest);
        cudaMemcpyAsync(&error, largest, sizeof error, cudaMemcpyDeviceToHost);
        copy<<<multiprocessors * 8, THREADS>>>(a, next);
        cudaDeviceSynchronize();
    }
    report("jacobi", (now() - start) / STEPS, error);
    return cudaGetLastError() != cudaSuccess;
}
