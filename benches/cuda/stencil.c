/* A stencil of 7 points on a cube, untuned: milliseconds a step, and a checksum. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

#define N 512
#define STEPS 50
#define AT(k, j, i) (((k) * N + (j)) * N + (i))

static void step(const double *restrict a, double *restrict b)
{
#pragma acc parallel loop present(a[0:N * N * N], b[0:N * N * N])
    for (int k = 1; k < N - 1; k++) {
#pragma acc loop
        for (int j = 1; j < N - 1; j++) {
#pragma acc loop
            for (int i = 1; i < N - 1; i++)
                b[AT(k, j, i)] = 0.4 * a[AT(k, j, i)] +
                                 0.1 * (a[AT(k, j, i - 1)] + a[AT(k, j, i + 1)] + a[AT(k, j - 1, i)] +
                                        a[AT(k, j + 1, i)] + a[AT(k - 1, j, i)] + a[AT(k + 1, j, i)]);
        }
    }
}

int main(void)
{
    double *a = malloc(sizeof(double) * N * N * N);
    double *b = malloc(sizeof(double) * N * N * N);
    double start = 0.0, time = 0.0, sum = 0.0;
    for (int at = 0; at < N * N * N; at++)
        a[at] = b[at] = at % 7;
#pragma acc data copy(a[0:N * N * N]) copyin(b[0:N * N * N])
    {
        for (int pair = 0; pair <= STEPS / 2; pair++) {
            if (pair == 1)
                start = now();
            step(a, b);
            step(b, a);
        }
        time = now() - start;
    }
    for (int at = 0; at < N * N * N; at += 101)
        sum += a[at];
    printf("stencil %.4f %.10e\n", time / STEPS, sum);
    free(a);
    free(b);
    return 0;
}
