# SPDX-License-Identifier: (Apache-2.0 OR MIT)

import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cargo import CargoPackage
except ImportError:
    pass  # Before Spack 1.0, it is in spack.package.


class Acc2omp(CargoPackage):
    """Translates OpenACC in C, C++ and Fortran to OpenMP target directives or CUDA."""

    # The source is the file that `cargo package` writes, in the folder in which Spack is called.
    manual_download = True

    license("Apache-2.0 OR MIT")

    version("0.1.0", extension="tar.gz")

    depends_on("c", type="build")
    depends_on("rust@1.90:", type="build")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/acc2omp-{version}.crate"

    @run_after("install")
    def add_completions_and_pages(self):
        acc2omp = Executable(join_path(self.prefix.bin, "acc2omp"))
        places = {
            "bash": "share/bash-completion/completions/acc2omp",
            "zsh": "share/zsh/site-functions/_acc2omp",
            "fish": "share/fish/vendor_completions.d/acc2omp.fish",
        }
        for shell, place in places.items():
            self.write(place, acc2omp("completions", shell, output=str))
        self.write("share/man/man1/acc2omp.1", acc2omp("man", output=str))
        for topic in ["cc", "completions", "config", "drift", "explain", "man", "rules", "verify"]:
            self.write(f"share/man/man1/acc2omp-{topic}.1", acc2omp("man", topic, output=str))

    def write(self, place, text):
        path = join_path(self.prefix, place)
        mkdirp(os.path.dirname(path))
        with open(path, "w") as file:
            file.write(text)
