/* A histogram with atomics: milliseconds for 2^26 numbers in 256 bins, and a checksum. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

#define N (1 << 26)
#define BINS 256
#define ROUNDS 20

int main(void)
{
    unsigned char *data = malloc(N);
    unsigned bins[BINS] = {0};
    double start = 0.0, time = 0.0, sum = 0.0;
    unsigned state = 1;
    for (int i = 0; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (unsigned char)(state >> 24);
    }
#pragma acc data copyin(data[0:N]) copy(bins)
    {
        for (int round = 0; round <= ROUNDS; round++) {
            if (round == 1)
                start = now();
#pragma acc parallel loop
            for (int i = 0; i < N; i++) {
#pragma acc atomic update
                bins[data[i]]++;
            }
        }
        time = now() - start;
    }
    for (int bin = 0; bin < BINS; bin++)
        sum += (double)bins[bin] * (bin + 1);
    printf("histogram %.4f %.10e\n", time / ROUNDS, sum);
    free(data);
    return 0;
}
