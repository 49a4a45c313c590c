"""The Common Expression Language, as far as scoring needs it, with every step counted.

Departures from CEL: all numbers are doubles (so `%` takes them and `7 / 2` is 3.5), lengths count
code points, `matches` takes JavaScript patterns, and there are no bytes, timestamps or types.
"""
