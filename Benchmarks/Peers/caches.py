"""Whole cached GETs: caches.py hishel|requests-cache ORIGIN ENTRIES FOLDER.

Fills the cache, prints "ready", and does a pass for each line that it reads: it prints microseconds a GET.
"""
import os
import sys
import time

kind, origin, entries, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
URLS = [f"{origin}/photo/{number * 7919 % entries}" for number in range(entries)]
BODY = 20480


def measure(get):
    """get(url) -> (bytes, whether they came from the cache)."""
    def once(should_be_cached):
        start = time.perf_counter()
        for url in URLS:
            length, is_cached = get(url)
            if length != BODY or bool(is_cached) != should_be_cached:
                sys.exit(f"{url}: {length} bytes, cached: {is_cached}")
        return (time.perf_counter() - start) / entries * 1e6

    once(False)
    print("ready", flush=True)
    for _ in sys.stdin:
        print(once(True), flush=True)


def hishel():
    import httpx
    from hishel import CacheOptions, SqliteStorage
    from hishel.httpx import CacheTransport

    storage = SqliteStorage(database_path=os.path.join(folder, "cache.db"))
    transport = CacheTransport(httpx.HTTPTransport(), storage=storage, rfc=CacheOptions(shared=False))
    with httpx.Client(transport=transport, trust_env=False) as client:
        def get(url):
            response = client.get(url)
            return len(response.content), response.extensions["caching"]["from_cache"]
        measure(get)


def requests_cache():
    from requests_cache import CachedSession

    session = CachedSession(os.path.join(folder, "cache.sqlite"), backend="sqlite", cache_control=True)
    session.trust_env = False

    def get(url):
        response = session.get(url)
        return len(response.content), response.from_cache
    measure(get)


{"hishel": hishel, "requests-cache": requests_cache}[kind]()
