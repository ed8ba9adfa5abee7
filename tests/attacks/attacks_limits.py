# SPDX-License-Identifier: BSD-2-Clause
"""
Attacks for attacks.py that use up what all share: room for names and mappings, turns,
and the rings that tell what processes do. All of them go on beside one another, so each
is gentle; by itself, with ATTACK_STRENGTH=20 say, it need not be.
"""
import ctypes
import mmap
import os
import random
import struct
import subprocess
import threading

import __main__ as base
from __main__ import (PAGE, Lacks, attack, file_of, libc, made_code, path, run,
                      set_name, unshared, write_map)

libc.mmap.restype = ctypes.c_void_p
READ_EXEC = 5
MAP_FIXED = 0x10
STRENGTH = int(os.environ.get("ATTACK_STRENGTH", "1"))


def map_page(fd, flags=mmap.MAP_PRIVATE, address=None, size=PAGE, prot=READ_EXEC):
    got = libc.mmap(ctypes.c_void_p(address), ctypes.c_size_t(size), prot, flags, fd, 0)
    if got == ctypes.c_void_p(-1).value:
        raise Lacks("mmap(2): %s" % os.strerror(ctypes.get_errno()))
    return got


def unmap(address, size=PAGE):
    libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))


def in_a_child(function):
    """Ends with its parent."""
    pid = os.fork()
    if not pid:
        libc.prctl(1, 9, 0, 0, 0)
        try:
            function()
        finally:
            os._exit(0)
    return pid


# --- room ----------------------------------------------------------------------------

def folder_with_a_long_path(letter):
    here = base.folder
    while len(here) < 3600:
        here = os.path.join(here, letter * min(200, 3800 - len(here)))
        os.mkdir(here)
    return os.open(here, os.O_RDONLY)


@attack
def paths_as_long_as_can_be():
    """Names of one file, each some 3,900 bytes long, and all of them mapped."""
    name = file_of(b"\x7fELF" + bytes(PAGE))
    folder = folder_with_a_long_path("d")
    for i in range(1000 * STRENGTH):
        link = ("%06d" % i).ljust(250, "n")
        os.link(name, link, dst_dir_fd=folder)
        fd = os.open(link, os.O_RDONLY, dir_fd=folder)
        map_page(fd)
        os.close(fd)
    run(made_code())


@attack
def mappings_of_many_processes():
    """Each process has a list of its own, since what it maps last is its own."""
    address = map_page(-1, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, size=64000 * PAGE)
    for i in range(0, 64000, 2):
        libc.mprotect(ctypes.c_void_p(address + i * PAGE), ctypes.c_size_t(PAGE), 0)
    fd = os.open("/bin/true", os.O_RDONLY)

    def one_more():
        map_page(fd)
        base.signal.pause()
    for _ in range(4 * STRENGTH):
        in_a_child(one_more)
    run(made_code())


@attack
def data_with_a_long_path():
    """Many mappings of a file with a path of 3,900 bytes, none of them code, in each of
    many processes."""
    folder = folder_with_a_long_path("e")
    fd = os.open("d".ljust(250, "n"), os.O_RDWR | os.O_CREAT, dir_fd=folder)
    os.ftruncate(fd, PAGE)
    n = min(3200 * STRENGTH, 64000)
    address = map_page(-1, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, size=n * PAGE)
    for i in range(n):
        map_page(fd, mmap.MAP_SHARED | MAP_FIXED, address + i * PAGE, prot=1)
    for _ in range(4 * STRENGTH):
        in_a_child(base.signal.pause)
    run(made_code())


@attack
def names_of_one_file():
    """All of them mapped by each of some processes, and each to be opened."""
    name = file_of(b"\x7fELF" + bytes(PAGE))
    os.mkdir(path("names"))
    for i in range(400 * STRENGTH):
        link = path("names/%d" % i)
        os.link(name, link)
        fd = os.open(link, os.O_RDONLY)
        map_page(fd)
        os.close(fd)
    for _ in range(3):
        in_a_child(base.signal.pause)
    run(made_code())


@attack
def mappings_at_random_addresses():
    """What is no longer mapped is told to nobody, so the list of mappings grows."""
    fd = os.open("/bin/true", os.O_RDONLY)
    rand = random.Random(5)
    code = made_code()

    def storm():
        for _ in range(100 * STRENGTH):
            at = 0x100000000000 + rand.randrange(1 << 30) * 2 * PAGE
            unmap(map_page(fd, mmap.MAP_PRIVATE | 0x100000, at))  # MAP_FIXED_NOREPLACE
        code()
    run(storm)


@attack
def one_page_mapped_all_the_time():
    fd = os.open("/bin/true", os.O_RDONLY)

    def storm():
        for _ in range(200 * STRENGTH):
            unmap(map_page(fd))
    run(storm)


@attack
def memory_files_that_come_and_go():
    code = made_code()

    def storm(number=iter(range(1 << 60))):
        for _ in range(20 * STRENGTH):
            fd = os.memfd_create("\u202e\x1b[2J%d" % next(number) + "x" * 200)
            os.ftruncate(fd, PAGE)
            unmap(map_page(fd))
            os.close(fd)
        code()
    run(storm)


# --- threads and processes -----------------------------------------------------------

@attack
def threads_that_end_at_once():
    """Hundreds of them, or thousands, again and again."""
    stack = ctypes.create_string_buffer(64)
    libc.pthread_attr_init(stack)
    libc.pthread_attr_setstacksize(stack, ctypes.c_size_t(16384))
    code = made_code()

    def many():
        thread = ctypes.c_ulong()
        for _ in range(200 * STRENGTH):
            libc.pthread_create(ctypes.byref(thread), stack, libc.pause, None)

    def again():
        os.waitpid(in_a_child(many), 0)
        code()
    run(again)


@attack
def names_of_many_threads():
    def rename():
        while True:
            for i in range(10):
                set_name(b"\xe2\x80\xae%d\x1b[2J" % i)
            base.time.sleep(0.1)
    for _ in range(5 * STRENGTH):
        threading.Thread(target=rename, daemon=True).start()
    run(made_code())


@attack
def storm_of_programs_with_more_rights():
    programs = [name for name in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd",
                                  "/usr/bin/newgrp", "/usr/bin/umount")
                if os.path.exists(name) and os.stat(name).st_mode & 0o4000]
    if not programs:
        raise Lacks("programs that anybody runs as root")

    def storm():
        for name in programs:
            subprocess.run([name, "--version"], stdin=subprocess.DEVNULL, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run(storm)


@attack
def proc_of_my_own():
    unshared("mount -t tmpfs none /proc; mkdir -p /proc/1; ln -s '%s' /proc/1/maps" %
             base.secret)


@attack
def programs_bound_over():
    unshared("mkdir lib; mount -t tmpfs none lib; cp /bin/true lib/;"
             " mount --bind lib /usr/share; mount --bind lib /usr/lib/debug;"
             " mount --bind lib/true /bin/false; /bin/false")


# --- what is another's ---------------------------------------------------------------

@attack
def copy_of_another_s_program():
    """Of its build id, size and ends, with other names and other rules for stacks."""
    with open(path("alpha"), "rb") as file:
        elf = bytearray(file.read())
    for name in (b"alpha_burn", b"alpha_work"):
        elf = elf.replace(name, b"a_false_" + name[-2:])
    headers = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    for i in range(headers[1]):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", elf,
                                                         headers[0] + 56 * i)
        if kind == 0x6474E550:  # PT_GNU_EH_FRAME
            elf[offset + size // 2:offset + size] = bytes(size - size // 2)
    name = file_of(bytes(elf), "alpha.so")
    os.chmod(name, 0o755)
    in_a_child(lambda: os.execv(name, ["alpha.so"]))
    run(made_code())


@attack
def map_of_lines_of_one_address():
    write_map(b"".join(b"1000 7fffffffe000 equal%d\n" % i
                       for i in range(50000 * STRENGTH)))
