"""Django: a user and the task that welcomes them, in one transaction. Needs `pip install django`.

    export PGJOBS_DATABASE_URL=postgresql://localhost/mydb
    pgjobs migrate
    python examples/django_app.py migrate
    cd examples && pgjobs worker django_app:jobs &
    python examples/django_app.py runserver &
    curl -X POST localhost:8000/users/ada          # {"task": 1}

The view is synchronous, as Django's usually are: `submit_sync` takes `django.db.connection` as it is.
If the transaction is rolled back, there is neither a user nor a task.
"""

from __future__ import annotations

import os
import sys

import psycopg
from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import connection, transaction
from django.http import HttpRequest, JsonResponse
from django.urls import path

from pgjobs import Jobs

jobs = Jobs(category="users")


@jobs.task(max_attempts=5)
async def welcome(name: str) -> str:
    return f"welcome, {name}"


def sign_up(_request: HttpRequest, name: str) -> JsonResponse:
    from django.contrib.auth.models import User

    with transaction.atomic():
        User.objects.create_user(name)
        task_id = welcome.with_options(connection=connection).submit_sync(name)
    return JsonResponse({"task": task_id}, status=202)


urlpatterns = [path("users/<str:name>", sign_up)]


def main() -> None:
    server = psycopg.conninfo.conninfo_to_dict(os.environ["PGJOBS_DATABASE_URL"])
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    settings.configure(
        ALLOWED_HOSTS=["127.0.0.1", "localhost"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                **{names[key]: value for key, value in server.items() if key in names},
            }
        },
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth"],
        ROOT_URLCONF=__name__,
    )
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
