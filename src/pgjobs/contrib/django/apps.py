"""The Django application: its commands and the pages of the admin."""

from __future__ import annotations

from django.apps import AppConfig


class PgjobsConfig(AppConfig):
    name = "pgjobs.contrib.django"
    label = "pgjobs"
    verbose_name = "pgjobs"
    default_auto_field = "django.db.models.BigAutoField"
