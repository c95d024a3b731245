"""Drives a fleet of processes over shared caches, counts what their origin sees, and kills holders of leases (Scripts/fleet)."""

import argparse
import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--short", action="store_true")
parser.add_argument("--json", default="")
parser.add_argument("--local", action="store_true")
options = parser.parse_args()

PROCESSES = 8
LATENCY = 1.0  # seconds that the origin takes
LEASE = 5  # seconds
SECONDS = (
    {"leases": 9, "no leases": 8, "kills": 22} if options.short
    else {"leases": 130, "no leases": 40, "kills": 130})
KILLS = 20 if options.short else 100
# Milliseconds that a call waits for the server. The whole fleet and its server share the processors of one machine, so calls take
# longer than the default of 20 although nothing fails.
WAIT = 250
FAULTS = ["restart", "pause", "fill", "cut", "mid-reply"]
HARM = 0.6 if options.short else 0.8  # seconds between two faults of the server
COUNTED = 4  # seconds at the end of a phase in which hits are counted
RECOVERY = 2 * LEASE  # seconds before that without harm: leases of the dead expire, and what was lost is asked for again
PAUSE = 150  # milliseconds between two loads of a task, of which each process has 300


class Children:
    """The processes that this program has started, and its folders. None of them outlives the program, however it ends."""

    def __init__(self):
        self.processes = []
        self.folders = []
        self.is_starting = False
        self.signal = 0
        atexit.register(self.end)
        # Both by hand: a shell starts its background jobs with SIGINT ignored, and Python leaves it so.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.interrupt)

    def start(self, arguments, **kind):
        # An exception between the start and the next line would lose the process, so a signal waits.
        self.is_starting = True
        self.processes.append(subprocess.Popen(arguments, **kind))
        self.is_starting = False
        if self.signal:
            sys.exit(128 + self.signal)
        return self.processes[-1]

    def folder(self, prefix):
        self.folders.append(tempfile.mkdtemp(prefix=prefix))
        return self.folders[-1]

    def interrupt(self, number, _):
        self.signal = number
        if not self.is_starting:
            sys.exit(128 + number)

    def end(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # this takes a moment, and must not stop halfway
        for process in self.processes:
            process.kill()  # does nothing to one that has ended
        for process in self.processes:
            process.wait()
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


children = Children()


class Process:
    """A process whose lines are read as they come."""

    def __init__(self, *arguments):
        self.arguments = [str(argument) for argument in arguments]
        self.process = children.start(
            [options.program, *self.arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.strip())
                self.changed.notify_all()

    def ask(self, line):
        with self.changed:
            count = len(self.lines)
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            if not self.changed.wait_for(lambda: len(self.lines) > count, 10):
                sys.exit(f"✘ {self.arguments[0]} does not answer")
            return self.lines[-1]

    def stop(self):
        """Its last line, once it has ended by itself."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit(f"✘ hang: {self.arguments} did not end")
        self.reader.join()
        return self.lines[-1] if self.lines else ""


class Server:
    """A Redis or Valkey server on a socket, which can fail in several ways."""

    def __init__(self):
        self.place = children.folder("fleet-server-")
        self.socket = os.path.join(self.place, "socket")
        self.url = f"unix://{self.socket}"
        self.faults = dict.fromkeys(FAULTS, 0)
        self.start()
        self.proxy = Proxy(os.path.join(self.place, "proxy"), self.socket)

    def start(self):
        program = shutil.which("redis-server") or shutil.which("valkey-server") or sys.exit("✘ there is no redis-server")
        self.process = children.start(
            [program, "--port", "0", "--unixsocket", self.socket, "--save", "", "--appendonly", "no", "--dir", self.place],
            stdout=subprocess.DEVNULL)
        for _ in range(500):
            if self.ask("PING"):
                return
            time.sleep(0.01)
        sys.exit("✘ redis-server does not start")

    def ask(self, *words):
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(1)
                connection.connect(self.socket)
                connection.sendall((" ".join(words) + "\r\n").encode())
                return connection.recv(4096).decode()
        except OSError:
            return ""

    def harm(self):
        """Restarts it, stops it for a while, fills it up, and cuts its connections off, in turn."""
        kind = min(FAULTS, key=self.faults.get)
        self.faults[kind] += 1
        if kind == "restart":
            self.process.kill()
            self.process.wait()
            time.sleep(0.2)
            self.start()
        elif kind == "pause":
            os.kill(self.process.pid, signal.SIGSTOP)
            time.sleep(0.5)
            os.kill(self.process.pid, signal.SIGCONT)
        elif kind == "fill":
            self.ask("CONFIG", "SET", "maxmemory", "1")
            time.sleep(0.5)
            self.ask("CONFIG", "SET", "maxmemory", "0")
        elif kind == "cut":
            for _ in range(20):
                self.ask("CLIENT", "KILL", "TYPE", "normal")
                time.sleep(0.02)
        else:
            self.proxy.cuts = 20

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.place)


class Proxy:
    """A second socket of a server, where replies can be cut off in the middle."""

    def __init__(self, path, target):
        self.url = f"unix://{path}"
        self.target = target
        self.cuts = 0
        self.done = 0
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.socket.accept()
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.target)
            except OSError:
                client.close()
                continue
            for source, sink, isReply in [(client, server, False), (server, client, True)]:
                threading.Thread(target=self.relay, args=(source, sink, isReply), daemon=True).start()

    def relay(self, source, sink, is_reply):
        try:
            while data := source.recv(65536):
                if is_reply and self.cuts > 0 and len(data) > 1:
                    self.cuts -= 1
                    self.done += 1
                    sink.sendall(data[: len(data) // 2])
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Total:
    """The reports of all processes, also of those that were killed."""

    def __init__(self):
        self.loads = self.failures = self.wrong = self.waits = 0
        self.times = {}
        self.failure = ""

    def add(self, line):
        if not line:
            return
        report = json.loads(line)
        self.loads += report["loads"]
        self.failures += report["failures"]
        self.wrong += report["wrong"]
        self.waits += report["waits"]
        self.failure = report["lastFailure"] or self.failure
        times = iter(report["times"])  # Swift encodes this dictionary as a list of keys and values
        pairs = report["times"].items() if isinstance(report["times"], dict) else zip(times, times)
        for bucket, count in pairs:
            self.times[int(bucket)] = self.times.get(int(bucket), 0) + count

    def percentile(self, share):
        """Milliseconds."""
        left = sum(self.times.values()) * share
        for bucket in sorted(self.times):
            left -= self.times[bucket]
            if left <= 0:
                return 2 ** ((bucket + 1 - 80) / 8)
        return 0.0


class Fleet:
    """Eight processes in two groups, each with a directory of its own."""

    def __init__(self, takes_leases):
        self.place = children.folder("fleet-")
        self.redis = None if options.local else Server()
        self.origin = Process("origin", LATENCY, 1 if options.local else 0)
        with self.origin.changed:
            self.origin.changed.wait_for(lambda: self.origin.lines, 10)
        self.port = self.origin.lines[0].split()[1]
        self.leases = 1 if takes_leases else 0
        self.total = Total()
        self.kills = 0
        self.started = 0
        self.members = [self.start(number) for number in range(PROCESSES)]

    def start(self, number):
        group = "ab"[number % 2]
        self.started += 1
        place = (self.redis.proxy if number == 0 else self.redis).url if self.redis else "-"
        return Process(
            "member", os.path.join(self.place, group), place, self.port, group, self.started, PAUSE, self.leases,
            WAIT)

    def count(self):
        """The loads so far, and the requests that the origin has seen."""
        reports = [json.loads(member.lines[-1]) for member in self.members if member.lines]
        requests = json.loads(self.origin.ask("counts"))["requests"]
        return self.total.loads + sum(report["loads"] for report in reports), requests

    def replace_dead(self):
        for number, member in enumerate(self.members):
            if member.process.poll() is None:
                continue
            if member.process.returncode != -9:
                sys.exit(f"✘ crash: a process ended with {member.process.returncode}")
            self.kills += 1
            self.total.add(member.stop())
            self.members[number] = self.start(number)

    def run(self, seconds, kills=0):
        """Returns the share of loads in the last seconds that cost the origin no request; nothing is harmed then."""
        self.harm(seconds - COUNTED - (RECOVERY if kills else 0), kills)
        if kills:
            time.sleep(RECOVERY)
        self.replace_dead()
        before = self.count()
        time.sleep(COUNTED)
        loads, requests = (after - earlier for after, earlier in zip(self.count(), before))
        return 1 - requests / max(1, loads)

    def harm(self, seconds, kills):
        end = time.monotonic() + seconds
        asked, harmed = 0, time.monotonic()
        while time.monotonic() < end:
            due = kills * (1 - max(0, end - 1 - time.monotonic()) / (seconds - 1))
            if asked < min(kills, int(due)):
                asked += 1
                self.origin.ask("kill 1")
            self.replace_dead()
            if kills and self.redis and time.monotonic() > harmed + HARM and end - time.monotonic() > 1:
                self.redis.harm()
                harmed = time.monotonic()
            time.sleep(0.02)

    def stop(self):
        self.replace_dead()
        for member in self.members:
            member.process.stdin.close()
        for member in self.members:
            self.total.add(member.stop())
        counts = json.loads(self.origin.ask("counts"))
        self.origin.stop()
        if self.redis:
            self.redis.stop()
        shutil.rmtree(self.place)
        return counts


def phase(name, takes_leases, kills=0):
    fleet = Fleet(takes_leases)
    hits = fleet.run(SECONDS[name], kills)
    counts = fleet.stop()
    total = fleet.total
    row = {
        "phase": name, "seconds": SECONDS[name], "loads": total.loads, "originRequests": counts["requests"],
        "expiries": counts["needed"], "requestsPerExpiry": round(counts["requests"] / max(1, counts["needed"]), 3),
        "waits": total.waits, "failures": total.failures, "wrong": total.wrong, "kills": fleet.kills,
        "serverFaults": fleet.redis.faults if fleet.redis else {},
        "p50ms": round(total.percentile(0.5), 3), "p99ms": round(total.percentile(0.99), 1),
        "lastFailure": total.failure, "hitRate": round(hits, 4),
        "repliesCut": fleet.redis.proxy.done if fleet.redis else 0,
    }
    print(
        f"{name:>10}: {row['loads']} loads, {row['originRequests']} requests for {row['expiries']} expiries"
        f" ({row['requestsPerExpiry']:.3f}), {row['waits']} waits, {row['kills']} kills, {row['failures']} failed,"
        f" {row['wrong']} wrong, p50 {row['p50ms']:.3f} ms, p99 {row['p99ms']:.0f} ms, hits at the end {100 * hits:.1f} %", flush=True)
    return row


def invalidations():
    """Milliseconds until an invalidation on one machine takes effect on another: median and 99th percentile of each kind."""
    server, place = Server(), children.folder("fleet-")
    process = children.start(
        [options.program, "invalidations", place, server.url], stdout=subprocess.PIPE, text=True)
    output = process.communicate(timeout=60)[0]
    if process.returncode:
        sys.exit(f"✘ the measurement of invalidations ended with {process.returncode}")
    server.stop()
    shutil.rmtree(place)
    table = json.loads(output)
    for kind, (median, most) in table.items():
        print(f"{kind:>15}: takes effect on the other machine after {median:.1f} ms, p99 {most:.1f} ms", flush=True)
    return table


rows = [phase("leases", True), phase("no leases", False), phase("kills", True, KILLS)]
leases, without, kills = rows
delays = {} if options.local else invalidations()
# Without a server that the groups share, each of them asks, and has four processes.
least = 2 if options.local else 4
most, tolerance = 1.05, 0.02
if options.short:
    # Much of a short run is its start, when calls on a slow machine take longer than the wait. Then one process of each group
    # asks the origin. So a short run has looser goals: it finds out whether leases work at all.
    least, most, tolerance = least * 0.6, 1.3, 0.05
checks = {
    f"one request for each expiry (at most {most})": leases["requestsPerExpiry"] <= most,
    f"without leases several (at least {least})": without["requestsPerExpiry"] >= least,
    "no wrong byte, and no other user's answer": not any(row["wrong"] for row in rows),
    "no failed load": not any(row["failures"] for row in rows),
    "holders were killed": kills["kills"] >= KILLS * 0.9,
    "the server failed in each way": all(kills["serverFaults"].values()),
    "replies were cut off": options.local or kills["repliesCut"] > 0,
    "p99 grows by no more than a lease": kills["p99ms"] <= leases["p99ms"] + LEASE * 1000,
    "the hit rate recovers": kills["hitRate"] >= leases["hitRate"] - tolerance,
    "an invalidation takes at most 50 ms (p99)": all(most <= 50 for _, most in delays.values()),
}
for check, holds in checks.items():
    print(f"{'✔' if holds else '✘'} {check}")
for row in rows:
    if row["lastFailure"]:
        print(f"  {row['phase']}: {row['lastFailure']}")
if options.json:
    with open(options.json, "w") as file:
        json.dump({"rows": rows, "invalidations": delays, "checks": checks}, file, indent=2)
sys.exit(0 if all(checks.values()) else 1)
