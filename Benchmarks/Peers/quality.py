"""How near a smaller picture comes to the full decode scaled with Lanczos: quality.py PHOTOGRAPH PICTURE prints dB (PSNR)."""
import math
import sys

from PIL import Image, ImageChops, ImageStat

picture = Image.open(sys.argv[2]).convert("RGB")
reference = Image.open(sys.argv[1]).convert("RGB").resize(picture.size, Image.LANCZOS)
squares = ImageStat.Stat(ImageChops.difference(picture, reference)).sum2
print(10 * math.log10(255**2 * 3 * picture.width * picture.height / max(sum(squares), 1e-9)))
