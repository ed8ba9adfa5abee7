# SPDX-License-Identifier: BSD-2-Clause
"""
More attacks, for attacks.py: debug files and dumps of one's own, files whose tables lie
over one another, memory of odd kinds, and processes that are held or renamed.
"""
import ctypes
import mmap
import os
import random
import struct
import subprocess
import threading
import time

import __main__ as base
from __main__ import (PAGE, SPIN, Lacks, a_program, around, attack, call_at, file_of,
                      keep, libc, made_code, map_path, mapped_code, path, run, run_file,
                      set_name)


def in_a_thread(function):
    threading.Thread(target=function, daemon=True).start()


# --- maps, dumps and debug files -----------------------------------------------------

@attack
def map_that_becomes_a_link_to_a_secret():
    own = path("flip")

    def flip():
        while True:
            with open(own, "wb") as out:
                out.write(b"1000 7fffffffe000 flips\n")
            os.rename(own, map_path())
            time.sleep(0.0005)
            os.symlink(base.secret, own)
            os.rename(own, map_path())
            time.sleep(0.0005)
    in_a_thread(flip)
    run(made_code())


def dump_head(pid):
    return struct.pack("<6IQQ", 0x4A695444, 1, 40, 62, 0, pid, 0, 0)


def mapped_dump(content, size=0):
    """Mapped as code, as JITs do to tell of it."""
    name = path("jit-%d.dump" % os.getpid())
    with open(name, "wb") as out:
        out.write(content)
        if size:
            out.truncate(size)
    fd = os.open(name, os.O_RDWR)
    keep.append(mmap.mmap(fd, PAGE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    return fd


@attack
def dump_that_grows():
    fd = mapped_dump(dump_head(os.getpid()) + bytes(PAGE))
    code = made_code()
    name = b"grows\0"
    record = struct.pack("<IIQIIQQQQ", 0, 56 + len(name) + 16, 0, os.getpid(), 0,
                         0x1000, 0x1000, 16, 1) + name + bytes(16)

    def more():
        os.pwrite(fd, record * 2000, os.fstat(fd).st_size)
        code()
    run(more, 0.02)


@attack
def dump_of_a_sparse_terabyte():
    try:
        mapped_dump(dump_head(os.getpid()), 1 << 40)
    except OSError as error:
        raise Lacks(str(error))
    run(made_code())


@attack
def dump_whose_records_have_no_bytes():
    mapped_dump(dump_head(os.getpid()) + bytes(1 << 20))
    run(made_code())


def with_section(name, content):
    """A program with a section of that content, as objcopy makes it."""
    file_of(content, base.name_now + ".section")
    out = file_of(bytes(a_program()))
    if subprocess.run(["objcopy", "--remove-section", name, "--add-section",
                       "%s=%s.section" % (name, path(base.name_now)), out],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        raise Lacks("objcopy")
    run(mapped_code(out, PAGE))


@attack
def debug_file_is_a_fifo():
    os.mkfifo(path("fifo.debug"))
    with_section(".gnu_debuglink", b"fifo.debug\0\0\1\2\3\4")


@attack
def debug_file_is_a_secret():
    name = os.path.relpath(base.secret, base.folder).encode() + b"\0"
    with_section(".gnu_debuglink", name + bytes(-len(name) % 4 + 4))


@attack
def debug_file_s_other_half_is_a_secret():
    with_section(".gnu_debugaltlink", base.secret.encode() + b"\0" + bytes(20))


# --- tables that lie over one another ------------------------------------------------

def elf_header(**fields):
    """Of x86-64: type, machine, version, entry, then what fields says."""
    return (b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, fields.get("phoff", 0), fields.get("shoff", 0), 0,
        64, 56, fields.get("phnum", 0), 64, fields.get("shnum", 0),
        fields.get("shstrndx", 0)))


@attack
def segments_over_one_another():
    many = 65534
    size = 64 + many * 56
    heads = b"".join(struct.pack("<IIQQQQQQ", 1 if i % 3 else 4, 5, 0, 0, 0, size, size,
                                 PAGE) for i in range(many))
    run_file(elf_header(phoff=64, phnum=many) + heads)


@attack
def symbols_over_one_another():
    many = 60000
    size = 64 + many * 64
    heads = b"".join(struct.pack("<IIQQQQIIQQ", 0, 2 if i % 2 else 11, 2, 0, 64,
                                 size - 64, 1, 0, 8, 24) for i in range(many))
    run_file(elf_header(shoff=64, shnum=many, shstrndx=1) + heads)


@attack
def interpreter_of_a_megabyte():
    size = 1 << 20
    heads = b"".join(struct.pack("<IIQQQQQQ", kind, 5, at, at, at, n, n, PAGE)
                     for kind, at, n in ((3, PAGE, size), (1, 0, size + PAGE)))
    run_file((elf_header(phoff=64, phnum=2) + heads).ljust(PAGE, b"\0") + b"/" * size)


# --- memory --------------------------------------------------------------------------

def code_of(fd, how=mmap.MAP_SHARED):
    os.ftruncate(fd, PAGE)
    memory = mmap.mmap(fd, PAGE, how, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory[:len(SPIN)] = SPIN
    keep.append(memory)
    return call_at(memory)


@attack
def file_that_never_had_a_name():
    run(code_of(os.open(base.folder, os.O_TMPFILE | os.O_RDWR, 0o600)))


@attack
def stack_that_nobody_else_may_read():
    fd = libc.syscall(447, 0)  # memfd_secret(2)
    try:
        os.ftruncate(fd, PAGE)
        keep.append(mmap.mmap(fd, PAGE))
    except OSError as error:
        raise Lacks("memfd_secret: %s" % error)
    stack = ctypes.addressof(ctypes.c_char.from_buffer(keep[-1])) + PAGE // 2
    run(around(bytes.fromhex("4889e048bc") + struct.pack("<Q", stack),
               bytes.fromhex("4889c4")))


@attack
def sealed_memory():
    code = made_code()
    address = ctypes.addressof(ctypes.c_char.from_buffer(keep[-1]))
    if libc.syscall(462, ctypes.c_void_p(address), ctypes.c_size_t(PAGE), 0):
        raise Lacks("mseal(2)")
    run(code)


@attack
def shared_memory_of_system_v():
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(0, PAGE, 0o1700)
    address = libc.shmat(segment, None, 0o100000)  # SHM_EXEC
    libc.shmctl(segment, 0, None)  # IPC_RMID, once nobody has it
    if segment < 0 or address in (None, ctypes.c_void_p(-1).value):
        raise Lacks("shmat(2)")
    ctypes.memmove(address, SPIN, len(SPIN))
    run(ctypes.CFUNCTYPE(None)(address))


@attack
def mappings_as_many_as_the_kernel_allows():
    libc.mmap.restype = ctypes.c_void_p
    address = libc.mmap(None, ctypes.c_size_t(60000 * PAGE), 1, 0x22, -1, 0)
    for i in range(0, 60000, 2):
        libc.mprotect(ctypes.c_void_p(address + i * PAGE), ctypes.c_size_t(PAGE), 5)
    run(made_code())


@attack
def context_of_a_service_that_is_none():
    """As OpenTelemetry's processes tell of themselves, but false in each word."""
    memory = mmap.mmap(-1, 2 * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[:32] = b"OTEL_CTX" + struct.pack("<IIQQ", 2, 0xFFFFFFFF, 1, (1 << 64) - 8)
    keep.append(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc.prctl(0x53564D41, 0, ctypes.c_ulong(address), ctypes.c_ulong(2 * PAGE),
               ctypes.c_char_p(b"OTEL_CTX"))
    run(made_code())


# --- processes -----------------------------------------------------------------------

@attack
def names_by_the_thousand():
    code = made_code()

    def rename():
        for i in range(1000):
            set_name(b"\xe2\x80\xae%d\x1b[2J" % (i * 7919 % 100000))
        code()
    run(rename, 0.1)


@attack
def storm_of_short_lives():
    """Processes as fast as two can make them, so that their numbers come again."""
    def storm():
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            pid = os.fork()
            if not pid:
                os._exit(0)
            os.waitpid(pid, 0)
    run(storm, 0.1)


@attack
def stopped_by_a_tracer():
    """In the middle of exec and of its end, too: each stops at what its tracer asks."""
    for _ in range(10):
        pid = os.fork()
        if not pid:
            libc.prctl(1, 9, 0, 0, 0)
            libc.ptrace(0, 0, None, None)
            os.kill(os.getpid(), 19)
            os.execv("/bin/true", ["true"])
        os.waitpid(pid, 0)
        # PTRACE_SETOPTIONS: EXITKILL, EXEC, EXIT
        libc.ptrace(0x4200, pid, None, ctypes.c_void_p(0x100000 | 0x10 | 0x40))
        libc.ptrace(7, pid, None, None)
        os.waitpid(pid, 0)
    run(made_code())


# --- stacks of one's own making ------------------------------------------------------

SEA = """
.globl sea, swim
.type sea, @function
sea: .cfi_startproc
.cfi_def_cfa_offset 16
.rept 100000; .byte 0xe8, 0, 0, 0, 0; .endr
leaf: dec %ecx; jnz leaf; jmp back
.cfi_endproc
.size sea, .-sea
swim: mov %rsp, %rax; mov %rdi, %rsp; mov $4000000, %ecx; jmp leaf
back: mov %rax, %rsp; ret
.section .note.GNU-stack
"""


@attack
def stacks_of_512_new_callers():
    """Each is a place of one's own file, which is looked at when the recording ends."""
    name = path("sea")
    file_of(SEA.encode(), "sea.s")
    if subprocess.run(["gcc", "-shared", "-nostdlib", "-o", name + ".so", name + ".s"],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        raise Lacks("gcc for x86-64")
    code = ctypes.CDLL(name + ".so")
    sea = ctypes.cast(code.sea, ctypes.c_void_p).value
    stack = (ctypes.c_uint64 * 2048)()
    rand = random.Random(3)

    def other_callers():
        for i in range(len(stack)):
            stack[i] = sea + 5 * rand.randrange(1, 100000)
        code.swim(ctypes.c_void_p(ctypes.addressof(stack) + 4096))
    run(other_callers)


@attack
def identity_that_changes():
    """What tells it from others with its number is where its stack began, as it says."""
    with open("/proc/self/stat") as stat:
        field = [0] * 3 + stat.read().rsplit(")", 1)[1].split()
    libc.sbrk.restype = ctypes.c_void_p
    start = int(field[28])
    places = [int(field[i]) for i in (26, 27, 45, 46, 47)] + [libc.sbrk(0), start]
    places += [int(field[i]) for i in (48, 49, 50, 51)]
    code = made_code()
    for _ in range(2000):
        keep.append(mmap.mmap(-1, PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                              mmap.PROT_READ | mmap.PROT_EXEC))

    def change(number=iter(range(1 << 60))):
        for _ in range(20):
            places[6] = start - 16 * (next(number) % 4096)
            # PR_SET_MM, PR_SET_MM_MAP: no auxiliary vector, no other program
            new = struct.pack("<11QQII", *places, 0, 0, 0xFFFFFFFF)
            if libc.prctl(35, 14, new, ctypes.c_ulong(len(new)), 0):
                raise Lacks("PR_SET_MM_MAP")
            code()
    change()
    run(change)


# --- numbers at their ends -----------------------------------------------------------

@attack
def elf_of_4_billion_sections_and_segments():
    most = 0xFFFFFFFF
    first = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 1 << 32, most, most, 0, 0)
    run_file(elf_header(shoff=64, phoff=64, phnum=0xFFFF, shstrndx=0xFFFF) + first)


@attack
def dump_that_lies_about_its_times():
    name = b"lies\0"
    dump = dump_head(os.getpid())
    for at in ((1 << 64) - 1, 0, 1 << 63, 1):
        dump += struct.pack("<IIQIIQQQQ", 0, 56 + len(name) + 16, at, os.getpid(), 0,
                            0x1000, 0x1000, 16, at) + name + bytes(16)
        dump += struct.pack("<IIQIIQQQQ", 1, 64, at, os.getpid(), 0, 0, 0x1000,
                            (1 << 64) - 1, (1 << 64) - 1) + struct.pack("<Q", at)
    mapped_dump(dump + bytes(PAGE))
    run(made_code())


@attack
def mapping_of_32_terabytes():
    libc.mmap.restype = ctypes.c_void_p
    # PROT_READ and PROT_EXEC; MAP_NORESERVE
    address = libc.mmap(None, ctypes.c_size_t(1 << 45), 5, 0x4022, -1, 0)
    if address == ctypes.c_void_p(-1).value:
        raise Lacks("32 TB of addresses")
    run(made_code())


@attack
def first_thread_that_ends():
    """Its /proc/PID shows nothing any more; its threads go on."""
    code = made_code()

    def go_on():
        run(code)
    for _ in range(50):
        in_a_thread(lambda: time.sleep(1000))
    in_a_thread(go_on)
    libc.pthread_exit(None)


@attack
def parent_within_its_vfork():
    """A child that maps what its parent maps, which waits for it and can't be stopped."""
    # CLONE_VM | CLONE_VFORK; each dies with its parent
    script = """import ctypes, time; c = ctypes.CDLL(None); c.prctl(1, 9)
if not c.syscall(435, (ctypes.c_uint64 * 11)(0x4100, 0, 0, 0, 17), 88):
    c.prctl(1, 9)
    time.sleep(1000)
"""
    keep.append(subprocess.Popen([base.sys.executable, "-c", script]))
    run(made_code())
