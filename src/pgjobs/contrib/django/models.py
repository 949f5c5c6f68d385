"""Tasks as the admin shows them: the view `pgjobs.task`, which Django neither makes nor changes."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from pgjobs.settings import Settings


class Task(models.Model):
    """A task of the queue, Django's or another."""

    id = models.BigIntegerField(primary_key=True)
    uuid = models.UUIDField()
    job = models.TextField()
    room = models.TextField()
    status = models.TextField()
    phase = models.TextField(null=True)
    priority = models.SmallIntegerField()
    attempt = models.SmallIntegerField()
    max_attempts = models.SmallIntegerField()
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    error = models.TextField(null=True)
    error_kind = models.TextField(null=True)

    class Meta:
        managed = False
        # Quoted as Django would, with the schema before it.
        db_table = f'{Settings().database_schema}"."task'
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.job} {self.id}"
