"""Bounded load on a service of its own, on 127.0.0.1: plans a second, latency, start-up, memory, first picture.

Prints the table that docs/service.md shows. All counts are fixed; the whole run takes about two minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from learnroute import Learner
from learnroute.formats.json_files import problem_to_dict
from learnroute.study.families import random_problem

CLIENTS = 50
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--requests", type=int, default=1000, help="for each throughput figure")
    options.add_argument("--soak", type=int, default=10_000, help="requests of the memory figure")
    chosen = options.parse_args()
    rows: list[tuple[str, str]] = []
    rows.append(("start-up until the first answer, median of 3", f"{1000 * statistics.median(start_up()):.0f} ms"))
    process, port = start()
    try:
        for size in (10, 50):
            asyncio.run(load(port, body_of(size), 50, 2))
            alone = asyncio.run(load(port, body_of(size), 100, 1))
            rows.append((f"T = {size}: server time of a plan, one client, median / 99 %", two(alone["server"])))
            many = asyncio.run(load(port, body_of(size), chosen.requests, 8))
            rows.append((f"T = {size}: plans a second, 8 clients", f"{many['rate']:.0f}"))
            crowd = asyncio.run(load(port, body_of(size), chosen.requests, CLIENTS))
            rows.append((f"T = {size}: latency at {CLIENTS} clients, median / 99 %", two(crowd["latency"])))
            rows.append((f"T = {size}: errors", str(alone["errors"] + many["errors"] + crowd["errors"])))
        asyncio.run(load(port, body_of(10), chosen.soak // 10, 8))
        before = memory(process.pid)
        soak = asyncio.run(load(port, body_of(10), chosen.soak, 8))
        rows.append((f"memory of all processes, before and after {chosen.soak} more requests",
                     f"{before:.0f} MB, {memory(process.pid):.0f} MB; {soak['errors']} errors"))  # fmt: skip
        if picture := first_picture(port):
            rows.append(("first route drawn after opening the page, median of 5", f"{picture:.0f} ms"))
    finally:
        process.terminate()
        process.wait(20)
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, load average before: {LOAD[0]:.1f}\n")
    print("| measured | figure |\n|---|---|")
    for name, figure in rows:
        print(f"| {name} | {figure} |")


LOAD = os.getloadavg()


def start(*arguments: str) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-u", "-m", "learnroute", "serve", "--port", "0", "--seconds", "600", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.search(r":(\d+)/", process.stdout.readline())
    assert found
    return process, int(found[1])


def start_up() -> list[float]:
    taken = []
    for _ in range(4):
        began = time.perf_counter()
        process, port = start()
        asyncio.run(load(port, None, 1, 1))
        taken.append(time.perf_counter() - began)
        process.terminate()
        process.wait(20)
    return taken[1:]


def body_of(size: int) -> bytes:
    """Ask for a plan; where its proof would take seconds, for what is found in a tenth of one."""
    problem = random_problem("euclidean", size, Learner(120, 100, 0.1), 1)
    limit = {} if size <= 20 else {"time_limit": 0.1}
    return json.dumps({"problem": problem_to_dict(problem), **limit}).encode()


async def load(port: int, body: bytes | None, requests: int, clients: int) -> dict[str, Any]:
    """Send so many requests over so many connections that stay open."""
    left = requests
    latency: list[float] = []
    server: list[float] = []
    errors = 0
    head = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    if body is not None:
        head = (
            b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        )

    async def client() -> None:
        nonlocal left, errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while left > 0:
            left -= 1
            began = time.perf_counter()
            writer.write(head)
            answer = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).decode().lower()
            length = re.search(r"content-length: (\d+)", answer)
            await reader.readexactly(int(length[1]) if length else 0)
            latency.append(1000 * (time.perf_counter() - began))
            timing = re.search(r"dur=([\d.]+)", answer)
            server.append(float(timing[1]) if timing else 0.0)
            errors += " 200 " not in answer.splitlines()[0]
        writer.close()
        await writer.wait_closed()

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    rate = requests / (time.perf_counter() - began)
    return {"rate": rate, "latency": latency, "server": server, "errors": errors}


def two(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{statistics.median(ordered):.1f} ms / {ordered[int(0.99 * (len(ordered) - 1))]:.1f} ms"


def memory(process: int) -> float:
    """Resident memory of a process and its children, in MB."""
    pages = 0
    lists = Path(f"/proc/{process}/task").glob("*/children")
    for each in {process, *(int(child) for found in lists for child in found.read_text().split())}:
        pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def first_picture(port: int) -> float | None:
    chromium = shutil.which("chromium")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    taken = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for _ in range(5):
            page = browser.new_context().new_page()  # nothing cached
            page.goto(f"http://127.0.0.1:{port}/")
            page.wait_for_selector("body[data-plans]", state="attached")
            taken.append(page.evaluate("() => performance.getEntriesByName('route-drawn')[0].startTime"))
            page.context.close()
        browser.close()
    return float(statistics.median(taken))


if __name__ == "__main__":
    main()
