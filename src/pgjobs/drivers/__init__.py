"""Drivers call verbs: one protocol, four ways to reach the SQL."""

from pgjobs.drivers.base import Driver as Driver
from pgjobs.drivers.base import Row as Row
from pgjobs.drivers.base import Wake as Wake
