"""`pgjobs token`: API tokens for programs."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from uuid import UUID

import typer

from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.output import print_table

token = typer.Typer(help="Create, list and revoke API tokens.", no_args_is_help=True, rich_markup_mode=None)


@token.command()
def create(
    user: Annotated[str, typer.Argument(help="The user the token belongs to.")],
    *,
    url: Url = None,
    name: Annotated[str | None, typer.Option(help="What to call it.")] = None,
    superuser: Annotated[
        bool, typer.Option("--superuser", help="Give it the rights of a superuser.")
    ] = False,
    days: Annotated[int | None, typer.Option(help="Days until it expires; never if left out.")] = None,
    room: Annotated[
        list[str] | None,
        typer.Option(help="A room its user is a member of, where rooms are closed; may be repeated."),
    ] = None,
) -> None:
    """Create a token and print it, this once."""
    lifetime = None if days is None else timedelta(days=days)
    made = with_queue(
        url,
        lambda queue: queue.create_token(
            user, name=name, is_superuser=superuser, lifetime=lifetime, rooms=room
        ),
    )
    typer.echo(made.token)
    typer.echo(f"Token {made.id} for {user}. It will not be shown again.", err=True)


@token.command("list")
def list_all(url: Url = None) -> None:
    """List tokens, without what is secret about them."""
    found = with_queue(url, lambda queue: queue.list_tokens(page_size=500))
    print_table(
        ("id", "user", "superuser", "rooms", "name", "created", "expires", "revoked"),
        (
            (
                t.id,
                t.user_id,
                t.is_superuser,
                ", ".join(t.rooms or ()) or None,
                t.name,
                t.created_at,
                t.expires_at,
                t.revoked_at,
            )
            for t in found
        ),
    )


@token.command()
def revoke(token_id: UUID, url: Url = None) -> None:
    """Revoke a token."""
    with_queue(url, lambda queue: queue.revoke_token(token_id))
    typer.echo(f"Token {token_id} is revoked.", err=True)
