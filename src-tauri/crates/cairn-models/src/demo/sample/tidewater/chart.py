"""A tide chart as SVG."""

import csv

from tidewater import axis

WIDTH, HEIGHT, TOP = 480, 270, 16


def read_levels(path):
    """Water levels in centimetres, one for each hour."""
    with open(path, newline="") as file:
        return [int(row["level_cm"]) for row in csv.DictReader(file)]


def draw(levels):
    """The chart of one day as SVG text."""
    marks = axis.ticks(min(levels), max(levels), 40)
    labels = [axis.label(mark) for mark in marks]
    left = axis.left_margin(labels)
    bottom, high, low = HEIGHT - TOP, max(marks), min(marks)

    def y(level):
        return TOP + (high - level) * (bottom - TOP) / (high - low)

    step = (WIDTH - left - TOP) / (len(levels) - 1)
    curve = " ".join(f"{left + hour * step:.1f},{y(level):.1f}" for hour, level in enumerate(levels))
    words = "".join(
        f'<text x="{left - axis.LABEL_GAP - axis.text_width(text)}" y="{y(mark):.1f}">{text}</text>'
        for mark, text in zip(marks, labels)
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}">{words}<polyline points="{curve}" fill="none"/></svg>'
