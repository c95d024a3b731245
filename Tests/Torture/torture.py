"""Drives StorageChild processes, harms their files and themselves, and counts what came of it (Scripts/torture)."""

import argparse
import errno
import fcntl
import os
import random
import select
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import threading
import time

HANG = 10.0  # seconds
RECOVERY = 5000  # milliseconds

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--short", action="store_true")
parser.add_argument("--only", default="")
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
dice = random.Random(options.seed)


class Trouble(Exception):
    pass


class Child:
    """A process that uses a cache as it is told."""

    count = 0

    def __init__(self, directory, capacity=64 << 20, memory=0):
        Child.count += 1
        self.log = tempfile.TemporaryFile()
        arguments = [options.program, "serve", directory, str(Child.count), str(capacity), str(memory)]
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, bufsize=0)
        self.pending = b""
        self.expect("ready", self.line())

    def line(self, timeout=HANG):
        end = time.monotonic() + timeout
        while b"\n" not in self.pending:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Trouble("hang")
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                raise Trouble(f"crash: it ended with {self.process.wait()}")
            self.pending += more
        line, self.pending = self.pending.split(b"\n", 1)
        text = line.decode()
        if text.startswith("wrong"):
            raise Trouble(text)
        return text

    def expect(self, text, line):
        if line != text:
            raise Trouble(f"it said {line}")

    def send(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())

    def answer(self, timeout=HANG):
        """What it found, and the milliseconds that it took."""
        return tuple(map(int, self.line(timeout).split()))

    def has_answer(self):
        return b"\n" in self.pending or bool(select.select([self.process.stdout], [], [], 0)[0])

    def ask(self, *words, timeout=HANG):
        self.send(*words)
        return self.answer(timeout)[0]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.log.close()

    def end(self):
        self.process.stdin.close()
        self.expect("done", self.line())
        code = self.process.wait(HANG)
        self.process.stdout.close()
        self.log.close()
        if code:
            raise Trouble(f"crash: it ended with {code}")


def used(directory):
    """What du says, in bytes."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:
                pass
    return total


def used_at_a_moment(directory, children):
    """The same, while all processes stand still: a file that is moved or replaced meanwhile would count twice."""
    for child in children:
        child.process.send_signal(signal.SIGSTOP)
    try:
        return used(directory)
    finally:
        for child in children:
            child.process.send_signal(signal.SIGCONT)


def database(directory):
    return os.path.join(directory, max(n for n in os.listdir(directory) if n.startswith("Cache-")), "Database")


def check_probe(child, version):
    took = child.ask("probe", version, timeout=HANG + 5)
    if not 0 <= took <= RECOVERY:
        raise Trouble(f"dead: no stores for {took if took >= 0 else 'over 10000'} ms")
    return took


# Attacks: each gets an empty directory, and returns what is to be said of it.


def kills(directory):
    """Two processes are killed while they work: what was flushed before stays."""
    count = 40 if options.short else 400
    first = Child(directory)
    first.ask("fill", 0, 200, 3000, 1, timeout=60)
    first.ask("fill", 200, 220, 80000, 1, timeout=60)
    first.end()
    for number in range(count):
        victims = [Child(directory) for _ in range(2)]
        for victim in victims:
            victim.send("hammer", 5000, 2, 60, 18)
        time.sleep(dice.random() * 0.1)
        for victim in victims:
            victim.kill()
        if number % 5 == 0:  # after each tenth kill
            witness = Child(directory)
            check_probe(witness, number)
            witness.end()
    last = Child(directory)
    found = last.ask("check", 0, 220)
    check_probe(last, 1)
    if last.ask("corrupt"):
        raise Trouble(f"{last.ask('corrupt')} entries are damaged")
    last.end()
    left = [n for n in os.listdir(os.path.dirname(database(directory)) + "/Moving")]
    if found != 220 or left:
        raise Trouble(f"lost: {220 - found} entries; {len(left)} files left over")
    return f"{2 * count} kills"


def one_body(directory):
    """A damaged body file costs its own entry only."""
    kinds = ["flip", "zero", "truncate", "append", "delete", "directory", "fifo", "link", "text", "empty"]
    child = Child(directory)
    for number, kind in enumerate(kinds):
        child.ask("fill", 0, 30, 80000, number)
        bodies = os.path.dirname(database(directory)) + "/Bodies/"
        corrupt(bodies + dice.choice(os.listdir(bodies)), kind)
        found = child.ask("check", 0, 30)
        if found != 29:
            raise Trouble(f"{30 - found} of 30 entries are gone after {kind}")
        check_probe(child, number)
    child.end()
    return f"{len(kinds)} kinds of damage"


def everything(directory):
    """All files and directories of the cache, and the names that SQLite looks for."""
    paths = [os.path.join(f, n) for f, folders, names in os.walk(directory) for n in names + folders]
    databases = [p for p in paths if p.endswith("/Database")]
    return paths + [p + s for p in databases for s in ("", "", "-journal", "-wal", "-shm")]


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)


def corrupt(path, kind=None):
    """Does something to a file or directory that no one should; returns what."""
    kinds = ["flip", "flip", "zero", "truncate", "append", "delete", "directory", "fifo", "link", "text", "empty"]
    kind = kind or dice.choice(kinds)
    try:
        if kind in ("flip", "zero", "truncate", "append"):
            if not stat.S_ISREG(os.lstat(path).st_mode):
                return None
            with open(path, "r+b") as file:
                size = os.fstat(file.fileno()).st_size
                if kind == "append":
                    file.seek(size)
                    file.write(dice.randbytes(dice.choice([1, 4096])))
                elif kind == "truncate":
                    file.truncate(dice.choice([0, 100, 4096, dice.randrange(size + 1)]))
                elif size:
                    for _ in range(1 if kind == "flip" else 64):
                        place = dice.randrange(size if dice.random() < 0.5 else min(size, 8192))
                        file.seek(place)
                        old = file.read(1)
                        file.seek(place)
                        file.write(bytes([old[0] ^ 1 << dice.randrange(8)]) if kind == "flip" else b"\0")
        else:
            remove(path)
            if kind == "directory":
                os.mkdir(path)
            elif kind == "fifo":
                os.mkfifo(path)
            elif kind == "link":
                os.symlink("/nonexistent/place", path)
            elif kind in ("text", "empty"):
                with open(path, "w") as file:
                    file.write("not what it was " * 300 if kind == "text" else "")
        return kind
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENXIO, errno.ELOOP):
            return None
        raise


def corruptions(directory):
    """Files are damaged, replaced and removed under two processes that work."""
    count = 250 if options.short else 5000
    children = [Child(directory), Child(directory, memory=1 << 20)]
    done = slowest = 0
    while done < count:
        for child in children:
            child.send("hammerall", 60, 2, 60, 18)
        for _ in range(dice.choice([1, 1, 2, 5])):
            paths = everything(directory)
            if paths and corrupt(dice.choice(paths)):
                done += 1
            time.sleep(dice.random() * 0.02)
        for child in children:
            child.answer()
        slowest = max([slowest] + [check_probe(child, done) for child in children])
    for child in children:
        child.end()
    return f"{done} corruptions, stores again after {slowest} ms at most"


def full_disk(make_disk):
    def attack(directory):
        disk = os.path.join(directory, "disk")
        os.mkdir(disk)
        unmount = make_disk(directory, disk)
        try:
            return fill_disk(disk)
        finally:
            unmount()

    return attack


def fill_disk(disk):
    cache = disk + "/cache"
    children = [Child(cache), Child(cache)]
    children[0].ask("fill", 0, 100, 3000, 1)
    rounds, slowest = 2 if options.short else 10, 0
    for number in range(rounds):
        with open(disk + "/filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * dice.choice([512, 4096, 65536]))
            except OSError:
                pass
        for child in children:
            child.send("hammer", 800, 2, 60, 18)
        late = Child(cache)  # one that opens a full disk
        late.ask("hammer", 300, 2, 60, 18)
        late.ask("remove", number)
        late.end()
        for child in children:
            child.answer()
        if number == 0:
            found = children[0].ask("check", 1, 100)
            if found < 99:
                raise Trouble(f"lost: {99 - found} entries")
            if children[0].ask("check", 0, 1):
                raise Trouble("wrong: what was removed is still there")
        os.unlink(disk + "/filler")
        slowest = max([slowest] + [check_probe(child, number) for child in children])
    for child in children:
        child.end()
    return f"{rounds} times, stores again after {slowest} ms at most"


def mount(arguments, disk):
    if subprocess.run(["mount"] + arguments + [disk], capture_output=True).returncode:
        raise NotImplementedError("mounting is not possible here: it takes root")
    return lambda: subprocess.run(["umount", "-l", disk], capture_output=True)


def ext4(block):
    def make(directory, disk):
        image = directory + "/image"
        with open(image, "wb") as file:
            file.truncate(24 << 20)
        if not shutil.which("mkfs.ext4"):
            raise NotImplementedError("there is no mkfs.ext4")
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-b", str(block), image], check=True)
        return mount(["-o", "loop", image], disk)

    return make


def tmpfs(directory, disk):
    return mount(["-t", "tmpfs", "-o", "size=20m", "none"], disk)


def descriptors(directory):
    """No more descriptors: nothing is lost."""
    child = Child(directory)
    child.ask("fill", 0, 50, 80000, 1)
    child.ask("fill", 50, 100, 3000, 1)
    child.ask("hammer", 200, 2, 20, 18)  # libdispatch ends a process that has no descriptor for its first thread
    for limit in range(3, 16 if options.short else 40):
        child.ask("descriptors", limit)
        child.ask("check", 0, 100)
        child.ask("hammer", 50, 2, 20, 18)
        child.ask("descriptors", 0)
        found = child.ask("check", 0, 100)
        if found != 100:
            raise Trouble(f"lost: {100 - found} entries")
    check_probe(child, 1)
    child.end()
    return "limits from 3 on"


def address_space(directory):
    """No memory for a large body: it is not lost."""
    child = Child(directory, capacity=1 << 30)
    child.ask("fill", 0, 1, 200 << 20, 1, timeout=60)
    child.ask("fill", 1, 50, 3000, 1)
    with open(f"/proc/{child.process.pid}/statm") as file:
        size = int(file.read().split()[0]) * 4096
    child.ask("memory", size + (64 << 20))
    if child.ask("check", 0, 1):
        raise Trouble("there was memory enough")
    child.ask("memory", 0)
    found = child.ask("check", 0, 50, timeout=60)
    if found != 50 or child.ask("corrupt"):
        raise Trouble(f"lost: {50 - found} entries")
    child.end()
    return "a body of 200 MB, 64 MB left"


def held_locks(directory):
    """Another process holds SQLite's locks, or is stopped while it writes."""
    child = Child(directory)
    child.ask("fill", 0, 50, 3000, 1)
    slowest = 0
    with open(database(directory), "r+b") as file:
        for start, length in [(0x40000000, 1), (0x40000001, 1), (0x40000000, 512)]:
            fcntl.lockf(file, fcntl.LOCK_EX, length, start)
            begin = time.monotonic()
            child.ask("store", 999, 1, 100)
            child.ask("flush")
            child.ask("check", 0, 1)
            if not options.short:
                for number in range(40):
                    child.ask("store", 2000 + number, 1, 1 << 20)
            slowest = max(slowest, time.monotonic() - begin)
            fcntl.lockf(file, fcntl.LOCK_UN, length, start)
            check_probe(child, start + length)
    def removals():
        begin = time.monotonic()
        for number in range(100):
            child.ask("remove", 3000 + number)
            child.ask("flush")
        return time.monotonic() - begin

    child.ask("lease")
    usual = removals()
    with open(directory + "/Leases", "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        child.ask("lease")
        held = removals()
        if held > 2 * usual + 0.5:
            raise Trouble(f"hang: removals take {held:.1f} s instead of {usual:.1f} s while leases are locked")
        check_probe(child, 2)
    for _ in range(3 if options.short else 20):
        other = Child(directory)
        other.send("hammer", 2000, 2, 60, 18)
        time.sleep(0.05 + dice.random() * 0.2)
        other.process.send_signal(signal.SIGSTOP)
        child.ask("store", 999, 1, 100)
        child.ask("flush")
        other.process.send_signal(signal.SIGCONT)
        other.answer(30)
        check_probe(child, 1)
        other.end()
    found = child.ask("check", 0, 50)
    child.end()
    if found != 50:
        raise Trouble(f"lost: {50 - found} entries")
    return "no call took longer than ten seconds"


def forks(directory):
    """A copy of the process that uses the cache ends by itself, and harms nothing."""
    child = Child(directory)
    child.ask("fill", 0, 50, 3000, 1)
    count = 10 if options.short else 100
    for number in range(count):
        if child.ask("fork", timeout=15) != 0:
            raise Trouble("a forked process crashed, hung, or found something")
        child.ask("hammer", 20, 2, 20, 16)
    if child.ask("check", 0, 50) != 50:
        raise Trouble("lost: entries")
    child.end()
    return f"{count} forks"


def capacity(directory):
    """Four processes of four threads fill a cache: du never says more than 110 %."""
    limit = 16 << 20
    children = [Child(directory, capacity=limit) for _ in range(4)]
    seconds = 8 if options.short else 60
    for child in children:
        child.send("hammer", seconds * 1000, 4, 4000, 18)
    largest = samples = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        largest = max(largest, used_at_a_moment(directory, children))
        samples += 1
        time.sleep(0.005)
    for child in children:
        child.answer(60)
    for child in children:
        child.end()
    # And processes that are killed while they write large bodies.
    for _ in range(5 if options.short else 60):
        child = Child(directory, capacity=limit)
        child.send("hammer", 5000, 2, 4000, 22)
        time.sleep(0.1 + dice.random() * 0.2)
        child.kill()
        largest = max(largest, used(directory))
    if largest > limit * 1.1:
        raise Trouble(f"{largest * 100 // limit} % of the capacity")
    return f"{largest * 100 // limit} % at most, in {samples} samples"


def staleness(directory):
    """Memory is behind another process by no more than a second."""
    writer, reader = Child(directory), Child(directory, memory=1 << 20)
    flushed = []
    behind, version = 0.0, 0
    end = time.monotonic() + (6 if options.short else 60)
    while time.monotonic() < end:
        version += 1
        writer.ask("fill", 7, 8, 200, version)
        flushed.append(time.monotonic())
        asked = time.monotonic()
        seen = reader.ask("version", 7)
        if 0 <= seen < len(flushed):
            behind = max(behind, asked - flushed[seen])  # when the next version was flushed
    writer.end()
    reader.end()
    if behind > 1.1:
        raise Trouble(f"{behind:.2f} s behind")
    return f"{behind:.2f} s behind at most"


def two_million(directory):
    """Shrinking and removing two million entries while another process looks things up."""
    entries = 2_000_000
    child = Child(directory, capacity=64 << 30)
    for start in range(0, entries, 100_000):
        child.ask("fill", start, start + 100_000, 100, 1, timeout=600)
    whole = child.ask("usage", timeout=60)
    reader = Child(directory, capacity=64 << 30)
    said = []

    def during(name, goal, *words):
        child.send(*words)
        child.send("flush")
        took, waits = child.answer()[1], []
        while not waits or not child.has_answer():
            waits.append(reader.ask("slowest", 500, entries, timeout=60))
        took += child.answer(120)[1]
        worst = max(waits) / 1000
        said.append(f"{name} {took / 1000:.1f} s, lookups {worst:.0f} ms")
        if took > goal * 1000 or worst > 50:
            raise Trouble("; ".join(said))

    child.ask("capacity", whole // 2)
    during("shrinking", 20, "flush")
    during("removeAll", 1, "removeall")
    if child.ask("entries"):
        raise Trouble("lost: not all is removed")
    child.send("variants", 20_000)
    kept, took = child.answer(60)
    said.append(f"20,000 variants {took / 1000:.1f} s")
    if kept > 64 or took > 10_000:
        raise Trouble(f"{kept} variants are kept; " + "; ".join(said))
    child.end()
    reader.end()
    return "; ".join(said)


attacks = [
    ("kills", kills), ("one body file", one_body), ("corruptions", corruptions), ("full disk, blocks of 1 KB", full_disk(ext4(1024))),
    ("full disk, blocks of 4 KB", full_disk(ext4(4096))), ("full disk, tmpfs", full_disk(tmpfs)),
    ("descriptors", descriptors), ("memory", address_space), ("held locks", held_locks), ("forks", forks),
    ("capacity", capacity), ("staleness", staleness), ("two million entries", two_million),
]
failed = False
print("| attack | outcome | s |\n| --- | --- | ---: |", flush=True)
for name, attack in attacks:
    if options.only not in name or (options.short and attack is two_million):
        continue
    directory = tempfile.mkdtemp(prefix="torture-")
    began = time.monotonic()
    try:
        outcome = "✔ " + attack(directory)
    except NotImplementedError as reason:
        outcome, failed = f"skipped: {reason}", failed or os.geteuid() == 0
    except Trouble as trouble:
        outcome, failed = f"✘ {trouble}", True
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"| {name} | {outcome} | {time.monotonic() - began:.0f} |", flush=True)
raise SystemExit(1 if failed else 0)
