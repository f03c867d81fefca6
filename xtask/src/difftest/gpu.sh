#!/bin/sh
# Builds the programs that `cargo xtask difftest --gpu DIR` put beside this file, runs them on the GPU, and compares what they
# print with what the originals print as OpenACC on the host: words must be the same, numbers may differ by rounding.
#   run.sh [PATTERN...]    only the programs with such names, as 'c/*' or 'fortran/jacobi*'
# NVCC is the compiler, ARCH its architecture, JOBS how many programs are built and run at once, LIMIT the seconds that one may
# take. A program that fails is not counted if it holds a directive that is untranslated: the host runs its construct, with its
# own memory. TOOLS names tools of compute-sanitizer, with each of which a program that is right is run once more:
#   TOOLS='memcheck racecheck' sh run.sh
cd "$(dirname "$0")" || exit 2
nvcc="${NVCC:-nvcc} -std=c++17 -arch=${ARCH:-native} -rdc=true -O2 -w"

failed() {
    if [ -e untranslated.txt ]; then
        echo "left   $program ($1): $(cat untranslated.txt)"
    else
        echo "FAILED $program ($1)"
        [ ! -s log.txt ] || sed 's/^/    /' log.txt | head -12
    fi
    exit 0
}

# Builds and runs one program.
one() {
    program=$1
    cd "$program" || exit 2
    libraries=
    case $program in fortran/*) libraries='../../runtime/module.o ../../runtime/libgfortran.a ../../runtime/libquadmath.a' ;; esac
    while read -r source; do
        case $source in *.cu) as= ;; *) as='-x cu --extended-lambda --expt-relaxed-constexpr' ;; esac
        $nvcc $as $(cat options.txt) -c "$source" -o "$source.o" >log.txt 2>&1 || failed "$source is not compiled"
    done <device-code.txt
    $nvcc -o program ./*.o ../../runtime/runtime.o $libraries -lm >log.txt 2>&1 || failed 'is not linked'
    timeout -k 2 "${LIMIT:-60}" ./program >printed.txt 2>log.txt || failed "ends with $?"
    awk '
    function is_number(x) { return x ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eEdD][-+]?[0-9]+)?$/ }
    function size(x) { return x < 0 ? -x : x }
    function differs(a, b) {
        if (a "" == b "") return 0
        if (!is_number(a) || !is_number(b)) return 1
        return size(a - b) > 1e-9 * (size(a) > size(b) ? size(a) : size(b))
    }
    FNR == 1 { file++ }
    { $1 = $1 }
    file == 1 { expected[FNR] = $0; lines = FNR; next }
    {
        count = split(expected[FNR], words)
        wrong = count != NF
        for (i = 1; i <= NF && !wrong; i++) wrong = differs(words[i], $i)
        if (wrong) { print "line " FNR ": expected `" expected[FNR] "`, found `" $0 "`"; exit 1 }
        found = FNR
    }
    END { if (!wrong && found != lines) { print found + 0 " lines, expected " lines; exit 1 } }' \
        expected.txt printed.txt >log.txt || failed 'prints something else'
    # What uses no device gives these tools nothing to look at.
    for tool in $TOOLS; do
        timeout -k 2 "${LIMIT:-60}" compute-sanitizer --tool "$tool" --error-exitcode 77 --print-limit 3 ./program >log.txt 2>&1 ||
            grep -q 'before first instrumented API call' log.txt || failed "$tool finds something"
    done
    echo "ok     $program"
}

if [ "$1" = --one ]; then
    one "$2"
    exit
fi

# Whether a name is asked for: by the patterns that come after it.
wanted() {
    name=$1
    shift
    [ $# = 0 ] && return 0
    for pattern; do
        case $name in $pattern) return 0 ;; esac
    done
    return 1
}

$nvcc -c runtime/acc2omp_cuda.cu -o runtime/runtime.o || exit 2
for list in */*/device-code.txt; do
    program=${list%/*}
    if wanted "$program" "$@"; then echo "$program"; fi
done | xargs -r -n 1 -P "${JOBS:-$(nproc)}" sh ./run.sh --one | tee results.txt
awk '/^ok / { passed++ } /^FAILED / { failed++ } /^left / { left++ } END { print passed + 0 " passed, " left + 0 " left to the host, " failed + 0 " failed"; exit failed || !passed }' results.txt
