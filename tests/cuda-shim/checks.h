/*
 * What the parts of the checks share.
 */
#ifndef ACC2OMP_CUDA_SHIM_CHECKS
#define ACC2OMP_CUDA_SHIM_CHECKS

#include "machine.h"

#include <string>

namespace cuda_shim {

// An access of the thread that runs, which is about to happen.
struct Accessed {
    const char *address;
    size_t bytes;
    bool is_write, is_atomic;
    const void *code;
};

// Whose memory it is: all threads', or that of the threads of a block.
enum class Scope { device, block };

// Notes an access, and ends the program if nothing orders it after what other threads did.
void note_access(const Accessed &one, Scope scope);

// Forgets what happened to memory that is freed.
void forget(const char *first, size_t bytes);

// The name of the function that an address of code is in, by the program's own table of symbols.
std::string function_at(const char *place);

}  // namespace cuda_shim

#endif
