/* sum.c by hand: a partial sum for each block, then one block for these. */
#include <cstdlib>

#include "clock.h"

constexpr int N = 1 << 27, ROUNDS = 20, THREADS = 256;

__global__ void add(const double *__restrict__ a, int n, double *__restrict__ out)
{
    double sum = 0.0;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < static_cast<unsigned>(n); i += gridDim.x * THREADS)
        sum += a[i];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    __shared__ double warps[THREADS / 32];
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0.0;
        for (double one : warps)
            sum += one;
        out[blockIdx.x] = sum;
    }
}

int main()
{
    size_t bytes = sizeof(double) * N;
    double *host = static_cast<double *>(malloc(bytes)), *a, *parts, sum = 0.0, start = 0.0;
    int multiprocessors;
    for (int i = 0; i < N; i++)
        host[i] = i % 17;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    int blocks = multiprocessors * 8;
    cudaMalloc(&a, bytes);
    cudaMalloc(&parts, sizeof(double) * (blocks + 1));
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    for (int round = 0; round <= ROUNDS; round++) {
        if (round == 1)
            start = now();
        add<<<blocks, THREADS>>>(a, N, parts);
        add<<<1, THREADS>>>(parts, blocks, parts + blocks);
        cudaMemcpy(&sum, parts + blocks, sizeof sum, cudaMemcpyDeviceToHost);
    }
    report("sum", (now() - start) / ROUNDS, sum);
    return cudaGetLastError() != cudaSuccess;
}
