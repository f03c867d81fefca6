/* copy.c by hand: CUDA's own copy. */
#include <cstdlib>

#include "clock.h"

constexpr int N = 1 << 27, ROUNDS = 20;

int main()
{
    size_t bytes = sizeof(double) * N;
    double *host = static_cast<double *>(malloc(bytes)), *a, *b, start = 0.0, sum = 0.0;
    for (int i = 0; i < N; i++)
        host[i] = i % 17;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    for (int round = 0; round <= ROUNDS; round++) {
        if (round == 1) {
            cudaDeviceSynchronize();
            start = now();
        }
        cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice);
    }
    cudaDeviceSynchronize();
    double time = now() - start;
    cudaMemcpy(host, b, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i += 31)
        sum += host[i];
    report("copy", time / ROUNDS, sum);
    return cudaGetLastError() != cudaSuccess;
}
