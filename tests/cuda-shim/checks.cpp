/*
 * What device code may touch. The shim's device code is built with g++'s -fsanitize=kernel-address and a threshold of
 * calls of 0: before each access it calls one of the functions below. This file is built without that.
 *
 * A kernel may use what was allocated on the device, pinned memory, its own thread's stack, what it allocates itself, and
 * the variables of the program, but for those of the host's C files: the builder renames their sections.
 */
#include "checks.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <new>

extern "C" {
extern char __executable_start[], end[];
// The host's variables; a section that no file has does not exist.
#define CUDA_SHIM_HOST(NAME)                                                                \
    extern char __start_cuda_host_##NAME[] __attribute__((weak));                           \
    extern char __stop_cuda_host_##NAME[] __attribute__((weak));
CUDA_SHIM_HOST(data)
CUDA_SHIM_HOST(bss)
CUDA_SHIM_HOST(rodata)
CUDA_SHIM_HOST(data_rel)
CUDA_SHIM_HOST(data_rel_local)
#undef CUDA_SHIM_HOST
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void __real_free(void *);
void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
}

namespace {

using namespace cuda_shim;

struct Range {
    const char *first, *last;
    bool holds(const char *address) const { return first <= address && address < last; }
};

const Range program = {__executable_start, end};
const Range host[] = {
    {__start_cuda_host_data, __stop_cuda_host_data},
    {__start_cuda_host_bss, __stop_cuda_host_bss},
    {__start_cuda_host_rodata, __stop_cuda_host_rodata},
    {__start_cuda_host_data_rel, __stop_cuda_host_data_rel},
    {__start_cuda_host_data_rel_local, __stop_cuda_host_data_rel_local},
};

// What kernels allocate themselves, by address.
std::map<char *, size_t> &own_memory()
{
    static std::map<char *, size_t> *one = new std::map<char *, size_t>;
    return *one;
}

}  // namespace

std::string cuda_shim::function_at(const char *place)
{
    int file = open("/proc/self/exe", O_RDONLY);
    struct stat about = {};
    if (file < 0 || fstat(file, &about) != 0)
        return "?";
    void *memory = mmap(nullptr, size_t(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED)
        return "?";
    const char *bytes = static_cast<const char *>(memory);
    auto *header = reinterpret_cast<const Elf64_Ehdr *>(bytes);
    auto *sections = reinterpret_cast<const Elf64_Shdr *>(bytes + header->e_shoff);
    // Addresses count from the place where the program was loaded; not so in programs for a fixed place.
    const uintptr_t loaded = header->e_type == ET_DYN ? reinterpret_cast<uintptr_t>(__executable_start) : 0;
    const uintptr_t address = reinterpret_cast<uintptr_t>(place) - loaded;
    for (int at = 0; at < header->e_shnum; ++at) {
        const Elf64_Shdr &table = sections[at];
        if (table.sh_type != SHT_SYMTAB)
            continue;
        const char *names = bytes + sections[table.sh_link].sh_offset;
        auto *symbols = reinterpret_cast<const Elf64_Sym *>(bytes + table.sh_offset);
        for (size_t symbol = 0; symbol < table.sh_size / sizeof(Elf64_Sym); ++symbol) {
            const Elf64_Sym &one = symbols[symbol];
            if (ELF64_ST_TYPE(one.st_info) == STT_FUNC && one.st_value <= address && address < one.st_value + one.st_size) {
                int status = 0;
                char *readable = abi::__cxa_demangle(names + one.st_name, nullptr, nullptr, &status);
                return readable ? readable : names + one.st_name;
            }
        }
    }
    return "?";
}

namespace {

[[noreturn]] void refuse(const char *what, size_t bytes, bool is_write, const void *code)
{
    is_checked = false;
    std::string where = function_at(static_cast<const char *>(code));
    fprintf(stderr, "cuda-shim: a kernel %s %zu bytes of %s, in `%s`, thread (%u, %u, %u) of block (%u, %u, %u)\n",
            is_write ? "wrote" : "read", bytes, what, where.c_str(), threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x,
            blockIdx.y, blockIdx.z);
    fflush(nullptr);
    _exit(3);
}

void check_access(const void *place, size_t bytes, bool is_write, const void *code)
{
    if (!is_checked || bytes == 0)
        return;
    Unchecked shim;
    const char *address = static_cast<const char *>(place);
    const char *last = address + bytes - 1;
    if (running->stack <= address && last < running->stack + stack_bytes)
        return;
    if (is_in_arena(address)) {
        auto *block = block_at(address);
        if (!block || last >= block->first + block->second.bytes)
            refuse("the device's memory, but outside of what was allocated", bytes, is_write, code);
        note_access({address, bytes, is_write, is_atomic, code}, Scope::device);
        return;
    }
    if (program.holds(address)) {
        for (const Range &one : host)
            if (one.holds(address))
                refuse("a variable of the host", bytes, is_write, code);
        const bool is_declared = is_in(machine().symbols, address);
        note_access({address, bytes, is_write, is_atomic, code}, is_declared ? Scope::device : Scope::block);
        return;
    }
    for (auto &one : fibers)
        if (one->stack <= address && address < one->stack + stack_bytes)
            refuse("another thread's stack", bytes, is_write, code);
    if (is_in(own_memory(), address)) {
        note_access({address, bytes, is_write, is_atomic, code}, Scope::device);
        return;
    }
    if (is_in(machine().pinned, address))
        return;
    refuse("memory of the host", bytes, is_write, code);
}

void *own(void *memory, size_t bytes)
{
    if (is_checked && memory) {
        Unchecked shim;
        own_memory()[static_cast<char *>(memory)] = bytes;
    }
    return memory;
}

void disown(void *memory)
{
    if (is_checked && memory) {
        Unchecked shim;
        auto one = own_memory().find(static_cast<char *>(memory));
        if (one == own_memory().end())
            refuse("memory that it did not allocate, by freeing it,", 0, true, __builtin_return_address(0));
        forget(one->first, one->second);
        own_memory().erase(one);
    }
}

}  // namespace

extern "C" {

#define CUDA_SHIM_CHECKS(BYTES)                                                             \
    void __asan_load##BYTES##_noabort(void *place)                                          \
    {                                                                                       \
        check_access(place, BYTES, false, __builtin_return_address(0));                     \
    }                                                                                       \
    void __asan_store##BYTES##_noabort(void *place)                                         \
    {                                                                                       \
        check_access(place, BYTES, true, __builtin_return_address(0));                      \
    }
CUDA_SHIM_CHECKS(1)
CUDA_SHIM_CHECKS(2)
CUDA_SHIM_CHECKS(4)
CUDA_SHIM_CHECKS(8)
CUDA_SHIM_CHECKS(16)
#undef CUDA_SHIM_CHECKS

void __asan_loadN_noabort(void *place, size_t bytes)
{
    check_access(place, bytes, false, __builtin_return_address(0));
}

void __asan_storeN_noabort(void *place, size_t bytes)
{
    check_access(place, bytes, true, __builtin_return_address(0));
}

// Called before functions that do not return, and around constructors of variables.
void __asan_handle_no_return() {}
void __asan_before_dynamic_init(const char *) {}
void __asan_after_dynamic_init() {}

void *__wrap_malloc(size_t bytes)
{
    return own(__real_malloc(bytes), bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return own(__real_calloc(count, bytes), count * bytes);
}

void __wrap_free(void *memory)
{
    disown(memory);
    __real_free(memory);
}

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    check_access(to, bytes, true, __builtin_return_address(0));
    check_access(from, bytes, false, __builtin_return_address(0));
    return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    check_access(to, bytes, true, __builtin_return_address(0));
    check_access(from, bytes, false, __builtin_return_address(0));
    return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
    check_access(to, bytes, true, __builtin_return_address(0));
    return __real_memset(to, value, bytes);
}
}

void *operator new(size_t bytes)
{
    void *memory = own(__real_malloc(bytes ? bytes : 1), bytes);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

void *operator new[](size_t bytes)
{
    return operator new(bytes);
}

void operator delete(void *memory) noexcept
{
    disown(memory);
    __real_free(memory);
}

void operator delete(void *memory, size_t) noexcept
{
    operator delete(memory);
}

void operator delete[](void *memory) noexcept
{
    operator delete(memory);
}

void operator delete[](void *memory, size_t) noexcept
{
    operator delete(memory);
}
