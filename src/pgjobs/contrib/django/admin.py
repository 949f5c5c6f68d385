"""Pages of the admin: tasks to look at, and to retry."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db import connections

from pgjobs.contrib.django.models import Task
from pgjobs.drivers.connect import driver_for_connection
from pgjobs.queue.queue import Queue
from pgjobs.queue.run_sync import run
from pgjobs.settings import Settings


@admin.register(Task)
class TaskAdmin(admin.ModelAdmin):
    """Read-only: rows change through verbs. Whoever may change tasks may retry them."""

    list_display = ("id", "job", "status", "phase", "attempt", "created_at", "ended_at", "error_kind")
    # No `status` or `job` filter: they would read every task there is.
    show_full_result_count = False
    list_per_page = 50
    actions: ClassVar = ["retry"]

    def has_add_permission(self, request: Any) -> bool:
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: Any, obj: Any = None) -> list[str]:
        return [field.name for field in Task._meta.fields]  # noqa: SLF001

    def get_actions(self, request: Any) -> dict[str, Any]:
        actions: dict[str, Any] = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    @admin.action(permissions=["change"], description="Retry selected tasks")
    def retry(self, request: Any, queryset: Any) -> None:
        connection = connections[queryset.db]
        queue = Queue(driver_for_connection(connection, schema=Settings().database_schema))
        ids = list(queryset.values_list("id", flat=True))
        results = run(queue.retry_tasks(ids, actor=request.user.get_username()))
        refused = sum(result.problem is not None for result in results)
        self.message_user(request, f"Retried: {len(results) - refused}.", messages.SUCCESS)
        if refused:
            self.message_user(request, f"Not retried: {refused}.", messages.WARNING)
