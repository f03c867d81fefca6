/* What POT3D needs of MPI, for one process: what it sends it receives itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { IN_PLACE = -987654, PENDING = 64 };

static struct {
    const void *from;
    void *to;
    int is_done;
} messages[PENDING];
static int used;

static size_t size_of(int count, int type)
{
    return (size_t)count * (size_t)type;
}

/* Sends match receives in their order. */
static void post(const void *from, void *to, size_t size, int *request)
{
    for (int at = 0; at < used; ++at) {
        if (messages[at].is_done || (from != NULL) == (messages[at].from != NULL))
            continue;
        memmove(from ? messages[at].to : to, from ? from : messages[at].from, size);
        messages[at].is_done = 1;
        *request = at;
        return;
    }
    if (used == PENDING)
        used = 0;
    messages[used].from = from;
    messages[used].to = to;
    messages[used].is_done = 0;
    *request = used++;
}

static void all(const void *from, void *to, size_t size)
{
    if (*(const int *)from != IN_PLACE)
        memmove(to, from, size);
}

void mpi_init_thread_(int *wanted, int *given, int *status)
{
    *given = *wanted;
    *status = 0;
}

void mpi_finalize_(int *status)
{
    *status = 0;
}

void mpi_barrier_(int *group, int *status)
{
    *status = 0;
}

void mpi_comm_rank_(int *group, int *rank, int *status)
{
    *rank = 0;
    *status = 0;
}

void mpi_comm_size_(int *group, int *size, int *status)
{
    *size = 1;
    *status = 0;
}

void mpi_comm_split_type_(int *group, int *type, int *key, int *info, int *own, int *status)
{
    *own = 0;
    *status = 0;
}

void mpi_cart_create_(int *group, int *count, int *sizes, int *periodic, int *reorder, int *own, int *status)
{
    *own = 0;
    *status = 0;
}

void mpi_cart_coords_(int *group, int *rank, int *count, int *place, int *status)
{
    for (int at = 0; at < *count; ++at)
        place[at] = 0;
    *status = 0;
}

/* Only the third dimension is periodic. */
void mpi_cart_shift_(int *group, int *dimension, int *step, int *from, int *to, int *status)
{
    *from = *to = *dimension == 2 ? 0 : -1;
    *status = 0;
}

void mpi_cart_sub_(int *group, int *kept, int *own, int *status)
{
    *own = 0;
    *status = 0;
}

void mpi_bcast_(void *values, int *count, int *type, int *from, int *group, int *status)
{
    *status = 0;
}

void mpi_isend_(void *values, int *count, int *type, int *to, int *tag, int *group, int *request, int *status)
{
    post(values, NULL, size_of(*count, *type), request);
    *status = 0;
}

void mpi_irecv_(void *values, int *count, int *type, int *from, int *tag, int *group, int *request, int *status)
{
    post(NULL, values, size_of(*count, *type), request);
    *status = 0;
}

void mpi_waitall_(int *count, int *requests, int *statuses, int *status)
{
    *status = 0;
}

void mpi_ssend_(void *values, int *count, int *type, int *to, int *tag, int *group, int *status)
{
    abort();
}

void mpi_recv_(void *values, int *count, int *type, int *from, int *tag, int *group, int *statuses, int *status)
{
    abort();
}

void mpi_allreduce_(void *from, void *to, int *count, int *type, int *operation, int *group, int *status)
{
    all(from, to, size_of(*count, *type));
    *status = 0;
}

void mpi_allgather_(void *from, int *count, int *type, void *to, int *others, int *type_of_others, int *group, int *status)
{
    all(from, to, size_of(*count, *type));
    *status = 0;
}

double mpi_wtime_(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
}
