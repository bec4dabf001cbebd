"""The y axis of a tide chart: ticks, labels and the room they need."""

# Pixels between the left edge of the picture and the plot.
MARGIN_LEFT = 24

# Pixels between a label and the axis.
LABEL_GAP = 6

# Pixels that one character of a label is wide.
CHARACTER_WIDTH = 8


def ticks(low, high, step):
    """Water levels in centimetres that get a label, from low to high."""
    first = low - low % step
    return list(range(first, high + step, step))


def label(level):
    """How a water level is written: always with its sign."""
    return f"{level:+d}" if level else "0"


def text_width(text):
    """Pixels that a text needs."""
    return CHARACTER_WIDTH * len(text)


def left_margin(labels):
    """Pixels to keep free at the left, so that every label fits."""
    return MARGIN_LEFT
