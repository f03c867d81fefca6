/* A stencil of 7 points on a cube: milliseconds a step, and a checksum. */
#include <stdlib.h>

#include "clock.h"

#ifndef N
#define N 384
#endif
#define STEPS 20

static void step(double (*restrict a)[N][N], double (*restrict b)[N][N])
{
#if DIRECTED
#pragma acc parallel loop gang vector collapse(3) present(a[0:N], b[0:N])
#elif OUTER
#pragma acc parallel loop present(a[0:N], b[0:N])
#else
#pragma acc kernels present(a[0:N], b[0:N])
#endif
    for (int k = 1; k < N - 1; k++)
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                b[k][j][i] = 0.4 * a[k][j][i] + 0.1 * (a[k][j][i - 1] + a[k][j][i + 1] + a[k][j - 1][i] +
                                                       a[k][j + 1][i] + a[k - 1][j][i] + a[k + 1][j][i]);
}

int main(void)
{
    double(*a)[N][N] = malloc(sizeof(double[N][N][N]));
    double(*b)[N][N] = malloc(sizeof(double[N][N][N]));
    double time = 0.0, sum = 0.0;
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                a[k][j][i] = b[k][j][i] = ((k * N + j) * N + i) % 7;
#pragma acc data copy(a[0:N]) copyin(b[0:N])
    {
        step(a, b);
        step(b, a);
        time = now();
        for (int pair = 0; pair < STEPS / 2; pair++) {
            step(a, b);
            step(b, a);
        }
        time = now() - time;
    }
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                sum += a[k][j][i] * (1 + (i + j + k) % 5);
    report("stencil", time / STEPS, sum);
    free(a);
    free(b);
    return 0;
}
