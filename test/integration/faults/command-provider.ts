import type { ModelServer } from '../../support/model-server.ts';
import { text, toolCall } from '../../support/model-server-replies.ts';
import { startProvider } from '../accounting/playing-provider.ts';

/** A provider that has each prompt run as a command in the terminal, once, and then answers. */
export function startCommandProvider(): Promise<ModelServer> {
  return startProvider((prompt, nth) =>
    nth === 1 ? toolCall('terminal', { command: prompt }) : text(`Done: ${nth}`),
  );
}
