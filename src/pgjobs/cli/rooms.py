"""`pgjobs rooms`: which logins are confined to which rooms."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.output import print_table, say

rooms = typer.Typer(help="Limit logins to rooms.", no_args_is_help=True, rich_markup_mode=None)

Role: TypeAlias = Annotated[str, typer.Argument(help="A login or group that has the role for tenants.")]
Room: TypeAlias = Annotated[str, typer.Argument(help="The room.")]


@rooms.command()
def grant(role: Role, room: Room, url: Url = None) -> None:
    """Open a room to a tenant's login. It submits, sees and works there."""
    with_queue(url, lambda queue: queue.grant_room(role, room))
    say(f"Room {room} is open to {role}.")


@rooms.command()
def revoke(role: Role, room: Room, url: Url = None) -> None:
    """Close a room to a tenant's login."""
    was_open = with_queue(url, lambda queue: queue.revoke_room(role, room))
    say(f"Room {room} is closed to {role}." if was_open else f"Room {room} was not open to {role}.")


@rooms.command("list")
def list_all(
    url: Url = None,
    role: Annotated[str | None, typer.Option(help="Only rooms of this role.")] = None,
    room: Annotated[str | None, typer.Option(help="Only roles of this room.")] = None,
) -> None:
    """List which rooms are open to which tenants."""
    found = with_queue(url, lambda queue: queue.list_room_grants(role, of_room=room))
    print_table(("role", "room", "granted"), ((g.role, g.room, g.granted_at) for g in found))
