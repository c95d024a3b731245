"""Decodes one file again and again with Pillow, as bench-images tells it to: pillow.py OPERATION FILE

Operations: full, thumbnail, default-SIDE (a thumbnail of another size), frames. It says that it is ready; for each line that it reads it decodes once, and answers
with nanoseconds of CPU. A line that is not empty names a file to write the picture to.
"""
import sys
import time

from PIL import Image, ImageSequence

SIDE = 256
operation, path = sys.argv[1], sys.argv[2]


def decode():
    with Image.open(path) as image:
        if operation == "frames":
            return [frame.convert("RGBA") for frame in ImageSequence.Iterator(image)][-1]
        if operation == "thumbnail" or operation.startswith("default-"):
            side = int(operation.partition("-")[2] or SIDE)
            image.thumbnail((side, side))  # asks the JPEG decoder for a smaller size (draft) by itself
        else:
            image.load()
        return image.copy() if operation == "full" and image.mode == "P" else image


print("ready", flush=True)
for line in sys.stdin:
    start = time.process_time_ns()
    picture = decode()
    print(time.process_time_ns() - start, flush=True)
    if line.strip():
        picture.save(line.strip())
    del picture
