"""Drives a fleet of processes over shared caches, counts what their origin sees, and kills holders of leases (Scripts/fleet)."""

import argparse
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
LATENCY = 0.8  # seconds that the origin takes
LEASE = 5  # seconds
SECONDS = (
    {"leases": 12, "no leases": 8, "kills": 14} if options.short
    else {"leases": 130, "no leases": 40, "kills": 130})
KILLS = 20 if options.short else 100
PAUSE = 150  # milliseconds between two loads of a task, of which each process has 300


class Process:
    """A process whose lines are read as they come."""

    def __init__(self, *arguments):
        self.arguments = [str(argument) for argument in arguments]
        self.process = subprocess.Popen(
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
        self.place = tempfile.mkdtemp(prefix="fleet-server-")
        self.socket = os.path.join(self.place, "socket")
        self.url = f"unix://{self.socket}"
        self.faults = 0
        self.start()

    def start(self):
        program = shutil.which("redis-server") or shutil.which("valkey-server") or sys.exit("✘ there is no redis-server")
        self.process = subprocess.Popen(
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
        kind = ["restart", "pause", "fill", "cut"][self.faults % 4]
        self.faults += 1
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
        else:
            for _ in range(20):
                self.ask("CLIENT", "KILL", "TYPE", "normal")
                time.sleep(0.02)

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.place)


class Total:
    """The reports of all processes, also of those that were killed."""

    def __init__(self):
        self.loads = self.failures = self.wrong = self.waits = self.network = 0
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
        self.network += report["fromNetwork"]
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
        self.place = tempfile.mkdtemp(prefix="fleet-")
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
        return Process(
            "member", os.path.join(self.place, group), self.redis.url if self.redis else "-", self.port, group,
            self.started, PAUSE, self.leases)

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
        end = time.monotonic() + seconds
        asked, harmed = 0, time.monotonic()
        while time.monotonic() < end:
            due = kills * (1 - max(0, end - 2 - time.monotonic()) / (seconds - 2))
            if asked < min(kills, int(due)):
                asked += 1
                self.origin.ask("kill 1")
            self.replace_dead()
            if kills and self.redis and time.monotonic() > harmed + 1.5 and end - time.monotonic() > 2:
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
    try:
        fleet.run(SECONDS[name], kills)
        counts = fleet.stop()
    except BaseException:
        for process in [fleet.origin, *fleet.members, *([fleet.redis] if fleet.redis else [])]:
            process.process.kill()
        raise
    total = fleet.total
    row = {
        "phase": name, "seconds": SECONDS[name], "loads": total.loads, "originRequests": counts["requests"],
        "expiries": counts["needed"], "requestsPerExpiry": round(counts["requests"] / max(1, counts["needed"]), 3),
        "waits": total.waits, "failures": total.failures, "wrong": total.wrong, "kills": fleet.kills,
        "serverFaults": fleet.redis.faults if fleet.redis else 0,
        "p50ms": round(total.percentile(0.5), 3), "p99ms": round(total.percentile(0.99), 1),
        "lastFailure": total.failure,
    }
    print(
        f"{name:>10}: {row['loads']} loads, {row['originRequests']} requests for {row['expiries']} expiries"
        f" ({row['requestsPerExpiry']:.3f}), {row['waits']} waits, {row['kills']} kills, {row['failures']} failed,"
        f" {row['wrong']} wrong, p50 {row['p50ms']:.3f} ms, p99 {row['p99ms']:.0f} ms", flush=True)
    return row


rows = [phase("leases", True), phase("no leases", False), phase("kills", True, KILLS)]
leases, without, kills = rows
# Without a server that the groups share, each of them asks, and has four processes.
least = 2 if options.local else 4
checks = {
    "one request for each expiry (at most 1.05)": leases["requestsPerExpiry"] <= 1.05,
    f"without leases several (at least {least})": without["requestsPerExpiry"] >= least,
    "no wrong byte, and no other user's answer": not any(row["wrong"] for row in rows),
    "no failed load": not any(row["failures"] for row in rows),
    "holders were killed": kills["kills"] >= KILLS * 0.9,
    "p99 grows by no more than a lease": kills["p99ms"] <= leases["p99ms"] + LEASE * 1000,
}
for check, holds in checks.items():
    print(f"{'✔' if holds else '✘'} {check}")
for row in rows:
    if row["lastFailure"]:
        print(f"  {row['phase']}: {row['lastFailure']}")
if options.json:
    with open(options.json, "w") as file:
        json.dump({"rows": rows, "checks": checks}, file, indent=2)
sys.exit(0 if all(checks.values()) else 1)
