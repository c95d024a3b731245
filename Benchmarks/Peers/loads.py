"""The loads of bench-loading with aiohttp: the same arguments, lines and rounds as multi.c."""

import asyncio
import resource
import sys
import time

import aiohttp


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def a_round(session, url, count, concurrent):
    numbers, total = iter(range(count)), 0

    async def lane():
        nonlocal total
        for number in numbers:
            async with session.get(f"{url}{number}") as response:
                response.raise_for_status()
                total += len(await response.read())

    await asyncio.gather(*(lane() for _ in range(concurrent)))
    return total


async def main():
    url, count, concurrent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    connector = aiohttp.TCPConnector(limit=concurrent)
    async with aiohttp.ClientSession(connector=connector) as session:
        for _ in sys.stdin:
            wall, processor = time.perf_counter(), processor_time()
            total = await a_round(session, url, count, concurrent)
            wall, processor = time.perf_counter() - wall, processor_time() - processor
            print(f"{wall / count * 1e9:.0f} {processor / count * 1e9:.0f} {total}", flush=True)


asyncio.run(main())
