/* A filter of 33 points with `cache` of the numbers and of the weights: milliseconds for 2^26 numbers, and a checksum. */
#include <stdlib.h>

#include "clock.h"

#ifndef N
#define N (1 << 26)
#endif
#define R 16
#define ROUNDS 20

static void filter(const double *restrict from, double *restrict to, const double *restrict weight)
{
#pragma acc parallel loop present(from[0:N], to[0:N], weight[0:2 * R + 1])
    for (int i = R; i < N - R; i++) {
#pragma acc cache(from[i - R:2 * R + 1], weight[0:2 * R + 1])
        double sum = 0.0;
        for (int d = -R; d <= R; d++)
            sum += weight[d + R] * from[i + d];
        to[i] = sum;
    }
}

int main(void)
{
    double *from = malloc(sizeof(double) * N), *to = malloc(sizeof(double) * N), weight[2 * R + 1];
    double start = 0.0, time = 0.0, sum = 0.0;
    for (int i = 0; i < N; i++) {
        from[i] = i % 17;
        to[i] = 0.0;
    }
    for (int d = 0; d <= 2 * R; d++)
        weight[d] = 1.0 + d % 3;
#pragma acc data copyin(from[0:N], weight) copy(to[0:N])
    {
        for (int round = 0; round <= ROUNDS; round++) {
            if (round == 1)
                start = now();
            filter(from, to, weight);
        }
        time = now() - start;
    }
    for (int i = 0; i < N; i += 31)
        sum += to[i];
    report("filter-weights", time / ROUNDS, sum);
    free(from);
    free(to);
    return 0;
}
