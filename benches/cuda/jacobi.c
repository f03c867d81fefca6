/* Laplace's equation by Jacobi's method on a large square, untuned: milliseconds a step, and the residual. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

#define N 4096
#define STEPS 200

int main(void)
{
    double *a = malloc(sizeof(double) * N * N);
    double *next = malloc(sizeof(double) * N * N);
    double error = 0.0, start = 0.0, time = 0.0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            a[j * N + i] = next[j * N + i] = i == 0 ? 1.0 : 0.0;
#pragma acc data copy(a[0:N * N]) create(next[0:N * N])
    {
        for (int step = 0; step <= STEPS; step++) {
            if (step == 1)
                start = now();
            error = 0.0;
#pragma acc parallel loop reduction(max:error)
            for (int j = 1; j < N - 1; j++) {
#pragma acc loop reduction(max:error)
                for (int i = 1; i < N - 1; i++) {
                    next[j * N + i] =
                        0.25 * (a[j * N + i + 1] + a[j * N + i - 1] + a[(j - 1) * N + i] + a[(j + 1) * N + i]);
                    error = fmax(error, fabs(next[j * N + i] - a[j * N + i]));
                }
            }
#pragma acc parallel loop
            for (int j = 1; j < N - 1; j++) {
#pragma acc loop
                for (int i = 1; i < N - 1; i++)
                    a[j * N + i] = next[j * N + i];
            }
        }
        time = now() - start;
    }
    printf("jacobi %.4f %.10e\n", time / STEPS, error);
    free(a);
    free(next);
    return 0;
}
