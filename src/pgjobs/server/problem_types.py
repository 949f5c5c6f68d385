"""What problems there are, and who the caller is."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter

from pgjobs.server.api.schemas import Me, ProblemKind
from pgjobs.server.auth.credentials import ActorDep
from pgjobs.server.openapi import problems
from pgjobs.server.problems import KNOWN, ProblemRoute, problem

router = APIRouter(prefix="/v1", route_class=ProblemRoute, tags=["about"])


@router.get("/me", response_model_exclude_none=True, responses=problems("unauthorized"))
async def me(actor: ActorDep) -> Me:
    """Who the caller is."""
    return Me(id=actor.id, is_superuser=actor.is_superuser, rooms=_listed(actor.rooms))


@router.get("/problems", responses=problems())
async def list_problems() -> list[ProblemKind]:
    """Every problem this API knows."""
    return [_kind(name) for name in KNOWN]


@router.get("/problems/{problem_id}", responses=problems("not-found"))
async def get_problem(problem_id: str) -> ProblemKind:
    """One problem."""
    if problem_id not in KNOWN:
        raise problem("not-found", f"There is no problem {problem_id[:200]!r}")
    return _kind(problem_id)


def _listed(rooms: tuple[str, ...] | None) -> list[str] | None:
    return None if rooms is None else list(rooms)


def _kind(name: str) -> ProblemKind:
    status, description = KNOWN[name]
    return ProblemKind(
        id=name,
        type=f"/v1/problems/{name}",
        status=status,
        title=HTTPStatus(status).phrase,
        description=description,
    )
