"""The project's tasks."""

import django
from django.contrib.auth.models import User

if django.VERSION >= (6, 0):
    from django.tasks import task
else:
    from django_tasks import task


@task
def add(left, right):
    return left + right


@task(queue_name="mail", priority=10)
def greet(name, *, loudly=False):
    return f"Hello, {name}{'!' if loudly else '.'}"


@task
async def wait_for(name):
    return f"waited for {name}"


@task
def fail(message):
    raise ValueError(message)


@task(takes_context=True)
def count(context, _word):
    return [context.attempt, str(context.task_result.id)]


@task
def make_user(name):
    return User.objects.create(username=name).pk
