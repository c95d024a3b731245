"""How near smaller pictures come to a full decode scaled with Lanczos: quality.py PHOTOGRAPH PICTURE… prints dB (PSNR)."""
import math
import sys

from PIL import Image, ImageChops, ImageStat

photograph = Image.open(sys.argv[1]).convert("RGB")
references = {}
for path in sys.argv[2:]:
    picture = Image.open(path).convert("RGB")
    if picture.size not in references:
        references[picture.size] = photograph.resize(picture.size, Image.LANCZOS)
    squares = sum(ImageStat.Stat(ImageChops.difference(picture, references[picture.size])).sum2)
    print(10 * math.log10(255**2 * 3 * picture.width * picture.height / max(squares, 1e-9)))
