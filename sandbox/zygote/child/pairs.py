"""Calls a tool or a function of the program so that other calls can run beside it.

`rewrite` gives each function of the program that calls tools a coroutine function that does the
same, but is suspended at each tool call. The two are a pair. The rewritten program calls functions
through `later` and `now`. This module imports only the standard library and other modules of the
sandbox.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import partial
from types import MethodType
from typing import Any, NamedTuple

from sandbox.zygote.child import program
from sandbox.zygote.child.rewrite import PAIR

AwaitableFunction = Callable[..., Awaitable[Any]]


class Pair(NamedTuple):
    """A function of the program and its coroutine function.

    The function is stored too, because `functools.wraps` copies attributes to other functions.
    """

    function: Callable[..., Any]
    coroutine_function: AwaitableFunction


def pair(twin: Any) -> Callable[[Any], Any]:
    """Return a decorator that gives a function its coroutine function `twin`."""

    def attach(function: Any) -> Any:
        twin.__defaults__ = function.__defaults__
        twin.__kwdefaults__ = function.__kwdefaults__
        setattr(function, PAIR, Pair(function, twin))
        return function

    return attach


def pair_lambda(function: Any, twin: Any) -> Any:
    """Return a lambda with its coroutine function.

    `twin` is a lambda that returns an asynchronous generator of one value, because Python has no
    asynchronous lambdas.
    """
    twin.__defaults__ = function.__defaults__
    twin.__kwdefaults__ = function.__kwdefaults__

    async def first(*args: Any, **kwargs: Any) -> Any:
        values: AsyncIterator[Any] = twin(*args, **kwargs)
        found = [value async for value in values]
        return found[0]

    setattr(function, PAIR, Pair(function, first))
    return function


def coroutine_function(function: Any) -> AwaitableFunction | None:
    """Return a function that begins a tool call or a paired function, or None for any other one.

    Its result is a coroutine.
    """
    if isinstance(function, partial):
        inner = coroutine_function(function.func)
        return inner and partial(inner, *function.args, **function.keywords)
    begin = getattr(function, "in_background", None)
    if begin is not None:
        site = program.current_call_site()
        return lambda *args, **kwargs: begin(site, args, kwargs)
    if isinstance(function, MethodType):
        inner = coroutine_function(function.__func__)
        return inner and partial(inner, function.__self__)
    found = getattr(function, PAIR, None)
    if not isinstance(found, Pair) or found.function is not function:
        return None
    if function.__code__.co_filename == program.FILENAME:
        return found.coroutine_function
    return partial(_call_saved, program.current_call_site(), found.coroutine_function)


async def _call_saved(
    site: program.CallSite, saved: AwaitableFunction, /, *args: Any, **kwargs: Any
) -> Any:
    """Call a saved tool. Its own calls come from the place where the program calls it."""
    token = program.call_site_of_task.set(site)
    try:
        return await saved(*args, **kwargs)
    finally:
        program.call_site_of_task.reset(token)


def later(function: Any) -> Callable[..., Any]:
    """Return the function to call where only the awaited result of a call is used."""
    return coroutine_function(function) or function


def now(function: Any) -> AwaitableFunction:
    """Return the function to call where the result is awaited at once, to be used as a value."""
    return coroutine_function(function) or partial(_call, function)


async def _call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def awaitable(value: Any) -> Awaitable[Any]:
    """Return a value if it can be awaited, or else an awaitable that gives it."""
    return value if inspect.isawaitable(value) else _give(value)


async def _give(value: Any) -> Any:
    return value


def perform(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> partial[Coroutine[Any, Any, Any]]:
    """Return what begins a call in a strand, when it is called without arguments."""
    found: Any = now(function)
    return partial(found, *args, **kwargs)
