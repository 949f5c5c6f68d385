"""Formats of our OpenAPI document that no standard knows, for whoever generates requests from it."""

from __future__ import annotations

import schemathesis
from hypothesis import strategies as st

CRONS = ["* * * * *", "*/5 8-18 * * MON-FRI", "0 0 1,15 * *", "30 2 L * *", "@daily", "0 12 * jan,jul *"]
ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kolkata"]

schemathesis.openapi.format("cron", st.sampled_from(CRONS))
schemathesis.openapi.format("iana-time-zone", st.sampled_from(ZONES))
