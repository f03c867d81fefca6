/* histogram.c by hand: each block counts in shared memory first. */
#include <cstdlib>

#include "clock.h"

constexpr int N = 1 << 26, BINS = 256, ROUNDS = 10;

__global__ void count(const unsigned char *__restrict__ data, unsigned *bins)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main()
{
    unsigned char *host = static_cast<unsigned char *>(malloc(N)), *data;
    unsigned result[BINS], *bins, state = 1;
    double start = 0.0, sum = 0.0;
    int multiprocessors;
    for (int i = 0; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        host[i] = static_cast<unsigned char>(state >> 24);
    }
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    cudaMalloc(&data, N);
    cudaMalloc(&bins, sizeof result);
    cudaMemcpy(data, host, N, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, sizeof result);
    for (int round = 0; round <= ROUNDS; round++) {
        if (round == 1) {
            cudaDeviceSynchronize();
            start = now();
        }
        count<<<multiprocessors * 8, BINS>>>(data, bins);
    }
    cudaDeviceSynchronize();
    double time = now() - start;
    cudaMemcpy(result, bins, sizeof result, cudaMemcpyDeviceToHost);
    for (int bin = 0; bin < BINS; bin++)
        sum += static_cast<double>(result[bin]) * (bin + 1);
    report("histogram", time / ROUNDS, sum);
    return cudaGetLastError() != cudaSuccess;
}
