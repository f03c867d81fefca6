/*
 * Laplace's equation by Jacobi's method on a large square: milliseconds a step, and the residual to check it by.
 * Usage: jacobi [STEPS]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef N
#define N 4096
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

#ifdef PLAIN_KERNELS
/* Nothing is said of the loops. */
static double step(double (*restrict a)[N], double (*restrict next)[N])
{
    double error = 0.0;
#pragma acc kernels present(a[0:N], next[0:N])
    {
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++) {
                next[j][i] = 0.25 * (a[j][i + 1] + a[j][i - 1] + a[j - 1][i] + a[j + 1][i]);
                error = fmax(error, fabs(next[j][i] - a[j][i]));
            }
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                a[j][i] = next[j][i];
    }
    return error;
}
#else
static double step(double (*restrict a)[N], double (*restrict next)[N])
{
    double error = 0.0;
#pragma acc parallel loop reduction(max:error) present(a[0:N], next[0:N])
    for (int j = 1; j < N - 1; j++) {
#pragma acc loop reduction(max:error)
        for (int i = 1; i < N - 1; i++) {
            next[j][i] = 0.25 * (a[j][i + 1] + a[j][i - 1] + a[j - 1][i] + a[j + 1][i]);
            error = fmax(error, fabs(next[j][i] - a[j][i]));
        }
    }
#pragma acc parallel loop present(a[0:N], next[0:N])
    for (int j = 1; j < N - 1; j++) {
#pragma acc loop
        for (int i = 1; i < N - 1; i++)
            a[j][i] = next[j][i];
    }
    return error;
}
#endif

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 200;
    double (*a)[N] = malloc(sizeof(double[N][N]));
    double (*next)[N] = malloc(sizeof(double[N][N]));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            a[j][i] = next[j][i] = i == 0 ? 1.0 : 0.0;
    double error = 0.0, time = 0.0;
#pragma acc data copy(a[0:N]) copyin(next[0:N])
    {
        error = step(a, next);
        double start = now();
        for (int k = 1; k < steps; k++)
            error = step(a, next);
        time = now() - start;
    }
    printf("jacobi n %d steps %d residual %.12e ms/step %.4f\n", N, steps, error, 1e3 * time / (steps - 1));
    free(a);
    free(next);
    return 0;
}
