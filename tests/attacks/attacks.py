#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
attacks.py --list            the names of all attacks
attacks.py --spin FILE       is one part of some: says in FILE that it is made, and runs
attacks.py FOLDER SECRET [NAME…]  makes them all, or these, a process each, until its
                             parent ends

What an ordinary user may do to a profiler that records the whole machine. Run as such
a user. Each process writes FOLDER/said.NAME once its attack is made: "made", or
"lacks", a space, and why it can't be made here. SECRET is a file that it may not read.
"""
import ctypes
import fcntl
import mmap
import os
import platform
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
folder = secret = said_in = None
attacks = []
# dec ecx until it is 0; return
SPIN = bytes.fromhex("b900093d00" "ffc9" "75fc" "c3")
PAGE = 4096


class Lacks(Exception):
    """This machine does not let anybody make this attack."""


def attack(function):
    attacks.append(function)
    return function


def path(name):
    return os.path.join(folder, name)


# --- code that is sampled ------------------------------------------------------------

keep = []  # mappings must live


def call_at(memory, offset=0):
    if platform.machine() != "x86_64":
        raise Lacks("x86-64 code")
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + offset
    return ctypes.CFUNCTYPE(None)(address)


def made_code(code=SPIN, size=PAGE):
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                       mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory[:len(code)] = code
    keep.append(memory)
    return call_at(memory)


def mapped_code(name, offset=0):
    fd = os.open(name, os.O_RDWR)
    memory = mmap.mmap(fd, 0, mmap.MAP_PRIVATE,
                       mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory[offset:offset + len(SPIN)] = SPIN
    os.close(fd)
    keep.append(memory)
    return call_at(memory, offset)


def run(function, pause=0.1):
    """Says that it is made, and runs a little again and again."""
    said("made")
    while True:
        function()
        time.sleep(pause)


def said(words):
    with open(said_in or path("said." + name_now), "w") as out:
        out.write(words + "\n")


# --- perf maps -----------------------------------------------------------------------

def map_path():
    return "/tmp/perf-%d.map" % os.getpid()


def with_map(make):
    try:
        make(map_path())
    except OSError as error:
        raise Lacks(str(error))
    run(made_code())


def write_map(content):
    def make(name):
        with open(name, "wb") as out:
            out.write(content)
    with_map(make)


@attack
def map_is_a_fifo():
    with_map(os.mkfifo)


@attack
def map_links_to_a_secret():
    with_map(lambda name: os.symlink(secret, name))


@attack
def map_links_to_dev_zero():
    with_map(lambda name: os.symlink("/dev/zero", name))


@attack
def map_links_to_kmsg():
    with_map(lambda name: os.symlink("/proc/kmsg", name))


@attack
def map_links_to_itself():
    with_map(lambda name: os.symlink(name, name))


@attack
def map_links_to_a_descriptor():
    with_map(lambda name: os.symlink("/proc/self/mem", name))


@attack
def map_is_a_folder():
    with_map(os.mkdir)


@attack
def map_is_a_socket():
    with_map(lambda name: keep.append(socket.socket(socket.AF_UNIX)) or
             keep[-1].bind(name))


@attack
def map_of_a_sparse_gigabyte():
    def make(name):
        with open(name, "wb") as out:
            out.truncate(1 << 30)
    with_map(make)


@attack
def map_of_random_bytes():
    write_map(random.Random(1).randbytes(1 << 20))


@attack
def map_of_200_000_lines():
    write_map(b"".join(b"%x 10 f%d\n" % (i * 16, i) for i in range(200000)))


@attack
def map_with_a_line_of_4_megabytes():
    write_map(b"1000 7fffffffe000 " + b"x" * (4 << 20) + b"\n")


@attack
def map_of_the_whole_address_space():
    write_map(b"0 ffffffffffffffff all\n" * 3)


@attack
def map_with_escapes():
    write_map(b"1000 7fffffffe000 a\x1b[2J;b\xe2\x80\xae\xff 12 _[k]\n")


@attack
def map_that_grows():
    with open(map_path(), "wb", buffering=0) as out:
        code = made_code()
        line = b"1000 7fffffffe000 again\n" * 1000

        def more():
            out.write(line)
            code()
        run(more, 0.02)


@attack
def map_that_is_cut_and_filled():
    content = b"1000 7fffffffe000 flaps\n" * 5000
    with open(map_path(), "wb", buffering=0) as out:
        code = made_code()

        def flap():
            os.ftruncate(out.fileno(), 0)
            os.pwrite(out.fileno(), content, 0)
            code()
        run(flap, 0.01)


# --- files of code -------------------------------------------------------------------

def a_program():
    with open("/bin/true", "rb") as file:
        return bytearray(file.read())


def file_of(content, name=None, size=0):
    name = path(name or name_now + ".so")
    with open(name, "wb") as out:
        out.write(content)
        if size:
            out.truncate(size)
    return name


def run_file(content, size=0, offset=PAGE):
    content = bytes(content)
    if len(content) < offset + PAGE:
        content += bytes(offset + PAGE - len(content))
    run(mapped_code(file_of(content, size=size), offset))


@attack
def elf_magic_alone():
    run_file(b"\x7fELF")


@attack
def elf_of_ones():
    run_file(b"\x7fELF\x02\x01\x01" + b"\xff" * (2 * PAGE))


@attack
def elf_with_65_535_sections():
    elf = a_program()
    elf[60:62] = b"\xff\xff"
    run_file(elf)


@attack
def elf_with_65_535_segments():
    elf = a_program()
    elf[56:58] = b"\xff\xff"
    run_file(elf)


@attack
def elf_whose_sections_are_at_the_end_of_numbers():
    elf = a_program()
    elf[40:48] = b"\xf0" + b"\xff" * 7
    run_file(elf)


@attack
def elf_whose_segments_are_the_header():
    elf = a_program()
    elf[32:40] = bytes(8)
    run_file(elf)


@attack
def elf_of_an_other_machine():
    elf = a_program()
    elf[18:20] = b"\xf3\x00"
    run_file(elf)


@attack
def elf_of_the_other_byte_order():
    elf = a_program()
    elf[5] = 2
    run_file(elf)


@attack
def elf_of_32_bits():
    elf = a_program()
    elf[4] = 1
    run_file(elf)


@attack
def elf_of_100_gigabytes():
    with open(file_of(a_program()), "r+b") as out:
        try:
            out.truncate(100 << 30)
        except OSError as error:
            raise Lacks(str(error))
    fd = os.open(path(name_now + ".so"), os.O_RDONLY)
    keep.append(mmap.mmap(fd, 1 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    run(made_code())


def spoilt(seed):
    rand = random.Random(seed)
    elf = a_program()
    for _ in range(2000):
        elf[rand.randrange(64, len(elf))] = rand.randrange(256)
    return elf


def spoilt_attack(seed):
    def spoilt_elf():
        run_file(spoilt(seed))
    spoilt_elf.__name__ = "elf_with_random_bytes_%d" % seed
    attacks.append(spoilt_elf)


for _seed in range(6):
    spoilt_attack(_seed)


@attack
def elf_cut_while_it_is_mapped():
    code = mapped_code(file_of(bytes(a_program())), PAGE)
    os.truncate(path(name_now + ".so"), 100)
    run(code)


@attack
def elf_that_grows_and_shrinks():
    name = file_of(bytes(a_program()))
    code = mapped_code(name, PAGE)
    size = os.path.getsize(name)

    def flap():
        os.truncate(name, 64)
        os.truncate(name, size)
        code()
    run(flap, 0.01)


@attack
def elf_that_was_deleted():
    code = mapped_code(file_of(bytes(a_program())), PAGE)
    os.unlink(path(name_now + ".so"))
    run(code)


@attack
def elf_that_is_written_over():
    name = file_of(bytes(a_program()))
    code = mapped_code(name, PAGE)
    rand = random.Random(9)

    def spoil():
        with open(name, "r+b") as out:
            out.seek(rand.randrange(30000))
            out.write(rand.randbytes(64))
        code()
    run(spoil, 0.02)


@attack
def elf_with_a_lease():
    fd = os.open(file_of(bytes(a_program())), os.O_RDWR)
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        raise Lacks(str(error))
    memory = mmap.mmap(fd, 0, mmap.MAP_PRIVATE,
                       mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory[PAGE:PAGE + len(SPIN)] = SPIN
    keep.append(memory)
    run(call_at(memory, PAGE))


@attack
def elf_in_memory():
    fd = os.memfd_create("weft\n\x1b[31m;x")
    os.write(fd, bytes(spoilt(77)))
    memory = mmap.mmap(fd, 0, mmap.MAP_PRIVATE,
                       mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory[PAGE:PAGE + len(SPIN)] = SPIN
    keep.append(memory)
    run(call_at(memory, PAGE))


@attack
def file_with_escapes_in_its_name():
    run(mapped_code(file_of(bytes(a_program()), "a;b\n\x1b[2J\u202e 12"), PAGE))


@attack
def file_that_says_it_is_deleted():
    run(mapped_code(file_of(bytes(a_program()), "libc.so.6 (deleted)"), PAGE))


@attack
def file_in_200_folders():
    here = folder
    for _ in range(200):
        here = os.path.join(here, "deeper")
        os.mkdir(here)
    run(mapped_code(file_of(bytes(a_program()), os.path.join(here, "x")), PAGE))


@attack
def links_of_one_file():
    name = file_of(bytes(spoilt(5)))
    for i in range(1000):
        os.link(name, path("link%d" % i))
        fd = os.open(path("link%d" % i), os.O_RDONLY)
        keep.append(mmap.mmap(fd, PAGE, mmap.MAP_PRIVATE,
                              mmap.PROT_READ | mmap.PROT_EXEC))
        os.close(fd)
    run(made_code())


@attack
def files_by_the_thousand():
    for i in range(1000):
        fd = os.open(file_of(b"\x7fELF" + bytes(PAGE), "many%d" % i), os.O_RDONLY)
        keep.append(mmap.mmap(fd, PAGE, mmap.MAP_PRIVATE,
                              mmap.PROT_READ | mmap.PROT_EXEC))
        os.close(fd)
    run(made_code())


@attack
def mappings_by_the_thousand():
    for _ in range(3000):
        for protection in (mmap.PROT_READ | mmap.PROT_EXEC, mmap.PROT_READ):
            keep.append(mmap.mmap(-1, PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                                  protection))
    run(made_code())


@attack
def mappings_that_come_and_go():
    code = made_code()

    def flap():
        for _ in range(200):
            mmap.mmap(-1, PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                      mmap.PROT_READ | mmap.PROT_EXEC).close()
        code()
    run(flap, 0.05)


# --- stacks --------------------------------------------------------------------------

def around(before, after):
    return made_code(before + SPIN[:-1] + after + b"\xc3")


@attack
def frame_pointer_into_the_kernel():
    run(around(bytes.fromhex("5548c7c500008080"), b"\x5d"))


@attack
def frame_pointer_to_nothing():
    run(around(bytes.fromhex("5548c7c508000000"), b"\x5d"))


@attack
def frame_pointer_to_itself():
    run(around(bytes.fromhex("55554889e548896d00"), b"\x5d\x5d"))


@attack
def stack_pointer_to_nothing():
    run(around(bytes.fromhex("4889e048c7c410000000"), bytes.fromhex("4889c4")))


@attack
def stack_pointer_into_the_kernel():
    run(around(bytes.fromhex("4889e048c7c400008080"), bytes.fromhex("4889c4")))


@attack
def signals_all_the_time():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    run(made_code())


@attack
def threads_that_come_and_go():
    code = made_code()

    def flap():
        for _ in range(20):
            thread = threading.Thread(target=time.sleep, args=(0,))
            thread.start()
            thread.join()
        code()
    run(flap)


# --- processes -----------------------------------------------------------------------

@attack
def storm_of_programs():
    def storm():
        for _ in range(10):
            subprocess.run(["/bin/true"], check=False)
    run(storm)


@attack
def storm_of_forks():
    def storm():
        for _ in range(10):
            pid = os.fork()
            if not pid:
                os._exit(0)
            os.waitpid(pid, 0)
    run(storm, 0.05)


@attack
def zombies():
    for _ in range(200):
        if not os.fork():
            os._exit(0)
    run(made_code())


@attack
def stopped_processes():
    for _ in range(20):
        if not os.fork():
            libc.prctl(1, signal.SIGKILL, 0, 0, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(0)
    run(made_code())


@attack
def programs_that_crash():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def crash():
        pid = os.fork()
        if not pid:
            os.kill(os.getpid(), signal.SIGSEGV)
        os.waitpid(pid, 0)
    run(crash)


def set_name(name):
    libc.prctl(15, ctypes.c_char_p(name), 0, 0, 0)


@attack
def names_with_escapes():
    names = [b"\x1b[2J", b"a;b 12", b"\xff\xfe", b"", b"--", b"[cut]", b"x_[k]", b"\n"]
    code = made_code()

    def rename():
        for name in names:
            set_name(name)
            code()
    run(rename)


@attack
def name_of_a_helper():
    set_name(b"weft-supervisor")
    run(made_code())


@attack
def command_line_of_another():
    """What ps shows is in its own memory."""
    address = 0
    with open("/proc/self/stat") as stat:
        address = int(stat.read().rsplit(")", 1)[1].split()[45])
    ctypes.memmove(address, b"weft;\x1b[2J\n", 10)
    run(made_code())


@attack
def not_dumpable():
    libc.prctl(4, 0, 0, 0, 0)
    run(made_code())


@attack
def signals_to_the_recorder():
    said("made")
    while True:
        for entry in os.listdir("/proc"):
            try:
                # of others: name_of_a_helper is one of us
                if os.stat("/proc/" + entry).st_uid == os.getuid():
                    continue
                with open("/proc/%s/comm" % entry) as comm:
                    if comm.read().startswith("weft"):
                        os.kill(int(entry), signal.SIGKILL)
            except (OSError, ValueError):
                pass
        time.sleep(0.2)


@attack
def descriptors_by_the_hundred():
    for _ in range(500):
        keep.append(os.open("/bin/true", os.O_RDONLY))
    run(made_code())


# --- namespaces of one's own ---------------------------------------------------------

def unshared(script):
    """Root of a user namespace runs a script of sh, then made code as its pid 1."""
    if subprocess.run(["unshare", "-Urm", "true"], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        raise Lacks("user namespaces")
    made = path("said." + name_now)
    here = path(name_now)
    os.makedirs(here, exist_ok=True)
    os.chdir(here)
    os.execvp("unshare", ["unshare", "-Urmpf", "--kill-child", "--mount-proc", "sh", "-c",
                          "%s; exec '%s' '%s' --spin '%s'" %
                          (script, sys.executable, path("attacks.py"), made)])


@attack
def map_bound_to_a_secret():
    # /tmp is everybody's, and sticky
    unshared("mount -t tmpfs none /tmp; touch /tmp/perf-1.map;"
             " mount --bind '%s' /tmp/perf-1.map" % secret)


@attack
def tmp_of_my_own():
    unshared("mount -t tmpfs none /tmp; ln -s '%s' /tmp/perf-1.map" % secret)


@attack
def libraries_bound_over():
    unshared("cp -L /lib/x86_64-linux-gnu/libm.so.6 x;"
             " head -c 1500 /dev/urandom | dd of=x bs=1 conv=notrunc status=none"
             " seek=$(($(stat -c %s x) - 1500));"
             " mount --bind x /lib/x86_64-linux-gnu/libm.so.6")


LENT = "640000 1000"  # ids that run lends to who asks, as newuidmap(1) does


def be_user(uid):
    """Maps a file of its own that takes a while to read, and sleeps."""
    os.setresuid(uid, uid, uid)
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # which that takes away
    name = file_of(bytes(spoilt(uid)) * 8, "lent/%d" % uid)
    fd = os.open(name, os.O_RDONLY)
    keep.append(mmap.mmap(fd, 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    signal.pause()


@attack
def users_by_the_hundred():
    """Each user has turns and shares, and who has lent ids has many users."""
    if libc.unshare(0x10000000):
        raise Lacks("user namespaces")
    os.mkdir(path("lent"))
    os.chmod(path("lent"), 0o777)
    with open(path("lend"), "w") as out:
        out.write("%d\n" % os.getpid())
    while open("/proc/self/uid_map").read().split()[1:] != LENT.split():
        time.sleep(0.01)
    for uid in range(1, 200):
        if not os.fork():
            be_user(uid)
    run(made_code())


@attack
def root_of_my_own():
    unshared("mkdir -p r/bin r/lib64 r/tmp; mount -t tmpfs none r;"
             " mkdir r/bin r/tmp; cp /bin/true r/bin/")


@attack
def overlay_of_my_own():
    unshared("mkdir -p l u w m; cp /bin/true l/;"
             " mount -t overlay none -o lowerdir=l,upperdir=u,workdir=w m; m/true")


@attack
def mounts_by_the_hundred():
    unshared("mkdir m; for i in 1 2 3 4 5 6 7 8; do mount -t tmpfs none m;"
             " mount --make-private m; done")


# --- all of them ---------------------------------------------------------------------

name_now = ""
import attacks_more  # pylint: disable=wrong-import-position,unused-import # takes of us
import attacks_limits  # pylint: disable=wrong-import-position,unused-import


def start(function):
    global name_now
    pid = os.fork()
    if pid:
        return pid
    name_now = function.__name__
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # with its parent
    try:
        function()
    except Lacks as why:
        said("lacks %s" % why)
    except BaseException as error:  # pylint: disable=broad-except
        said("failed %r" % error)
    os._exit(0)


def main():
    global folder, secret, said_in
    if sys.argv[1] == "--spin":
        said_in = sys.argv[2]
        run(made_code())
    if sys.argv[1] == "--list":
        print("\n".join(function.__name__ for function in attacks))
        return
    folder, secret, *names = sys.argv[1:]
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)
    children = [start(function) for function in attacks
                if not names or function.__name__ in names]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while True:
            time.sleep(1)
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            try:
                os.unlink("/tmp/perf-%d.map" % pid)
            except IsADirectoryError:
                os.rmdir("/tmp/perf-%d.map" % pid)
            except OSError:
                pass


main()
