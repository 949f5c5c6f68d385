"""What a handler takes and gives, read from its annotations: payloads are checked at submit and at run."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NotRequired, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError
from typing_extensions import TypedDict

from pgjobs.drivers.documents import Encoded, encode
from pgjobs.errors import InvalidArgument, PayloadInvalid
from pgjobs.jobs.context import TaskContext
from pgjobs.queue.records import Json

_PLAIN = (None, type(None), Any, object, dict, list, str, int, float, bool, inspect.Parameter.empty)
_REFUSED: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
    inspect.Parameter.POSITIONAL_ONLY: "positional-only ",
}


class Signature:
    """Turns calls into payloads, payloads into arguments, and results into documents and back.

    A handler with one model, dataclass or TypedDict takes it as the whole payload;
    any other takes an object with one entry for each of its parameters.
    """

    def __init__(self, handler: Callable[..., Any], namespace: Mapping[str, Any] | None = None) -> None:
        self.name = getattr(handler, "__name__", repr(handler))
        self._signature, returned = _resolved(handler, namespace)
        parameters = list(self._signature.parameters.values())
        self.takes_task = bool(parameters) and parameters[0].annotation is TaskContext
        if self.takes_task:
            parameters = parameters[1:]
            self._signature = self._signature.replace(parameters=parameters)
        for parameter in parameters:
            if kind := _REFUSED.get(parameter.kind):
                raise InvalidArgument(
                    f"{self.name} takes {kind}{parameter.name}",
                    hint="A task's arguments are stored by name: give each a name and a type.",
                )
        self._whole = (
            parameters[0].name if len(parameters) == 1 and _is_document(parameters[0].annotation) else None
        )
        self._is_bare = not parameters
        self._payloads: TypeAdapter[Any] = TypeAdapter(
            parameters[0].annotation if self._whole else _arguments_type(self.name, parameters)
        )
        self._validate = self._payloads.validator.validate_python
        plain = returned in _PLAIN or get_origin(returned) in (dict, list)
        self._results: TypeAdapter[Any] | None = None if plain else TypeAdapter(returned)

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the payload."""
        return self._payloads.json_schema()

    def payload(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Json:
        """The payload of a call; refuses one the handler could not be called with."""
        try:
            # Given by name, arguments are what the types are checked for; binding them costs more than that.
            named = kwargs if not (args or self._whole) else self._signature.bind(*args, **kwargs).arguments
            value = self._validate(named[self._whole] if self._whole else named)
            return self._payloads.dump_python(value, mode="json")
        except TypeError as error:
            raise PayloadInvalid(f"{self.name}: {error}") from error
        except (ValidationError, PydanticSerializationError) as error:
            raise self._misfit(error) from error

    def arguments(self, payload: Json) -> dict[str, Any]:
        """The arguments a payload stands for; refuses one that does not fit the handler's types."""
        if self._is_bare and not payload:
            return {}
        try:
            value = self._validate(payload)
        except ValidationError as error:
            raise self._misfit(error) from error
        return {self._whole: value} if self._whole else value

    def document(self, value: Any) -> Encoded:
        """A result as it is stored; refuses what JSON cannot hold."""
        try:
            plain = value if self._results is None else self._results.dump_python(value, mode="json")
        except PydanticSerializationError as error:
            raise PayloadInvalid(f"The result of {self.name} is not JSON", detail=str(error)) from error
        return Encoded(encode(plain))

    def result(self, document: Json) -> Any:
        """A stored result as the handler returned it."""
        return document if self._results is None else self._results.validate_python(document)

    def _misfit(self, error: ValidationError | PydanticSerializationError) -> PayloadInvalid:
        if isinstance(error, ValidationError):
            problems = (f"{'.'.join(map(str, e['loc'])) or 'payload'}: {e['msg']}" for e in error.errors())
            return PayloadInvalid(f"The payload does not fit {self.name}", detail="; ".join(problems))
        return PayloadInvalid(f"The payload of {self.name} is not JSON", detail=str(error))


def _resolved(
    handler: Callable[..., Any], namespace: Mapping[str, Any] | None
) -> tuple[inspect.Signature, Any]:
    """The signature with annotations evaluated, also those that name things local to the caller."""
    signature = inspect.signature(handler)
    try:
        hints = get_type_hints(handler, localns=dict(namespace or {}), include_extras=True)
    except NameError as error:
        raise InvalidArgument(
            f"An annotation of {handler!r} cannot be resolved", detail=str(error)
        ) from error
    parameters = [p.replace(annotation=hints.get(p.name, Any)) for p in signature.parameters.values()]
    return signature.replace(parameters=parameters), hints.get("return", Any)


def _is_document(annotation: Any) -> bool:
    if not isinstance(annotation, type):
        return False
    return (
        issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation) or is_typeddict(annotation)
    )


def _arguments_type(name: str, parameters: list[inspect.Parameter]) -> Any:
    fields = {
        p.name: p.annotation if p.default is inspect.Parameter.empty else NotRequired[p.annotation]
        for p in parameters
    }
    make: Any = TypedDict
    arguments = make(name, fields)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid")
    return arguments
