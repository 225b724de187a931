import { connectSandboxes } from '../../src/adapters/sandbox/socket-sandboxes.ts';
import { createRedactor } from '../../src/core/agent/redact.ts';
import { holdLease } from '../../src/core/cloud/hold-lease.ts';
import { type WorkEnd, workOnBatch } from '../../src/core/cloud/work-on-batch.ts';
import { type BatchWork, LeaseLostError } from '../../src/core/ports/batch-work.ts';
import type { Clock } from '../../src/core/ports/clock.ts';
import type { WorkerObjects } from '../../src/core/ports/worker-objects.ts';
import { parseRunConfig } from '../../src/core/run/flag-values.ts';
import type { RunFile } from '../../src/core/run/manifest.ts';
import { BUILTIN_TOOLS } from '../../src/core/tools/builtin-tools.ts';
import { drawToolsets } from '../../src/core/toolsets/draw-toolsets.ts';
import { frozenTools } from '../../src/core/toolsets/frozen-tools.ts';
import { createToolsOf } from '../../src/core/toolsets/toolset-tools.ts';
import { promptSettings } from '../../src/core/work/prompt-settings.ts';
import { type RunPromptDeps, runPrompt } from '../../src/core/work/run-prompt.ts';
import { createRunStop } from '../../src/core/work/run-stop.ts';
import { logObserver } from './log-observer.ts';
import { openWorkerModel } from './worker-model.ts';

export interface WorkerDeps {
  work: BatchWork;
  objects: WorkerObjects;
  clock: Clock;
  launch: number;
  /** Sockets of the task's sandboxes. */
  sockets: readonly string[];
  /** What the sandboxes run, as rows record it; undefined where nobody said. */
  image: string | undefined;
  /** Prompts at once. */
  concurrency: number;
  /** Text of the secret: keys by host. */
  modelKeys: string;
  /** Further texts that no row or log may hold. */
  secrets: readonly string[];
  sha256Hex(text: string): string;
  random(): number;
  /** Bytes left on the task's disk. */
  freeDisk(): number;
  /** Calls back when the task is told to stop. */
  onStopSignal(callback: () => void): void;
  log(message: string, fields?: Record<string, unknown>): void;
  timing: WorkerTiming;
}

export interface WorkerTiming {
  /** How long sandboxes may take to listen. */
  connectMs: number;
  renewMs: number;
  /** From the signal to stop until what is in flight is handed back as it is. */
  graceMs: number;
}

/** `no_sandbox`: none answered, nothing was claimed. `lost`: another launch has the batch. */
export type WorkerEnd = WorkEnd | 'no_sandbox' | 'stopped_early' | 'lost';

/** One launch, from its start to its end. */
export async function runWorker(deps: WorkerDeps): Promise<WorkerEnd> {
  const { clock, log, timing } = deps;
  const stop = createRunStop();
  const abandon = createSwitch();
  deps.onStopSignal(() => {
    log('told to stop: handing back');
    stop.request({ kind: 'interrupted' });
    void clock.sleep(timing.graceMs).then(abandon.on);
  });
  const sandboxes = await connectSandboxes({
    sockets: deps.sockets,
    connectTimeoutMs: timing.connectMs,
    signal: stop.handBack,
  });
  try {
    for (const problem of sandboxes.problems) log('no sandbox', { problem });
    if (stop.handBack.aborted) return 'stopped_early';
    // Not claimed: so it is seen that the image can't run its sandboxes.
    if (sandboxes.answered === 0) return 'no_sandbox';
    await deps.work.claim();
    return await claimed({ ...deps, sandboxes, stop, abandon });
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    log(error.message);
    return 'lost';
  } finally {
    sandboxes.close();
  }
}

interface Claimed extends WorkerDeps {
  sandboxes: Awaited<ReturnType<typeof connectSandboxes>>;
  stop: ReturnType<typeof createRunStop>;
  abandon: Switch;
}

async function claimed(deps: Claimed): Promise<WorkEnd> {
  const { work, clock, stop, abandon, log } = deps;
  const ended = new AbortController();
  void holdLease(
    {
      work,
      clock,
      renewMs: deps.timing.renewMs,
      onRunState(state) {
        log('the run is no longer running: handing back', { state });
        stop.request({ kind: 'interrupted' });
      },
      onLost(error) {
        log(error.message);
        stop.fail(error);
        abandon.on();
      },
    },
    ended.signal,
  );
  try {
    return await workClaimed(deps);
  } catch (error) {
    if (error instanceof LeaseLostError) throw error;
    return await pausedOver(error, deps);
  } finally {
    ended.abort();
  }
}

/** What stops one launch would stop each further one, at the price of a task: people are told. */
async function pausedOver(error: unknown, { work, clock, log }: Claimed): Promise<WorkEnd> {
  const reason = error instanceof Error ? error.message : String(error);
  log('the run pauses', { reason });
  await work.pauseRun(reason);
  await work.handBack({ starts: new Map(), notBefore: clock.now() });
  return 'handed_back';
}

async function workClaimed(deps: Claimed): Promise<WorkEnd> {
  const { work, objects, clock, stop, sandboxes, log, sha256Hex } = deps;
  const [batch, run] = await Promise.all([work.batch(), objects.runFile()]);
  const { config, manifest } = settingsOf(run);
  const secret = await objects.privateSettings();
  const model = openWorkerModel({ ...deps, config, manifest, secret });
  const observer = logObserver(log);
  const promptDeps: RunPromptDeps = {
    model: model.model,
    sandboxes,
    clock,
    observer,
    drawToolsets: (promptId) =>
      drawToolsets({
        distribution: { description: '', ...manifest.distribution },
        available: new Set(manifest.available_toolsets),
        seed: config.seed,
        promptId,
        sha256Hex,
      }),
    toolsOf: createToolsOf(frozenTools(BUILTIN_TOOLS, manifest.tools)),
    pinOf: (image) => deps.image ?? image,
    redact: createRedactor([...deps.secrets, ...model.secrets]),
    handBack: stop.handBack,
  };
  const settings = promptSettings(config, manifest.valid_tool_names);
  const pass = run.passes.find((of) => of.pass === batch.pass);
  try {
    return await workOnBatch(batch, {
      ...deps,
      observer,
      maxAttempts: config.max_attempts,
      model: config.model,
      image: deps.image ?? batch.image,
      inputOfPass: pass?.input_of_pass ?? batch.pass,
      runPrompt: (prompt, ref) => runPrompt(prompt, ref, settings, promptDeps),
      onOwed: (count) =>
        sandboxes.keep(count, (why) => stop.fail(new Error(`all sandboxes: ${why}`))),
      deadline: deps.abandon.isOn,
    });
  } finally {
    await model.close();
  }
}

function settingsOf({ manifest, passes: _, ...settings }: RunFile) {
  return { config: parseRunConfig(settings, (key) => `${key} in run.json`), manifest };
}

interface Switch {
  isOn: Promise<void>;
  on(): void;
}

function createSwitch(): Switch {
  let on: () => void = () => undefined;
  const isOn = new Promise<void>((resolve) => {
    on = resolve;
  });
  return { isOn, on };
}
