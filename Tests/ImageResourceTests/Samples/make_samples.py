"""Makes the sample images of these tests, and what they should decode to: make_samples.py [NAME…]

Wants Pillow, numpy, ImageMagick, libjpeg-turbo-progs and webp. Run again only to change samples: they are checked in.
Expectations are raw premultiplied BGRA, made by Pillow or ImageMagick or, where a format's rules are the question, by
hand in numpy; never by the code under test.
"""
import ctypes
import io
import json
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

HERE = Path(__file__).parent
PHOTOGRAPHS = HERE.parent.parent / "ScriptedServer" / "Photographs"
samples = []


def photograph(width, height, left=100, top=40, scale=4):
    cat = Image.open(PHOTOGRAPHS / "chelsea.png").convert("RGB")
    part = cat.crop((left, top, left + width * scale, top + height * scale)) if scale else cat
    return np.asarray(part.resize((width, height), Image.LANCZOS))


def with_alpha(rgb):
    height, width = rgb.shape[:2]
    y, x = np.mgrid[0:height, 0:width]
    alpha = np.clip(300 - np.hypot(x - width / 2, y - height / 2) * 600 / max(width, height), 0, 255)
    return np.dstack([rgb, alpha.astype(np.uint8)])


def premultiplied_bgra(pixels):
    """RGB, RGBA or grey of 8 bits, as the decoder should give it."""
    pixels = np.asarray(pixels)
    if pixels.ndim == 2:
        pixels = np.dstack([pixels] * 3)
    if pixels.shape[2] == 3:
        pixels = np.dstack([pixels, np.full(pixels.shape[:2], 255, np.uint8)])
    colour, alpha = pixels[..., :3].astype(np.uint32), pixels[..., 3:].astype(np.uint32)
    colour = (colour * alpha + 127) // 255
    return np.dstack([colour[..., ::-1], alpha]).astype(np.uint8)


def area_mean(pixels, width, height):
    """The exact mean of the area that each pixel of a smaller picture covers."""
    def weights(inputs, outputs):
        edges = np.arange(outputs + 1) * inputs / outputs
        starts, ends = edges[:-1, None], edges[1:, None]
        cells = np.arange(inputs)[None, :]
        return np.clip(np.minimum(ends, cells + 1) - np.maximum(starts, cells), 0, None) * outputs / inputs
    down = np.tensordot(weights(pixels.shape[0], height), pixels.astype(float), (1, 0))
    return np.round(np.einsum("xw,hwc->hxc", weights(pixels.shape[1], width), down)).astype(np.uint8)


def sample(name, data, expected, decibels=None, max_pixel_size=None, **facts):
    """Writes a sample; `decibels` is how near the decoded picture has to be, None meaning equal in every byte."""
    (HERE / name).write_bytes(data)
    if max_pixel_size:
        factor = max_pixel_size / max(expected.shape[:2])
        height, width = (max(1, int(np.floor(side * factor + 0.5))) for side in expected.shape[:2])
        expected = area_mean(expected, width, height)
    suffix = f".{max_pixel_size}" if max_pixel_size else ""
    (HERE / (name + suffix + ".bgra")).write_bytes(expected.tobytes())
    samples.append({"file": name, "expected": name + suffix + ".bgra", "width": expected.shape[1],
                    "height": expected.shape[0], "decibels": decibels, "maxPixelSize": max_pixel_size, **facts})


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def run(*command, data=b""):
    return subprocess.run([str(part) for part in command], input=data, capture_output=True, check=True).stdout


# JPEG

def exif(orientation, big_endian=False):
    mark, order = (b"MM", ">") if big_endian else (b"II", "<")
    entries = struct.pack(order + "HHIHH", 0x0112, 3, 1, orientation, 0)
    tiff = mark + struct.pack(order + "HIH", 42, 8, 1) + entries + struct.pack(order + "I", 0)
    return b"Exif\0\0" + tiff


def with_segment(jpeg, marker, content):
    return jpeg[:2] + bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content + jpeg[2:]


def decoded(jpeg):
    return premultiplied_bgra(Image.open(io.BytesIO(jpeg)).convert("RGB"))


def ycck(cmyk):
    turbo = ctypes.CDLL("libturbojpeg.so.0")
    turbo.tjInitCompress.restype = ctypes.c_void_p
    handle, out, size = ctypes.c_void_p(turbo.tjInitCompress()), ctypes.c_void_p(), ctypes.c_ulong()
    height, width = cmyk.shape[:2]
    turbo.tjCompress2(handle, cmyk.tobytes(), width, 0, height, 11, ctypes.byref(out), ctypes.byref(size), 2, 90, 0)
    return ctypes.string_at(out.value, size.value)


def jpegs():
    picture = photograph(45, 31)
    image, ppm = Image.fromarray(picture), saved(Image.fromarray(picture), "PPM")
    for name, factors in {"444": "1x1", "422": "2x1", "420": "2x2", "440": "1x2", "411": "4x1", "410": "4x2"}.items():
        for kind, options in {"": [], "-progressive": ["-progressive"]}.items():
            data = run("cjpeg", "-quality", 85, "-sample", factors, *options, data=ppm)
            sample(f"jpeg-{name}{kind}.jpg", data, decoded(data), 50)
    variants = {
        "grey": saved(image.convert("L"), "JPEG"),
        "grey-progressive": saved(image.convert("L"), "JPEG", progressive=True),
        "rgb": run("cjpeg", "-rgb", data=ppm),
        "restarts": run("cjpeg", "-restart", "2B", data=ppm),
        "arithmetic": run("cjpeg", "-arithmetic", data=ppm),
        "cmyk": saved(image.convert("CMYK"), "JPEG"),
        "cmyk-progressive": saved(image.convert("CMYK"), "JPEG", progressive=True),
    }
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as script:
        script.write("0;\n1;\n2;\n")
        script.flush()
        variants["scattered"] = run("cjpeg", "-scans", script.name, data=ppm)
    for name, data in variants.items():
        sample(f"jpeg-{name}.jpg", data, decoded(data), 50)
    inks = 255 - np.asarray(image.convert("CMYK"))
    data = ycck(inks)
    sample("jpeg-ycck.jpg", data, decoded(data), 50)
    plain = saved(image, "JPEG", quality=90)
    for orientation in range(1, 9):
        data = with_segment(plain, 0xE1, exif(orientation, orientation % 2 == 0))
        upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        sample(f"jpeg-orientation-{orientation}.jpg", data, premultiplied_bgra(upright), 50, orientation=orientation)
    for width, height in [(1, 1), (1, 17), (17, 1), (8, 8), (9, 16)]:
        data = saved(Image.fromarray(photograph(width, height)), "JPEG", quality=90)
        sample(f"jpeg-{width}x{height}.jpg", data, decoded(data), 50)


def reduced():
    large = photograph(333, 251, 60, 20, 1)
    image = Image.fromarray(large)
    files = {
        "reduced-420.jpg": saved(image, "JPEG", quality=85),
        "reduced-444.jpg": saved(image, "JPEG", quality=85, subsampling="4:4:4"),
        "reduced-progressive.jpg": saved(image, "JPEG", quality=85, progressive=True),
        "reduced-grey.jpg": saved(image.convert("L"), "JPEG", quality=85),
        "reduced-turned.jpg": with_segment(saved(image, "JPEG", quality=85), 0xE1, exif(6)),
    }
    for name, data in files.items():
        opened = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
        for size in (120, 61, 16):
            sample(name, data, premultiplied_bgra(opened), 45, size)


# PNG, written here, so that every type and depth is there

def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def packed_rows(values, depth):
    """Rows of samples (rows × columns × channels), each of `depth` bits, as bytes."""
    for row in values.reshape(values.shape[0], -1):
        if depth == 16:
            yield row.astype(">u2").tobytes()
        elif depth == 8:
            yield row.astype(np.uint8).tobytes()
        else:
            bits = ((row[:, None] >> np.arange(depth - 1, -1, -1)) & 1).astype(np.uint8).ravel()
            yield np.packbits(bits).tobytes()


def filtered(rows, step):
    """Each row with another of the five filters."""
    out, above = b"", None
    for number, row in enumerate(rows):
        kind, line, up = number % 5, bytearray(row), above or bytes(len(row))
        for i in range(len(row) - 1, -1, -1):
            left, over = row[i - step] if i >= step else 0, up[i]
            corner = up[i - step] if i >= step else 0
            guess = min((abs(over - corner), 0, left), (abs(left - corner), 1, over),
                        (abs(left + over - 2 * corner), 2, corner))[2]
            line[i] = (row[i] - [0, left, over, (left + over) // 2, guess][kind]) & 255
        out, above = out + bytes([kind]) + bytes(line), row
    return out


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png(values, depth, colour_type, interlaced=False, before=b"", orientation=None):
    values = values if values.ndim == 3 else values[..., None]
    height, width, channels = values.shape
    step = max(1, depth * channels // 8)
    passes = ADAM7 if interlaced else [(0, 0, 1, 1)]
    parts = [values[y::dy, x::dx] for x, y, dx, dy in passes]
    pixels = b"".join(filtered(packed_rows(part, depth), step) for part in parts if part.size)
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, int(interlaced))
    turned = chunk(b"eXIf", exif(orientation)[6:]) if orientation else b""
    data = zlib.compress(pixels, 9)
    middle = len(data) // 2
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + turned
            + chunk(b"IDAT", data[:middle]) + chunk(b"IDAT", data[middle:]) + chunk(b"IEND", b""))


def to_8_bits(values, depth):
    """Of 16 bits the upper 8, as Pillow has it (W3C PNG §13.12 allows it); fewer are spread."""
    return (values >> 8 if depth == 16 else values * (255 // ((1 << depth) - 1))).astype(np.uint8)


def check(data, expected, depth):
    """What ImageMagick makes of a PNG is what is expected here; of 16 bits it makes one less, here and there."""
    rgba = run("convert", "png:-", "-depth", 8, "RGBA:-", data=data)
    seen = premultiplied_bgra(np.frombuffer(rgba, np.uint8).reshape(expected.shape))
    assert np.abs(seen.astype(int) - expected).max() <= (2 if depth == 16 else 0)
    opened = Image.open(io.BytesIO(data))
    if depth == 16 and opened.mode in ("RGB", "RGBA") and "transparency" not in opened.info:
        assert np.array_equal(premultiplied_bgra(opened.convert("RGBA")), expected)


def png_sample(name, data, pixels, **facts):
    expected = premultiplied_bgra(pixels)
    if "orientation" not in facts:
        check(data, expected, data[24])
    sample(name, data, expected, opaque=pixels.ndim == 2 or pixels.shape[2] == 3, **facts)


def pngs():
    random = np.random.default_rng(7)
    rgba = with_alpha(photograph(31, 23)).astype(np.uint32)
    deep = np.minimum(rgba * 257 + random.integers(0, 257, rgba.shape), 65535)
    deep[..., 3] = np.where(rgba[..., 3] == 255, 65535, deep[..., 3])
    grey, alpha = deep[..., 1], deep[..., 3]
    for interlaced in (False, True):
        end = "-interlaced.png" if interlaced else ".png"
        for depth in (1, 2, 4, 8, 16):
            values = grey >> (16 - depth)
            png_sample(f"png-grey-{depth}{end}", png(values, depth, 0, interlaced), to_8_bits(values, depth))
        for depth in (8, 16):
            colour, opacity = deep[..., :3] >> (16 - depth), alpha >> (16 - depth)
            pale = np.dstack([grey >> (16 - depth), opacity])
            png_sample(f"png-rgb-{depth}{end}", png(colour, depth, 2, interlaced), to_8_bits(colour, depth))
            both = np.dstack([colour, opacity])
            png_sample(f"png-rgba-{depth}{end}", png(both, depth, 6, interlaced), to_8_bits(both, depth))
            eight = to_8_bits(pale, depth)
            png_sample(f"png-grey-alpha-{depth}{end}", png(pale, depth, 4, interlaced), eight[..., [0, 0, 0, 1]])
        for depth in (1, 2, 4, 8):
            palette = random.integers(0, 256, (1 << depth, 3), np.uint8)
            index = (grey >> (16 - depth)).astype(np.uint8)
            plte = chunk(b"PLTE", palette.tobytes())
            png_sample(f"png-palette-{depth}{end}", png(index, depth, 3, interlaced, plte), palette[index])
            opacity = random.integers(0, 256, max(1, (1 << depth) * 3 // 4), np.uint8)
            full = np.concatenate([opacity, np.full((1 << depth) - len(opacity), 255, np.uint8)])
            png_sample(f"png-palette-alpha-{depth}{end}", png(index, depth, 3, interlaced, plte + chunk(
                b"tRNS", opacity.tobytes())), np.dstack([palette[index], full[index]]))
    for depth in (1, 4, 8, 16):
        values = grey >> (16 - depth)
        key = int(values[5, 5])
        pixels = np.dstack([to_8_bits(values, depth)] * 3 + [np.where(values == key, 0, 255).astype(np.uint8)])
        png_sample(f"png-grey-key-{depth}.png",
                   png(values, depth, 0, before=chunk(b"tRNS", struct.pack(">H", key))), pixels)
    for depth in (8, 16):
        values = deep[..., :3] >> (16 - depth)
        key = values[5, 5]
        clear = np.where((values == key).all(axis=2), 0, 255).astype(np.uint8)
        png_sample(f"png-rgb-key-{depth}.png", png(values, depth, 2, before=chunk(b"tRNS", struct.pack(">3H", *key))),
                   np.dstack([to_8_bits(values, depth), clear]))
    for width, height in [(1, 1), (2, 3), (3, 5), (5, 2), (7, 7), (9, 8)]:
        part = rgba[:height, :width, :3]
        png_sample(f"png-{width}x{height}-interlaced.png", png(part, 8, 2, True), part.astype(np.uint8))
    turned = np.rot90(rgba.astype(np.uint8), 3)
    png_sample("png-orientation-6.png", png(rgba, 8, 6, orientation=6), turned, orientation=6)


def reduced_pngs():
    large = with_alpha(photograph(160, 120, 60, 20, 2))
    for name, interlaced in (("reduced-rgba.png", False), ("reduced-interlaced.png", True)):
        data = png(large.astype(np.uint32), 8, 6, interlaced)
        for size in (100, 50, 7):
            sample(name, data, premultiplied_bgra(large), 60, size)


# WebP

def webps():
    rgba = with_alpha(photograph(45, 31))
    image, opaque = Image.fromarray(rgba), Image.fromarray(rgba[..., :3])
    files = {
        "webp-lossy.webp": (saved(opaque, "WEBP", quality=80), 50),
        "webp-lossy-alpha.webp": (saved(image, "WEBP", quality=80), 50),
        "webp-lossless.webp": (saved(opaque, "WEBP", lossless=True), None),
        "webp-lossless-alpha.webp": (saved(image, "WEBP", lossless=True, exact=True), None),
        "webp-lossless-palette.webp": (saved(opaque.quantize(12).convert("RGB"), "WEBP", lossless=True), None),
        "webp-turned.webp": (saved(image, "WEBP", quality=80, exif=exif(6)[6:]), 50),
        "webp-1x1.webp": (saved(opaque.crop((0, 0, 1, 1)), "WEBP", lossless=True), None),
    }
    for name, (data, decibels) in files.items():
        opened = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        sample(name, data, premultiplied_bgra(opened), decibels, opaque="A" not in opened.mode)
    large = with_alpha(photograph(333, 251, 60, 20, 1))
    for name, pixels, options in (("reduced-lossy.webp", large[..., :3], {"quality": 80}),
                                  ("reduced-lossy-alpha.webp", large, {"quality": 80}),
                                  ("reduced-lossless.webp", large[:120, :160], {"lossless": True, "exact": True})):
        data = saved(Image.fromarray(pixels), "WEBP", **options)
        for size in (110, 61, 16):
            sample(name, data, premultiplied_bgra(Image.open(io.BytesIO(data))), 45, size)


MAKERS = {"jpeg": jpegs, "reduced": reduced, "png": pngs, "reduced_png": reduced_pngs, "webp": webps}

if __name__ == "__main__":
    for make in MAKERS.values():
        make()
    lines = ",\n".join(" " + json.dumps({k: v for k, v in each.items() if v is not None}) for each in samples)
    (HERE / "samples.json").write_text(f"[\n{lines}\n]\n")
    print(len(samples), "samples,", sum(f.stat().st_size for f in HERE.iterdir() if f.is_file()) // 1024, "KB")
