/* A product of matrices: milliseconds, and a checksum. */
#include <stdlib.h>

#include "clock.h"

#ifndef N
#define N 2048
#endif
#define ROUNDS 3

static void multiply(const double *restrict a, const double *restrict b, double *restrict c)
{
#if DIRECTED
#pragma acc parallel loop gang vector collapse(2) present(a[0:N * N], b[0:N * N], c[0:N * N])
#elif OUTER
#pragma acc parallel loop present(a[0:N * N], b[0:N * N], c[0:N * N])
#else
#pragma acc kernels present(a[0:N * N], b[0:N * N], c[0:N * N])
#endif
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
#if DIRECTED
#pragma acc loop seq
#endif
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j];
            c[i * N + j] = sum;
        }
}

int main(void)
{
    double *a = malloc(sizeof(double) * N * N);
    double *b = malloc(sizeof(double) * N * N);
    double *c = malloc(sizeof(double) * N * N);
    double time = 0.0, sum = 0.0;
    for (int at = 0; at < N * N; at++) {
        a[at] = at % 11 - 5;
        b[at] = at % 13 - 6;
    }
#pragma acc data copyin(a[0:N * N], b[0:N * N]) copyout(c[0:N * N])
    {
        multiply(a, b, c);
        time = now();
        for (int round = 0; round < ROUNDS; round++)
            multiply(a, b, c);
        time = now() - time;
    }
    for (int at = 0; at < N * N; at++)
        sum += c[at] * (1 + at % 3);
    report("matmul", time / ROUNDS, sum);
    free(a);
    free(b);
    free(c);
    return 0;
}
