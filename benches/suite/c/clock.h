/* For the benchmarks: milliseconds since some moment, and the line that each prints. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

static void report(const char *name, double milliseconds, double checksum)
{
    printf("%s %.4f %.10e\n", name, milliseconds, checksum);
}

#endif
