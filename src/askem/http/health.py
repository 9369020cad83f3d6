"""Liveness and readiness: is the process there, and can it answer questions?

HEAD is answered as GET without the body: load balancers ask so.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from askem.errors import BackendUnavailable, EncoderMismatch, Overloaded, SchemaUnfit
from askem.http.executor import BoundedExecutor
from askem.http.wire import CheckOut, Readiness

HEALTHZ, READYZ = "/healthz", "/readyz"
_log = logging.getLogger("askem.http")


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that must work. `run` blocks, returns a remark, raises where it does not work.

    The remark is shown to anybody: no paths, no addresses.
    """

    name: str
    run: Callable[[], str]


class ReadinessBoard:
    """Runs probes in threads of their own, so that a busy service still says it is ready.

    Anybody may ask, so answers are kept for `keep_s`, and questions meanwhile share one run.
    """

    def __init__(
        self, probes: Sequence[Probe], *, timeout_s: float = 5.0, keep_s: float = 1.0
    ) -> None:
        self._probes = tuple(probes)
        # One place a probe: one that hangs is reported as such, and not started again on top.
        self._executors = [BoundedExecutor(1, 0, timeout_s=timeout_s) for _ in self._probes]
        self._keep_s = keep_s
        self._lock = asyncio.Lock()
        self._last: tuple[float, Readiness] | None = None

    async def check(self) -> Readiness:
        async with self._lock:
            now = time.monotonic()
            if self._last is None or now - self._last[0] > self._keep_s:
                runs = map(self._run, self._probes, self._executors)
                checks = tuple(await asyncio.gather(*runs))
                ready = Readiness(ready=all(check.ok for check in checks), checks=checks)
                self._last = (time.monotonic(), ready)
            return self._last[1]

    def close(self) -> None:
        """Waits for probes that still run. Blocks."""
        for executor in self._executors:
            executor.close()

    async def _run(self, probe: Probe, executor: BoundedExecutor) -> CheckOut:
        try:
            return CheckOut(name=probe.name, ok=True, detail=await executor.run(probe.run))
        except Overloaded:
            detail = "the last check still hangs"
        except SchemaUnfit as error:
            _log.warning("not ready: %s: %s", probe.name, error)
            detail = str(error)
        except BackendUnavailable as error:
            _log.warning("not ready: %s: %s", probe.name, error)
            detail = "cannot answer now"
        except EncoderMismatch as error:
            _log.error("not ready: %s: %s", probe.name, error)
            detail = "the index was built with another encoder"
        except Exception as error:  # noqa: BLE001 - whatever a probe raises means "not ready"
            # The reason may name inner things.
            _log.error("not ready: %s", probe.name, exc_info=error)
            detail = "not usable; the service's log says why"
        return CheckOut(name=probe.name, ok=False, detail=detail)


router = APIRouter(tags=["health"])


@router.head(HEALTHZ, include_in_schema=False)
@router.get(
    HEALTHZ,
    operation_id="healthz",
    summary="Is the process alive?",
    responses={
        200: {
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "properties": {"status": {"const": "ok"}},
                        "required": ["status"],
                    },
                    "example": {"status": "ok"},
                }
            }
        }
    },
)
async def healthz() -> Response:
    return Response(b'{"status":"ok"}', media_type="application/json")


@router.head(READYZ, include_in_schema=False)
@router.get(
    READYZ,
    operation_id="readyz",
    summary="Can it answer questions, and if not, what is missing?",
    responses={
        200: {"model": Readiness, "description": "Everything works."},
        503: {"model": Readiness, "description": "At least one check failed."},
    },
)
async def readyz(request: Request) -> Response:
    board: ReadinessBoard = request.app.state.readiness
    readiness = await board.check()
    headers = {} if readiness.ready else {"Retry-After": "5"}
    content = readiness.model_dump_json().encode()
    return Response(content, 200 if readiness.ready else 503, headers, "application/json")
