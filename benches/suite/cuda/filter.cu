/* filter.c by hand: what a block reads is in shared memory, the weights in constant memory. */
#include <cstdlib>

#include "clock.h"

constexpr int N = 1 << 26, R = 16, ROUNDS = 20, THREADS = 256;

__constant__ double weight[2 * R + 1];

__global__ void filter(const double *__restrict__ from, double *__restrict__ to)
{
    __shared__ double part[THREADS + 2 * R];
    int first = blockIdx.x * THREADS, i = first + R + threadIdx.x;
    for (int at = threadIdx.x; at < THREADS + 2 * R && first + at < N; at += THREADS)
        part[at] = from[first + at];
    __syncthreads();
    if (i >= N - R)
        return;
    double sum = 0.0;
    for (int d = 0; d <= 2 * R; d++)
        sum += weight[d] * part[threadIdx.x + d];
    to[i] = sum;
}

int main()
{
    size_t bytes = sizeof(double) * N;
    double *host = static_cast<double *>(malloc(bytes)), *from, *to, weights[2 * R + 1], start = 0.0, sum = 0.0;
    for (int i = 0; i < N; i++)
        host[i] = i % 17;
    for (int d = 0; d <= 2 * R; d++)
        weights[d] = 1.0 + d % 3;
    cudaMalloc(&from, bytes);
    cudaMalloc(&to, bytes);
    cudaMemcpy(from, host, bytes, cudaMemcpyHostToDevice);
    cudaMemset(to, 0, bytes);
    cudaMemcpyToSymbol(weight, weights, sizeof weights);
    for (int round = 0; round <= ROUNDS; round++) {
        if (round == 1) {
            cudaDeviceSynchronize();
            start = now();
        }
        filter<<<(N - 2 * R + THREADS - 1) / THREADS, THREADS>>>(from, to);
    }
    cudaDeviceSynchronize();
    double time = now() - start;
    cudaMemcpy(host, to, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i += 31)
        sum += host[i];
    report("filter", time / ROUNDS, sum);
    return cudaGetLastError() != cudaSuccess;
}
