#!/usr/bin/env python3
"""Links device code by libnvJitLink: stands for nvlink, which Python's packages of CUDA 12 leave out.

nvlink [-arch ARCHITECTURE] [-o FILE] OBJECT...; other options are clang's, and change nothing here.
"""
import ctypes
import os
import sys

VERSION = "12_6"
ELF, CUBIN, PTX = b"\x7fELF", 1, 2

library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.realpath(__file__)), "libnvJitLink.so.12"))
handle = ctypes.c_void_p()


def named(function):
    return getattr(library, f"__nvJitLink{function}_{VERSION}")


def call(function, *arguments):
    status = named(function)(*arguments)
    if status:
        size = ctypes.c_size_t()
        named("GetErrorLogSize")(handle, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        named("GetErrorLog")(handle, log)
        sys.exit(f"nvlink: {function}: {status}: {log.value.decode()}")


def read_arguments(words):
    output, architecture, objects = "a.out", "sm_90", []
    words = iter(words)
    for word in words:
        if word == "-o":
            output = next(words)
        elif word == "-arch":
            architecture = next(words)
        elif word.startswith("-arch="):
            architecture = word.removeprefix("-arch=")
        elif word == "-L":
            next(words)
        elif not word.startswith("-"):
            objects.append(word)
    return output, architecture, objects


def main():
    output, architecture, objects = read_arguments(sys.argv[1:])
    options = (ctypes.c_char_p * 1)(f"-arch={architecture}".encode())
    call("Create", ctypes.byref(handle), 1, options)
    for name in objects:
        with open(name, "rb") as file:
            code = file.read()
        kind = CUBIN if code.startswith(ELF) else PTX
        call("AddData", handle, kind, code, ctypes.c_size_t(len(code)), name.encode())
    call("Complete", handle)
    size = ctypes.c_size_t()
    call("GetLinkedCubinSize", handle, ctypes.byref(size))
    linked = ctypes.create_string_buffer(size.value)
    call("GetLinkedCubin", handle, linked)
    with open(output, "wb") as file:
        file.write(linked.raw)


main()
