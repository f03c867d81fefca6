/* stencil.c by hand: a thread for each point, blocks that are long in the direction of memory. */
#include <cstdlib>

#include "clock.h"

constexpr int N = 384, STEPS = 20;

__global__ void step(const double *__restrict__ a, double *__restrict__ b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1, k = blockIdx.z + 1;
    if (i >= N - 1 || j >= N - 1)
        return;
    int here = (k * N + j) * N + i;
    b[here] = 0.4 * a[here] + 0.1 * (a[here - 1] + a[here + 1] + a[here - N] + a[here + N] + a[here - N * N] + a[here + N * N]);
}

int main()
{
    size_t bytes = sizeof(double) * N * N * N;
    double *host = static_cast<double *>(malloc(bytes)), *a, *b, start = 0.0, sum = 0.0;
    for (int at = 0; at < N * N * N; at++)
        host[at] = at % 7;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);
    dim3 block(64, 4), grid((N - 2 + 63) / 64, (N - 2 + 3) / 4, N - 2);
    for (int pair = 0; pair <= STEPS / 2; pair++) {
        if (pair == 1) {
            cudaDeviceSynchronize();
            start = now();
        }
        step<<<grid, block>>>(a, b);
        step<<<grid, block>>>(b, a);
    }
    cudaDeviceSynchronize();
    double time = now() - start;
    cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost);
    for (int at = 0; at < N * N * N; at++)
        sum += host[at] * (1 + (at % N + at / N % N + at / N / N) % 5);
    report("stencil", time / STEPS, sum);
    return cudaGetLastError() != cudaSuccess;
}
