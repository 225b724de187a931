import Docker from 'dockerode';

// biome-ignore lint/style/noProcessEnv: whether tests may be left out is a setting of the test run
const ENVIRONMENT = process.env;

/** Whether there is a Docker daemon; throws in CI where there is none, since tests would be left out. */
export async function hasDocker(): Promise<boolean> {
  try {
    await new Docker().ping();
    return true;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (ENVIRONMENT['CI'] === 'true') throw new Error(`no Docker daemon: ${why}`, { cause: error });
    process.stderr.write(`\nNO DOCKER DAEMON (${why}): THE DOCKER SANDBOX IS NOT TESTED\n\n`);
    return false;
  }
}
