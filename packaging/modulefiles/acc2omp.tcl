#%Module1.0
proc ModulesHelp { } {
    puts stderr "acc2omp translates OpenACC in C, C++ and Fortran to OpenMP target directives or CUDA. `man acc2omp` says more."
}
module-whatis "acc2omp @version@: translator from OpenACC to OpenMP and CUDA"
prepend-path PATH @prefix@/bin
prepend-path MANPATH @prefix@/share/man
prepend-path XDG_DATA_DIRS @prefix@/share
# What is searched where these are not set stays searched.
append-path MANPATH {}
append-path XDG_DATA_DIRS /usr/local/share
append-path XDG_DATA_DIRS /usr/share
