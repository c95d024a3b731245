"""Decodes one file again and again with Pillow, as bench-images tells it to: pillow.py OPERATION FILE

Operations: full, thumbnail, default-SIDE (a thumbnail of another size), frames. It says that it is ready; for each line that it reads it decodes once, and answers
with nanoseconds of CPU. A line that is not empty names a file to write the picture to.

With process-crop, -fill, -corners or -blur-SIGMA it processes a picture of 400 pixels, twenty times for each line, and answers
with nanoseconds for one.
"""
import sys
import time

from PIL import Image, ImageDraw, ImageFilter, ImageOps, ImageSequence

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


def corners(image):
    mask = Image.new("L", image.size, 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, image.width - 1, image.height - 1), 24, 255)
    image = image.copy()
    image.putalpha(mask)
    return image


def process(name):
    with Image.open(path) as image:
        image.thumbnail((400, 400))
    operations = {
        "crop": lambda: image.crop((50, 0, 350, 300)),
        "fill": lambda: ImageOps.fit(image, (200, 200)),
        "corners": lambda: corners(image),
        "blur": lambda: image.filter(ImageFilter.GaussianBlur(float(name.partition("-")[2]))),
    }
    work = operations[name.partition("-")[0]]
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.process_time_ns()
        for _ in range(20):
            work()
        print((time.process_time_ns() - start) // 20, flush=True)


if operation.startswith("process-"):
    process(operation.removeprefix("process-"))
    sys.exit()

print("ready", flush=True)
for line in sys.stdin:
    start = time.process_time_ns()
    picture = decode()
    print(time.process_time_ns() - start, flush=True)
    if line.strip():
        picture.save(line.strip())
    del picture
