/* A product of matrices, untuned: milliseconds, and a checksum. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

#define N 2048
#define ROUNDS 5

static void multiply(const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:N * N], b[0:N * N], c[0:N * N])
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
#pragma acc loop seq
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
    double start = 0.0, time = 0.0, sum = 0.0;
    for (int at = 0; at < N * N; at++) {
        a[at] = at % 11 - 5;
        b[at] = at % 13 - 6;
    }
#pragma acc data copyin(a[0:N * N], b[0:N * N]) copyout(c[0:N * N])
    {
        for (int round = 0; round <= ROUNDS; round++) {
            if (round == 1)
                start = now();
            multiply(a, b, c);
        }
        time = now() - start;
    }
    for (int at = 0; at < N * N; at++)
        sum += c[at] * (1 + at % 3);
    printf("matmul %.4f %.10e\n", time / ROUNDS, sum);
    free(a);
    free(b);
    free(c);
    return 0;
}
