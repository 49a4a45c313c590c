"""The subset of the Common Expression Language that scoring needs, with a limit on its steps.

Departures from CEL: all numbers are doubles (so `%` takes them and `7 / 2` is 3.5), lengths count
code points, `matches` takes JavaScript patterns, and there are no bytes, timestamps or types.
"""
