"""Methods that an address does not answer: 405, with all those that it does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request

from pgjobs.server.problems import ProblemRoute

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})


def refusing_other_methods(routers: Iterable[APIRouter]) -> tuple[APIRouter, APIRouter]:
    """Two routers that refuse what the given ones do not answer: one to come before them, one after.

    A router knows of a single route which methods it answers, not of an address that several
    share. And it would take `/tasks/claim` for a task of that id where the method fits.
    """
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    allowed: dict[str, set[str]] = {}
    for route in routes:
        allowed.setdefault(route.path, set()).update(route.methods or ())
    patterns = [route.path_regex for route in routes if "{" in route.path]
    first, last = APIRouter(route_class=ProblemRoute), APIRouter(route_class=ProblemRoute)
    for path, methods in allowed.items():
        is_mistaken = "{" not in path and any(pattern.match(path) for pattern in patterns)
        _refuse(first if is_mistaken else last, path, methods)
    return first, last


def _refuse(router: APIRouter, path: str, methods: set[str]) -> None:
    allow = ", ".join(sorted(methods))

    async def refuse(request: Request) -> NoReturn:
        raise HTTPException(405, f"{request.method} is not answered here", headers={"Allow": allow})

    others = sorted(METHODS - methods)
    router.add_api_route(path, refuse, methods=others, include_in_schema=False, response_model=None)
