"""Asks Chromium about a file that two decoders disagree on, if it is installed."""
import base64
import http.server
import io
import json
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import numpy as np
from PIL import Image

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
KINDS = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png", ".apng": "png", ".gif": "gif", ".webp": "webp",
         ".avif": "avif"}
PAGE = """<body><script>
const image = new Image()
image.onerror = () => { document.title = "refused" }
image.onload = () => {
  const canvas = document.createElement("canvas")
  canvas.width = image.naturalWidth; canvas.height = image.naturalHeight
  canvas.getContext("2d", { colorSpace: "srgb" }).drawImage(image, 0, 0)
  document.title = canvas.toDataURL("image/png")
}
image.src = "data:image/%s;base64,%s"
</script>"""

# ImageDecoder exists on pages from localhost only.
FRAMES = """<body><script>
async function run() {
  const file = await (await fetch("/file")).arrayBuffer()
  const decoder = new ImageDecoder({ data: file, type: "image/%s" })
  await decoder.tracks.ready
  await decoder.completed
  const pictures = []
  for (let index = 0; index < Math.min(decoder.tracks.selectedTrack.frameCount, %d); index++) {
    const { image } = await decoder.decode({ frameIndex: index })
    const canvas = document.createElement("canvas")
    canvas.width = image.displayWidth; canvas.height = image.displayHeight
    canvas.getContext("2d", { colorSpace: "srgb" }).drawImage(image, 0, 0)
    pictures.push(canvas.toDataURL("image/png"))
  }
  return pictures
}
run().catch(() => []).then(pictures => fetch("/", { method: "POST", body: JSON.stringify(pictures) }))
</script>"""


def pixels(address):
    """Premultiplied BGRA of a data URL."""
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))).convert("RGBA")).astype(np.uint32)
    colour = (picture[..., 2::-1] * picture[..., 3:] + 127) // 255
    return np.dstack([colour, picture[..., 3:]]).astype(np.uint8)


def picture(path):
    """Premultiplied BGRA; nil if it refuses."""
    page = PAGE % (KINDS[path.suffix.lower()], base64.b64encode(path.read_bytes()).decode())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.html").write_text(page)
        command = [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/user",
                   "--force-color-profile=srgb", "--virtual-time-budget=20000", "--dump-dom", f"{folder}/page.html"]
        text = subprocess.run(command, capture_output=True, timeout=60).stdout.decode(errors="replace")
    found = re.search(r"<title>(data:image/png;base64,[^<]*)</title>", text)
    return pixels(found[1]) if found else None


def frames(path, most):
    """The first frames, premultiplied BGRA; empty if it refuses."""
    page = (FRAMES % (KINDS[path.suffix.lower()], most)).encode()
    answer, answered = [], threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def send(self, kind, body):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.send(*(("application/octet-stream", path.read_bytes()) if self.path == "/file" else ("text/html", page)))

        def do_POST(self):
            answer.extend(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send("text/plain", b"")
            answered.set()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/user",
             "--force-color-profile=srgb", "--remote-debugging-port=0", f"http://127.0.0.1:{server.server_port}/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        answered.wait(60)
        browser.terminate()
        browser.wait()
        server.shutdown()
    return [pixels(address) for address in answer]


def opinion_of_frames(path, ours, decibels):
    """Words for the report about frames that Pillow composes differently."""
    if not PROGRAM or path.suffix.lower() not in KINDS:
        return ""
    try:
        theirs = frames(path, len(ours))
    except Exception as error:
        return f" [Chromium: {error!r}]"
    if not theirs:
        return " [Chromium refuses it]"
    return f" [Chromium: {min(map(decibels, theirs, ours)):.1f} dB from us]"


def opinion(path, ours=None, theirs=None, decibels=None):
    """Words for the report."""
    if not PROGRAM or path.suffix.lower() not in KINDS:
        return ""
    try:
        pixels = picture(path)
    except Exception as error:
        return f" [Chromium: {error!r}]"
    if pixels is None:
        return " [Chromium refuses it]"
    if ours is None:
        return " [Chromium decodes it]"
    return f" [Chromium: {decibels(pixels, ours):.1f} dB from us, {decibels(pixels, theirs):.1f} dB from Pillow]"
