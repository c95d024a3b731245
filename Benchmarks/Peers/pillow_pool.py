"""Thumbnails with Pillow, files to bitmaps: pillow_pool.py PROCESSES FILE…"""
import sys
from concurrent.futures import ProcessPoolExecutor

from PIL import Image


def thumbnail(path):
    with Image.open(path) as image:
        image.thumbnail((256, 256))  # asks the JPEG decoder for a smaller size (draft) by itself
        return image.size


if __name__ == "__main__":
    with ProcessPoolExecutor(int(sys.argv[1])) as pool:
        list(pool.map(thumbnail, sys.argv[2:], chunksize=4))
