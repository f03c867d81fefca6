/* What the tests of the CUDA runtime share. Each prints `ok 1` if all of it is as it should be. */
#ifndef CHECK_H
#define CHECK_H

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "acc2omp_cuda.h"

static std::atomic<bool> is_good(true);

#define CHECK(condition)                                             \
    do {                                                             \
        if (!(condition)) {                                          \
            is_good = false;                                         \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);   \
        }                                                            \
    } while (0)

// Whether `action` ends the program with status 1 and says that. Only before the first use of CUDA.
inline bool fails(void (*action)(), const char *message)
{
    int ends[2];
    fflush(nullptr);
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        unsetenv("CUDA_SHIM_LEAKS");
        action();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char piece[512];
    for (ssize_t size; (size = read(ends[0], piece, sizeof piece)) > 0;)
        said.append(piece, static_cast<size_t>(size));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    bool is_right = WIFEXITED(status) && WEXITSTATUS(status) == 1 && said.find(message) != std::string::npos;
    if (!is_right)
        printf("expected `%s`, status 1; found status %x and:\n%s", message, static_cast<unsigned>(status), said.c_str());
    return is_right;
}

inline int finish()
{
    printf("ok %d\n", is_good ? 1 : 0);
    return 0;
}

// Adds to each element; and one block for the whole work, slowly, so that who does not wait is early.
static __global__ void add(int *a, int n, int value)
{
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += static_cast<int>(gridDim.x * blockDim.x))
        a[i] += value;
}

inline void add_on(const char *where, int queue, int *a, int n, int value)
{
    acc2omp::Region region(where, queue);
    launch(region, acc2omp::blocks(static_cast<unsigned long long>(n), 128), 128, add, region.copy("a", a, static_cast<size_t>(n)),
           n, value);
}

#endif
