"""A server of photographs of 20 KB with the fields of a typical one: origin.py. Says its port, ends with its input."""
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = bytes((i * 2654435761 >> 13) & 255 for i in range(20480))
FIELDS = {
    "Content-Type": "image/jpeg",
    "Content-Length": str(len(BODY)),
    "Last-Modified": "Sat, 21 Nov 2026 02:00:00 GMT",
    "ETag": '"6740a1f0-5000"',
    "Cache-Control": "public, max-age=86400",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": "7c1d6f1e-52a5-4d1b-9f7e-0c9b5b1d4a30",
    "X-Served-By": "cache-fra-eddf8230061-FRA",
    "Access-Control-Allow-Origin": "*",
    "Timing-Allow-Origin": "*",
    "Accept-Ranges": "bytes",
}


class Photographs(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)  # with Server and Date
        for name, value in FIELDS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Photographs)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
