"""Makes the pictures that are decoded, out of the sample photographs: pictures.py SOURCES FOLDER

photographs/000.jpg to 199.jpg   4000 × 3000, quality 85, 4:2:0; twelve distinct ones, each a photograph laid side by
                                 side in mirror image, so that it has detail everywhere and no seams
progressive.jpg  photograph.webp  the first of them, as progressive JPEG and as WebP
large.png  lossless.webp  flat.webp  the first of them without loss, and one half of which is of one colour
one-colour.webp                    nothing to be seen
rgb.png  rgba.png                2400 × 1667, with an alpha channel that is not trivial
animation.gif                    20 frames of 500 × 500
modest/00.jpg to 11.jpg          1 to 4 megapixels, of several qualities and subsamplings, a third of them progressive
"""
import math
import os
import sys
from pathlib import Path

from PIL import Image, ImageOps

SOURCES, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
SIZE, DISTINCT, COUNT = (4000, 3000), 12, 200


def photograph(originals, number):
    tile = Image.open(originals[number % len(originals)]).convert("RGB")
    if number >= len(originals):
        tile = ImageOps.flip(tile.resize((tile.width * 2, tile.height * 2), Image.LANCZOS))
    canvas = Image.new("RGB", SIZE)
    for column, left in enumerate(range(-37 * number, SIZE[0], tile.width)):
        for row, top in enumerate(range(-53 * number, SIZE[1], tile.height)):
            piece = ImageOps.mirror(tile) if column % 2 else tile
            canvas.paste(ImageOps.flip(piece) if row % 2 else piece, (left, top))
    return canvas


def animation(picture):
    """A window that wanders over a photograph, with 255 colours of its own in each frame."""
    frames = []
    for step in range(20):
        turn = 2 * math.pi * step / 20
        left, top = int(900 + 600 * math.cos(turn)), int(700 + 500 * math.sin(turn))
        frames.append(picture.crop((left, top, left + 500, top + 500)).quantize(255))
    return frames


def modest(picture, number):
    """A part of a photograph, made smaller by half and so as sharp as photographs of that size are."""
    width, height = [(1200, 900), (1600, 1200), (1920, 1280), (2300, 1700)][number % 4]
    part = picture.crop((100, 100, 100 + min(width * 2, 3800), 100 + min(height * 2, 2800)))
    return part.resize((width, height), Image.LANCZOS)


originals = sorted(path for path in SOURCES.iterdir() if path.suffix in (".jpg", ".png"))
lot = FOLDER / "photographs"
lot.mkdir(parents=True)
(FOLDER / "modest").mkdir()
for number in range(DISTINCT):
    picture = photograph(originals, number)
    picture.save(lot / f"{number:03}.jpg", quality=85, subsampling="4:2:0")
    modest(picture, number).save(
        FOLDER / "modest" / f"{number:02}.jpg", quality=(75, 85, 95)[number % 3], progressive=number % 3 == 1,
        subsampling=("4:2:0", "4:4:4", "4:2:0", "4:2:2", "4:2:0")[number % 5])
    if number == 0:
        first = picture
for number in range(DISTINCT, COUNT):
    os.link(lot / f"{number % DISTINCT:03}.jpg", lot / f"{number:03}.jpg")

first.save(FOLDER / "progressive.jpg", quality=85, subsampling="4:2:0", progressive=True)
first.save(FOLDER / "photograph.webp", quality=80, method=4)
first.save(FOLDER / "large.png", compress_level=1)
first.save(FOLDER / "lossless.webp", lossless=True, method=0, quality=0)
Image.new("RGB", SIZE, (90, 120, 150)).save(FOLDER / "one-colour.webp", quality=80)
flat = first.copy()
flat.paste((90, 120, 150), (0, 0, SIZE[0], SIZE[1] // 2))
flat.save(FOLDER / "flat.webp", lossless=True, method=0, quality=0)
part = first.crop((0, 0, 2400, 1667))
part.save(FOLDER / "rgb.png")
alpha = Image.linear_gradient("L").resize(part.size)
part.putalpha(alpha)
part.save(FOLDER / "rgba.png")
frames = animation(first)
frames[0].save(FOLDER / "animation.gif", save_all=True, append_images=frames[1:], duration=50, loop=0, optimize=False)
