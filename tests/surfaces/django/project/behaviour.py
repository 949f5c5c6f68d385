"""What Django's tasks do on pgjobs, as unit tests that any Django can run."""

import asyncio
import io
import unittest
from datetime import timedelta

import django

django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.test import Client
from django.utils import timezone
from pgjobs.contrib.django.framework import TaskResultDoesNotExist, TaskResultStatus, signals, task_backends
from shop.tasks import add, count, fail, greet, make_user, wait_for


def work():
    call_command("pgjobs_worker", until_empty=True)


def finished(result):
    work()
    result.refresh()
    return result


class Interrupted(Exception):
    pass


class Enqueueing(unittest.TestCase):
    def test_a_task_waits_until_a_worker_runs_it(self):
        result = add.enqueue(2, 3)
        self.assertEqual(result.status, TaskResultStatus.READY)
        self.assertIsNotNone(result.enqueued_at)
        self.assertFalse(add.get_result(result.id).is_finished)
        finished(result)
        self.assertEqual((result.status, result.return_value), (TaskResultStatus.SUCCESSFUL, 5))
        self.assertEqual(result.attempts, 1)
        self.assertLessEqual(result.started_at, result.finished_at)

    def test_arguments_and_queue_come_back_as_they_were(self):
        result = greet.enqueue("Ada", loudly=True)
        again = greet.get_result(result.id)
        self.assertEqual((again.args, again.kwargs), (["Ada"], {"loudly": True}))
        self.assertEqual((again.task.queue_name, again.task.priority), ("mail", 10))
        self.assertEqual(again.task, greet)
        self.assertEqual(finished(result).return_value, "Hello, Ada!")

    def test_a_task_rolled_back_does_not_exist(self):
        with self.assertRaises(Interrupted), transaction.atomic():
            result = add.enqueue(1, 1)
            raise Interrupted
        with self.assertRaises(TaskResultDoesNotExist):
            add.get_result(result.id)

    def test_the_first_task_of_a_queue_rolled_back_leaves_the_next_able_to_enqueue(self):
        with connection.cursor() as cursor:
            cursor.execute("select pgjobs.archive_job('@global:django:late')")
            cursor.execute("select pgjobs.delete_job('@global:django:late')")
        late = greet.using(queue_name="late")
        with self.assertRaises(Interrupted), transaction.atomic():
            late.enqueue("nobody")
            raise Interrupted
        self.assertEqual(finished(late.enqueue("Bob")).return_value, "Hello, Bob.")

    def test_a_task_is_seen_when_its_transaction_commits_and_not_before(self):
        with transaction.atomic():
            user = User.objects.create(username=f"in {self.id()}")
            result = make_user.enqueue(f"by {user.pk}")
            work()
            self.assertEqual(make_user.get_result(result.id).status, TaskResultStatus.READY)
        self.assertEqual(finished(result).status, TaskResultStatus.SUCCESSFUL)

    def test_a_result_that_is_not_there_leaves_the_transaction_whole(self):
        with transaction.atomic():
            for unknown in ("", "nonsense", "00000000-0000-8000-8000-000000000000"):
                with self.assertRaises(TaskResultDoesNotExist):
                    add.get_result(unknown)
            self.assertIsNotNone(User.objects.count())

    def test_a_task_for_later_waits(self):
        result = add.using(run_after=timezone.now() + timedelta(hours=1)).enqueue(1, 2)
        self.assertEqual(finished(result).status, TaskResultStatus.READY)

    def test_urgent_tasks_go_first(self):
        slow = greet.using(priority=-100, queue_name="default").enqueue("last")
        fast = greet.using(priority=100, queue_name="default").enqueue("first")
        call_command("pgjobs_worker", until_empty=True, concurrency=1)
        slow.refresh(), fast.refresh()
        self.assertLess(fast.started_at, slow.started_at)

    def test_arguments_that_json_cannot_hold_are_refused(self):
        with self.assertRaises(TypeError):
            add.enqueue(object(), 1)

    def test_asynchronous_code_enqueues_and_asks(self):
        async def main():
            result = await add.aenqueue(4, 5)
            return await add.aget_result(result.id)

        try:
            self.assertEqual(asyncio.run(main()).status, TaskResultStatus.READY)
        finally:
            work()


class Running(unittest.TestCase):
    def test_coroutines_run_too(self):
        self.assertEqual(finished(wait_for.enqueue("Eve")).return_value, "waited for Eve")

    def test_a_task_that_fails_is_tried_again_and_tells_its_errors(self):
        result = fail.enqueue("no luck")
        finished(result)
        self.assertEqual(result.status, TaskResultStatus.READY)
        self.assertEqual(len(result.errors), 1)
        with connection.cursor() as cursor:
            cursor.execute("update pgjobs.test_clock set shift = shift + '1 day'")
        finished(result)
        self.assertEqual(result.status, TaskResultStatus.FAILED)
        self.assertEqual([error.exception_class for error in result.errors], [ValueError, ValueError])
        self.assertIn("no luck", result.errors[0].traceback)
        with self.assertRaises(ValueError):
            result.return_value  # noqa: B018

    def test_a_task_may_know_its_own_result(self):
        result = finished(count.enqueue("a"))
        self.assertEqual(result.return_value, [1, result.id])

    def test_signals_tell_of_each_step(self):
        told = []

        def enqueued(task_result, **_):
            told.append(("enqueued", task_result.status))

        def started(task_result, **_):
            told.append(("started", task_result.status))

        def ended(task_result, **_):
            told.append(("finished", task_result.status))

        pairs = [
            (signals.task_enqueued, enqueued),
            (signals.task_started, started),
            (signals.task_finished, ended),
        ]
        for signal, receiver in pairs:
            signal.connect(receiver)
        try:
            finished(add.enqueue(1, 1))
        finally:
            for signal, receiver in pairs:
                signal.disconnect(receiver)
        expected = [("enqueued", "READY"), ("started", "RUNNING"), ("finished", "SUCCESSFUL")]
        self.assertEqual(told, expected)

    def test_a_task_that_is_gone_fails_for_good(self):
        result = add.enqueue(1, 1)
        with connection.cursor() as cursor:
            cursor.execute(
                "select id from pgjobs.submit_task('@global:django:default',"
                """ '{"function": "shop.tasks.gone", "args": [], "kwargs": {}}')"""
            )
            gone = cursor.fetchone()[0]
            work()
            cursor.execute("select status, error_kind from pgjobs.get_task(%s)", [gone])
            self.assertEqual(cursor.fetchone(), ("failed", "payload_invalid"))
        self.assertEqual(finished(result).return_value, 2)

    @staticmethod
    def number(result):
        with connection.cursor() as cursor:
            cursor.execute("select pgjobs.task_id(%s)", [result.id])
            return cursor.fetchone()[0]


class Commands(unittest.TestCase):
    def test_migrating_twice_changes_nothing(self):
        said = io.StringIO()
        call_command("pgjobs_migrate", stdout=said)
        call_command("pgjobs_migrate", stdout=said)
        self.assertEqual(said.getvalue().splitlines()[-1], "Up to date.")

    def test_the_checks_of_a_good_project_find_nothing(self):
        self.assertEqual(list(task_backends["default"].check()), [])

    def test_a_database_that_is_not_postgres_is_found(self):
        class Other:
            vendor = "sqlite"

        kept = connections["default"]
        connections["default"] = Other()
        try:
            [found] = task_backends["default"].check()
        finally:
            connections["default"] = kept
        self.assertEqual(found.id, "pgjobs.E001")


class Admin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        call_command("migrate", verbosity=0)
        User.objects.filter(username="root").delete()
        cls.root = Client()
        cls.root.force_login(User.objects.create_superuser("root"))

    def test_tasks_are_listed_and_shown_and_not_changed(self):
        result = add.enqueue(1, 2)
        number = Running.number(result)
        page = self.root.get("/admin/pgjobs/task/").content.decode()
        self.assertIn("@global:django:default", page)
        shown = self.root.get(f"/admin/pgjobs/task/{number}/change/").content.decode()
        self.assertIn(result.id, shown)
        self.assertNotIn("<textarea", shown)
        self.assertEqual(self.root.get("/admin/pgjobs/task/add/").status_code, 403)
        self.assertEqual(self.root.post(f"/admin/pgjobs/task/{number}/delete/").status_code, 403)
        finished(result)

    def test_a_task_that_was_cancelled_is_retried_and_one_that_is_completed_is_not(self):
        completed = finished(add.enqueue(3, 4))
        cancelled = add.enqueue(1, 2)
        with connection.cursor() as cursor:
            cursor.execute("select pgjobs.cancel_task(%s)", [Running.number(cancelled)])
        chosen = [Running.number(cancelled), Running.number(completed)]
        answer = self.root.post(
            "/admin/pgjobs/task/", {"action": "retry", "_selected_action": chosen}, follow=True
        ).content.decode()
        told = [line for line in ("Retried: 1.", "Not retried: 1.") if line in answer]
        self.assertEqual(told, ["Retried: 1.", "Not retried: 1."])
        self.assertEqual(finished(cancelled).return_value, 3)
        self.assertEqual(finished(completed).attempts, 1)

    def test_whoever_may_only_look_may_not_retry(self):
        from django.contrib.auth.models import Permission

        User.objects.filter(username="reader").delete()
        reader = User.objects.create(username="reader", is_staff=True)
        reader.user_permissions.add(Permission.objects.get(codename="view_task"))
        client = Client()
        client.force_login(reader)
        result = add.enqueue(1, 2)
        with connection.cursor() as cursor:
            cursor.execute("select pgjobs.cancel_task(%s)", [Running.number(result)])
        self.assertEqual(client.get("/admin/pgjobs/task/").status_code, 200)
        client.post("/admin/pgjobs/task/", {"action": "retry", "_selected_action": [Running.number(result)]})
        self.assertTrue(add.get_result(result.id).is_finished)
