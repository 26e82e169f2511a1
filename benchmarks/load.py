"""Bounded load on a separate service on 127.0.0.1: plans per second, latency, start-up, memory, first picture.

Prints the table shown in docs/appendix/benchmarks.md. All counts are fixed; the whole run takes about two minutes.
With `--faults`: 200 clients at once, slow and disconnecting clients, bodies that are too large or never end, a full
queue, cancelled jobs, and workers killed while they calculate. Fails if an answer is neither a result nor a refusal, a
503 has no Retry-After, a worker is lost, or memory is not released.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
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
    options.add_argument("--faults", action="store_true", help="faults instead of figures")
    chosen = options.parse_args()
    if chosen.faults:
        attack()
        return
    rows: list[tuple[str, str]] = []
    rows.append(("start-up until the first answer, median of 3", f"{1000 * statistics.median(start_up()):.0f} ms"))
    process, port = start()
    try:
        for size in (10, 50):
            asyncio.run(load(port, body_of(size), 50, 2))
            alone = asyncio.run(load(port, body_of(size), 100, 1))
            rows.append((f"T = {size}: server time of a plan, one client, median / 99 %", two(alone["server"])))
            many = asyncio.run(load(port, body_of(size), chosen.requests, 8))
            rows.append((f"T = {size}: plans per second, 8 clients", f"{many['rate']:.0f}"))
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
    """Return a plan request, with a time limit of 0.1 s if its proof would take seconds."""
    problem = random_problem("euclidean", size, Learner(120, 100, 0.1), 1)
    limit = {} if size <= 20 else {"time_limit": 0.1}
    return json.dumps({"problem": problem_to_dict(problem), **limit}).encode()


async def load(port: int, body: bytes | None, requests: int, clients: int) -> dict[str, Any]:
    """Send `requests` requests over `clients` persistent connections."""
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


MANY = 200  # clients at once
FAULTS = ("--workers", "2", "--queue", "50", "--max-body", "1000000", "--receive-seconds", "3", "--max-seconds", "5")


def attack() -> None:
    """Run all faults several times; print the answers, and the memory before and after."""
    process, port = start(*FAULTS)
    try:
        asyncio.run(fault_round(port, process.pid))  # warm-up: one-time imports and allocations
        before, found = memory(process.pid), []
        for _ in range(3):
            found += asyncio.run(fault_round(port, process.pid))
        workers = [line for line in asyncio.run(ask(port, "GET", "/metrics"))[1].splitlines() if "worker" in line]
        after = memory(process.pid)
    finally:
        process.terminate()
        process.wait(20)
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, load average before: {LOAD[0]:.1f}\n")
    print("| fault, in three rounds | answers |\n|---|---|")
    for fault in dict.fromkeys(name for name, _ in found):
        counts = Counter(status for name, status in found if name == fault)
        print(f"| {fault} | {', '.join(f'{count} × {status}' for status, count in sorted(counts.items()))} |")
    print(f"| memory of all processes, before and after | {before:.0f} MB, {after:.0f} MB |")
    print("\n".join(line for line in workers if not line.startswith("#")))
    wrong = [one for one in found if one[1] in ("500", "no Retry-After", "unanswered")]
    lost = "learnroute_workers_ready 2.0" not in workers
    if wrong or lost or after > 1.2 * before:
        sys.exit(f"failed: {wrong[:5]}, workers lost: {lost}, memory {before:.0f} -> {after:.0f} MB")


async def ask(port: int, method: str, path: str, body: bytes = b"", pause: float = 0.0) -> tuple[str, str, str]:
    """Send one request, in pieces if there is a pause; return status, body and Location of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"

    async def send() -> None:
        size = 200 if pause else len(body) + 1
        for piece in (head.encode(), *(body[k : k + size] for k in range(0, len(body), size))):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    sending, heard = asyncio.create_task(send()), b""
    with contextlib.suppress(ConnectionError):
        while part := await asyncio.wait_for(reader.read(65536), 60):
            heard += part
    sending.cancel()
    with contextlib.suppress(asyncio.CancelledError, ConnectionError):
        await sending
    writer.close()
    answer = heard.decode()
    status = answer.partition(" ")[2][:3] or "unanswered"
    top, _, rest = answer.partition("\r\n\r\n")
    if status == "503" and "retry-after" not in top.lower():
        status = "no Retry-After"
    place = re.search(r"location: (\S+)", top, re.IGNORECASE)
    return status, rest, place[1] if place else ""


async def fault_round(port: int, service: int) -> list[tuple[str, str]]:
    """Cause each fault once; return (fault, status) for each answer."""
    found: list[tuple[str, str]] = []
    plan, long = body_of(10), json.dumps({**json.loads(body_of(60)), "time_limit": 4.0}).encode()
    while (await ask(port, "GET", "/health"))[0] != "200":
        await asyncio.sleep(0.2)

    async def note(fault: str, *arguments: Any, **named: Any) -> str:
        status, _, place = await ask(port, *arguments, **named)
        found.append((fault, status))
        return place

    await asyncio.gather(*(note(f"{MANY} clients at once", "POST", "/api/plan", plan) for _ in range(MANY)))
    await asyncio.gather(
        *(note("slow bodies", "POST", "/api/plan", plan, pause=0.01) for _ in range(20)),
        *(note("bodies slower than the limit", "POST", "/api/plan", plan[:2000] + b" " * 98_000, pause=0.05)
          for _ in range(20)),
        *(note("bodies that are too large", "POST", "/api/plan", plan + b" " * 2_000_000) for _ in range(20)),
        *(leave(port, plan) for _ in range(20)),
    )  # fmt: skip
    jobs = await asyncio.gather(*(note("jobs, queue of 50", "POST", "/api/jobs?task=plan", long) for _ in range(80)))
    await asyncio.gather(*(note("jobs cancelled", "DELETE", place) for place in jobs if place))
    calculations = [asyncio.create_task(note("workers killed", "POST", "/api/plan", long)) for _ in range(4)]
    for _ in range(2):
        while "learnroute_workers_busy 2.0" not in (await ask(port, "GET", "/metrics"))[1]:
            await asyncio.sleep(0.1)
        for worker in workers_of(service):
            os.kill(worker, signal.SIGKILL)
        await asyncio.sleep(0.5)
    await asyncio.gather(*calculations)
    while (await ask(port, "GET", "/metrics"))[1].count("learnroute_workers_ready 2.0") == 0:
        await asyncio.sleep(0.2)
    await note("a plan afterwards", "POST", "/api/plan", plan)
    return found


async def leave(port: int, body: bytes) -> None:
    """Disconnect in the middle of a body."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: 100000\r\n\r\n" + body[:500])
    await asyncio.sleep(0.2)
    writer.close()


def children(process: int) -> set[int]:
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return {int(child) for found in lists for child in found.read_text().split()}


def workers_of(process: int) -> list[int]:
    """Return the worker processes of the service."""
    lines = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children(process)}
    return [child for child, line in lines.items() if b"spawn_main" in line]


def two(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{statistics.median(ordered):.1f} ms / {ordered[int(0.99 * (len(ordered) - 1))]:.1f} ms"


def memory(process: int) -> float:
    """Return the resident memory of a process and its children in MB."""
    pages = 0
    for each in {process, *children(process)}:
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
