"""The labels of the axis must fit beside the plot."""

import unittest

from tidewater import axis, chart


class AxisTest(unittest.TestCase):
    def test_ticks_hold_both_ends(self):
        self.assertEqual(axis.ticks(-90, 110, 40), [-120, -80, -40, 0, 40, 80, 120])

    def test_labels_carry_their_sign(self):
        self.assertEqual([axis.label(n) for n in (-40, 0, 40)], ["-40", "0", "+40"])

    def test_short_labels_keep_the_usual_margin(self):
        self.assertGreaterEqual(axis.left_margin(["0"]), axis.MARGIN_LEFT)

    def test_the_widest_label_fits(self):
        room = axis.left_margin(["0", "+120"]) - axis.LABEL_GAP
        self.assertGreaterEqual(room, axis.text_width("+120"))

    def test_no_label_of_the_harbour_is_cut_off(self):
        picture = chart.draw(chart.read_levels("data/harbour.csv"))
        self.assertNotIn('x="-', picture)


if __name__ == "__main__":
    unittest.main()
