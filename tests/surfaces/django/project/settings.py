"""A small Django project whose tasks pgjobs runs."""

import os

import django
from psycopg.conninfo import conninfo_to_dict

_database = conninfo_to_dict(os.environ["SHOP_DATABASE_URL"])
SECRET_KEY = "only a test knows it"
USE_TZ = True
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "shop.urls"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _database["dbname"],
        "USER": _database["user"],
        "PASSWORD": _database["password"],
        "HOST": _database["host"],
        "PORT": _database["port"],
    }
}
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "pgjobs.contrib.django",
    "shop",
]
if django.VERSION < (6, 0):
    INSTALLED_APPS.append("django_tasks")
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
TASKS = {
    "default": {
        "BACKEND": "pgjobs.contrib.django.PgjobsBackend",
        "QUEUES": ["default", "mail", "late"],
        "OPTIONS": {"max_attempts": 2},
    }
}
