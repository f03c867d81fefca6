/* Laplace's equation by Jacobi's method on a large square: milliseconds a step, and the residual. */
#include <math.h>
#include <stdlib.h>

#include "clock.h"

#ifndef N
#define N 4096
#endif
#define STEPS 50

/* The conditions are around whole functions: a directive that stands under one by itself gets no sums of teams. */
#if DIRECTED
static double relax(const double *restrict a, double *restrict next)
{
    double error = 0.0;
#pragma acc parallel loop gang reduction(max:error) present(a[0:N * N], next[0:N * N])
    for (int j = 1; j < N - 1; j++) {
#pragma acc loop vector reduction(max:error)
        for (int i = 1; i < N - 1; i++) {
            next[j * N + i] =
                0.25 * (a[j * N + i + 1] + a[j * N + i - 1] + a[(j - 1) * N + i] + a[(j + 1) * N + i]);
            error = fmax(error, fabs(next[j * N + i] - a[j * N + i]));
        }
    }
    return error;
}
#elif OUTER
static double relax(const double *restrict a, double *restrict next)
{
    double error = 0.0;
#pragma acc parallel loop reduction(max:error) present(a[0:N * N], next[0:N * N])
    for (int j = 1; j < N - 1; j++) {
        for (int i = 1; i < N - 1; i++) {
            next[j * N + i] =
                0.25 * (a[j * N + i + 1] + a[j * N + i - 1] + a[(j - 1) * N + i] + a[(j + 1) * N + i]);
            error = fmax(error, fabs(next[j * N + i] - a[j * N + i]));
        }
    }
    return error;
}
#else
static double relax(const double *restrict a, double *restrict next)
{
    double error = 0.0;
#pragma acc kernels present(a[0:N * N], next[0:N * N])
    for (int j = 1; j < N - 1; j++) {
        for (int i = 1; i < N - 1; i++) {
            next[j * N + i] =
                0.25 * (a[j * N + i + 1] + a[j * N + i - 1] + a[(j - 1) * N + i] + a[(j + 1) * N + i]);
            error = fmax(error, fabs(next[j * N + i] - a[j * N + i]));
        }
    }
    return error;
}
#endif

static double step(double *restrict a, double *restrict next)
{
    double error = relax(a, next);
#if DIRECTED
#pragma acc parallel loop gang present(a[0:N * N], next[0:N * N])
#elif OUTER
#pragma acc parallel loop present(a[0:N * N], next[0:N * N])
#else
#pragma acc kernels present(a[0:N * N], next[0:N * N])
#endif
    for (int j = 1; j < N - 1; j++) {
#if DIRECTED
#pragma acc loop vector
#endif
        for (int i = 1; i < N - 1; i++)
            a[j * N + i] = next[j * N + i];
    }
    return error;
}

int main(void)
{
    double *a = malloc(sizeof(double) * N * N);
    double *next = malloc(sizeof(double) * N * N);
    double error = 0.0, time = 0.0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            a[j * N + i] = next[j * N + i] = i == 0 ? 1.0 : 0.0;
#pragma acc data copy(a[0:N * N]) create(next[0:N * N])
    {
        error = step(a, next);
        time = now();
        for (int t = 0; t < STEPS; t++)
            error = step(a, next);
        time = now() - time;
    }
    report("jacobi", time / STEPS, error);
    free(a);
    free(next);
    return 0;
}
