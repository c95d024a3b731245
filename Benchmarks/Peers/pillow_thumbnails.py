"""Opens JPEG thumbnails with Pillow: pillow_thumbnails.py FOLDER

Prints nanoseconds of CPU for one. With --make FOLDER FILE… it makes them, of 256 pixels, and prints the bytes of the pixels
of one.
"""
import sys
import time
from pathlib import Path

from PIL import Image

if sys.argv[1] == "--make":
    folder, made = Path(sys.argv[2]), {}
    for number, path in enumerate(sys.argv[3:]):
        key = Path(path).stat().st_ino  # most photographs are links
        if key not in made:
            with Image.open(path) as image:
                image.thumbnail((256, 256))
                made[key] = image.copy()
        made[key].save(folder / f"{number:03}.jpg", quality=85)
    print(made[key].width * made[key].height * 3)
    sys.exit()

start = time.process_time_ns()
paths = sorted(Path(sys.argv[1]).iterdir())
for path in paths:
    with Image.open(path) as image:
        image.load()
print((time.process_time_ns() - start) // len(paths))
