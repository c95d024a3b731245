"""Drives a fleet of processes over shared caches, counts what their origin sees, and kills holders of leases (Scripts/fleet)."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--short", action="store_true")
parser.add_argument("--json", default="")
options = parser.parse_args()

PROCESSES = 8
LATENCY = 0.8  # seconds that the origin takes
LEASE = 5  # seconds
SECONDS = {"leases": 12, "no leases": 8, "kills": 14} if options.short else {"leases": 130, "no leases": 40, "kills": 130}
KILLS = 20 if options.short else 100
PAUSE = 100  # milliseconds between two loads of a task, of which each process has 200


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

    def __init__(self, takes_leases, server="-"):
        self.place = tempfile.mkdtemp(prefix="fleet-")
        self.origin = Process("origin", LATENCY, 1 if server == "-" else 0)
        with self.origin.changed:
            self.origin.changed.wait_for(lambda: self.origin.lines, 10)
        self.port = self.origin.lines[0].split()[1]
        self.server, self.leases = server, 1 if takes_leases else 0
        self.total = Total()
        self.kills = 0
        self.started = 0
        self.members = [self.start(number) for number in range(PROCESSES)]

    def start(self, number):
        group = "ab"[number % 2]
        self.started += 1
        return Process(
            "member", os.path.join(self.place, group), self.server, self.port, group, self.started, PAUSE, self.leases)

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
        asked = 0
        while time.monotonic() < end:
            due = kills * (1 - max(0, end - 2 - time.monotonic()) / (seconds - 2))
            if asked < min(kills, int(due)):
                asked += 1
                self.origin.ask("kill 1")
            self.replace_dead()
            time.sleep(0.02)

    def stop(self):
        self.replace_dead()
        for member in self.members:
            member.process.stdin.close()
        for member in self.members:
            self.total.add(member.stop())
        counts = json.loads(self.origin.ask("counts"))
        self.origin.stop()
        shutil.rmtree(self.place)
        return counts


def phase(name, takes_leases, kills=0):
    fleet = Fleet(takes_leases)
    try:
        fleet.run(SECONDS[name], kills)
        counts = fleet.stop()
    except BaseException:
        for process in [fleet.origin, *fleet.members]:
            process.process.kill()
        raise
    total = fleet.total
    row = {
        "phase": name, "seconds": SECONDS[name], "loads": total.loads, "originRequests": counts["requests"],
        "expiries": counts["needed"], "requestsPerExpiry": round(counts["requests"] / max(1, counts["needed"]), 3),
        "waits": total.waits, "failures": total.failures, "wrong": total.wrong, "kills": fleet.kills,
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
# Without a store that the groups share, each of them asks.
checks = {
    "one request for each expiry (at most 1.05)": leases["requestsPerExpiry"] <= 1.05,
    "without leases several (at least 2)": without["requestsPerExpiry"] >= 2,
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
