/* spmv.c by hand: four lanes for each row. */

#include "clock.h"
#include "spmv.h"

constexpr int LANES = 4, THREADS = 256, ROUNDS = 20;

__global__ void product(int rows, const int *__restrict__ row_start, const int *__restrict__ column,
                        const double *__restrict__ value, const double *__restrict__ x, double *__restrict__ y)
{
    int row = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    double sum = 0.0;
    if (row < rows)
        for (int k = row_start[row] + lane, last = row_start[row + 1]; k < last; k += LANES)
            sum += value[k] * x[column[k]];
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (row < rows && lane == 0)
        y[row] = sum;
}

template <class T>
static T *on_device(const T *host, size_t count)
{
    T *device;
    cudaMalloc(&device, count * sizeof(T));
    cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

int main()
{
    matrix m = make_matrix();
    int *row_start = on_device(m.row_start, ROWS + 1), *column = on_device(m.column, m.entries);
    double *value = on_device(m.value, m.entries), *x = on_device(m.x, ROWS), *y = on_device(m.y, ROWS), start = 0.0;
    for (int one = 0; one <= ROUNDS; one++) {
        if (one == 1) {
            cudaDeviceSynchronize();
            start = now();
        }
        product<<<(ROWS * LANES + THREADS - 1) / THREADS, THREADS>>>(ROWS, row_start, column, value, x, y);
    }
    cudaDeviceSynchronize();
    double time = now() - start;
    cudaMemcpy(m.y, y, sizeof(double) * ROWS, cudaMemcpyDeviceToHost);
    report("spmv", time / ROUNDS, checksum(m.y));
    return cudaGetLastError() != cudaSuccess;
}
