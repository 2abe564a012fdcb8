"""How colours look to people with a colour-blindness, and how far apart two of them are.

Simulation: Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency",
IEEE TVCG 15(6), 2009, the matrices for severity 1.0, applied to linear RGB. Distance: CIEDE2000 as in Sharma, Wu and
Dalal, "The CIEDE2000 color-difference formula", Color Research and Application 30(1), 2005. Contrast: WCAG 2.
"""

from __future__ import annotations

import math

Triple = tuple[float, float, float]

MACHADO = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
_TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
_WHITE = (0.95047, 1.0, 1.08883)


def linear(colour: str) -> Triple:
    """``#rrggbb`` as linear RGB."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return _bent(red), _bent(green), _bent(blue)


def _bent(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _times(matrix: tuple[Triple, Triple, Triple], vector: Triple) -> Triple:
    one, two, three = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return one, two, three


def lab(colour: str, vision: str = "normal") -> Triple:
    """The colour in CIELAB, as somebody with this vision sees it."""
    seen = _times(MACHADO[vision], linear(colour))
    clipped = tuple(min(max(part, 0.0), 1.0) for part in seen)
    x, y, z = (part / white for part, white in zip(_times(_TO_XYZ, clipped), _WHITE, strict=True))  # type: ignore[arg-type]
    fx, fy, fz = (part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one: Triple, other: Triple) -> float:
    """CIEDE2000 between two colours in CIELAB."""
    l1, a1, b1 = one
    l2, a2, b2 = other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    grey = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = (1 + grey) * a1, (1 + grey) * a2
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = h2 - h1
    turn = 0.0 if not c1 * c2 else turn - 360 if turn > 180 else turn + 360 if turn < -180 else turn
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    middle = h1 + h2
    if c1 * c2:
        middle = middle / 2 if abs(h1 - h2) <= 180 else (middle + 360) / 2 if middle < 360 else (middle - 360) / 2
    t = (
        1 - 0.17 * math.cos(math.radians(middle - 30)) + 0.24 * math.cos(math.radians(2 * middle))
        + 0.32 * math.cos(math.radians(3 * middle + 6)) - 0.20 * math.cos(math.radians(4 * middle - 63))
    )  # fmt: skip
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    sl = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    rotation = -math.sin(math.radians(60 * math.exp(-(((middle - 275) / 25) ** 2)))) * 2
    rotation *= math.sqrt(chroma**7 / (chroma**7 + 25**7))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, hue / sh
    return math.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)


def contrast(one: str, other: str) -> float:
    """WCAG's ratio of luminances, from 1 to 21."""
    low, high = sorted(_times(_TO_XYZ, linear(colour))[1] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)
