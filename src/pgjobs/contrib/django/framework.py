"""Django's tasks from Django 6, or from the package django-tasks for Django 5.2."""

from __future__ import annotations

import django

__all__ = [
    "BaseTaskBackend",
    "Task",
    "TaskContext",
    "TaskError",
    "TaskResult",
    "TaskResultDoesNotExist",
    "TaskResultStatus",
    "normalize_json",
    "signals",
    "task_backends",
]


if django.VERSION >= (6, 0):
    from django.tasks import (
        Task,
        TaskContext,
        TaskResult,
        TaskResultStatus,
        signals,
        task_backends,
    )
    from django.tasks.backends.base import (
        BaseTaskBackend,
    )
    from django.tasks.base import TaskError
    from django.tasks.exceptions import TaskResultDoesNotExist
    from django.utils.json import normalize_json
else:
    from django_tasks import (
        TaskContext,
        TaskResult,
        TaskResultStatus,
        signals,
        task_backends,
    )
    from django_tasks.backends.base import BaseTaskBackend
    from django_tasks.base import Task, TaskError
    from django_tasks.exceptions import TaskResultDoesNotExist
    from django_tasks.utils import normalize_json
