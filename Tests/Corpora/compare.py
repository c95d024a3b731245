"""Compares what `Decode` makes of image files with what Pillow makes of them: compare.py DECODE FOLDER…

See Scripts/check-corpora, which says what is printed.
"""
import collections
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, ImageOps, ImageSequence

import arbiter

REDUCTIONS = (1.7, 2.9, 5.3, 9.1, 17)
SECONDS, ADDRESS_SPACE, MUCH_MEMORY = 30, 8 << 30, 1 << 30
ALIKE, PROMISED = 30, 45  # dB: against another decoder, and of a reduced size against the whole
FRAMES = 16
Image.MAX_IMAGE_PIXELS = 100_000_000
warnings.simplefilter("ignore")
SRGB = ImageCms.createProfile("sRGB")


class Ours:
    """One run of `Decode`: a line for each size, and what became of the process."""

    def __init__(self, program, path, sizes, folder):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        start = time.monotonic()
        process = subprocess.Popen([program, path, folder, *map(str, sizes)], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, preexec_fn=limit)
        signal.signal(signal.SIGALRM, lambda *_: process.kill())
        signal.alarm(SECONDS)
        output = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        signal.alarm(0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds, self.memory = time.monotonic() - start, usage.ru_maxrss * 1024
        self.timed_out = self.seconds >= SECONDS
        self.crash = None if self.timed_out or process.returncode == 0 else f"status {process.returncode}"
        self.folder, self.results = Path(folder), {}
        for line in output.splitlines():
            what, verdict, rest = (line.split(" ", 2) + ["", ""])[:3]
            self.results[what] = (verdict == "ok", rest)

    def decodes(self, what):
        return self.results.get(what, (False, ""))[0]

    def reason(self, what):
        return self.results.get(what, (False, "nothing was said"))[1]

    def pixels(self, what, size=None):
        width, height = size or map(int, self.results[what][1].split())
        return np.fromfile(self.folder / f"{what}.bgra", np.uint8).reshape(height, width, 4)


def premultiplied(image):
    """A Pillow picture as sRGB, premultiplied BGRA."""
    profile = image.info.get("icc_profile")
    alpha = image.convert("RGBA").getchannel("A") if image.has_transparency_data else None
    if image.mode.startswith("I;16"):
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.mode in ("P", "PA", "1", "LA", "RGBA"):
        image = image.convert("RGB")
    try:
        if profile:
            image = ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), SRGB,
                                              renderingIntent=1, outputMode="RGB",
                                              flags=ImageCms.Flags.BLACKPOINTCOMPENSATION)
    except (ImageCms.PyCMSError, OSError, ValueError):
        pass
    colour = np.asarray(image.convert("RGB")).astype(np.uint32)
    opacity = np.full(colour.shape[:2], 255, np.uint32) if alpha is None else np.asarray(alpha).astype(np.uint32)
    colour = (colour[..., ::-1] * opacity[..., None] + 127) // 255
    return np.dstack([colour, opacity]).astype(np.uint8)


def pillow(path):
    """The picture and the number of frames, or the reason why there is none. Files of no known format are None."""
    try:
        image = Image.open(path)
    except Image.UnidentifiedImageError:
        return None, "unknown"
    except Exception as error:
        return None, repr(error)
    try:
        frames = getattr(image, "n_frames", 1)
        return (premultiplied(ImageOps.exif_transpose(image)), frames), image.format
    except Exception as error:
        return None, repr(error)


def decibels(one, other):
    if one.shape != other.shape:
        return -np.inf
    error = np.mean((one.astype(float) - other) ** 2)
    return np.inf if error == 0 else 10 * np.log10(255 ** 2 / error)


def area_mean(pixels, width, height):
    """The mean of the area that each pixel of a smaller picture covers: differences of an integral."""
    def along(values, outputs):
        inputs = values.shape[0]
        integral = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, 0)])
        edges = np.arange(outputs + 1) * inputs / outputs
        whole = np.minimum(edges.astype(int), inputs - 1)
        part = (edges - whole).reshape(-1, *[1] * (values.ndim - 1))
        return np.diff(integral[whole] + part * values[whole], axis=0) * outputs / inputs
    return along(along(pixels.astype(float), height).swapaxes(0, 1), width).swapaxes(0, 1)


def frame_decibels(path, ours, size):
    """The least agreement of a frame with Pillow's."""
    with Image.open(path) as image:
        pairs = zip(range(FRAMES), ImageSequence.Iterator(image))
        return min(decibels(ours.pixels(f"frame-{index}", size), premultiplied(frame)) for index, frame in pairs)


class Report:
    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)
        self.lines = collections.defaultdict(list)
        self.peak, self.slowest = (0, ""), (0, "")
        self.files = self.others = 0

    def note(self, heading, path, words=""):
        self.lines[heading].append(f"{path}  {words}")

    def judge(self, path, program, folder):
        self.files += 1
        theirs, reason = pillow(path)
        side = max(theirs[0].shape[:2]) if theirs else 64
        sizes = [0] + sorted({max(1, round(side / reduction)) for reduction in REDUCTIONS})
        ours = Ours(program, path, sizes, folder)
        self.peak = max(self.peak, (ours.memory, str(path)))
        self.slowest = max(self.slowest, (ours.seconds, str(path)))
        if ours.crash:
            self.note("crashes", path, ours.crash)
        if ours.timed_out:
            self.note(f"timeouts of {SECONDS} s", path)
        if ours.memory > MUCH_MEMORY:
            self.note("memory", path, f"{ours.memory >> 20} MB")
        unknown = any(word in ours.reason("0") for word in ("format is unknown", "this build cannot decode"))
        if unknown and reason == "unknown":
            self.others += 1
            return
        if unknown:
            return self.note("files of formats that we do not decode", path)
        kind = Path(path).suffix.lower()
        if not theirs and reason == "unknown":
            reason = "not known to Pillow"
        self.compare(path, kind, ours, theirs, reason)
        self.sizes(path, ours, sizes[1:])

    def compare(self, path, kind, ours, theirs, reason):
        counts = self.counts[kind]
        counts["files"] += 1
        if not ours.decodes("0") or not theirs:
            verdict = {(True, False): "only we", (False, True): "only Pillow"}.get(
                (ours.decodes("0"), bool(theirs)), "neither")
            counts[verdict] += 1
            if verdict != "neither":
                reasons = ours.reason("0") if verdict == "only Pillow" else reason
                self.note(f"decoded by {verdict}", path, reasons + arbiter.opinion(path))
            return
        value = decibels(ours.pixels("0"), theirs[0])
        counts["alike" if value >= ALIKE else "different"] += 1
        if value < ALIKE:
            found = f"{value:.1f} dB {ours.pixels('0').shape[:2]} {theirs[0].shape[:2]}"
            self.note(f"pictures that differ from Pillow's by less than {ALIKE} dB", path,
                      found + arbiter.opinion(path, ours.pixels("0"), theirs[0], decibels))
        self.animation(path, ours, theirs)

    def animation(self, path, ours, theirs):
        if not ours.decodes("frames"):
            return self.note("animations that we refuse", path, ours.reason("frames"))
        count = int(ours.reason("frames"))
        if count == 1:  # which AVIF's are here, and Pillow's multi-page files
            return
        self.counts["animations"]["files"] += 1
        if count != theirs[1]:
            return self.note("animations of another number of frames", path, f"{count}, Pillow {theirs[1]}")
        try:
            value = frame_decibels(path, ours, theirs[0].shape[1::-1])
        except Exception as error:
            return self.note("animations that Pillow refuses", path, repr(error))
        self.counts["animations"]["alike" if value >= ALIKE else "different"] += 1
        if value < ALIKE:
            pictures = [ours.pixels(f"frame-{index}", theirs[0].shape[1::-1]) for index in range(min(count, FRAMES))]
            self.note(f"frames that differ from Pillow's by less than {ALIKE} dB", path,
                      f"{value:.1f} dB" + arbiter.opinion_of_frames(path, pictures, decibels))

    def sizes(self, path, ours, sides):
        for side in map(str, sides):
            if ours.decodes(side) != ours.decodes("0"):
                words = ours.reason("0" if ours.decodes(side) else side)
                self.note("verdicts that depend on the size", path, f"at {side}: {words}")
            elif ours.decodes(side):
                small = ours.pixels(side)
                value = decibels(small, area_mean(ours.pixels("0"), *small.shape[1::-1]))
                self.counts["reduced sizes"]["files"] += 1
                if value < PROMISED:
                    self.note(f"reduced sizes below {PROMISED} dB", path, f"at {side}: {value:.1f} dB")

    def show(self):
        columns = ("files", "alike", "different", "only we", "only Pillow", "neither")
        for heading, lines in sorted(self.lines.items()):
            print(f"\n{heading}: {len(lines)}")
            print("\n".join("  " + line for line in lines))
        print("\n" + " ".join(f"{name:>12}" for name in ("", *columns)))
        for kind, counts in sorted(self.counts.items()):
            print(" ".join(f"{value:>12}" for value in (kind, *(counts[name] for name in columns))))
        print(f"\n{self.files} files, of which {self.others} are of no format that we or Pillow know")
        print(f"most memory {self.peak[0] >> 20} MB ({self.peak[1]}), slowest {self.slowest[0]:.1f} s "
              f"({self.slowest[1]})")
        harm = ("crashes", "timeouts", "verdicts that")
        return any(heading.startswith(harm) for heading in self.lines)


def main():
    program, folders = sys.argv[1], sys.argv[2:]
    report = Report()
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    for path in paths:
        with tempfile.TemporaryDirectory() as scratch:
            report.judge(path, program, scratch)
    sys.exit(report.show())


main()
