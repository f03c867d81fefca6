/* A wave in two dimensions, by finite differences in time: milliseconds a step, and a checksum. */
#include "clock.h"

#ifndef N
#define N 4096
#endif
#define STEPS 20

static double ex[N][N], ey[N][N], hz[N][N];

static void step(double pulse)
{
#if DIRECTED
#pragma acc parallel loop gang vector
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int j = 0; j < N; j++)
        ey[0][j] = pulse;
#if DIRECTED
#pragma acc parallel loop gang vector collapse(2)
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int i = 1; i < N; i++)
        for (int j = 0; j < N; j++)
            ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
#if DIRECTED
#pragma acc parallel loop gang vector collapse(2)
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int i = 0; i < N; i++)
        for (int j = 1; j < N; j++)
            ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
#if DIRECTED
#pragma acc parallel loop gang vector collapse(2)
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int i = 0; i < N - 1; i++)
        for (int j = 0; j < N - 1; j++)
            hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
}

int main(void)
{
    double time = 0.0, sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            ex[i][j] = i * (j + 1.0) / N;
            ey[i][j] = i * (j + 2.0) / N;
            hz[i][j] = i * (j + 3.0) / N;
        }
#pragma acc data copyin(ex, ey) copy(hz)
    {
        step(0.0);
        time = now();
        for (int t = 1; t <= STEPS; t++)
            step(t);
        time = now() - time;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += hz[i][j] * (1 + (i + j) % 3);
    report("fdtd", time / STEPS, sum);
    return 0;
}
