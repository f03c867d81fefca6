/* The sum of 2^28 numbers: milliseconds, and the sum. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

#define N (1 << 28)
#define ROUNDS 20

int main(void)
{
    double *a = malloc(sizeof(double) * N);
    double start = 0.0, time = 0.0, sum = 0.0;
    for (int i = 0; i < N; i++)
        a[i] = i % 17;
#pragma acc data copyin(a[0:N])
    {
        for (int round = 0; round <= ROUNDS; round++) {
            if (round == 1)
                start = now();
            sum = 0.0;
#pragma acc parallel loop reduction(+:sum)
            for (int i = 0; i < N; i++)
                sum += a[i];
        }
        time = now() - start;
    }
    printf("sum %.4f %.10e\n", time / ROUNDS, sum);
    free(a);
    return 0;
}
