import type { Trajectory } from '../../src/core/trajectory/trajectory.ts';
import type { StoredRun } from './run-files.ts';

/**
 * The rows of a run by their prompts, without what two runs may differ in: times, the number of the
 * batch, the run's name, the form in which the image is named, and why it can't be had.
 */
export function comparable({ trajectories, discarded, failed }: StoredRun) {
  const kinds = { trajectories, discarded, failed };
  return Object.fromEntries(
    Object.entries(kinds).flatMap(([file, rows]) =>
      rows.map((row) => [row.metadata.prompt_id, { file, ...comparableRow(row) }]),
    ),
  );
}

function comparableRow(row: Trajectory) {
  const { batch_num: _batch, timestamp: _at, run_name: _run, image, ...metadata } = row.metadata;
  const { attempt } = row.timing;
  // Why an image can't be had is told in a registry's own words.
  const reason = row.outcome === 'failed/image_unavailable' ? row.reason !== '' : row.reason;
  return { ...row, reason, metadata: { ...metadata, hasImage: image !== '' }, timing: { attempt } };
}

/** What statistics say beside times and names. */
export function comparableStatistics({ statistics }: StoredRun) {
  const {
    run_name: _run,
    completed_at: _at,
    duration_seconds: _seconds,
    latency_seconds,
    by_image,
    ...same
  } = statistics;
  return {
    ...same,
    measured: [latency_seconds.prompt.count, latency_seconds.model_call.count],
    by_image: Object.values(by_image)
      .map((of) => JSON.stringify(of))
      .sort(),
  };
}
