/* acc2omp_pin.h: records what OpenACC constructs find on the device and what they leave there.
 *
 * `acc2omp verify --pins` writes it beside the sources that it instruments. It is OpenACC itself, and is translated with
 * them. What it records goes to the folder in ACC2OMP_PIN; without that, nothing is recorded.
 *
 * This file is dedicated to the public domain (CC0 1.0). */
#ifndef ACC2OMP_PIN_H
#define ACC2OMP_PIN_H

#include <openacc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define ACC2OMP_PIN_OWN __attribute__((unused)) static

/* The kinds of elements, as the reader knows them: 'f' floating, 'c' complex, 'i' signed, 'u' unsigned. */
#ifdef __cplusplus
#define ACC2OMP_PIN_KIND(type, kind) \
    ACC2OMP_PIN_OWN char acc2omp_pin_kind(const volatile type *) { return kind; }
ACC2OMP_PIN_KIND(float, 'f')
ACC2OMP_PIN_KIND(double, 'f')
ACC2OMP_PIN_KIND(char, 'i')
ACC2OMP_PIN_KIND(signed char, 'i')
ACC2OMP_PIN_KIND(short, 'i')
ACC2OMP_PIN_KIND(int, 'i')
ACC2OMP_PIN_KIND(long, 'i')
ACC2OMP_PIN_KIND(long long, 'i')
ACC2OMP_PIN_KIND(bool, 'u')
ACC2OMP_PIN_KIND(unsigned char, 'u')
ACC2OMP_PIN_KIND(unsigned short, 'u')
ACC2OMP_PIN_KIND(unsigned, 'u')
ACC2OMP_PIN_KIND(unsigned long, 'u')
ACC2OMP_PIN_KIND(unsigned long long, 'u')
ACC2OMP_PIN_OWN char acc2omp_pin_kind(const volatile void *) { return '?'; }
#if __cplusplus >= 201103L
/* std::complex and the like. */
template <class Number>
ACC2OMP_PIN_OWN auto acc2omp_pin_kind(const volatile Number *)
    -> decltype(((Number *)0)->real(), ((Number *)0)->imag(), char())
{
    return 'c';
}
#endif
#define ACC2OMP_PIN_KIND_OF(element) acc2omp_pin_kind(&(element))
#else
#define ACC2OMP_PIN_KIND_OF(element) \
    __extension__ _Generic((element), float: 'f', double: 'f', float _Complex: 'c', double _Complex: 'c', char: 'i', \
        signed char: 'i', short: 'i', int: 'i', long: 'i', long long: 'i', _Bool: 'u', unsigned char: 'u', \
        unsigned short: 'u', unsigned: 'u', unsigned long: 'u', unsigned long long: 'u', default: '?')
#endif

/* Where a variable is looked for. */
enum {
    ACC2OMP_PIN_COMPUTE, /* on the device, or on the host if it is not there */
    ACC2OMP_PIN_DEVICE,  /* on the device only */
    ACC2OMP_PIN_PLACED,  /* on the device, where it must be */
    ACC2OMP_PIN_THERE,   /* on the device, where it must be, although nothing is known of what it holds */
    ACC2OMP_PIN_HOST,    /* on the host only */
    ACC2OMP_PIN_ABSENT   /* on the host, if it is not on a device that has its own memory */
};

enum { ACC2OMP_PIN_SAMPLES = 8, ACC2OMP_PIN_SITES = 4096, ACC2OMP_PIN_PIECES = 4096 };

/* What data directives have put on the device: pieces of the host's memory, which all sources of a program know. */
struct acc2omp_pin_piece {
    const char *first;
    size_t size;
    long directives;
};
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak)) struct acc2omp_pin_piece acc2omp_pin_pieces[ACC2OMP_PIN_PIECES];
#ifdef __cplusplus
}
#endif

/* The bytes of a variable when its construct begins. */
struct acc2omp_pin_kept {
    const char *name;
    unsigned char *bytes;
    size_t size;
    struct acc2omp_pin_kept *next;
};

/* What is being recorded. */
static __thread struct {
    FILE *out;
    struct acc2omp_pin_kept *kept;
    const char *file;
    const char *phase;
    long line;
    long execution;
    int is_saved;
    long saved;
    /* The variable: its elements so far. */
    const char *name;
    char kind;
    size_t element;
    int where;
    unsigned char *bytes;
    size_t size;
    int is_partial;
    int is_absent;
} acc2omp_pin;

/* How often each site has run. */
static __thread struct {
    const char *file;
    long line;
    long count;
} acc2omp_pin_sites[ACC2OMP_PIN_SITES];

ACC2OMP_PIN_OWN long acc2omp_pin_number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

/* The number of this process among those that run together. */
ACC2OMP_PIN_OWN const char *acc2omp_pin_rank(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "MV2_COMM_WORLD_RANK" };
    size_t at;
    for (at = 0; at < sizeof names / sizeof *names; ++at)
        if (getenv(names[at]) && *getenv(names[at]))
            return getenv(names[at]);
    return "0";
}

/* Whether the user wants the bytes of this execution: the list has lines `FILE:LINE:EXECUTION`. */
ACC2OMP_PIN_OWN int acc2omp_pin_is_saved(void)
{
    const char *list = getenv("ACC2OMP_PIN_SAVE");
    char wanted[1200];
    if (!list)
        return 0;
    snprintf(wanted, sizeof wanted, "\n%s:%ld:%ld\n", acc2omp_pin.file, acc2omp_pin.line, acc2omp_pin.execution);
    return __builtin_strstr(list, wanted) != NULL;
}

/* Whether this execution of a site is recorded; counts it if its construct begins. */
ACC2OMP_PIN_OWN int acc2omp_pin_is_on(const char *file, long line, int begins)
{
    static long first = -1, every;
    const char *only = getenv("ACC2OMP_PIN_ONLY");
    long at;
    if (!getenv("ACC2OMP_PIN"))
        return 0;
    if (first < 0) {
        every = acc2omp_pin_number("ACC2OMP_PIN_EVERY", 1);
        first = acc2omp_pin_number("ACC2OMP_PIN_FIRST", 0);
    }
    for (at = 0; at < ACC2OMP_PIN_SITES && acc2omp_pin_sites[at].file; ++at)
        if (acc2omp_pin_sites[at].line == line && !__builtin_strcmp(acc2omp_pin_sites[at].file, file))
            break;
    if (at == ACC2OMP_PIN_SITES)
        return 0;
    acc2omp_pin_sites[at].file = file;
    acc2omp_pin_sites[at].line = line;
    acc2omp_pin_sites[at].count += begins;
    acc2omp_pin.execution = acc2omp_pin_sites[at].count;
    if (only && *only) {
        char own[1100];
        snprintf(own, sizeof own, "%s:%ld", file, line);
        if (__builtin_strcmp(own, only))
            return 0;
    }
    if (first > 0 && acc2omp_pin.execution > first)
        return 0;
    return every < 2 || (acc2omp_pin.execution - 1) % every == 0;
}

/* Begins an event: the host waits for all queues, so that what they do is done. */
ACC2OMP_PIN_OWN int acc2omp_pin_begin(const char *file, long line, const char *directive, const char *phase, int begins)
{
    if (!acc2omp_pin_is_on(file, line, begins))
        return 0;
    if (!acc2omp_pin.out) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s.pins", getenv("ACC2OMP_PIN"), acc2omp_pin_rank());
        acc2omp_pin.out = fopen(path, "a");
        if (!acc2omp_pin.out) {
            fprintf(stderr, "acc2omp_pin: cannot write %s\n", path);
            exit(70);
        }
    }
#pragma acc wait
    acc2omp_pin.file = file;
    acc2omp_pin.line = line;
    acc2omp_pin.phase = phase;
    acc2omp_pin.is_saved = acc2omp_pin_is_saved();
    fprintf(acc2omp_pin.out, "E\t%s\t%ld\t%s\t%s\t%ld\n", file, line, directive, phase, acc2omp_pin.execution);
    return 1;
}

/* The place of the piece that holds an address, or of one that is not used. */
ACC2OMP_PIN_OWN long acc2omp_pin_piece_of(const char *address)
{
    long at, unused = -1;
    for (at = 0; at < ACC2OMP_PIN_PIECES; ++at) {
        struct acc2omp_pin_piece *piece = acc2omp_pin_pieces + at;
        if (piece->directives > 0 && piece->first <= address && address < piece->first + piece->size)
            return at;
        if (piece->directives == 0 && unused < 0)
            unused = at;
    }
    return unused;
}

/* A data directive puts elements on the device: `change` is 1, or takes them away: -1. */
ACC2OMP_PIN_OWN void acc2omp_pin_placed(const void *first, long long count, size_t element, long change)
{
    const char *own = (const char *)first;
    size_t size = count > 0 ? (size_t)count * element : 0;
    struct acc2omp_pin_piece *piece;
    long at, other;
    if (!own || size == 0)
        return;
    at = acc2omp_pin_piece_of(own);
    if (at < 0)
        return;
    piece = acc2omp_pin_pieces + at;
    if (piece->directives > 0 && own + size <= piece->first + piece->size) {
        piece->directives += change;
        return;
    }
    if (change < 0)
        return;
    /* Others there are of memory that is no longer what it was. */
    for (other = 0; other < ACC2OMP_PIN_PIECES; ++other)
        if (acc2omp_pin_pieces[other].first < own + size && own < acc2omp_pin_pieces[other].first + acc2omp_pin_pieces[other].size)
            acc2omp_pin_pieces[other].directives = 0;
    piece->first = own;
    piece->size = size;
    piece->directives = 1;
}

/* How many elements there are from an address to the end of its piece; -1 if no directive has put it on the device. */
ACC2OMP_PIN_OWN long long acc2omp_pin_elements(const void *first, size_t element)
{
    const char *own = (const char *)first;
    long at = acc2omp_pin_piece_of(own);
    if (!own || at < 0 || acc2omp_pin_pieces[at].directives == 0)
        return -1;
    return (long long)((size_t)(acc2omp_pin_pieces[at].first + acc2omp_pin_pieces[at].size - own) / element);
}

/* Copies what an address leads to, as far as it is on the device, to the host, or from there. */
ACC2OMP_PIN_OWN void acc2omp_pin_update(const void *first, int to_host)
{
    long long size = acc2omp_pin_elements(first, 1);
    void *own = (void *)first;
    if (size <= 0 || !acc_is_present(own, (size_t)size))
        return;
    if (to_host)
        acc_update_self(own, (size_t)size);
    else
        acc_update_device(own, (size_t)size);
}

/* Begins a variable of the event. */
ACC2OMP_PIN_OWN void acc2omp_pin_variable(const char *name, char kind, size_t element, int where)
{
    acc2omp_pin.name = name;
    acc2omp_pin.kind = kind;
    acc2omp_pin.element = element;
    acc2omp_pin.where = where;
    acc2omp_pin.size = 0;
    acc2omp_pin.is_partial = kind == '?';
    acc2omp_pin.is_absent = 0;
}

/* Adds elements to it that lie side by side. */
ACC2OMP_PIN_OWN void acc2omp_pin_part(const void *first, long long count)
{
    void *host = (void *)first;
    void *device = NULL;
    size_t size = count > 0 ? (size_t)count * acc2omp_pin.element : 0;
    unsigned char *bytes;
    if (count < 0)
        acc2omp_pin.is_partial = 1;
    if (acc2omp_pin.is_partial || size == 0)
        return;
    if (!host) {
        acc2omp_pin.is_partial = 1;
        return;
    }
    bytes = (unsigned char *)realloc(acc2omp_pin.bytes, acc2omp_pin.size + size);
    if (!bytes) {
        acc2omp_pin.is_partial = 1;
        return;
    }
    acc2omp_pin.bytes = bytes;
    bytes += acc2omp_pin.size;
    if (acc2omp_pin.where != ACC2OMP_PIN_HOST) {
        if (acc_is_present(host, size))
            device = acc_deviceptr(host);
        else if (acc_is_present(host, 1) || acc_is_present((char *)host + size - 1, 1))
            acc2omp_pin.is_partial = 1;
    }
    if (acc2omp_pin.where == ACC2OMP_PIN_DEVICE && !device)
        acc2omp_pin.is_partial = 1;
    if ((acc2omp_pin.where == ACC2OMP_PIN_PLACED || acc2omp_pin.where == ACC2OMP_PIN_THERE) && !device)
        acc2omp_pin.is_partial = acc2omp_pin.is_absent = 1;
    if (acc2omp_pin.where == ACC2OMP_PIN_ABSENT && device && device != host)
        acc2omp_pin.is_partial = 1;
    if (acc2omp_pin.is_partial || acc2omp_pin.where == ACC2OMP_PIN_THERE)
        return;
    if (device && device != host)
        acc_memcpy_from_device(bytes, device, size);
    else
        __builtin_memcpy(bytes, host, size);
    acc2omp_pin.size += size;
}

/* Adds a component, of `size` bytes, of each of the objects that lie side by side. */
ACC2OMP_PIN_OWN void acc2omp_pin_component(const void *first, long long count, size_t object, const void *component, size_t size)
{
    size_t before = acc2omp_pin.size, element = acc2omp_pin.element;
    size_t offset = (size_t)((const char *)component - (const char *)first);
    unsigned char *own;
    long long at;
    acc2omp_pin.element = object;
    acc2omp_pin_part(first, count);
    acc2omp_pin.element = element;
    if (acc2omp_pin.size == before)
        return;
    own = acc2omp_pin.bytes + before;
    for (at = 0; at < count; ++at)
        __builtin_memmove(own + at * size, own + at * object + offset, size);
    acc2omp_pin.size = before + (size_t)count * size;
}

ACC2OMP_PIN_OWN unsigned long long acc2omp_pin_mix(unsigned long long hash, const unsigned char *bytes, size_t size)
{
    unsigned long long word;
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        __builtin_memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
    }
    for (; size > 0; ++bytes, --size)
        hash = (hash ^ *bytes) * 0x100000001B3ull;
    return hash;
}

/* The value of an element; of a complex one, the part that is farther from 0. */
ACC2OMP_PIN_OWN double acc2omp_pin_value(const unsigned char *at)
{
#define ACC2OMP_PIN_AS(type) do { type value; __builtin_memcpy(&value, at, sizeof value); return (double)value; } while (0)
    size_t size = acc2omp_pin.element;
    if (acc2omp_pin.kind == 'f') {
        if (size == sizeof(float))
            ACC2OMP_PIN_AS(float);
        ACC2OMP_PIN_AS(double);
    }
    if (acc2omp_pin.kind == 'c') {
        double parts[2];
        float singles[2];
        if (size == sizeof parts) {
            __builtin_memcpy(parts, at, sizeof parts);
        } else {
            __builtin_memcpy(singles, at, sizeof singles);
            parts[0] = singles[0];
            parts[1] = singles[1];
        }
        return parts[0] * parts[0] < parts[1] * parts[1] ? parts[1] : parts[0];
    }
    if (acc2omp_pin.kind == 'i') {
        switch (size) {
        case 1: ACC2OMP_PIN_AS(signed char);
        case 2: ACC2OMP_PIN_AS(short);
        case 4: ACC2OMP_PIN_AS(int);
        default: ACC2OMP_PIN_AS(long long);
        }
    }
    switch (size) {
    case 1: ACC2OMP_PIN_AS(unsigned char);
    case 2: ACC2OMP_PIN_AS(unsigned short);
    case 4: ACC2OMP_PIN_AS(unsigned);
    default: ACC2OMP_PIN_AS(unsigned long long);
    }
#undef ACC2OMP_PIN_AS
}

/* Writes the bytes of the variable into a file of their own. */
ACC2OMP_PIN_OWN void acc2omp_pin_save(void)
{
    char path[1400];
    /* Each source has a count of its own. */
    unsigned long long source = acc2omp_pin_mix(0, (const unsigned char *)acc2omp_pin.file, __builtin_strlen(acc2omp_pin.file));
    FILE *out;
    snprintf(path, sizeof path, "%s/%s.%llx.%ld.bin", getenv("ACC2OMP_PIN"), acc2omp_pin_rank(), source, ++acc2omp_pin.saved);
    out = fopen(path, "wb");
    if (!out || fwrite(acc2omp_pin.bytes, 1, acc2omp_pin.size, out) != acc2omp_pin.size || fclose(out)) {
        fprintf(stderr, "acc2omp_pin: cannot write %s\n", path);
        exit(70);
    }
    fprintf(acc2omp_pin.out, "B\t%s\n", __builtin_strrchr(path, '/') + 1);
}

/* Ends the variable: what it holds is written; when its construct begins, it is kept until the end. */
ACC2OMP_PIN_OWN void acc2omp_pin_variable_end(void)
{
    struct acc2omp_pin_kept **before = &acc2omp_pin.kept, *own = NULL;
    const unsigned char *old = NULL;
    unsigned long long all, some = 0;
    size_t element = acc2omp_pin.element, count, changed = 0, at, step = 1, samples = 0;
    double sum = 0, size = 0;
    int begins = !__builtin_strcmp(acc2omp_pin.phase, "entry");
    if (acc2omp_pin.is_partial) {
        fprintf(acc2omp_pin.out, "V\t%s\t%c\n", acc2omp_pin.name, acc2omp_pin.is_absent ? '!' : '?');
        return;
    }
    if (acc2omp_pin.where == ACC2OMP_PIN_THERE) {
        fprintf(acc2omp_pin.out, "V\t%s\t+\n", acc2omp_pin.name);
        return;
    }
    count = acc2omp_pin.size / element;
    if (!begins) {
        while (*before && __builtin_strcmp((*before)->name, acc2omp_pin.name))
            before = &(*before)->next;
        own = *before;
        if (own && own->size == acc2omp_pin.size)
            old = own->bytes;
    }
    all = acc2omp_pin_mix(count, acc2omp_pin.bytes, acc2omp_pin.size);
    for (at = 0; at < count; ++at) {
        const unsigned char *bytes = acc2omp_pin.bytes + at * element;
        double value;
        if (old && !__builtin_memcmp(old + at * element, bytes, element))
            continue;
        ++changed;
        some = acc2omp_pin_mix(some + at, bytes, element);
        value = acc2omp_pin_value(bytes);
        sum += value;
        size += value < 0 ? -value : value;
    }
    fprintf(acc2omp_pin.out, "V\t%s\t%c%lu\t%lu\t%llx\t%lu\t%llx\t%.17g\t%.17g", acc2omp_pin.name, acc2omp_pin.kind,
        (unsigned long)element, (unsigned long)count, all, (unsigned long)changed, some, sum, size);
    if (changed > ACC2OMP_PIN_SAMPLES)
        step = changed / ACC2OMP_PIN_SAMPLES;
    for (at = 0, changed = 0; at < count && samples < ACC2OMP_PIN_SAMPLES; ++at) {
        const unsigned char *bytes = acc2omp_pin.bytes + at * element;
        if (old && !__builtin_memcmp(old + at * element, bytes, element))
            continue;
        if (changed++ % step == 0) {
            fprintf(acc2omp_pin.out, "\t%lu=%.17g", (unsigned long)at, acc2omp_pin_value(bytes));
            ++samples;
        }
    }
    fprintf(acc2omp_pin.out, "\n");
    if (acc2omp_pin.is_saved)
        acc2omp_pin_save();
    if (begins) {
        own = (struct acc2omp_pin_kept *)malloc(sizeof *own);
        if (!own)
            return;
        own->name = acc2omp_pin.name;
        own->bytes = acc2omp_pin.bytes;
        own->size = acc2omp_pin.size;
        own->next = acc2omp_pin.kept;
        acc2omp_pin.kept = own;
        acc2omp_pin.bytes = NULL;
    }
}

/* Ends the event. */
ACC2OMP_PIN_OWN void acc2omp_pin_end(void)
{
    while (__builtin_strcmp(acc2omp_pin.phase, "entry") && acc2omp_pin.kept) {
        struct acc2omp_pin_kept *own = acc2omp_pin.kept;
        acc2omp_pin.kept = own->next;
        free(own->bytes);
        free(own);
    }
    fflush(acc2omp_pin.out);
}

/* Whether construct `number` runs on the device while a culprit is looked for. */
ACC2OMP_PIN_OWN int acc2omp_pin_on_device(long number)
{
    static long last = -1;
    if (last < 0)
        last = acc2omp_pin_number("ACC2OMP_PIN_LAST", 2147483647);
    return number <= last;
}

#endif
