#!/usr/bin/env bash
# The step of the action: annotations, a summary, and a report if one is asked for. The status is acc2omp's.
set -uo pipefail

# Words of all lines, as an input of a workflow may have several. A word with blanks stands between quotes, as in a shell.
paths=()
options=()
if [ -n "$ACC2OMP_PATHS" ]; then
    mapfile -d '' -t paths < <(xargs printf '%s\0' <<< "$ACC2OMP_PATHS")
fi
if [ -n "$ACC2OMP_OPTIONS" ]; then
    mapfile -d '' -t options < <(xargs printf '%s\0' <<< "$ACC2OMP_OPTIONS")
fi
if [ -n "$ACC2OMP_BASELINE" ]; then
    options+=(--baseline "$ACC2OMP_BASELINE")
fi
if [ -n "$ACC2OMP_REPORT" ]; then
    acc2omp "${paths[@]}" --check --quiet "${options[@]}" --format html --output "$ACC2OMP_REPORT" || [ $? -eq 1 ] || exit 2
fi
acc2omp "${paths[@]}" --check "${options[@]}" --format github
