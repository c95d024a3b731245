"""Measures hits of requests-cache with Redis: prints the microseconds of one for each line that it reads (Scripts/fleet --cost)."""

import sys
import time

import redis
from requests_cache import CachedSession, RedisCache

socket, url, calls = sys.argv[1], sys.argv[2], int(sys.argv[3])
backend = RedisCache("peer", connection=redis.Redis(unix_socket_path=socket))
session = CachedSession(backend=backend, expire_after=3600)
assert session.get(url).status_code == 200
for _ in sys.stdin:
    start = time.perf_counter()
    for _ in range(calls):
        response = session.get(url)
        assert response.from_cache and len(response.content) == 20000
    print((time.perf_counter() - start) / calls * 1e6, flush=True)
