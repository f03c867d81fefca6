/* Many recurrences beside each other, each forth and back in order: milliseconds, and a checksum. */
#include "clock.h"

#ifndef N
#define N 65536
#endif
#define LENGTH (N / 128)
#define ROUNDS 10

static double from[LENGTH][N], to[LENGTH][N];

static void sweep(void)
{
#if DIRECTED
#pragma acc parallel loop gang vector
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int i = 0; i < N; i++) {
        double last = 0.0;
#if DIRECTED
#pragma acc loop seq
#endif
        for (int k = 0; k < LENGTH; k++) {
            last = 0.5 * last + from[k][i];
            to[k][i] = last;
        }
#if DIRECTED
#pragma acc loop seq
#endif
        for (int k = LENGTH - 2; k >= 0; k--)
            to[k][i] -= 0.25 * to[k + 1][i];
    }
}

int main(void)
{
    double time = 0.0, sum = 0.0;
    for (int k = 0; k < LENGTH; k++)
        for (int i = 0; i < N; i++)
            from[k][i] = (3 * k + i) % 29 - 11;
#pragma acc data copyin(from) copyout(to)
    {
        sweep();
        time = now();
        for (int round = 0; round < ROUNDS; round++)
            sweep();
        time = now() - time;
    }
    for (int k = 0; k < LENGTH; k++)
        for (int i = 0; i < N; i++)
            sum += to[k][i] * (1 + i % 7);
    report("scan", time / ROUNDS, sum);
    return 0;
}
