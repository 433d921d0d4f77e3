"""A server of the page in a process of its own, and tables for it."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import numpy as np

NASTY = "<img src=x onerror=window.pwned=1>"


def animals(n_rows=90, seed=0):
    """Three kinds with missing cells, words, an index, and names that are tags."""
    rng = np.random.default_rng(seed)
    lines = [f",beak,body mass,{NASTY},sex,code"]
    for i in range(n_rows):
        kind = i % 3
        beak, mass = rng.normal([38 + 6 * kind, 3600 + 700 * kind], [1.6, 210])
        place = ("Torgersen", NASTY, "Biscoe")[kind if rng.random() < 0.85 else 0]
        sex = ("male", "female", "")[rng.choice(3, p=[0.47, 0.47, 0.06])]
        shown = "" if rng.random() < 0.06 else f"{beak:.1f}"
        lines.append(f"{i},{shown},{mass:.0f},{place},{sex},A{i:03d}")
    return "\n".join(lines) + "\n"


class Served:
    """A server that was started for a test, and a client that has its cookie."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "credalis", "app", "--no-browser"),
                *("--folder", str(folder), *map(str, arguments)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = ""
        while "http" not in line:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
        self.address = re.search(r"http\S+", line)[0]
        self.base = self.address.split("/?")[0]
        self.port = int(self.base.rsplit(":", 1)[1])

    @contextmanager
    def client(self):
        """A client that has exchanged the token."""
        given = {"base_url": self.base, "headers": {"Origin": self.base}}
        with httpx.Client(**given, timeout=60) as client:
            answer = client.get(self.address)
            assert answer.status_code == 303, answer.text
            yield client

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.stdout.close()
        self.process.stderr.close()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def children(self):
        """Process numbers of its children, by what /proc says of parents."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat") as stream:
                    fields = stream.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == self.process.pid and fields[0] != "Z":
                found.append(int(name))
        return found


def is_alive(pid):
    """Whether a process is there, and not only waits to be buried."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, seconds=30):
    """Wait until something is so, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def finished(client):
    """The state when nothing runs any more."""

    def state():
        found = client.get("/api/state").json()
        return None if found["job"] else found

    return wait_for(state)
