/* 2^27 numbers are copied on the device: milliseconds for 2 GiB moved, and a checksum. */
#include <stdlib.h>

#include "clock.h"

#ifndef N
#define N (1 << 27)
#endif
#define ROUNDS 20

int main(void)
{
    double *a = malloc(sizeof(double) * N);
    double *b = malloc(sizeof(double) * N);
    double start = 0.0, time = 0.0, sum = 0.0;
    for (int i = 0; i < N; i++)
        a[i] = i % 17;
#pragma acc data copyin(a[0:N]) copyout(b[0:N])
    {
        for (int round = 0; round <= ROUNDS; round++) {
            if (round == 1)
                start = now();
#pragma acc parallel loop
            for (int i = 0; i < N; i++)
                b[i] = a[i];
        }
        time = now() - start;
    }
    for (int i = 0; i < N; i += 31)
        sum += b[i];
    report("copy", time / ROUNDS, sum);
    free(a);
    free(b);
    return 0;
}
