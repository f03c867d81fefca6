/* matmul.c by hand: tiles in shared memory. */
#include <cstdlib>

#include "clock.h"

constexpr int N = 2048, ROUNDS = 3, TILE = 32;

__global__ void multiply(const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ c)
{
    __shared__ double left[TILE][TILE], right[TILE][TILE];
    int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
    double sum = 0.0;
    for (int first = 0; first < N; first += TILE) {
        left[threadIdx.y][threadIdx.x] = a[i * N + first + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * N + j];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[i * N + j] = sum;
}

int main()
{
    size_t bytes = sizeof(double) * N * N;
    double *host = static_cast<double *>(malloc(bytes)), *a, *b, *c, start = 0.0, sum = 0.0;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    for (int at = 0; at < N * N; at++)
        host[at] = at % 11 - 5;
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    for (int at = 0; at < N * N; at++)
        host[at] = at % 13 - 6;
    cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);
    for (int round = 0; round <= ROUNDS; round++) {
        if (round == 1) {
            cudaDeviceSynchronize();
            start = now();
        }
        multiply<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, b, c);
    }
    cudaDeviceSynchronize();
    double time = now() - start;
    cudaMemcpy(host, c, bytes, cudaMemcpyDeviceToHost);
    for (int at = 0; at < N * N; at++)
        sum += host[at] * (1 + at % 3);
    report("matmul", time / ROUNDS, sum);
    return cudaGetLastError() != cudaSuccess;
}
