"""Makes the sample images of these tests, and what they should decode to: make_samples.py [NAME…]

Wants Pillow, pillow_heif, numpy, ImageMagick, libjpeg-turbo-progs and webp. Run again only to change samples: they are checked in.
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


def detailed():
    """Fine detail and grain, for ReductionTests, which compares what is made of them with what is made of the whole."""
    part = np.asarray(Image.open(PHOTOGRAPHS / "astronaut.png").convert("RGB").crop((190, 270, 510, 510))).astype(float)
    grain = np.random.default_rng(6).normal(0, 12, part.shape[:2])[..., None]
    pixels = np.clip(np.round(part + grain), 0, 255).astype(np.uint8)
    image = Image.fromarray(pixels)
    scanline = saved(image, "PPM")
    for name, data in {
        "detailed-420.jpg": saved(image, "JPEG", quality=85),
        "detailed-422.jpg": saved(image, "JPEG", quality=85, subsampling="4:2:2"),
        "detailed-444-progressive.jpg": saved(image, "JPEG", quality=85, subsampling="4:4:4", progressive=True),
        "detailed-422-progressive.jpg": saved(image, "JPEG", quality=85, subsampling="4:2:2", progressive=True),
        "detailed-440-progressive.jpg": run("cjpeg", "-quality", "85", "-sample", "1x2", "-progressive", data=scanline),
        "detailed-arithmetic-progressive.jpg": run(
            "cjpeg", "-quality", "85", "-sample", "1x1", "-arithmetic", "-progressive", data=scanline),
        "detailed-411-progressive.jpg": run("cjpeg", "-quality", "85", "-sample", "4x1", "-progressive", data=scanline),
        "detailed-lossy.webp": saved(image, "WEBP", quality=80),
        "detailed-lossy-alpha.webp": saved(Image.fromarray(with_alpha(pixels)), "WEBP", quality=80),
    }.items():
        (HERE / name).write_bytes(data)


def with_black(image):
    """CMYK whose greys are black ink, as printers have it. Pillow itself uses no black ink."""
    light = np.asarray(image).astype(float)
    brightest = np.maximum(light.max(2, keepdims=True), 1)
    inks = 255 - np.dstack([light / brightest * 255, brightest])
    return Image.fromarray(np.round(inks).astype(np.uint8), "CMYK")


def foreign():
    """What writers of other kinds make of the same detail, for ReductionTests and ForeignFilesTests."""
    from PIL import ImageCms
    part = np.asarray(Image.open(PHOTOGRAPHS / "astronaut.png").convert("RGB").crop((190, 270, 510, 510))).astype(float)
    grain = np.random.default_rng(6).normal(0, 12, part.shape[:2])[..., None]
    image = Image.fromarray(np.clip(np.round(part + grain), 0, 255).astype(np.uint8))
    y, x = np.mgrid[0:240, 0:320]
    disc = np.dstack([np.asarray(image), np.full((240, 320), 255, np.uint8)])
    disc[np.hypot(x - 160, y - 120) > 90] = (255, 0, 0, 0)
    wide = {"rXYZ": (0.7977, 0.2880, 0), "gXYZ": (0.1352, 0.7119, 0), "bXYZ": (0.0313, 0.0001, 0.8249)}
    p3 = {"rXYZ": (0.5151, 0.2412, -0.0011), "gXYZ": (0.2919, 0.6922, 0.0419), "bXYZ": (0.1572, 0.0666, 0.7841)}
    curve = b"para" + struct.pack(">IHH5i", 0, 3, 0, *(
        round(value * 65536) for value in (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)))

    def profile(primaries, tones):
        tags = {name.encode(): xyz(*values) for name, values in primaries.items()}
        return described(b"RGB ", tags | {b"rTRC": tones, b"gTRC": tones, b"bTRC": tones})

    prophoto, like_srgb = profile(wide, gamma(1.8)), profile(p3, curve)
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for name, data in {
        "detailed-bleeding.webp": saved(Image.fromarray(disc), "WEBP", quality=80, exact=True),
        "detailed-prophoto.jpg": saved(image, "JPEG", quality=85, icc_profile=prophoto),
        "detailed-prophoto-progressive.jpg": saved(
            image, "JPEG", quality=85, subsampling="4:4:4", progressive=True, icc_profile=prophoto),
        "detailed-prophoto.webp": saved(image, "WEBP", quality=80, icc_profile=prophoto),
        "detailed-prophoto.png": saved(image.crop((0, 0, 160, 120)).quantize(64), "PNG", icc_profile=prophoto),
        "detailed-p3.jpg": saved(image, "JPEG", quality=85, icc_profile=like_srgb),
        "detailed-srgb.jpg": saved(image, "JPEG", quality=85, icc_profile=srgb),
        "detailed-cmyk.jpg": saved(image.convert("CMYK"), "JPEG", quality=85),
        "detailed-black.jpg": saved(with_black(image), "JPEG", quality=85, icc_profile=profiles()[2]),
        "detailed-p3.webp": saved(image, "WEBP", quality=80, icc_profile=like_srgb),
        "detailed-p3.png": saved(image.crop((0, 0, 160, 120)).quantize(64), "PNG", icc_profile=like_srgb),
        "restarts-progressive.jpg": run("cjpeg", "-progressive", "-restart", 1,
                                        data=saved(image.crop((0, 0, 96, 64)), "PPM")),
    }.items():
        (HERE / name).write_bytes(data)
    with tempfile.TemporaryDirectory() as folder:
        for number, colour in ((1, (200, 30, 30)), (2, (30, 180, 40))):
            Image.new("RGB", (64, 64), colour).save(Path(folder) / "tile.png")
            run("avifenc", "-l", "-s", 10, Path(folder) / "tile.png", HERE / f"avif-tile-{number}.avif")


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


# Animations: files made here, or by webpmux, and frames put together in numpy

animations = []


def composed(canvas, frames):
    """What is shown, frame by frame: RGBA, straight. A frame is pixels (RGBA), x, y, disposal, whether it replaces."""
    picture = np.zeros((canvas[1], canvas[0], 4))
    for pixels, x, y, disposal, replaces in frames:
        before = picture.copy()
        height, width = min(pixels.shape[0], canvas[1] - y), min(pixels.shape[1], canvas[0] - x)
        place = np.s_[y:y + height, x:x + width]
        above, below = pixels[:height, :width].astype(float), picture[place]
        if not replaces:
            alpha, under = above[..., 3:] / 255, below[..., 3:] / 255 * (1 - above[..., 3:] / 255)
            total = np.where(alpha + under == 0, 1, alpha + under)
            colour = (above[..., :3] * alpha + below[..., :3] * under) / total
            above = np.dstack([colour, (alpha + under) * 255])
        picture[place] = above
        yield np.round(picture).astype(np.uint8)
        if disposal == "clear":
            picture[place] = 0
        elif disposal == "restore":
            picture = before


def seen_by_magick(data, canvas):
    out = run("convert", "gif:-", "-coalesce", "-depth", 8, "RGBA:-", data=data)
    return np.frombuffer(out, np.uint8).reshape(-1, canvas[1], canvas[0], 4)


def seen_by_pillow(data, canvas):
    opened = Image.open(io.BytesIO(data))
    for index in range(opened.n_frames):
        opened.seek(index)
        yield np.asarray(opened.convert("RGBA"))


def animation(name, data, canvas, frames, durations, loops, decibels=None, check=None):
    """`durations` in seconds as they are shown; `loops` is how often it plays; `check` is who has to agree."""
    shown = list(composed(canvas, frames))
    pixels = [premultiplied_bgra(frame) for frame in shown]
    for index, seen in enumerate(check(data, canvas) if check else ()):
        difference = np.abs(premultiplied_bgra(seen).astype(int) - pixels[index]).max()
        assert difference <= (0 if decibels is None else 6), (name, index, difference)
    (HERE / name).write_bytes(data)
    (HERE / (name + ".bgra")).write_bytes(b"".join(each.tobytes() for each in pixels))
    animations.append({"file": name, "expected": name + ".bgra", "width": canvas[0], "height": canvas[1],
                       "durations": durations, "loops": loops, "decibels": decibels})


def lzw(indices, size):
    """GIF's compression, with the table growing to its end, and then cleared."""
    clear, bits, count, out = 1 << size, 0, 0, bytearray()
    table, width, text = {}, size + 1, ()

    def put(code):
        nonlocal bits, count
        bits |= code << count
        count += width
        while count >= 8:
            out.append(bits & 255)
            bits, count = bits >> 8, count - 8

    def code_of(text):
        return text[0] if len(text) == 1 else table[text]

    put(clear)
    for value in indices:
        longer = text + (int(value),)
        if len(longer) == 1 or longer in table:
            text = longer
            continue
        put(code_of(text))
        if clear + 2 + len(table) < 4096:
            table[longer] = clear + 2 + len(table)
            if clear + 2 + len(table) > 1 << width and width < 12:
                width += 1
        else:
            put(clear)
            table, width = {}, size + 1
        text = (int(value),)
    put(code_of(text))
    put(clear + 1)
    if count:
        out.append(bits & 255)
    return bytes(out)


def blocks(data):
    return b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"


def gif(canvas, palette, frames, loops=None):
    """Frames: indices, x, y, delay (hundredths), disposal 0 to 3, transparent index or None, interlaced, own palette."""
    def table(colours):
        return len(colours).bit_length() - 2, colours.astype(np.uint8).tobytes()
    depth, colours = table(palette)
    out = b"GIF89a" + struct.pack("<HHBBB", *canvas, 0x80 | depth, 0, 0) + colours
    if loops is not None:
        out += b"\x21\xFF\x0BNETSCAPE2.0\x03\x01" + struct.pack("<H", loops) + b"\0"
    out += b"\x21\xFE" + blocks(b"a comment")
    for indices, x, y, delay, disposal, clear, interlaced, own in frames:
        out += b"\x21\xF9\x04" + struct.pack(
            "<BHBB", disposal << 2 | (clear is not None), delay, clear or 0, 0)
        height, width = indices.shape
        flags = (0x40 if interlaced else 0) | (0x80 | table(own)[0] if own is not None else 0)
        out += b"\x2C" + struct.pack("<HHHHB", x, y, width, height, flags) + (table(own)[1] if own is not None else b"")
        rows = indices
        if interlaced:
            rows = np.concatenate([indices[a::b] for a, b in ((0, 8), (4, 8), (2, 4), (1, 2))])
        size = max(2, (len(own if own is not None else palette) - 1).bit_length())
        out += bytes([size]) + blocks(lzw(rows.ravel(), size))
    return out + b";"


def gifs():
    random = np.random.default_rng(11)
    cat = Image.fromarray(photograph(40, 30)).quantize(64)
    palette = np.array(cat.getpalette()[:64 * 3]).reshape(64, 3)
    picture = np.asarray(cat)

    def rgba(indices, clear, colours=palette):
        alpha = np.full(indices.shape, 255) if clear is None else np.where(indices == clear, 0, 255)
        return np.dstack([colours[indices], alpha]).astype(np.uint8)

    names = ["keep", "keep", "clear", "restore"]
    for disposal in range(4):
        frames, shown = [], []
        for number in range(5):
            part = picture if number == 0 else picture[number * 3:number * 3 + 12, 4 * number:4 * number + 17]
            clear = None if number == 0 else int(part[2, 2])
            x, y = (0, 0) if number == 0 else (3 + 5 * number, 15 - 3 * number)
            method = disposal if number else 1
            frames.append((part, x, y, 7 + number, method, clear, number % 2 == 1, None))
            shown.append((rgba(part, clear), x, y, names[method], False))
        animation(f"gif-disposal-{disposal}.gif", gif((40, 30), palette, frames, 0), (40, 30), shown,
                  [(7 + n) / 100 for n in range(5)], 0, check=seen_by_magick)
    own = random.integers(0, 256, (8, 3))
    small = random.integers(0, 8, (9, 11))
    frames = [(small, 2, 1, 0, 0, None, False, own), (small[::-1], 35, 25, 1, 0, 3, True, own),
              (picture[:7, :7], 0, 0, 2, 0, None, False, None)]
    shown = [(rgba(small, None, own), 2, 1, "keep", False), (rgba(small[::-1], 3, own), 35, 25, "keep", False),
             (rgba(picture[:7, :7], None), 0, 0, "keep", False)]
    animation("gif-parts.gif", gif((40, 30), palette, frames, 4), (40, 30), shown, [0.1, 0.1, 0.02], 5)
    noise = random.integers(0, 256, (90, 110))
    many = random.integers(0, 256, (256, 3))
    data = gif((110, 90), many, [(noise, 0, 0, 0, 0, None, False, None)])
    sample("gif-full-table.gif", data, premultiplied_bgra(Image.open(io.BytesIO(data)).convert("RGB")), opaque=True)
    for name, indices, colours in (("two", noise[:13, :9] % 2, many[:2]), ("four", noise[:13, :9] % 4, many[:4]),
                                   ("plain", np.zeros((60, 60), int), many[:2])):
        height, width = indices.shape
        data = gif((width, height), colours, [(indices, 0, 0, 0, 0, None, False, None)])
        sample(f"gif-{name}.gif", data, premultiplied_bgra(Image.open(io.BytesIO(data)).convert("RGB")), opaque=True)
    data = gif((40, 30), palette, [(picture[:20, :31], 4, 5, 0, 0, int(picture[3, 3]), True, None)])
    whole = next(composed((40, 30), [(rgba(picture[:20, :31], int(picture[3, 3])), 4, 5, "keep", False)]))
    sample("gif-interlaced-part.gif", data, premultiplied_bgra(whole), opaque=False)
    sample("gif-interlaced-part.gif", data, premultiplied_bgra(whole), 45, 16)


def apng(canvas, frames, plays, hidden=None):
    """Frames: RGBA, x, y, delay as a fraction, disposal 0 to 2, blending 0 (replace) or 1."""
    header = struct.pack(">IIBBBBB", *canvas, 8, 6, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"acTL", struct.pack(">II", len(frames), plays))
    number = 0

    def pixels(values):
        return zlib.compress(filtered(packed_rows(values.astype(np.uint32), 8), 4), 9)

    if hidden is not None:
        out += chunk(b"IDAT", pixels(hidden))
    for index, (values, x, y, delay, disposal, blending) in enumerate(frames):
        size = (values.shape[1], values.shape[0])
        out += chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, *size, x, y, *delay, disposal, blending))
        number += 1
        data = pixels(values)
        if index == 0 and hidden is None:
            out += chunk(b"IDAT", data)
            continue
        for part in (data[:50], data[50:]):
            out += chunk(b"fdAT", struct.pack(">I", number) + part)
            number += 1
    return out + chunk(b"IEND", b"")


def apngs():
    rgba = with_alpha(photograph(40, 30))
    hard = rgba.copy()
    hard[..., 3] = np.where(rgba[..., 3] > 128, 255, 0)
    names = ["keep", "clear", "restore"]
    for kind, source, decibels in (("hard", hard, None), ("soft", rgba, 48)):
        for disposal in range(3):
            for blending in range(2):
                frames, shown = [], []
                for number in range(4):
                    part = source if number == 0 else source[2 * number:2 * number + 15, 5 * number:5 * number + 18]
                    x, y = (0, 0) if number == 0 else (4 * number, 14 - 2 * number)
                    method = 0 if number == 0 else disposal
                    frames.append((part, x, y, (number + 2, 20), method, blending))
                    shown.append((part, x, y, names[method], blending == 0))
                animation(f"apng-{kind}-{names[disposal]}-{'blend' if blending else 'replace'}.png",
                          apng((40, 30), frames, 2), (40, 30), shown, [(n + 2) / 20 for n in range(4)], 2, decibels,
                          # Pillow restores wrongly where one such frame follows another, and blends alpha as a colour.
                          seen_by_pillow if disposal < 2 and (kind == "hard" or not blending) else None)
    frames = [(hard, 0, 0, (1, 0), 0, 0), (hard[::-1], 0, 0, (0, 0), 0, 0)]
    shown = [(hard, 0, 0, "keep", True), (hard[::-1], 0, 0, "keep", True)]
    animation("apng-hidden.png", apng((40, 30), frames, 0, hidden=rgba), (40, 30), shown, [0.1, 0.1], 0)


def webp_animations():
    rgba = with_alpha(photograph(40, 30))
    rgba[..., :3] *= (rgba[..., 3:] > 0).astype(np.uint8)
    for kind, lossless in (("lossless", True), ("lossy", False)):
        frames, shown = [], []
        with tempfile.TemporaryDirectory() as folder:
            for number in range(5):
                part = rgba if number == 0 else rgba[2 * number:2 * number + 16, 4 * number:4 * number + 18]
                x, y = (0, 0) if number == 0 else (4 * number, 12 - 2 * number)
                file = Path(folder) / f"{number}.webp"
                data = saved(Image.fromarray(part), "WEBP", lossless=lossless, quality=90, exact=True)
                file.write_bytes(data)
                clear, replace = number % 2 == 1, number % 3 == 2
                frames += ["-frame", file, f"+{number * 40 + 5}+{x}+{y}+{int(clear)}{'-b' if replace else '+b'}"]
                decoded_part = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
                shown.append((decoded_part, x, y, "clear" if clear else "keep", replace))
            run("webpmux", *frames, "-loop", 3, "-bgcolor", "255,255,255,255", "-o", Path(folder) / "all.webp")
            data = (Path(folder) / "all.webp").read_bytes()
        animation(f"webp-animated-{kind}.webp", data, (40, 30), shown, [0.1] + [(n * 40 + 5) / 1000 for n in range(1, 5)],
                  3, 44 if not lossless else 48, seen_by_pillow)


# Colour profiles (ICC.1), written here

def icc(kind, tags):
    """A profile of the class “display”, with tags of name and content."""
    table, body = b"", b""
    offset = 128 + 4 + 12 * len(tags)
    for name, content in tags.items():
        content += bytes(-len(content) % 4)
        table += struct.pack(">4sII", name, offset + len(body), len(content))
        body += content
    header = struct.pack(">I4sI4s4s4s12s4s4sII4sQI3I", offset + len(body), b"test", 0x02400000, b"mntr", kind,
                         b"Lab " if kind == b"CMYK" else b"XYZ ", bytes(12), b"acsp", bytes(4), 0, 0, bytes(4), 0, 0,
                         *(round(v * 65536) for v in (0.9642, 1.0, 0.8249)))
    return header.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body


def described(kind, tags):
    text = b"A test\0"
    return icc(kind, {b"desc": b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + bytes(79),
                      b"cprt": b"text\0\0\0\0CC0\0", b"wtpt": xyz(0.9642, 1.0, 0.8249), **tags})


def xyz(*values):
    return b"XYZ \0\0\0\0" + struct.pack(">3i", *(round(v * 65536) for v in values))


def gamma(value):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(value * 256)) + b"\0\0"


def lut8(grid):
    """A lookup table from CMYK to Lab. `grid` has the Lab value of each corner of the CMYK cube."""
    matrix = struct.pack(">9i", *(65536 if i % 4 == 0 else 0 for i in range(9)))
    line = bytes(range(256))
    return b"mft1\0\0\0\0" + bytes([4, 3, 2, 0]) + matrix + line * 4 + grid + line * 3


def profiles():
    wide = described(b"RGB ", {b"rXYZ": xyz(0.5151, 0.2412, -0.0011), b"gXYZ": xyz(0.2919, 0.6922, 0.0419),
                               b"bXYZ": xyz(0.1572, 0.0666, 0.7841), b"rTRC": gamma(2.2), b"gTRC": gamma(2.2),
                               b"bTRC": gamma(2.2)})
    dark = described(b"GRAY", {b"kTRC": gamma(1.4)})
    corners = bytearray()
    for corner in range(16):
        cyan, magenta, yellow, black = (corner >> 3 & 1, corner >> 2 & 1, corner >> 1 & 1, corner & 1)
        light = 95 - 30 * cyan - 40 * magenta - 6 * yellow
        a, b = -30 * cyan + 60 * magenta, -40 * cyan + 75 * yellow
        corners += bytes([round(max(8, light * (0.12 if black else 1)) * 2.55), 128 + (a // 8 if black else a),
                          128 + (b // 8 if black else b)])
    inks = described(b"CMYK", {b"A2B0": lut8(bytes(corners)), b"B2A0": b""})
    return wide, dark, inks


def coloured():
    from PIL import ImageCms
    wide, dark, inks = profiles()
    target = ImageCms.createProfile("sRGB")

    def shown(image, profile, mode="RGB"):
        return ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), target,
                                         ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode=mode,
                                         flags=ImageCms.Flags.BLACKPOINTCOMPENSATION)
    rgba = with_alpha(photograph(45, 31))
    image = Image.fromarray(rgba[..., :3])
    data = saved(image, "JPEG", quality=90, icc_profile=wide)
    sample("icc-rgb.jpg", data, premultiplied_bgra(shown(Image.open(io.BytesIO(data)), wide)), 50)
    data = saved(image.convert("L"), "JPEG", quality=90, icc_profile=dark)
    sample("icc-grey.jpg", data, premultiplied_bgra(shown(Image.open(io.BytesIO(data)), dark)), 50)
    data = saved(image.convert("CMYK"), "JPEG", quality=90, icc_profile=inks)
    sample("icc-cmyk.jpg", data, premultiplied_bgra(shown(Image.open(io.BytesIO(data)), inks)), 50)
    for name, options in (("png", {}), ("webp", {"lossless": True, "exact": True})):
        for kind, pixels in (("rgb", rgba[..., :3]), ("rgba", rgba)):
            data = saved(Image.fromarray(pixels), name.upper(), icc_profile=wide, **options)
            expected = np.asarray(shown(Image.fromarray(pixels[..., :3]), wide))
            if kind == "rgba":
                expected = np.dstack([expected, pixels[..., 3]])
            sample(f"icc-{kind}.{name}", data, premultiplied_bgra(expected), 45 if kind == "rgba" else 55)
    plain = ImageCms.ImageCmsProfile(target).tobytes()
    data = saved(image, "PNG", icc_profile=plain)
    sample("icc-srgb.png", data, premultiplied_bgra(image))
    broken = bytearray(wide)
    broken[128:140] = b"\xff" * 12
    data = saved(image, "PNG", icc_profile=bytes(broken))
    sample("icc-broken.png", data, premultiplied_bgra(image))


# Small ones, to be damaged and decoded very often

def tiny():
    rgba = with_alpha(photograph(11, 9))
    image, transparent = Image.fromarray(rgba[..., :3]), Image.fromarray(rgba)
    ppm = saved(image, "PPM")
    plain = saved(image, "JPEG", quality=80)
    files = {
        "tiny-420.jpg": plain,
        "tiny-restarts.jpg": run("cjpeg", "-restart", "1B", "-sample", "2x1", data=ppm),
        "tiny-turned.jpg": with_segment(plain, 0xE1, exif(5)),
        "tiny-grey.jpg": saved(image.convert("L"), "JPEG"),
        "tiny-cmyk.jpg": saved(image.convert("CMYK"), "JPEG"),
        "tiny-progressive.jpg": saved(image, "JPEG", progressive=True),
        "tiny-cmyk-progressive.jpg": saved(image.convert("CMYK"), "JPEG", progressive=True),
    }
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as script:
        script.write("0;\n1;\n2;\n")
        script.flush()
        files["tiny-scattered.jpg"] = run("cjpeg", "-scans", script.name, data=ppm)
    for name, data in files.items():
        opened = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        sample(name, data, premultiplied_bgra(opened.convert("RGB")), 50)
    for name, picture, options in (("lossy", image, {"quality": 70}), ("lossy-alpha", transparent, {"quality": 70}),
                                   ("lossless", transparent, {"lossless": True, "exact": True}),
                                   ("turned", image, {"quality": 70, "exif": exif(8)[6:]})):
        data = saved(picture, "WEBP", **options)
        opened = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        sample(f"tiny-{name}.webp", data, premultiplied_bgra(opened), 50)


# Bombs: small files that ask for much. They have no expectation.

def bombs():
    image = Image.fromarray(photograph(40, 32))
    data = saved(image, "JPEG", progressive=True)
    last = data.rindex(b"\xFF\xDA")
    (HERE / "bomb-scans.jpg").write_bytes(data[:-2] + data[last:-2] * 600 + b"\xFF\xD9")
    plain = saved(image, "PNG")
    deflated = zlib.compress(bytes(96 << 20), 9)
    (HERE / "bomb-text.png").write_bytes(plain[:33] + chunk(b"zTXt", b"a\0\0" + deflated) + plain[33:])
    (HERE / "bomb-profile.png").write_bytes(plain[:33] + chunk(b"iCCP", b"a\0\0" + deflated) + plain[33:])
    rows = zlib.compress(bytes((1 + 9999) * 9999 // 8 + 20000), 9)
    header = struct.pack(">IIBBBBB", 9999, 9999, 1, 0, 0, 0, 1)
    (HERE / "bomb-interlaced.png").write_bytes(
        plain[:8] + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


# Large and plain ones, to be left while they are decoded. They have no expectation.

def large():
    y, x = np.mgrid[0:1000, 0:1500]
    pixels = np.dstack([x * 255 // 1500, y * 255 // 1000, (x + y) * 255 // 2500]).astype(np.uint8)
    image = Image.fromarray(pixels)
    image.save(HERE / "large-baseline.jpg", quality=50)
    image.save(HERE / "large-progressive.jpg", quality=50, progressive=True)
    image.convert("L").save(HERE / "large-rows.png", optimize=True)
    (HERE / "large-interlaced.png").write_bytes(run("convert", "png:-", "-interlace", "PNG", "png:-",
                                                    data=saved(image.convert("L"), "PNG")))
    image.save(HERE / "large-lossy.webp", quality=50)
    image.save(HERE / "large-lossless.webp", lossless=True)
    noise = np.random.default_rng(5).integers(0, 2, (1000, 1500))
    noise[:, 40:] = 0
    (HERE / "large-frame.gif").write_bytes(
        gif((1500, 1000), np.array([[0, 0, 0], [255, 255, 255]]), [(noise, 0, 0, 0, 0, None, False, None)]))


def patient():
    """Above two megapixels libwebp's long steps are taken on another thread."""
    y, x = np.mgrid[0:1300, 0:1600]
    Image.fromarray(np.dstack([x // 8, y // 8, (x // 40 + y // 40) % 7 * 30]).astype(np.uint8)).save(
        HERE / "patient-lossless.webp", lossless=True)
    Image.new("RGB", (1600, 1300), (90, 120, 150)).save(HERE / "patient-lossy.webp", quality=80)


# Formats behind traits. Their headers are read in any build.

optional = []


def optional_sample(name, data, expected, decibels, **facts):
    (HERE / name).write_bytes(data)
    (HERE / (name + ".bgra")).write_bytes(expected.tobytes())
    optional.append({"file": name, "expected": name + ".bgra", "width": expected.shape[1],
                     "height": expected.shape[0], "decibels": decibels, **facts})


def optionals():
    rgba = with_alpha(photograph(45, 31))
    image, opaque = Image.fromarray(rgba), Image.fromarray(rgba[..., :3])
    with tempfile.TemporaryDirectory() as folder:
        png_file, plain_file = Path(folder) / "in.png", Path(folder) / "plain.png"
        image.save(png_file)
        opaque.save(plain_file)

        def made(suffix, command, *options, source=plain_file):
            out = Path(folder) / ("out." + suffix)
            run(command, *options, source, *(["-o"] if command == "heif-enc" else []), out)
            return out.read_bytes()

        def seen(command, data, suffix):
            (Path(folder) / ("seen." + suffix)).write_bytes(data)
            run(command, Path(folder) / ("seen." + suffix), Path(folder) / "seen.png")
            return premultiplied_bgra(Image.open(Path(folder) / "seen.png").convert("RGBA"))

        def turned(angle, mirror):
            """`angle` quarters counterclockwise, then the mirror: 0 exchanges top and bottom, 1 left and right."""
            pixels = np.rot90(rgba[..., :3], angle)
            return pixels if mirror is None else (np.flipud if mirror == 0 else np.fliplr)(pixels)

        for angle in range(4):
            for mirror in (None, 0, 1):
                options = ["--irot", angle] + ([] if mirror is None else ["--imir", mirror])
                data = made("avif", "avifenc", "-l", "-s", 10, *options)
                name = f"avif-turned-{angle}{'' if mirror is None else f'-{mirror}'}.avif"
                optional_sample(name, data, premultiplied_bgra(turned(angle, mirror)), 45)
        data = made("avif", "avifenc", "--min", 0, "--max", 20, "-s", 8, source=png_file)
        optional_sample("avif-alpha.avif", data, premultiplied_bgra(Image.open(io.BytesIO(data)).convert("RGBA")), 42)
        data = made("jxl", "cjxl", "-d", 0, source=png_file)
        optional_sample("jxl-lossless.jxl", data, premultiplied_bgra(image), 60)
        data = made("jxl", "cjxl", "-d", 0.5, "--container=1")
        optional_sample("jxl-lossy.jxl", data, seen("djxl", data, "jxl"), 50)
        (Path(folder) / "turned.jpg").write_bytes(with_segment(saved(opaque, "JPEG", quality=95), 0xE1, exif(6)))
        data = made("jxl", "cjxl", "-j", 0, "-d", 0.5, source=Path(folder) / "turned.jpg")
        optional_sample("jxl-turned.jxl", data, seen("djxl", data, "jxl"), 50)
        data = made("heic", "heif-enc", "-q", 95)
        optional_sample("heic-plain.heic", data, seen("heif-convert", data, "heic"), 45)
    current(image)
    svg = (b'<?xml version="1.0"?>\n<!-- two halves and a hole -->\n<svg xmlns="http://www.w3.org/2000/svg" '
           b'width="40" height="20" viewBox="0 0 4 2"><rect width="2" height="2" fill="#ff0000"/>'
           b'<rect x="2" width="1" height="2" fill="#0000ff" fill-opacity="0.5"/></svg>')
    drawn = np.zeros((20, 40, 4), np.uint8)
    drawn[:, :20] = (255, 0, 0, 255)
    drawn[:, 20:30] = (0, 0, 255, 128)
    optional_sample("svg-rectangles.svg", svg, premultiplied_bgra(drawn), 45)


def current(image):
    """Files of libraries newer than Debian's, by Pillow and pillow_heif. Sides are odd, so libheif crops picture and alpha."""
    from PIL import ImageCms
    import pillow_heif
    pillow_heif.register_heif_opener()
    data = saved(image, "HEIF", quality=90)
    optional_sample("heic-alpha.heic", data, premultiplied_bgra(Image.open(io.BytesIO(data)).convert("RGBA")), 42)
    _, dark, _ = profiles()
    target = ImageCms.createProfile("sRGB")
    for kind, options in (("heic", {"quality": 90}), ("avif", {"quality": 90, "subsampling": "4:0:0"})):
        data = saved(image.convert("L"), {"heic": "HEIF"}.get(kind, "AVIF"), icc_profile=dark, **options)
        shown = ImageCms.profileToProfile(Image.open(io.BytesIO(data)).convert("L"), ImageCms.ImageCmsProfile(
            io.BytesIO(dark)), target, ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode="RGB",
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION)
        optional_sample(f"{kind}-grey.{kind}", data, premultiplied_bgra(shown), 45)


MAKERS = {"jpeg": jpegs, "reduced": reduced, "detailed": detailed, "foreign": foreign, "png": pngs, "reduced_png": reduced_pngs, "webp": webps, "gif": gifs, "apng": apngs,
          "webp_animation": webp_animations, "coloured": coloured, "tiny": tiny, "bombs": bombs, "large": large, "patient": patient, "optional": optionals}

if __name__ == "__main__":
    for make in MAKERS.values():
        make()
    for name, entries in (("samples.json", samples), ("animations.json", animations),
                          ("optional.json", optional)):
        lines = ",\n".join(" " + json.dumps({k: v for k, v in each.items() if v is not None}) for each in entries)
        (HERE / name).write_text(f"[\n{lines}\n]\n")
    print(len(samples), "samples,", len(animations), "animations,",
          sum(f.stat().st_size for f in HERE.iterdir() if f.is_file()) // 1024, "KB")
