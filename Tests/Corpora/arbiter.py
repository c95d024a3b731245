"""What Chromium makes of a file that two decoders disagree on; nothing where it is not installed."""
import base64
import io
import re
import shutil
import subprocess
import tempfile
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


def picture(path):
    """Premultiplied BGRA; nil if it refuses."""
    page = PAGE % (KINDS[path.suffix.lower()], base64.b64encode(path.read_bytes()).decode())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.html").write_text(page)
        command = [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/user",
                   "--force-color-profile=srgb", "--virtual-time-budget=20000", "--dump-dom", f"{folder}/page.html"]
        text = subprocess.run(command, capture_output=True, timeout=60).stdout.decode(errors="replace")
    found = re.search(r"<title>data:image/png;base64,([^<]*)</title>", text)
    if not found:
        return None
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(found[1]))).convert("RGBA")).astype(np.uint32)
    colour = (pixels[..., 2::-1] * pixels[..., 3:] + 127) // 255
    return np.dstack([colour, pixels[..., 3:]]).astype(np.uint8)


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
