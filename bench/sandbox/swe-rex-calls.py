"""SWE-ReX' side of compare.mjs: IMAGE latency N | starts N AT_ONCE | hold N; prints JSON."""

import asyncio
import json
import logging
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from swerex.deployment.docker import DockerDeployment
from swerex.runtime.abstract import BashAction, Command, CreateBashSessionRequest

IMAGE, MODE, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
logging.disable(logging.CRITICAL)


async def opened():
    deployment = DockerDeployment(image=IMAGE, pull="never")
    await deployment.start()
    return deployment


async def timed(work):
    start = time.perf_counter()
    result = await work
    return result, (time.perf_counter() - start) * 1000


async def latency():
    deployment = await opened()
    runtime = deployment.runtime
    await runtime.create_session(CreateBashSessionRequest())
    times = {"execute": [], "session": []}
    for _ in range(COUNT):
        result, took = await timed(runtime.execute(Command(command="echo hi", shell=True)))
        assert result.stdout == "hi\n", result
        times["execute"].append(took)
        result, took = await timed(runtime.run_in_session(BashAction(command="echo hi")))
        assert result.output.strip() == "hi", result
        times["session"].append(took)
    await deployment.stop()
    return times


async def one():
    deployment = await opened()
    result = await deployment.runtime.execute(Command(command="echo hi", shell=True))
    assert result.stdout == "hi\n", result
    await deployment.stop()


async def starts():
    # As SWE-agent does: its start blocks, so that each thread has an event loop of its own.
    with ThreadPoolExecutor(int(sys.argv[4])) as threads:
        start = time.perf_counter()
        for done in [threads.submit(asyncio.run, one()) for _ in range(COUNT)]:
            done.result()
        return {"seconds": [time.perf_counter() - start]}


async def hold():
    held = [await opened() for _ in range(COUNT)]
    for deployment in held:
        await deployment.runtime.execute(Command(command="echo hi", shell=True))
    print("{}", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for deployment in held:
        await deployment.stop()
    return {}


print(json.dumps(asyncio.run({"latency": latency, "starts": starts, "hold": hold}[MODE]())))
