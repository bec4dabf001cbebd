"""Tidewater draws the tides of a harbour."""
