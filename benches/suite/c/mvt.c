/* A matrix times a vector, and its transpose times another: milliseconds for both, and a checksum. */
#include "clock.h"

#ifndef N
#define N 8192
#endif
#define ROUNDS 10

static double a[N][N], x[N], y[N], ax[N], aty[N];

static void both(void)
{
    /* The lanes share a row. */
#if DIRECTED
#pragma acc parallel loop gang vector_length(128)
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int i = 0; i < N; i++) {
        double sum = 0.0;
#if DIRECTED
#pragma acc loop vector reduction(+:sum)
#endif
        for (int j = 0; j < N; j++)
            sum += a[i][j] * x[j];
        ax[i] = sum;
    }
    /* Each lane has a column. */
#if DIRECTED
#pragma acc parallel loop gang vector
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int j = 0; j < N; j++) {
        double sum = 0.0;
#if DIRECTED
#pragma acc loop seq
#endif
        for (int i = 0; i < N; i++)
            sum += a[i][j] * y[i];
        aty[j] = sum;
    }
}

int main(void)
{
    double time = 0.0, sum = 0.0;
    for (int i = 0; i < N; i++) {
        x[i] = 1.0 + i % 5;
        y[i] = 2.0 - i % 3;
        for (int j = 0; j < N; j++)
            a[i][j] = (i + 3 * j) % 17 - 8;
    }
#pragma acc data copyin(a, x, y) copyout(ax, aty)
    {
        both();
        time = now();
        for (int round = 0; round < ROUNDS; round++)
            both();
        time = now() - time;
    }
    for (int i = 0; i < N; i++)
        sum += ax[i] * (1 + i % 3) + aty[i] * (1 + i % 7);
    report("mvt", time / ROUNDS, sum);
    return 0;
}
